/* sweep_time.c: phase two: one worker alone on the device, case by case, rounds of visits in random
 * order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "sweep_private.h"
#include "table.h"
#include "verdict.h"

#define CONFIRMING_VISITS 8

/* A visit asked for. */
struct visit {
    size_t row;
    bool first, last; /* prove before, prove after */
    bool fresh;       /* part of the confirmation */
};

struct timing {
    struct sweep *s;
    const struct case_span *span;
    int64_t end_ns; /* of the case's share of the budget, less what a later step needs */
    int64_t done;   /* visits, over all cases */
    double best_ns; /* fastest median of a visit in this case so far */
    char *best;     /* in words, for the progress line; NULL */
};

static struct ts_row *row_at(const struct timing *t, size_t index)
{
    return &t->s->run->rows[index];
}

static bool is_over(const struct timing *t)
{
    return ts_signal_pending() || ts_now_ns() >= t->end_ns;
}

/* The progress line's "best": by single visits, so it costs nothing and decides nothing. */
static void note_best(struct timing *t, const struct ts_row *row)
{
    struct ts_text text = {0};
    char human[TS_HUMAN_ROOM];
    size_t count = 0;
    double *medians;

    if (row->status != TS_OK || row->time.visit_count == 0)
        return;
    medians = ts_row_visit_medians(row, row->time.visit_count - 1, &count);
    if (count == 1 && medians[0] < t->best_ns) {
        t->best_ns = medians[0];
        ts_text_printf(&text, "%s %s ", row->benchmark, row->variant);
        ts_values_print(&row->params, "", " ", &text);
        ts_text_printf(&text, " %s", ts_human_time(t->best_ns, human));
        free(t->best);
        t->best = text.text;
    }
    free(medians);
}

/* ---- one visit ---- */

static int add_samples(struct sweep *s, struct ts_row *row, const struct visit *visit,
                       const cJSON *line, int worker, struct ts_err *err)
{
    const cJSON *object = ts_json_get(line, "visit");
    const cJSON *samples = ts_json_get(object, "sample_ns");
    size_t count = (size_t)cJSON_GetArraySize(samples), i = 0;
    int64_t *sample_ns = ts_alloc(count + 1, sizeof(*sample_ns));
    const cJSON *item;

    cJSON_ArrayForEach(item, samples)
        ts_json_whole(item, &sample_ns[i++]); /* reply.h has looked at them */
    row->time.host_clock = !s->run->clock.event;
    if (row->time.first_ns < 0)
        row->time.first_ns = ts_json_int(object, "first_ns", -1);
    row->time.batch = ts_json_int(object, "batch", 1);
    if (visit->fresh)
        ts_row_add_fresh_visit(row, sample_ns, count, worker);
    else
        ts_row_add_visit(row, sample_ns, count, worker);
    free(sample_ns);
    return s->journal ? ts_journal_visit(s->journal, row, err) : 0;
}

/* A row that fails has no time: what was measured before is not believed. */
static void drop_visits(struct ts_row *row)
{
    for (size_t i = 0; i < row->time.visit_count; i++)
        free(row->time.visits[i].sample_ns);
    row->time.visit_count = row->time.fresh_from = 0;
}

static int take_reply(struct sweep *s, const struct visit *visit, const struct ts_reply *reply,
                      struct ts_err *err)
{
    struct ts_row *row = &s->run->rows[visit->row];
    bool failed;

    if (reply->kind == TS_REPLY_DONE)
        ts_sweep_merge(row, reply->line, true);
    ts_sweep_take_talk(row, reply->talk);
    failed = ts_sweep_take_failure(row, reply);
    if (failed)
        drop_visits(row);
    else if (row->status == TS_PENDING)
        ts_row_set_status(row, TS_OK, NULL, "%s", "");
    if ((failed || visit->first) && s->journal && ts_journal_row(s->journal, row, err) < 0)
        return -1;
    return failed ? 0 : add_samples(s, row, visit, reply->line, reply->ordinal, err);
}

