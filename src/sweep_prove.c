/* sweep_prove.c: phase one: every configuration is built and proven on the check sizes. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

static bool needs_proof(const struct sweep *s, const struct unit *unit)
{
    if (unit->timed_size_only)
        return false;
    for (size_t i = 0; i < unit->row_count; i++) {
        if (s->run->rows[unit->rows[i]].status == TS_PENDING)
            return true;
    }
    return false;
}

/* No tile is smaller; an NVIDIA driver tells 1 B of any kernel. */
#define STAGE_BYTES 16

/* A kernel that uses local memory and whose spec does not say so counts as plain, by the contract;
 * once a variant that is told, because a slip in the spec turns the verdict round. */
static void warn_of_undeclared(struct sweep *s, const struct unit *unit, const struct ts_row *row)
{
    const struct ts_space *space = s->spaces[unit->space];
    const struct ts_variant *variant = &space->spec->variants[space->configs[unit->config].variant];

    if (row->staged || variant->local_bytes || variant->staged || row->status != TS_OK ||
        row->geometry.local_bytes_reported < STAGE_BYTES)
        return;
    for (size_t i = 0; i < s->run->row_count; i++) {
        const struct ts_row *other = &s->run->rows[i];
        if (other != row && other->geometry.local_bytes_reported > 0 &&
            !strcmp(other->variant, row->variant) && !strcmp(other->benchmark, row->benchmark))
            return; /* told already */
    }
    ts_progress_say(
        s->progress,
        "warning: %s: variant \"%s\" uses %lld B of local memory (the driver says), but its "
        "spec declares no local_bytes: it counts as plain",
        space->spec->path, variant->name, (long long)row->geometry.local_bytes_reported);
}

/* What a proof told is true of every size of the configuration. */
static int decide_rows(struct sweep *s, const struct unit *unit, const struct ts_reply *reply,
                       struct ts_err *err)
{
    for (size_t i = 0; i < unit->row_count; i++) {
        struct ts_row *row = &s->run->rows[unit->rows[i]];

        if (row->status != TS_PENDING)
            continue;
        if (reply->kind == TS_REPLY_DONE)
            ts_sweep_merge(row, reply->line, false);
        ts_sweep_take_talk(row, reply->talk);
        if (!ts_sweep_take_failure(row, reply))
            ts_row_set_status(row, TS_OK, NULL, "%s", "");
        if (i == 0)
            warn_of_undeclared(s, unit, row);
        if (s->journal && ts_journal_row(s->journal, row, err) < 0)
            return -1;
    }
    return 0;
}

/* Row lines for what the device's limits decided: they are final without any worker. */
static int journal_refused(struct sweep *s, struct ts_err *err)
{
    for (size_t i = 0; i < s->run->row_count; i++) {
        const struct ts_row *row = &s->run->rows[i];
        if (s->journal && row->status == TS_SKIPPED && row->build.build_ns < 0 &&
            ts_journal_row(s->journal, row, err) < 0)
            return -1;
    }
    return 0;
}

int ts_sweep_prove(struct sweep *s, struct ts_err *err)
{
    struct pool_task task = {"prove", ts_sweep_prove_job, decide_rows, &s->proving, s->end_ns};
    size_t *todo = ts_alloc(s->unit_count, sizeof(*todo)), count = 0;
    int64_t now = ts_now_ns();
    int result;

    /* Half of a budget goes to proving at most; what is not proven is not timed. */
    if (s->end_ns != INT64_MAX)
        task.end_ns = now + (s->end_ns - now) / 2;
    for (size_t i = 0; i < s->unit_count; i++) {
        if (needs_proof(s, &s->units[i]))
            todo[count++] = i;
    }
    result = journal_refused(s, err);
    if (result == 0)
        result = ts_sweep_pool(s, &task, todo, count, err);
    free(todo);
    return result;
}
