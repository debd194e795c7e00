/* sweep_time.c: phase two: one worker alone on the device, case by case, rounds of visits in random
 * order: as many as were asked for, more where the interval is wide, and the finalists' own. Of
 * `ab`, both sides of a configuration are visited next to each other, in random order, and every
 * round by fresh processes: the ratio within a pair of visits is then one piece of evidence, free
 * of what changes over time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"
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
    struct entry *entries; /* of the case */
    size_t entry_count;
    int64_t case_end_ns; /* of the case's share of the budget; INT64_MAX: none */
    int64_t end_ns;      /* of the case's share of the budget, less what a later step needs */
    int64_t done;        /* visits, over all cases */
    double best_ns;      /* fastest median of a visit in this case so far */
    char *best;          /* in words, for the progress line; NULL */
};

static struct ts_row *row_at(const struct timing *t, size_t index)
{
    return &t->s->run->rows[index];
}

static void take_case(struct timing *t, const struct case_span *span)
{
    free(t->entries);
    t->span = span;
    t->entries = ts_sweep_entries(t->s, span, &t->entry_count);
}

/* In one round over the case. */
static int64_t visits_to_make(const struct timing *t, int round)
{
    return ts_sweep_visits_to_make(t->s, t->entries, t->entry_count, round);
}

/* Time that the proofs take which the case's rows owe: after its last visit a row must still be
 * right. */
static int64_t owed_ns(const struct sweep *s)
{
    return s->owed.proofs > 0 ? s->owed.rows * (s->owed.ns / s->owed.proofs) : 0;
}