/* Sends the job for a visit to the timing worker and waits for its answer. */
static int ask(struct timing *t, const struct visit *visit, bool prove_first,
               struct ts_reply *reply, struct ts_err *err)
{
    struct sweep *s = t->s;
    struct job_sources sources;
    struct ts_job job;
    int result;

    memset(reply, 0, sizeof(*reply));
    if (ts_sweep_need_seat(s, err) < 0)
        return -1;
    result = ts_sweep_time_job(s, visit->row, &job, &sources, err);
    if (result == 0) {
        const struct ts_row *row = row_at(t, visit->row);
        job.prove_first = prove_first;
        job.prove_last = visit->last;
        job.batch = row->time.visit_count > 0 ? row->time.batch : 0;
        ts_crew_send(s->crew, s->seat, &job, sources.digests, sources.texts, sources.count);
        ts_crew_wait(s->crew, s->end_ns, reply);
        ts_sweep_book(&s->timing, reply);
    }
    ts_job_free(&job);
    return result;
}

/* A visit that was not answered says nothing of the row: it is made again, until no worker can be
 * kept. */
static int make_visit(struct timing *t, const struct visit *visit, struct ts_err *err)
{
    struct sweep *s = t->s;
    struct ts_reply reply;
    int result = ask(t, visit, visit->first, &reply, err);

    while (result == 0 && ts_sweep_is_unanswered(&reply)) {
        result = ts_sweep_count_lost(s, &reply, err);
        ts_reply_free(&reply);
        if (result == 0)
            result = ask(t, visit, visit->first, &reply, err);
    }
    if (result == 0 && reply.kind == TS_REPLY_NONE) {
        ts_crew_dismiss(s->crew, s->seat); /* the budget is over in the middle of it */
    } else if (result == 0 && reply.kind != TS_REPLY_SIGNAL) {
        result = take_reply(s, visit, &reply, err);
        if (result == 0)
            result = ts_sweep_count_lost(s, &reply, err);
        if (reply.kind == TS_REPLY_DONE && reply.retire)
            ts_crew_dismiss(s->crew, s->seat);
        note_best(t, row_at(t, visit->row));
    }
    ts_reply_free(&reply);
    return result;
}

/* ---- rounds ---- */

/* Before its first visit a row is proven at this size, also when an earlier process of a resumed
 * run proved it: that costs one launch and saves a belief. */
static bool is_first(const struct ts_row *row)
{
    return row->time.visit_count == 0;
}

/* Only what is proven is timed: on the check sizes in phase one or, where none admits the
 * configuration, at the timed size in its first visit. */
static bool wants_visit(const struct sweep *s, size_t index, int round)
{
    const struct ts_row *row = &s->run->rows[index];
    bool proven = row->status == TS_OK ||
                  (row->status == TS_PENDING && s->units[s->row_unit[index]].timed_size_only);

    return proven && row->time.visit_count <= (size_t)round;
}

static int make_round(struct timing *t, int round, bool last, struct ts_err *err)
{
    struct sweep *s = t->s;
    struct ts_rng rng = {ts_hash3(s->seed, t->span->first, (uint64_t)round)};
    size_t *order = ts_alloc(t->span->count, sizeof(*order)), count = 0;
    int result = 0;

    for (size_t i = 0; i < t->span->count; i++) {
        if (wants_visit(s, t->span->first + i, round))
            order[count++] = t->span->first + i;
    }
    ts_rng_shuffle(&rng, order, count);
    for (size_t i = 0; i < count && result == 0 && !is_over(t); i++) {
        /* Under a budget any visit may be the last. */
        bool prove_last = last || s->end_ns != INT64_MAX;
        struct visit visit = {order[i], is_first(row_at(t, order[i])), prove_last, false};

        result = make_visit(t, &visit, err);
        ts_progress_update(s->progress, ++t->done, t->best);
    }
    free(order);
    return result;
}

