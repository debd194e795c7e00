/* sweep_prove.c: phase one: several workers side by side build and prove every configuration. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

#define CONFIGS_PER_WORKER 8
#define GPU_WORKERS 4
/* Proofs lost with their worker's connection are tried this often. */
#define UNANSWERED_LIMIT 3

#define NO_SEAT SIZE_MAX

/* A worker and what it has in hand. */
struct prover {
    size_t seat; /* NO_SEAT: its process is gone, the next job hires another */
    size_t unit;
};

struct proving {
    struct sweep *s;
    size_t
        *todo; /* indices of units, in order; a unit that was not answered comes again at the end */
    size_t todo_count, todo_capacity, next;
    int64_t done;
    struct prover provers[TS_CREW_SEATS];
    size_t prover_count;
    int64_t end_ns; /* of phase one's share of the budget */
};

static void add_todo(struct proving *p, size_t unit)
{
    TS_GROW(p->todo, p->todo_count, p->todo_capacity);
    p->todo[p->todo_count++] = unit;
}

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

/* ---- how many workers ---- */

/* Bytes of device memory that the largest proof of a space's first configuration takes, guards
 * aside. */
static int64_t proof_bytes(const struct sweep *s, const struct ts_space *space)
{
    int64_t most = 0;

    for (size_t i = 0; i < space->spec->check_size_count && space->config_count > 0; i++) {
        struct ts_instance instance = {0};
        struct ts_err ignored = {0};
        int64_t bytes = 0;

        if (!space->configs[0].admitted_check[i] ||
            ts_space_instance(space, &space->configs[0], &space->spec->check_sizes[i],
                              &s->run->device, &instance, &ignored) < 0)
            continue;
        for (size_t a = 0; a < instance.arg_count; a++)
            bytes += instance.args[a].count * (int64_t)ts_elem_table[instance.args[a].type].bytes;
        most = bytes > most ? bytes : most;
        ts_instance_free(&instance);
    }
    return most;
}

/* A worker keeps the buffers of a few sizes. */
static int64_t workers_in_memory(const struct sweep *s)
{
    int64_t memory = s->run->device.number[TS_DEVICE_GLOBAL_MEM_SIZE], most = 1;

    for (size_t i = 0; i < s->spec_count; i++) {
        int64_t bytes = proof_bytes(s, s->spaces[i]);
        most = bytes > most ? bytes : most;
    }
    return memory > 0 ? memory / 4 / most : TS_CREW_SEATS;
}

static size_t worker_count(const struct sweep *s, size_t units)
{
    int64_t count = s->options->jobs, cores = ts_json_int(s->run->host, "cores", 1);
    int64_t memory = workers_in_memory(s);

    if (count <= 0) {
        count = (int64_t)units / CONFIGS_PER_WORKER;
        count = count > cores ? cores : count;
        if (!strcmp(s->run->device.type, "gpu") && count > GPU_WORKERS)
            count = GPU_WORKERS;
        count = count > memory ? memory : count;
    }
    count = count > (int64_t)units ? (int64_t)units : count;
    count = count > TS_CREW_SEATS ? TS_CREW_SEATS : count;
    return count < 1 ? 1 : (size_t)count;
}

/* ---- handing out ---- */

static int hand_out(struct proving *p, struct prover *prover, struct ts_err *err)
{
    struct sweep *s = p->s;
    struct job_sources sources;
    struct ts_job job;
    int result;

    if (prover->seat == NO_SEAT && ts_crew_hire(s->crew, &prover->seat, err) < 0)
        return -1;
    prover->unit = p->todo[p->next++];
    result = ts_sweep_prove_job(s, &s->units[prover->unit], &job, &sources, err);
    if (result == 0)
        ts_crew_send(s->crew, prover->seat, &job, sources.digests, sources.texts, sources.count);
    ts_job_free(&job);
    return result;
}

static bool is_busy(const struct proving *p, const struct prover *prover)
{
    return prover->seat != NO_SEAT && ts_crew_is_hired(p->s->crew, prover->seat) &&
           !ts_crew_is_idle(p->s->crew, prover->seat);
}

/* A worker can die between jobs, too, without an answer to wait for: its seat is free then, and
 * another prover's next worker may sit down there. */
static void notice_lost(struct proving *p)
{
    for (size_t i = 0; i < p->prover_count; i++) {
        if (p->provers[i].seat != NO_SEAT && !ts_crew_is_hired(p->s->crew, p->provers[i].seat))
            p->provers[i].seat = NO_SEAT;
    }
}

static int fill_seats(struct proving *p, struct ts_err *err)
{
    notice_lost(p);
    for (size_t i = 0; i < p->prover_count && p->next < p->todo_count; i++) {
        if (!is_busy(p, &p->provers[i]) && hand_out(p, &p->provers[i], err) < 0)
            return -1;
    }
    return 0;
}

