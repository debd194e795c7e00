/* sweep_pool.c: several workers side by side go through a list of units. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

#define CONFIGS_PER_WORKER 8
#define GPU_WORKERS 4
/* Proofs lost with their worker's connection are tried this often. */
#define UNANSWERED_LIMIT 3

#define NO_SEAT SIZE_MAX

/* A worker and what it has in hand. */
struct pool_hand {
    size_t seat; /* NO_SEAT: its process is gone, the next job hires another */
    size_t unit;
};

struct pool {
    const struct pool_task *task;
    struct sweep *s;
    struct team *team;
    size_t
        *todo; /* indices of units, in order; a unit that was not answered comes again at the end */
    size_t todo_count, todo_capacity, next;
    int64_t done;
    struct pool_hand hands[TS_CREW_SEATS];
    size_t hand_count;
};

static void add_todo(struct pool *p, size_t unit)
{
    TS_GROW(p->todo, p->todo_count, p->todo_capacity);
    p->todo[p->todo_count++] = unit;
}

/* ---- how many workers ---- */

/* Bytes of device memory that the largest proof of a space's first configuration takes, guards
 * aside. */
static int64_t proof_bytes(const struct team *team, const struct ts_space *space)
{
    int64_t most = 0;

    for (size_t i = 0; i < space->spec->check_sizes.count && space->config_count > 0; i++) {
        struct ts_instance instance = {0};
        struct ts_err ignored = {0};
        int64_t bytes = 0;

        if (!space->configs[0].admitted_check[i] ||
            ts_space_instance(space, &space->configs[0], &space->spec->check_sizes.items[i],
                              team->device, &instance, &ignored) < 0)
            continue;
        for (size_t a = 0; a < instance.arg_count; a++)
            bytes += instance.args[a].count * (int64_t)ts_elem_table[instance.args[a].type].bytes;
        most = bytes > most ? bytes : most;
        ts_instance_free(&instance);
    }
    return most;
}

/* A worker keeps the buffers of a few sizes. */
static int64_t workers_in_memory(const struct sweep *s, const struct team *team)
{
    int64_t memory = team->device->number[TS_DEVICE_GLOBAL_MEM_SIZE], most = 1;

    for (size_t i = 0; i < s->spec_count; i++) {
        int64_t bytes = proof_bytes(team, s->spaces[i]);
        most = bytes > most ? bytes : most;
    }
    return memory > 0 ? memory / 4 / most : TS_CREW_SEATS;
}

static size_t worker_count(const struct sweep *s, const struct team *team, size_t units)
{
    int64_t count = s->options->jobs, cores = ts_json_int(s->run->host, "cores", 1);
    int64_t memory = workers_in_memory(s, team);

    if (count <= 0) {
        count = (int64_t)units / CONFIGS_PER_WORKER;
        count = count > cores ? cores : count;
        if (!strcmp(team->device->type, "gpu") && count > GPU_WORKERS)
            count = GPU_WORKERS;
        count = count > memory ? memory : count;
    }
    count = count > (int64_t)units ? (int64_t)units : count;
    count = count > TS_CREW_SEATS ? TS_CREW_SEATS : count;
    return count < 1 ? 1 : (size_t)count;
}

/* ---- handing out ---- */

static int hand_out(struct pool *p, struct pool_hand *hand, struct ts_err *err)
{
    struct sweep *s = p->s;
    struct job_sources sources;
    struct ts_job job;
    int result;

    if (hand->seat == NO_SEAT && ts_crew_hire(p->team->crew, &hand->seat, err) < 0)
        return -1;
    hand->unit = p->todo[p->next++];
    result = p->task->make_job(s, &s->units[hand->unit], &job, &sources, err);
    if (result == 0)
        ts_crew_send(p->team->crew, hand->seat, &job, sources.digests, sources.texts,
                     sources.count);
    ts_job_free(&job);
    return result;
}

static bool is_busy(const struct pool *p, const struct pool_hand *hand)
{
    return hand->seat != NO_SEAT && ts_crew_is_hired(p->team->crew, hand->seat) &&
           !ts_crew_is_idle(p->team->crew, hand->seat);
}

/* A worker can die between jobs, too, without an answer to wait for: its seat is free then, and
 * another hand's next worker may sit down there. */
static void notice_lost(struct pool *p)
{
    for (size_t i = 0; i < p->hand_count; i++) {
        if (p->hands[i].seat != NO_SEAT && !ts_crew_is_hired(p->team->crew, p->hands[i].seat))
            p->hands[i].seat = NO_SEAT;
    }
}

static int fill_seats(struct pool *p, struct ts_err *err)
{
    notice_lost(p);
    for (size_t i = 0; i < p->hand_count && p->next < p->todo_count; i++) {
        if (!is_busy(p, &p->hands[i]) && hand_out(p, &p->hands[i], err) < 0)
            return -1;
    }
    return 0;
}

