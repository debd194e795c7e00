/* sweep_time.c: phase two: one worker alone on the device, case by case, rounds of visits in random
 * order: as many as were asked for, more where the interval is wide, and the finalists' own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "stats.h"
#include "sweep_private.h"
#include "table.h"
#include "verdict.h"

#define CONFIRMING_VISITS 8
/* More visits for narrower intervals: at most so many of a row, in at most this part of the time
 * that the visits asked for took, but for a second. */
#define MOST_VISITS 40
#define EXTRA_SHARE 0.5
#define EXTRA_LEAST_NS SECOND_NS

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

/* ---- rounds ---- */

static int make_visit(struct timing *t, const struct visit *visit, struct ts_err *err)
{
    if (ts_sweep_visit(t->s, visit, err) < 0)
        return -1;
    note_best(t, row_at(t, visit->row));
    return ts_sweep_watch(t->s, visit->row, err);
}

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

/* Under a budget any visit may be the last. */
static bool is_hurried(const struct sweep *s)
{
    return s->end_ns != INT64_MAX;
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
        bool prove_last = last || is_hurried(s);
        struct visit visit = {
            .row = order[i], .first = is_first(row_at(t, order[i])), .last = prove_last};

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
            struct visit visit = {.row = finalists[i], .last = round == rounds - 1, .fresh = true};
            size_t fresh = row->time.visit_count - row->time.fresh_from;
            if (row->status == TS_OK && fresh <= (size_t)round)
                result = make_visit(t, &visit, err);
        }
    }
    return result;
}

/* ---- more visits where the interval is wide ---- */

static enum ts_stop stop_of(const struct sweep *s, const struct ts_row *row)
{
    bool quick = s->options->selection.quick;
    struct ts_stop_rule rule = {
        .precision = s->precision,
        .least = (size_t)s->visits,
        .most = quick ? (size_t)s->visits : MOST_VISITS,
    };
    size_t count = 0;
    double *medians = ts_row_visit_medians(row, 0, &count);
    enum ts_stop stop = ts_measure_stop(&rule, medians, count);

    free(medians);
    return stop;
}

/* Rows that want another visit, into order; the others are told what ended them. */
static size_t list_wanting(struct timing *t, size_t *order)
{
    size_t count = 0;

    for (size_t i = 0; i < t->span->count; i++) {
        struct ts_row *row = row_at(t, t->span->first + i);

        if (row->status != TS_OK || row->time.visit_count == 0 ||
            row->time.fresh_from < row->time.visit_count)
            continue;
        row->time.stop = stop_of(t->s, row);
        if (row->time.stop == TS_STOP_NONE)
            order[count++] = t->span->first + i;
    }
    return count;
}

/* After its last visit a row must still be right: those with more visits than planned are looked at
 * again. */
static int prove_again(struct timing *t, const bool *revisited, struct ts_err *err)
{
    int result = 0;

    for (size_t i = 0; i < t->span->count && result == 0 && !ts_signal_pending(); i++) {
        struct visit visit = {.row = t->span->first + i, .last = true, .no_samples = true};
        if (revisited[i] && row_at(t, visit.row)->status == TS_OK)
            result = ts_sweep_visit(t->s, &visit, err);
    }
    return result;
}

/* Rounds over the rows whose interval is wide. */
static int make_more(struct timing *t, struct ts_err *err)
{
    size_t *order = ts_alloc(t->span->count, sizeof(*order)), count;
    bool *revisited = ts_alloc(t->span->count, sizeof(*revisited));
    int result = 0;

    for (int round = t->s->visits; (count = list_wanting(t, order)) > 0 && !is_over(t); round++) {
        struct ts_rng rng = {ts_hash3(t->s->seed, t->span->first, (uint64_t)(2000 + round))};

        ts_rng_shuffle(&rng, order, count);
        for (size_t i = 0; i < count && result == 0 && !is_over(t); i++) {
            struct visit visit = {
                .row = order[i], .first = is_first(row_at(t, order[i])), .last = is_hurried(t->s)};
            revisited[order[i] - t->span->first] = true;
            result = make_visit(t, &visit, err);
        }
        if (result < 0)
            break;
    }
    if (result == 0 && !is_hurried(t->s))
        result = prove_again(t, revisited, err);
    for (size_t i = 0; i < t->span->count; i++) {
        struct ts_row *row = row_at(t, t->span->first + i);
        if (row->status == TS_OK && row->time.visit_count > 0 && row->time.stop == TS_STOP_NONE)
            row->time.stop = TS_STOP_TIME;
    }
    free(order);
    free(revisited);
    return result;
}

/* ---- cases ---- */

static bool has_visits_to_make(const struct timing *t)
{
    for (size_t i = 0; i < t->span->count; i++) {
        if (wants_visit(t->s, t->span->first + i, t->s->visits - 1))
            return true;
    }
    return false;
}

/* The visits that excursions took back. It ends, because only a part of all can be taken back. */
static int make_owed(struct timing *t, struct ts_err *err)
{
    int result = ts_sweep_watch_settle(t->s, true, err);

    while (result == 0 && has_visits_to_make(t) && !is_over(t)) {
        result = make_round(t, t->s->visits - 1, true, err);
        if (result == 0)
            result = ts_sweep_watch_settle(t->s, true, err);
    }
    return result;
}

/* Of a budget that does not reach for everything, the first round gets the most, so that many
 * configurations are seen, but not all: a verdict needs several visits of what was seen, and a
 * confirmation. */
static int64_t part_of(int64_t begin_ns, int64_t end_ns, double share)
{
    return end_ns == INT64_MAX ? end_ns : begin_ns + (int64_t)((double)(end_ns - begin_ns) * share);
}

static int make_more_in_time(struct timing *t, int64_t begin_ns, int64_t end_ns, struct ts_err *err)
{
    int64_t now_ns = ts_now_ns(), extra_ns = (int64_t)(EXTRA_SHARE * (double)(now_ns - begin_ns));
    int64_t until_ns = now_ns + (extra_ns > EXTRA_LEAST_NS ? extra_ns : EXTRA_LEAST_NS);
    int64_t share_ns = part_of(begin_ns, end_ns, 0.8);

    t->end_ns = until_ns < share_ns ? until_ns : share_ns;
    return make_more(t, err);
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
    if (result == 0)
        result = make_owed(t, err);
    if (result == 0)
        result = make_more_in_time(t, begin, end_ns, err);
    t->end_ns = end_ns;
    if (result == 0 && !is_over(t))
        result = confirm(t, err);
    return result < 0 ? result : ts_sweep_watch_settle(s, false, err);
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
    result = ts_sweep_watch_begin(s, total, err);
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