static bool is_over(const struct timing *t)
{
    int64_t now_ns = ts_now_ns();

    return ts_signal_pending() || now_ns >= t->end_ns ||
           (t->case_end_ns != INT64_MAX && now_ns >= t->case_end_ns - owed_ns(t->s));
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

static void count_done(struct timing *t, size_t visits)
{
    t->done += (int64_t)visits;
    ts_progress_update(t->s->progress, t->done, t->best);
}

/* ---- rounds ---- */

/* Before its first visit a row is proven at this size, also when an earlier process of a resumed
 * run proved it: that costs one launch and saves a belief. */
static bool is_first(const struct sweep *s, size_t row)
{
    return s->run->rows[row].time.visit_count == 0 && !s->proofs[row].done;
}

/* One visit to each live row, in random order, and then a look at the device: one between them
 * would stand between the pair. as: all but the row. */
static int visit_once(struct timing *t, size_t *live, size_t count, struct visit as,
                      struct ts_rng *rng, struct ts_err *err)
{
    struct sweep *s = t->s;
    size_t made = 0, kept[2], kept_count = 0, before;
    int result = 0;

    if (count == 2)
        as.pair = ts_pair_next(&s->run->rows[live[0]], &s->run->rows[live[1]]);
    ts_rng_shuffle(rng, live, count);
    while (made < count && result == 0 && !is_over(t)) {
        as.row = live[made++];
        before = s->run->rows[as.row].time.visit_count;
        as.first = is_first(s, as.row);
        result = ts_sweep_visit(s, &as, err);
        note_best(t, &s->run->rows[as.row]);
        if (s->run->rows[as.row].time.visit_count > before)
            kept[kept_count++] = as.row;
    }
    return result < 0 ? result : ts_sweep_watch(s, kept, kept_count, err);
}

/* So many pairs of visits a process, where they take no longer together: what a neighbour did to a
 * few of them is then not in their median. */
#define PAIRS_A_TURN 5
#define TURN_NS (SECOND_NS / 10)

/* Time that the samples of the row's last visit took; a batch that a file told may be of any
 * length.
 */
static double last_visit_ns(const struct ts_row *row)
{
    double sum = 0.0;

    if (row->time.visit_count == 0)
        return 0;
    const struct ts_visit *visit = &row->time.visits[row->time.visit_count - 1];
    for (size_t i = 0; i < visit->count; i++)
        sum += (double)visit->sample_ns[i] * (double)row->time.batch;
    return sum;
}

static int visit_entry(struct timing *t, const struct entry *entry, struct visit as,
                       struct ts_rng *rng, struct ts_err *err)
{
    const struct ts_row *rows = t->s->run->rows;
    size_t live[2], count;
    double spent_ns = 0.0, pair_ns = 0.0;
    int result = 0;

    for (int pair = 0; pair < PAIRS_A_TURN && result == 0 && !is_over(t); pair++) {
        count = ts_sweep_live_rows(t->s, entry, live);
        if (pair > 0 && (count < 2 || spent_ns + pair_ns > (double)TURN_NS))
            break;
        result = visit_once(t, live, count, as, rng, err);
        pair_ns = count == 2 ? last_visit_ns(&rows[live[0]]) + last_visit_ns(&rows[live[1]]) : 0.0;
        spent_ns += pair_ns;
    }
    return result;
}

/* Visits the entries in the order given. last: their proof after timing is due. */
static int visit_entries(struct timing *t, const size_t *order, size_t count, bool last,
                         struct ts_rng *rng, struct ts_err *err)
{
    const struct visit as = {.pair = -1, .last = last};
    int result = 0;

    for (size_t i = 0; i < count && result == 0 && !is_over(t); i++) {
        const struct entry *entry = &t->entries[order[i]];
        size_t live[2], count_live = ts_sweep_live_rows(t->s, entry, live);
        result = visit_entry(t, entry, as, rng, err);
        count_done(t, count_live);
    }
    return result;
}

/* Of `ab` every round is made by fresh processes. */
static int begin_round(struct sweep *s, struct ts_err *err)
{
    if (s->options->ab)
        ts_sweep_change_workers(s);
    else
        ts_sweep_renew_workers(s);
    return ts_sweep_peaks_again(s, err);
}

static int make_round(struct timing *t, int round, bool last, struct ts_err *err)
{
    struct sweep *s = t->s;
    struct ts_rng rng = {ts_hash3(s->seed, t->span->first, (uint64_t)round)};
    size_t *order = ts_alloc(t->entry_count, sizeof(*order)), count = 0;
    int result;

    for (size_t i = 0; i < t->entry_count; i++) {
        if (ts_sweep_wants_visit(s, &t->entries[i], round))
            order[count++] = i;
    }
    ts_rng_shuffle(&rng, order, count);
    result = count > 0 ? begin_round(s, err) : 0;
    if (result == 0)
        result = visit_entries(t, order, count, last, &rng, err);
    free(order);
    return result;
}

static int fresh_count(const struct ts_row *row)
{
    return (int)(row->time.visit_count - row->time.fresh_from);
}

/* A resumed run has made some already. */
static int64_t confirmations_left(const struct timing *t, const size_t *finalists, size_t count,
                                  int rounds)
{
    int64_t left = 0;

    for (size_t i = 0; i < count; i++) {
        int made = fresh_count(row_at(t, finalists[i]));
        left += made < rounds ? rounds - made : 0;
    }
    return left;
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
    ts_progress_extend(s->progress, "confirm", confirmations_left(t, finalists, count, rounds));
    for (int round = 0; round < rounds && result == 0; round++) {
        struct ts_rng rng = {ts_hash3(s->seed, t->span->first, (uint64_t)(1000 + round))};
        ts_rng_shuffle(&rng, finalists, count);
        if (round == rounds / 2)
            ts_sweep_change_workers(s);
        else
            ts_sweep_renew_workers(s);
        for (size_t i = 0; i < count && result == 0 && !is_over(t); i++) {
            const struct ts_row *row = row_at(t, finalists[i]);
            struct visit visit = {
                .row = finalists[i], .pair = -1, .last = round == rounds - 1, .fresh = true};
            if (row->status != TS_OK || fresh_count(row) > round)
                continue;
            result = ts_sweep_visit(s, &visit, err);
            count_done(t, 1);
            if (result == 0)
                result = ts_sweep_watch(s, &finalists[i], 1, err);
        }
    }
    return result;
}

/* ---- more visits where the interval is wide ---- */

static enum ts_stop stop_of(const struct sweep *s, const struct entry *entry)
{
    bool quick = s->options->selection.quick;
    struct ts_stop_rule rule = {
        .precision = s->precision,
        .least = (size_t)s->visits,
        .most = quick ? (size_t)s->visits : MOST_VISITS,
    };
    size_t count = 0;
    double *values = ts_sweep_evidence(s, entry, &count);
    enum ts_stop stop = ts_measure_stop(&rule, values, count);

    free(values);
    return stop;
}

/* Sets what ended the visits of the entry's rows that have some; false: none has. */
static bool set_stop(struct sweep *s, const struct entry *entry, enum ts_stop stop, bool open_only)
{
    bool any = false;

    for (size_t i = 0; i < entry->count; i++) {
        struct ts_row *row = &s->run->rows[entry->rows[i]];

        if (row->status != TS_OK || row->time.visit_count == 0 ||
            (open_only ? row->time.stop != TS_STOP_NONE
                       : row->time.fresh_from < row->time.visit_count))
            continue;
        row->time.stop = stop;
        any = true;
    }
    return any;
}

/* Entries that want another visit, into order; the others are told what ended them. */
static size_t list_wanting(struct timing *t, size_t *order)
{
    size_t count = 0;

    for (size_t i = 0; i < t->entry_count; i++) {
        enum ts_stop stop = stop_of(t->s, &t->entries[i]);

        if (set_stop(t->s, &t->entries[i], stop, false) && stop == TS_STOP_NONE)
            order[count++] = i;
    }
    return count;
}

/* What an earlier process of a resumed run visited it may not have proven after. */
static void begin_owing(struct timing *t)
{
    struct sweep *s = t->s;

    s->owed.rows = 0;
    for (size_t i = 0; i < t->entry_count; i++) {
        for (size_t r = 0; r < t->entries[i].count; r++) {
            size_t row = t->entries[i].rows[r];
            s->proofs[row].owed =
                row_at(t, row)->status == TS_OK && row_at(t, row)->time.visit_count > 0;
            s->owed.rows += s->proofs[row].owed;
        }
    }
}

/* The proofs that the case's rows owe. */
static int prove_owed(struct timing *t, struct ts_err *err)
{
    int result = 0;

    for (size_t i = 0; i < t->entry_count; i++) {
        const struct entry *entry = &t->entries[i];

        for (size_t r = 0; r < entry->count; r++) {
            struct visit visit = {
                .row = entry->rows[r], .pair = -1, .last = true, .no_samples = true};

            if (result == 0 && t->s->proofs[visit.row].owed && !ts_signal_pending() &&
                row_at(t, visit.row)->status == TS_OK)
                result = ts_sweep_visit(t->s, &visit, err);
        }
    }
    return result;
}

/* Rounds over the entries whose interval is wide. */
static int make_more(struct timing *t, struct ts_err *err)
{
    struct sweep *s = t->s;
    size_t *order = ts_alloc(t->entry_count, sizeof(*order)), count;
    int result = 0;

    for (int round = s->visits;
         (count = list_wanting(t, order)) > 0 && !is_over(t) && !s->calm.never; round++) {
        struct ts_rng rng = {ts_hash3(s->seed, t->span->first, (uint64_t)(2000 + round))};

        ts_rng_shuffle(&rng, order, count);
        for (size_t i = 0; i < count; i++) {
            size_t live[2];
            ts_progress_extend(s->progress, "time",
                               (int64_t)ts_sweep_live_rows(s, &t->entries[order[i]], live));
        }
        result = begin_round(s, err);
        if (result == 0)
            result = visit_entries(t, order, count, false, &rng, err);
        if (result < 0)
            break;
    }
    for (size_t i = 0; i < t->entry_count; i++)
        set_stop(s, &t->entries[i], TS_STOP_TIME, true);
    free(order);
    return result;
}

/* ---- cases ---- */

/* The visits that excursions took back, and starved ones. It ends, because only a part of all can
 * be taken back, and so many starved ones made again. */
static int make_owed(struct timing *t, struct ts_err *err)
{
    int last = t->s->visits - 1, result = ts_sweep_watch_settle(t->s, true, err);
    int64_t owed;

    while (result == 0 && (owed = visits_to_make(t, last)) > 0 && !is_over(t)) {
        ts_progress_extend(t->s->progress, "time", owed);
        result = make_round(t, last, true, err);
        if (result == 0)
            result = ts_sweep_watch_settle(t->s, true, err);
    }
    ts_sweep_watch_believe(t->s);
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

/* The visits asked for are spread over as many processes: what differs between processes, such as
 * where code and buffers lie, is noise, too. A quick answer makes do with two. */
static bool wants_processes(const struct sweep *s, int round)
{
    return s->options->selection.quick ? round == (s->visits + 1) / 2 : round > 0;
}

static int time_case(struct timing *t, int64_t end_ns, struct ts_err *err)
{
    struct sweep *s = t->s;
    int64_t begin = ts_now_ns();
    int result = 0;

    t->case_end_ns = end_ns;
    begin_owing(t);
    if (visits_to_make(t, s->visits - 1) > 0) {
        for (int round = 0; round < s->visits && result == 0; round++) {
            t->end_ns = part_of(begin, end_ns, round == 0 ? 0.5 : 0.8);
            if (wants_processes(s, round))
                ts_sweep_change_workers(s);
            result = make_round(t, round, round == s->visits - 1, err);
        }
    }
    if (result == 0)
        result = make_owed(t, err);
    if (result == 0)
        result = make_more_in_time(t, begin, end_ns, err);
    if (result == 0)
        result = prove_owed(t, err);
    t->end_ns = end_ns;
    /* `ab` asks what changed, not which is fastest. */
    if (result == 0 && !is_over(t) && !s->options->ab)
        result = confirm(t, err);
    if (result == 0)
        result = prove_owed(t, err); /* of finalists that time cut off */
    if (result == 0)
        result = ts_sweep_watch_settle(s, false, err);
    ts_sweep_watch_believe(s);
    return result;
}

/* Visits that were asked for and are still to be made. */
static int64_t visits_left(struct timing *t)
{
    struct sweep *s = t->s;
    int64_t total = 0;

    for (size_t c = 0; c < s->case_count; c++) {
        take_case(t, &s->cases[c]);
        for (int round = 0; round < s->visits; round++)
            total += visits_to_make(t, round);
    }
    return total;
}

int ts_sweep_time(struct sweep *s, struct ts_err *err)
{
    struct timing t = {.s = s};
    int64_t begin = ts_now_ns(), total = visits_left(&t);
    int result;

    ts_sweep_calm_begin(s, total);
    ts_progress_phase(s->progress, "time", total);
    result = ts_sweep_watch_begin(s, total, err);
    for (size_t i = 0; i < s->case_count && result == 0 && !ts_signal_pending(); i++) {
        int64_t now = ts_now_ns();
        take_case(&t, &s->cases[i]);
        ts_progress_extend(s->progress, "time", 0);
        t.best_ns = INFINITY;
        /* An even share of what is left. */
        result = time_case(&t, part_of(now, s->end_ns, 1.0 / (double)(s->case_count - i)), err);
    }
    free(t.entries);
    free(t.best);
    s->timing.workers = 1;
    s->timing.wall_ns = ts_now_ns() - begin;
    return result;
}
