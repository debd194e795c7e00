/* sweep_prove.c: phase one: several workers side by side build and prove every configuration. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

#define CONFIGS_PER_WORKER 8
#define GPU_WORKERS 4

struct proving {
    struct sweep *s;
    size_t *todo; /* indices of units */
    size_t todo_count, next, done;
    size_t at_seat[64]; /* unit in hand */
    size_t seats[64];
    bool again[64]; /* the unit of this one of `seats` is to be proven once more, by a fresh worker
                     */
    size_t again_unit[64];
    size_t seat_count;
    int64_t end_ns; /* of phase one's share of the budget */
};

static bool needs_proof(const struct sweep *s, const struct unit *unit)
{
    const struct ts_space *space = s->spaces[unit->space];
    const struct ts_config *config = &space->configs[unit->config];
    bool admitted = false;

    for (size_t i = 0; i < space->spec->check_size_count; i++)
        admitted |= config->admitted_check[i];
    if (!admitted)
        return false; /* proven on the timed size alone */
    for (size_t i = 0; i < unit->row_count; i++) {
        if (s->run->rows[unit->rows[i]].status == TS_PENDING)
            return true;
    }
    return false;
}

static int worker_count(const struct sweep *s, size_t units)
{
    int64_t cores = ts_json_int(s->run->host, "cores", 1);
    int64_t count = s->options->jobs;

    if (count <= 0) {
        count = (int64_t)units / CONFIGS_PER_WORKER;
        if (count > cores)
            count = cores;
        if (!strcmp(s->run->device.type, "gpu") && count > GPU_WORKERS)
            count = GPU_WORKERS;
    }
    if (count > (int64_t)units)
        count = (int64_t)units;
    return count < 1 ? 1 : count > 60 ? 60 : (int)count;
}

static int hand_out(struct proving *p, size_t seat, size_t unit, struct ts_err *err)
{
    struct job_sources sources;
    struct ts_job job;
    int result = ts_sweep_prove_job(p->s, &p->s->units[unit], &job, &sources, err);

    if (result == 0) {
        ts_crew_send(p->s->crew, seat, &job, sources.digests, sources.texts, sources.count);
        p->at_seat[seat] = unit;
    }
    ts_job_free(&job);
    return result;
}

/* What a proof told is true of every size of the configuration. */
static int take_reply(struct proving *p, const struct ts_reply *reply, struct ts_err *err)
{
    struct sweep *s = p->s;
    struct unit *unit = &s->units[p->at_seat[reply->seat]];

    for (size_t i = 0; i < unit->row_count; i++) {
        struct ts_row *row = &s->run->rows[unit->rows[i]];

        if (row->status != TS_PENDING)
            continue;
        if (reply->kind == TS_REPLY_DONE)
            ts_sweep_merge(row, reply->line, false);
        ts_sweep_take_talk(row, reply->talk);
        if (!ts_sweep_take_failure(row, reply))
            ts_row_set_status(row, TS_OK, NULL, "%s", "");
        if (s->journal && ts_journal_row(s->journal, row, err) < 0)
            return -1;
    }
    ts_sweep_book(&s->proving, reply);
    p->done++;
    ts_progress_update(s->progress, (int64_t)p->done, NULL);
    return 0;
}

/* Is there something for worker i? What is to be repeated comes first. */
static bool next_unit(struct proving *p, size_t i, size_t *unit)
{
    if (ts_now_ns() >= p->end_ns)
        return false;
    if (p->again[i]) {
        p->again[i] = false;
        *unit = p->again_unit[i];
        return true;
    }
    if (p->next == p->todo_count)
        return false;
    *unit = p->todo[p->next++];
    return true;
}

static int fill_seats(struct proving *p, struct ts_err *err)
{
    for (size_t i = 0; i < p->seat_count; i++) {
        size_t unit;

        if (ts_crew_is_hired(p->s->crew, p->seats[i]) && !ts_crew_is_idle(p->s->crew, p->seats[i]))
            continue;
        if (!next_unit(p, i, &unit))
            continue;
        if (!ts_crew_is_hired(p->s->crew, p->seats[i]) &&
            ts_crew_hire(p->s->crew, &p->seats[i], err) < 0)
            return -1;
        if (hand_out(p, p->seats[i], unit, err) < 0)
            return -1;
    }
    return 0;
}

