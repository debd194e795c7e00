/* sweep_digest.c: phase three, with --digest: the digest of every timed configuration's device
 * binary. After the timing, because asking an old PoCL for binaries changes how later launches are
 * compiled. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

static bool wants_digest(const struct ts_row *row)
{
    return row->status == TS_OK && row->time.visit_count > 0 && !row->build.binary;
}

static bool unit_wants(const struct sweep *s, const struct unit *unit)
{
    for (size_t i = 0; i < unit->row_count; i++) {
        if (wants_digest(&s->run->rows[unit->rows[i]]))
            return true;
    }
    return false;
}

static int make_job(struct sweep *s, const struct unit *unit, struct ts_job *job,
                    struct job_sources *sources, struct ts_err *err)
{
    (void)err;
    ts_sweep_begin_job(s, unit, TS_JOB_DIGEST, job, sources);
    return 0;
}

/* One failure tells of all: what a driver does not give, it gives of no program. */
static void tell_failure(struct sweep *s, const struct ts_reply *reply)
{
    if (s->told_digest || reply->kind == TS_REPLY_SIGNAL)
        return;
    s->told_digest = true;
    ts_progress_say(s->progress, "warning: %s: configurations without a digest of their binary: %s",
                    s->run->device.name,
                    reply->kind == TS_REPLY_LOST
                        ? reply->text
                        : ts_json_string(ts_json_get(reply->line, "reason"), "text", "?"));
}

/* A configuration without a digest stays what it is: it was measured. */
static int decide(struct sweep *s, const struct unit *unit, const struct ts_reply *reply,
                  struct ts_err *err)
{
    const char *binary =
        reply->kind == TS_REPLY_DONE ? ts_json_string(reply->line, "binary", NULL) : NULL;

    if (!binary)
        tell_failure(s, reply);
    for (size_t i = 0; i < unit->row_count && binary; i++) {
        struct ts_row *row = &s->run->rows[unit->rows[i]];

        if (!wants_digest(row))
            continue;
        row->build.binary = ts_strdup(binary);
        if (s->journal && ts_journal_row(s->journal, row, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- axes that change nothing ---- */

static bool same_code(const struct ts_row *a, const struct ts_row *b)
{
    const struct ts_geometry *x = &a->geometry, *y = &b->geometry;

    return !strcmp(a->build.binary, b->build.binary) && x->local_bytes == y->local_bytes &&
           x->dims == y->dims && !memcmp(x->local, y->local, sizeof(x->local)) &&
           !memcmp(x->global, y->global, sizeof(x->global));
}

/* Do the rows differ in this parameter alone? */
static bool differ_in(const struct ts_row *a, const struct ts_row *b, const char *axis)
{
    return !strcmp(a->variant, b->variant) && ts_values_equal_but(&a->params, &b->params, axis) &&
           !ts_values_equal(&a->params, &b->params);
}

/* Pairs of a variant's rows in the case that begins at `first`, differing in the axis alone: all of
 * equal code? A case's rows stand together. */
static bool changes_nothing(const struct sweep *s, size_t first, const char *axis)
{
    const struct ts_row *of = &s->run->rows[first], *end = s->run->rows + s->run->row_count;
    size_t pairs = 0;

    for (const struct ts_row *a = of; a < end && ts_row_same_case(a, of); a++) {
        if (!a->build.binary || strcmp(a->variant, of->variant) != 0)
            continue;
        for (const struct ts_row *b = a + 1; b < end && ts_row_same_case(b, of); b++) {
            if (!b->build.binary || !differ_in(a, b, axis))
                continue;
            if (!same_code(a, b))
                return false;
            pairs++;
        }
    }
    return pairs > 0;
}

/* A source that does not use an axis measures one thing many times. Told once a variant and axis,
 * of the first case that shows it. */
static void warn_of_dead_axes(const struct sweep *s)
{
    for (size_t i = 0; i < s->run->row_count; i++) {
        const struct ts_row *row = &s->run->rows[i];
        bool first = row->build.binary != NULL;

        for (size_t j = 0; j < i && first; j++)
            first = strcmp(s->run->rows[j].variant, row->variant) != 0 ||
                    strcmp(s->run->rows[j].benchmark, row->benchmark) != 0;
        for (size_t p = 0; p < row->params.count && first; p++) {
            const char *axis = row->params.items[p].name;
            if (changes_nothing(s, i, axis))
                ts_progress_say(s->progress,
                                "warning: %s: %s changes nothing in variant \"%s\": the device's "
                                "code and the geometry are the same for all its values",
                                row->benchmark, axis, row->variant);
        }
    }
}

int ts_sweep_digest(struct sweep *s, struct ts_err *err)
{
    struct phase_time unbooked = {0};
    const struct pool_task task = {"digest", make_job, decide, &unbooked, s->end_ns};
    size_t *todo = ts_alloc(s->unit_count, sizeof(*todo)), count = 0;
    int result;

    for (size_t i = 0; i < s->unit_count; i++) {
        if (unit_wants(s, &s->units[i]))
            todo[count++] = i;
    }
    result = ts_sweep_pool(s, &task, todo, count, err);
    free(todo);
    if (result == 0 && !ts_signal_pending())
        warn_of_dead_axes(s);
    return result;
}