/* A fresh process for the second half of the visits, so that the interval holds what changes
 * between processes: code placement, buffers, context. */
static void change_worker(struct sweep *s)
{
    if (s->has_seat && ts_crew_is_hired(s->crew, s->seat))
        ts_crew_dismiss(s->crew, s->seat);
    s->has_seat = false;
}

/* The finalists again, so that the speed-up rests on samples that did not choose them. There are
 * few of them and the answer hangs on them: with seven visits Student's quantile is 2.4, with three
 * it is 4.3. */
static int confirm(struct timing *t, struct ts_err *err)
{
    struct sweep *s = t->s;
    int rounds = s->visits < CONFIRMING_VISITS ? CONFIRMING_VISITS : s->visits;
    const struct ts_row *of = row_at(t, t->span->first);
    size_t finalists[8], count;
    int result = 0;

    count = ts_verdict_finalists(s->run->rows, s->run->row_count, of, finalists, 8);
    for (int round = 0; round < rounds && result == 0; round++) {
        struct ts_rng rng = {ts_hash3(s->seed, t->span->first, (uint64_t)(1000 + round))};
        ts_rng_shuffle(&rng, finalists, count);
        if (round == rounds / 2)
            change_worker(s);
        for (size_t i = 0; i < count && result == 0 && !is_over(t); i++) {
            const struct ts_row *row = row_at(t, finalists[i]);
            struct visit visit = {finalists[i], false, round == rounds - 1, true};
            size_t fresh = row->time.visit_count - row->time.fresh_from;
            if (row->status == TS_OK && fresh <= (size_t)round)
                result = make_visit(t, &visit, err);
        }
    }
    return result;
}

static bool has_visits_to_make(const struct timing *t)
{
    for (size_t i = 0; i < t->span->count; i++) {
        if (wants_visit(t->s, t->span->first + i, t->s->visits - 1))
            return true;
    }
    return false;
}

/* Of a budget that does not reach for everything, the first round gets the most, so that many
 * configurations are seen, but not all: a verdict needs several visits of what was seen, and a
 * confirmation. */
static int64_t part_of(int64_t begin_ns, int64_t end_ns, double share)
{
    return end_ns == INT64_MAX ? end_ns : begin_ns + (int64_t)((double)(end_ns - begin_ns) * share);
}

static int time_case(struct timing *t, int64_t end_ns, struct ts_err *err)
{
    struct sweep *s = t->s;
    int64_t begin = ts_now_ns();
    int half = (s->visits + 1) / 2, result = 0;

    if (has_visits_to_make(t)) {
        for (int round = 0; round < s->visits && result == 0; round++) {
            t->end_ns = part_of(begin, end_ns, round == 0 ? 0.5 : 0.8);
            if (round == half)
                change_worker(s);
            result = make_round(t, round, round == s->visits - 1, err);
        }
    }
    t->end_ns = end_ns;
    if (result == 0 && !is_over(t))
        result = confirm(t, err);
    return result;
}

int ts_sweep_time(struct sweep *s, struct ts_err *err)
{
    struct timing t = {.s = s};
    int64_t total = 0, begin = ts_now_ns();
    int result = 0;

    for (size_t i = 0; i < s->run->row_count; i++) {
        for (int round = (int)s->run->rows[i].time.visit_count; round < s->visits; round++)
            total += wants_visit(s, i, round);
    }
    ts_progress_phase(s->progress, "time", total);
    for (size_t i = 0; i < s->case_count && result == 0 && !ts_signal_pending(); i++) {
        int64_t now = ts_now_ns();
        t.span = &s->cases[i];
        t.best_ns = INFINITY;
        /* An even share of what is left. */
        result = time_case(&t, part_of(now, s->end_ns, 1.0 / (double)(s->case_count - i)), err);
    }
    free(t.best);
    s->timing.workers = 1;
    s->timing.wall_ns = ts_now_ns() - begin;
    return result;
}