/* Puts the unit back for a fresh worker in the same place; false when it has been repeated already.
 */
static bool repeat(struct proving *p, const struct ts_reply *reply)
{
    size_t unit = p->at_seat[reply->seat];

    if (!ts_sweep_is_doubtful(reply) || p->s->units[unit].repeated)
        return false;
    for (size_t i = 0; i < p->seat_count; i++) {
        if (p->seats[i] != reply->seat)
            continue;
        p->s->units[unit].repeated = true;
        p->again[i] = true;
        p->again_unit[i] = unit;
        ts_crew_dismiss(p->s->crew, reply->seat);
        return true;
    }
    return false;
}

static bool is_busy(const struct proving *p)
{
    for (size_t i = 0; i < p->seat_count; i++) {
        if (ts_crew_is_hired(p->s->crew, p->seats[i]) && !ts_crew_is_idle(p->s->crew, p->seats[i]))
            return true;
    }
    return false;
}

static int prove_all(struct proving *p, struct ts_err *err)
{
    struct ts_reply reply;
    int result = fill_seats(p, err);

    while (result == 0 && is_busy(p) && !ts_signal_pending()) {
        ts_crew_wait(p->s->crew, INT64_MAX, &reply);
        if (reply.kind == TS_REPLY_DONE || reply.kind == TS_REPLY_LOST) {
            bool again = repeat(p, &reply);
            if (!again)
                result = take_reply(p, &reply, err);
            if (result == 0)
                result = ts_sweep_count_lost(p->s, &reply, err);
            if (reply.kind == TS_REPLY_DONE && reply.retire && !again)
                ts_crew_dismiss(p->s->crew, reply.seat);
        }
        ts_reply_free(&reply);
        if (result == 0)
            result = fill_seats(p, err);
    }
    return result;
}

/* Row lines for what the device's limits decided: they are final without any worker. */
static int journal_refused(struct sweep *s, struct ts_err *err)
{
    for (size_t i = 0; i < s->run->row_count; i++) {
        const struct ts_row *row = &s->run->rows[i];
        if (s->journal && row->status != TS_PENDING && row->time.visit_count == 0 &&
            row->build.build_ns < 0 && row->status == TS_SKIPPED &&
            ts_journal_row(s->journal, row, err) < 0)
            return -1;
    }
    return 0;
}

int ts_sweep_prove(struct sweep *s, struct ts_err *err)
{
    struct proving p = {.s = s, .end_ns = s->end_ns};
    int64_t now = ts_now_ns();
    int result = -1;

    /* Half of a budget goes to proving at most; what is not proven is not timed. */
    if (s->end_ns != INT64_MAX)
        p.end_ns = now + (s->end_ns - now) / 2;
    if (journal_refused(s, err) < 0)
        return -1;
    p.todo = ts_alloc(s->unit_count, sizeof(*p.todo));
    for (size_t i = 0; i < s->unit_count; i++) {
        if (needs_proof(s, &s->units[i]))
            p.todo[p.todo_count++] = i;
    }
    ts_progress_phase(s->progress, "prove", (int64_t)p.todo_count);
    if (p.todo_count > 0) {
        if (ts_sweep_need_seat(s, err) < 0)
            goto out;
        p.seat_count = (size_t)worker_count(s, p.todo_count);
        p.seats[0] = s->seat;
        for (size_t i = 1; i < p.seat_count; i++) {
            if (ts_crew_hire(s->crew, &p.seats[i], err) < 0)
                goto out;
        }
        s->proving.workers = (int)p.seat_count;
        result = prove_all(&p, err);
        s->proving.wall_ns = ts_now_ns() - now;
        s->seat = p.seats[0];
        for (size_t i = 1; i < p.seat_count; i++)
            ts_crew_dismiss(s->crew, p.seats[i]);
    } else {
        result = 0;
    }
out:
    free(p.todo);
    return result;
}