static bool any_busy(const struct pool *p)
{
    for (size_t i = 0; i < p->hand_count; i++) {
        if (is_busy(p, &p->hands[i]))
            return true;
    }
    return false;
}

/* ---- answers ---- */

static struct pool_hand *find_hand(struct pool *p, size_t seat)
{
    for (size_t i = 0; i < p->hand_count; i++) {
        if (p->hands[i].seat == seat)
            return &p->hands[i];
    }
    return NULL;
}

static int take_reply(struct pool *p, const struct ts_reply *reply, struct ts_err *err)
{
    struct sweep *s = p->s;
    struct pool_hand *hand = find_hand(p, reply->seat);
    struct unit *unit = &s->units[hand->unit];

    if (ts_sweep_count_lost(s, reply, err) < 0)
        return -1;
    if (reply->kind == TS_REPLY_DONE && reply->retire)
        ts_crew_dismiss(p->team->crew, reply->seat);
    if (reply->kind == TS_REPLY_LOST || reply->retire)
        hand->seat = NO_SEAT;
    ts_sweep_book(p->task->book, reply);
    if (ts_sweep_is_unanswered(reply) && ++unit->unanswered < UNANSWERED_LIMIT) {
        add_todo(p, hand->unit);
        return 0;
    }
    ts_progress_update(s->progress, ++p->done, NULL);
    return p->task->decide(s, unit, reply, err);
}

/* The budget is over: what is in hand is given up, no row is blamed for it. */
static void give_up(struct pool *p)
{
    for (size_t i = 0; i < p->hand_count; i++) {
        if (!is_busy(p, &p->hands[i]))
            continue;
        ts_crew_dismiss(p->team->crew, p->hands[i].seat);
        p->hands[i].seat = NO_SEAT;
    }
}

static int go_through(struct pool *p, struct ts_err *err)
{
    struct ts_reply reply;
    int result = fill_seats(p, err);

    while (result == 0 && any_busy(p) && !ts_signal_pending()) {
        ts_crew_wait(p->team->crew, p->task->end_ns, &reply);
        if (reply.kind == TS_REPLY_DONE || reply.kind == TS_REPLY_LOST)
            result = take_reply(p, &reply, err);
        ts_reply_free(&reply);
        if (ts_now_ns() >= p->task->end_ns)
            give_up(p);
        else if (result == 0)
            result = fill_seats(p, err);
    }
    return result;
}

static int hire_hands(struct pool *p, struct ts_err *err)
{
    struct sweep *s = p->s;

    if (ts_sweep_need_seat(p->team, err) < 0)
        return -1;
    p->hand_count = worker_count(s, p->team, p->todo_count);
    p->hands[0].seat = p->team->seat;
    for (size_t i = 1; i < p->hand_count; i++) {
        struct ts_err why = {0};

        if (ts_crew_hire(p->team->crew, &p->hands[i].seat, &why) == 0)
            continue;
        /* Short of processes or descriptors: slower with fewer, but no reason to stop. */
        ts_progress_say(s->progress, "warning: %zu workers instead of %zu: %s", i, p->hand_count,
                        why.text);
        p->hand_count = i;
    }
    return 0;
}

/* Goes through the units of one team; done: of all so far, for the progress line. */
static int work_with(struct sweep *s, struct team *team, const struct pool_task *task,
                     const size_t *units, size_t count, int64_t *done, struct ts_err *err)
{
    struct pool p = {.s = s, .team = team, .task = task, .done = *done};
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        s->units[units[i]].unanswered = 0;
        if (ts_sweep_team(s, s->units[units[i]].space) == team)
            add_todo(&p, units[i]);
    }
    if (p.todo_count > 0)
        result = hire_hands(&p, err);
    if (p.todo_count > 0 && result == 0) {
        task->book->workers = (int)p.hand_count;
        result = go_through(&p, err);
        /* The first stays: it will time. */
        team->seat = p.hands[0].seat;
        team->has_seat = team->seat != NO_SEAT;
        for (size_t i = 1; i < p.hand_count; i++) {
            if (p.hands[i].seat != NO_SEAT)
                ts_crew_dismiss(team->crew, p.hands[i].seat);
        }
    }
    *done = p.done;
    free(p.todo);
    return result;
}

int ts_sweep_pool(struct sweep *s, const struct pool_task *task, const size_t *units, size_t count,
                  struct ts_err *err)
{
    int64_t begin = ts_now_ns(), done = 0;
    int result;

    ts_progress_phase(s->progress, task->phase, (int64_t)count);
    result = work_with(s, &s->teams[0], task, units, count, &done, err);
    if (result == 0 && s->own_workers && !ts_signal_pending() && ts_now_ns() < task->end_ns)
        result = work_with(s, &s->teams[1], task, units, count, &done, err);
    if (count > 0)
        task->book->wall_ns = ts_now_ns() - begin;
    return result;
}