static bool any_busy(const struct proving *p)
{
    for (size_t i = 0; i < p->prover_count; i++) {
        if (is_busy(p, &p->provers[i]))
            return true;
    }
    return false;
}

/* ---- answers ---- */

/* A kernel that uses local memory and whose spec does not say so counts as plain, by the contract;
 * once a variant that is told, because a slip in the spec turns the verdict round. */
static void warn_of_undeclared(struct sweep *s, const struct unit *unit, const struct ts_row *row)
{
    const struct ts_space *space = s->spaces[unit->space];
    const struct ts_variant *variant = &space->spec->variants[space->configs[unit->config].variant];

    if (row->staged || variant->local_bytes || variant->staged || row->status != TS_OK ||
        row->geometry.local_bytes_reported <= 0)
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

static struct prover *find_prover(struct proving *p, size_t seat)
{
    for (size_t i = 0; i < p->prover_count; i++) {
        if (p->provers[i].seat == seat)
            return &p->provers[i];
    }
    return NULL;
}

static int take_reply(struct proving *p, const struct ts_reply *reply, struct ts_err *err)
{
    struct sweep *s = p->s;
    struct prover *prover = find_prover(p, reply->seat);
    struct unit *unit = &s->units[prover->unit];

    if (ts_sweep_count_lost(s, reply, err) < 0)
        return -1;
    if (reply->kind == TS_REPLY_DONE && reply->retire)
        ts_crew_dismiss(s->crew, reply->seat);
    if (reply->kind == TS_REPLY_LOST || reply->retire)
        prover->seat = NO_SEAT;
    ts_sweep_book(&s->proving, reply);
    if (ts_sweep_is_unanswered(reply) && ++unit->unanswered < UNANSWERED_LIMIT) {
        add_todo(p, prover->unit);
        return 0;
    }
    ts_progress_update(s->progress, ++p->done, NULL);
    return decide_rows(s, unit, reply, err);
}

/* The budget is over: what is in hand is given up, no row is blamed for it. */
static void give_up(struct proving *p)
{
    for (size_t i = 0; i < p->prover_count; i++) {
        if (!is_busy(p, &p->provers[i]))
            continue;
        ts_crew_dismiss(p->s->crew, p->provers[i].seat);
        p->provers[i].seat = NO_SEAT;
    }
}

static int prove_all(struct proving *p, struct ts_err *err)
{
    struct ts_reply reply;
    int result = fill_seats(p, err);

    while (result == 0 && any_busy(p) && !ts_signal_pending()) {
        ts_crew_wait(p->s->crew, p->end_ns, &reply);
        if (reply.kind == TS_REPLY_DONE || reply.kind == TS_REPLY_LOST)
            result = take_reply(p, &reply, err);
        ts_reply_free(&reply);
        if (ts_now_ns() >= p->end_ns)
            give_up(p);
        else if (result == 0)
            result = fill_seats(p, err);
    }
    return result;
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

static int hire_provers(struct proving *p, struct ts_err *err)
{
    struct sweep *s = p->s;

    if (ts_sweep_need_seat(s, err) < 0)
        return -1;
    p->prover_count = worker_count(s, p->todo_count);
    p->provers[0].seat = s->seat;
    for (size_t i = 1; i < p->prover_count; i++) {
        struct ts_err why = {0};

        if (ts_crew_hire(s->crew, &p->provers[i].seat, &why) == 0)
            continue;
        /* Short of processes or descriptors: slower with fewer, but no reason to stop. */
        ts_progress_say(s->progress, "warning: %zu workers instead of %zu: %s", i, p->prover_count,
                        why.text);
        p->prover_count = i;
    }
    return 0;
}

int ts_sweep_prove(struct sweep *s, struct ts_err *err)
{
    struct proving p = {.s = s, .end_ns = s->end_ns};
    int64_t begin = ts_now_ns();
    int result = 0;

    /* Half of a budget goes to proving at most; what is not proven is not timed. */
    if (s->end_ns != INT64_MAX)
        p.end_ns = begin + (s->end_ns - begin) / 2;
    if (journal_refused(s, err) < 0)
        return -1;
    for (size_t i = 0; i < s->unit_count; i++) {
        if (needs_proof(s, &s->units[i]))
            add_todo(&p, i);
    }
    ts_progress_phase(s->progress, "prove", (int64_t)p.todo_count);
    if (p.todo_count > 0)
        result = hire_provers(&p, err);
    if (result == 0 && p.todo_count > 0) {
        s->proving.workers = (int)p.prover_count;
        result = prove_all(&p, err);
        s->proving.wall_ns = ts_now_ns() - begin;
        /* The first stays: it will time. */
        s->seat = p.provers[0].seat;
        s->has_seat = s->seat != NO_SEAT;
        for (size_t i = 1; i < p.prover_count; i++) {
            if (p.provers[i].seat != NO_SEAT)
                ts_crew_dismiss(s->crew, p.provers[i].seat);
        }
    }
    free(p.todo);
    return result;
}
