/* compare_pair.c: rows of many runs to configurations with two sides, and what became of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "pair.h"

/* ---- the kinds of outcomes ---- */

const struct ts_outcome_kind ts_outcome_kinds[TS_OUTCOME_COUNT] = {
    [TS_OUT_FAILED] = {"failed", 0, TS_FAIL_FAILED, .bad = true, .listed = true},
    [TS_OUT_SLOWER] = {"slower", 1, TS_FAIL_SLOWER, .bad = true, .listed = true},
    [TS_OUT_VANISHED] = {"vanished", 2, TS_FAIL_VANISHED, .bad = true, .listed = true},
    [TS_OUT_INCONCLUSIVE] = {"inconclusive", 3, TS_FAIL_INCONCLUSIVE, .listed = true},
    [TS_OUT_NOT_MEASURED] = {"not-measured", 4, .listed = true},
    [TS_OUT_STILL_FAILING] = {"still-failing", 5},
    [TS_OUT_FASTER] = {"faster", 6, .good = true, .listed = true},
    [TS_OUT_FIXED] = {"fixed", 7, .good = true, .listed = true},
    [TS_OUT_APPEARED] = {"appeared", 8, .listed = true},
    [TS_OUT_SAME] = {"same", 9},
    [TS_OUT_SKIPPED] = {"skipped", 10},
};

/* What a side knows of a configuration. */
enum state { ABSENT, TIMED, UNMEASURED, IMPOSSIBLE, FAILING, STATE_COUNT };

/* [BASE][NEW]; timed on both sides is for the judge, unless (`ab`) no pair of visits is whole. */
static const enum ts_outcome outcome_table[STATE_COUNT][STATE_COUNT] = {
    [ABSENT] = {[ABSENT] = TS_OUT_SKIPPED,
                [TIMED] = TS_OUT_APPEARED,
                [UNMEASURED] = TS_OUT_NOT_MEASURED,
                [IMPOSSIBLE] = TS_OUT_SKIPPED,
                [FAILING] = TS_OUT_FAILED},
    [TIMED] = {[ABSENT] = TS_OUT_VANISHED,
               [TIMED] = TS_OUT_NOT_MEASURED,
               [UNMEASURED] = TS_OUT_NOT_MEASURED,
               [IMPOSSIBLE] = TS_OUT_VANISHED,
               [FAILING] = TS_OUT_FAILED},
    [UNMEASURED] = {[ABSENT] = TS_OUT_NOT_MEASURED,
                    [TIMED] = TS_OUT_NOT_MEASURED,
                    [UNMEASURED] = TS_OUT_NOT_MEASURED,
                    [IMPOSSIBLE] = TS_OUT_NOT_MEASURED,
                    [FAILING] = TS_OUT_FAILED},
    [IMPOSSIBLE] = {[ABSENT] = TS_OUT_SKIPPED,
                    [TIMED] = TS_OUT_APPEARED,
                    [UNMEASURED] = TS_OUT_NOT_MEASURED,
                    [IMPOSSIBLE] = TS_OUT_SKIPPED,
                    [FAILING] = TS_OUT_FAILED},
    [FAILING] = {[ABSENT] = TS_OUT_NOT_MEASURED,
                 [TIMED] = TS_OUT_FIXED,
                 [UNMEASURED] = TS_OUT_NOT_MEASURED,
                 [IMPOSSIBLE] = TS_OUT_NOT_MEASURED,
                 [FAILING] = TS_OUT_STILL_FAILING},
};

static enum state state_of(const struct ts_compare_row *row, enum ts_side side)
{
    const struct ts_compare_half *half = row->side[side];
    if (!half)
        return row->asked[side] ? ABSENT : UNMEASURED;
    const struct ts_row *facts = &half->row;
    if (ts_status_is_finding(facts->status))
        return FAILING;
    if (facts->status == TS_OK)
        return half->visit_count > 0 ? TIMED : UNMEASURED;
    bool budget = facts->reason.code && strcmp(facts->reason.code, "budget") == 0;
    return budget ? UNMEASURED : IMPOSSIBLE;
}

static const enum ts_outcome judged_outcomes[TS_JUDGED_COUNT] = {
    [TS_SLOWER] = TS_OUT_SLOWER,
    [TS_FASTER] = TS_OUT_FASTER,
    [TS_SAME] = TS_OUT_SAME,
    [TS_INCONCLUSIVE] = TS_OUT_INCONCLUSIVE,
};

void ts_compare_set_outcomes(struct ts_compare *compare)
{
    for (size_t i = 0; i < compare->row_count; i++) {
        struct ts_compare_row *row = &compare->rows[i];
        row->outcome = row->judged ? judged_outcomes[row->judged->verdict]
                                   : outcome_table[state_of(row, TS_BASE)][state_of(row, TS_NEW)];
        compare->count[row->outcome]++;
    }
}

/* ---- the same configuration in many runs ---- */

struct ref {
    char *case_key, *key; /* owned */
    size_t case_order, order;
    const struct ts_row *row;
    const struct ts_compare_run *run;
};

static char *key_of(const struct ts_row *row)
{
    struct ts_text text = {0};
    ts_row_map_key(row, &text);
    return text.text;
}

static char *case_key_of(const struct ts_row *row)
{
    static char none[] = "";
    struct ts_row names = {
        .benchmark = row->benchmark, .variant = none, .size = row->size, .problem = row->problem};
    return key_of(&names);
}

static int by_whole(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_case_key(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    int order = by_whole(x->run->device, y->run->device);
    if (order == 0)
        order = strcmp(x->case_key, y->case_key);
    return order ? order : by_whole(x->order, y->order);
}

static int by_key(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    int order = by_whole(x->run->device, y->run->device);
    if (order == 0)
        order = by_whole(x->case_order, y->case_order);
    if (order == 0)
        order = strcmp(x->key, y->key);
    return order ? order : by_whole(x->order, y->order);
}

static bool same_case(const struct ref *a, const struct ref *b)
{
    return a->run->device == b->run->device && strcmp(a->case_key, b->case_key) == 0;
}

static bool same_key(const struct ref *a, const struct ref *b)
{
    return a->run->device == b->run->device && strcmp(a->key, b->key) == 0;
}

/* All rows of all runs; those of one configuration stand together, in the order of the runs, cases
 * in the order in which they were first seen. */
static struct ref *collect(const struct ts_compare *compare, size_t *count)
{
    size_t total = 0, used = 0;
    for (size_t r = 0; r < compare->run_count; r++)
        total += compare->runs[r].run->row_count;
    struct ref *refs = ts_alloc(total + 1, sizeof(*refs));
    for (size_t r = 0; r < compare->run_count; r++)
        for (size_t i = 0; i < compare->runs[r].run->row_count; i++) {
            const struct ts_row *row = &compare->runs[r].run->rows[i];
            refs[used] = (struct ref){.case_key = case_key_of(row),
                                      .key = key_of(row),
                                      .order = used,
                                      .row = row,
                                      .run = &compare->runs[r]};
            used++;
        }
    qsort(refs, used, sizeof(*refs), by_case_key);
    for (size_t i = 0; i < used; i++)
        refs[i].case_order =
            i > 0 && same_case(&refs[i - 1], &refs[i]) ? refs[i - 1].case_order : refs[i].order;
    qsort(refs, used, sizeof(*refs), by_key);
    *count = used;
    return refs;
}

/* ---- one side of a configuration ---- */

static size_t fresh_count(const struct ts_row *row)
{
    return row->time.visit_count - row->time.fresh_from;
}

/* The halves of a configuration: a failure in any run counts as one; else ok where any run timed
 * it. */
static void choose_facts(struct ts_compare_half *half, const struct ref *refs, size_t count)
{
    const struct ts_row *chosen = refs[count - 1].row;
    for (size_t i = count; i-- > 0;) {
        const struct ts_row *row = refs[i].row;
        bool better = ts_status_is_finding(row->status) && !ts_status_is_finding(chosen->status);
        bool timed = row->status == TS_OK && row->time.visit_count > 0;
        bool chosen_timed = chosen->status == TS_OK && chosen->time.visit_count > 0;
        if (better || (timed && !chosen_timed && !ts_status_is_finding(chosen->status)))
            chosen = row;
    }
    half->row = *chosen;
    half->row.time.visits = NULL;
    half->row.time.visit_count = half->row.time.visit_capacity = 0;
    half->run_count = count;
    half->confirmed = true;
    for (size_t i = 0; i < count; i++)
        half->confirmed = half->confirmed && fresh_count(refs[i].row) >= 2;
}

static void add_visits(struct ts_time *time, const struct ts_row *row, size_t from, size_t to)
{
    for (size_t v = from; v < to; v++) {
        TS_GROW(time->visits, time->visit_count, time->visit_capacity);
        time->visits[time->visit_count++] = row->time.visits[v];
    }
}

static void make_half(struct ts_compare_half *half, const struct ref *refs, size_t count)
{
    choose_facts(half, refs, count);
    if (half->row.status != TS_OK)
        return;
    struct ts_time *time = &half->row.time;
    for (size_t i = 0; i < count; i++)
        add_visits(time, refs[i].row, 0, refs[i].row->time.fresh_from);
    time->fresh_from = time->visit_count;
    for (size_t i = 0; i < count; i++)
        add_visits(time, refs[i].row, refs[i].row->time.fresh_from, refs[i].row->time.visit_count);
}

double ts_compare_time_ns(const struct ts_compare_half *half)
{
    if (!half || half->visit_count == 0)
        return NAN;
    double *logs = ts_alloc(half->visit_count, sizeof(*logs));
    for (size_t i = 0; i < half->visit_count; i++)
        logs[i] = half->visits[i].log_ns;
    double median = exp(ts_median(logs, half->visit_count));
    free(logs);
    return median;
}

/* What the clock's tick leaves open in a visit's median, as a variance of its logarithm: that of a
 * uniform error of one tick. No row is more exact, however often it repeats itself. */
static double tick_variance(const struct ref *refs, size_t count, double time_ns)
{
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        double tick_ns = (double)refs[i].run->run->clock.tick_ns;
        double batch = (double)(refs[i].row->time.batch > 0 ? refs[i].row->time.batch : 1);
        double share = tick_ns > 0.0 ? tick_ns / batch / time_ns : 0.0;
        worst = fmax(worst, share * share / 12.0);
    }
    return worst;
}

/* The visits that are compared: with the confirmation's where both sides have one, else those of
 * the sweep alone. Like with like: a confirmation has fewer neighbours and a warmer device. */
static void take_visits(struct ts_compare_half *half, const struct ref *refs, size_t count,
                        bool confirmed)
{
    half->visits = ts_alloc(half->row.time.visit_count + 1, sizeof(*half->visits));
    for (size_t i = 0; i < count && half->row.status == TS_OK; i++) {
        const struct ts_row *row = refs[i].row;
        size_t swept = row->time.fresh_from > 0 ? row->time.fresh_from : SIZE_MAX;
        for (size_t v = 0; v < row->time.visit_count; v++) {
            if ((v >= swept && !confirmed) || row->time.visits[v].count == 0)
                continue;
            half->visits[half->visit_count++] =
                (struct ts_judge_visit){log(ts_visit_median(&row->time.visits[v])),
                                        refs[i].run->in_group, row->time.visits[v].worker};
        }
    }
    half->least_variance = tick_variance(refs, count, ts_compare_time_ns(half));
}

/* Of `ab`, which has one run a device. */
static void take_pairs(struct ts_compare_row *row)
{
    const struct ts_row *a = &row->side[TS_BASE]->row, *b = &row->side[TS_NEW]->row;
    row->pairs = ts_alloc(b->time.visit_count + 1, sizeof(*row->pairs));
    if (a->status == TS_OK && b->status == TS_OK)
        row->pair_count = ts_pair_ratios(a, b, row->pairs);
}

/* ---- the control ---- */

static bool same_geometry(const struct ts_geometry *a, const struct ts_geometry *b)
{
    if (a->dims != b->dims || a->local_bytes != b->local_bytes)
        return false;
    for (int d = 0; d < a->dims && d < 3; d++)
        if (a->global[d] != b->global[d] || a->local[d] != b->local[d])
            return false;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Every variable of a is in b with the same value; where a cache lies changes no code. */
static bool environment_within(const cJSON *a, const cJSON *b)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, a)
    {
        if (!strstr(item->string, "CACHE") && !same_text(ts_json_string(a, item->string, NULL),
                                                         ts_json_string(b, item->string, NULL)))
            return false;
    }
    return true;
}

/* The same compiler with the same environment: what goes in alike comes out alike. */
static bool same_compiler(const struct ts_run *a, const struct ts_run *b)
{
    return same_text(a->device.driver, b->device.driver) &&
           same_text(a->device.version, b->device.version) &&
           same_text(a->device.platform_version, b->device.platform_version) &&
           environment_within(a->environment, b->environment) &&
           environment_within(b->environment, a->environment);
}

/* Another device is no control, whatever it runs: how much faster it is, is the question. Nor are
 * the sides of `ab` where B has workers of its own: what surrounds the code is then what is tried.
 */
static void find_control(struct ts_compare_row *row, const struct ref *refs, size_t count)
{
    const struct ts_run *last = refs[count - 1].run->run;
    row->same_binary = row->same_build = !ts_json_get(last->sides, "measured");
    for (size_t i = 1; i < count; i++) {
        const struct ts_row *a = refs[0].row, *b = refs[i].row;
        bool geometry = same_geometry(&a->geometry, &b->geometry) &&
                        same_text(refs[0].run->run->device.name, refs[i].run->run->device.name);
        bool digests = a->build.binary && b->build.binary;
        row->same_binary =
            row->same_binary && geometry && same_text(a->build.binary, b->build.binary);
        /* Two digests that differ are the last word. */
        row->same_build = row->same_build && geometry && !digests &&
                          same_text(a->source, b->source) &&
                          same_text(a->build.options, b->build.options) &&
                          same_compiler(refs[0].run->run, refs[i].run->run);
    }
}

/* ---- doors ---- */

static struct ts_compare_half *add_half(struct ts_compare *compare, const struct ref *refs,
                                        size_t count)
{
    if (count == 0)
        return NULL;
    struct ts_compare_half *half = &compare->halves[compare->half_count++];
    make_half(half, refs, count);
    return half;
}

static void add_row(struct ts_compare *compare, const struct ref *refs, size_t count)
{
    struct ts_compare_row *row = &compare->rows[compare->row_count++];
    size_t base = 0;
    while (base < count && refs[base].run->side == TS_BASE)
        base++;
    row->side[TS_BASE] = add_half(compare, refs, base);
    row->side[TS_NEW] = add_half(compare, refs + base, count - base);
    bool confirmed = row->side[TS_BASE] && row->side[TS_NEW] && row->side[TS_BASE]->confirmed &&
                     row->side[TS_NEW]->confirmed;
    if (row->side[TS_BASE])
        take_visits(row->side[TS_BASE], refs, base, confirmed);
    if (row->side[TS_NEW])
        take_visits(row->side[TS_NEW], refs + base, count - base, confirmed);
    if (compare->paired && row->side[TS_BASE] && row->side[TS_NEW])
        take_pairs(row);
    row->names = row->side[TS_NEW] ? &row->side[TS_NEW]->row : &row->side[TS_BASE]->row;
    row->device = refs[0].run->device;
    for (int s = TS_BASE; s <= TS_NEW; s++)
        row->asked[s] = !compare->devices[row->device].partial[s];
    find_control(row, refs, count);
}

static void fold(struct ts_compare_half *half, enum ts_level level)
{
    half->clusters = ts_alloc(half->visit_count + 1, sizeof(*half->clusters));
    half->cluster_count = ts_judge_fold(half->visits, half->visit_count, level, half->clusters);
}

static bool has_processes(const struct ts_compare_half *half)
{
    for (size_t i = 1; i < half->visit_count; i++)
        if (half->visits[i].run == half->visits[0].run &&
            half->visits[i].process != half->visits[0].process)
            return true;
    return false;
}

static bool is_timed(const struct ts_compare *compare, const struct ts_compare_row *row)
{
    return state_of(row, TS_BASE) == TIMED && state_of(row, TS_NEW) == TIMED &&
           (!compare->paired || row->pair_count > 0);
}

static enum ts_level level_of(const struct ts_compare *compare, size_t device)
{
    const struct ts_compare_device *d = &compare->devices[device];
    if (compare->paired)
        return TS_BY_PROCESS; /* of each, the median of its pairs */
    if (d->run_count[TS_BASE] > 1 || d->run_count[TS_NEW] > 1)
        return TS_BY_RUN;
    for (size_t i = 0; i < compare->row_count; i++) {
        const struct ts_compare_row *row = &compare->rows[i];
        if (row->device == device && is_timed(compare, row) &&
            (has_processes(row->side[TS_BASE]) || has_processes(row->side[TS_NEW])))
            return TS_BY_PROCESS;
    }
    return TS_BY_VISIT;
}

static enum ts_why why_unlike(const struct ts_compare_row *row)
{
    const struct ts_row *base = &row->side[TS_BASE]->row, *fresh = &row->side[TS_NEW]->row;
    if (base->time.host_clock != fresh->time.host_clock)
        return TS_WHY_CLOCK;
    if (base->time.cache != fresh->time.cache)
        return TS_WHY_CACHE;
    return base->work.elements != fresh->work.elements && base->work.elements >= 0 &&
                   fresh->work.elements >= 0
               ? TS_WHY_WORK
               : TS_WHY_NONE;
}

/* The sides' clusters are kept to be told; what is judged are the ratios. */
static void fill_paired(struct ts_judge_pair *pair, struct ts_compare_row *row)
{
    row->pair_clusters = ts_alloc(row->pair_count + 1, sizeof(*row->pair_clusters));
    size_t count = ts_judge_fold(row->pairs, row->pair_count, TS_BY_PROCESS, row->pair_clusters);
    pair->side[TS_BASE] = (struct ts_judge_side){NULL, 0};
    pair->side[TS_NEW] = (struct ts_judge_side){row->pair_clusters, count};
    pair->least_variance = row->side[TS_BASE]->least_variance + row->side[TS_NEW]->least_variance;
}

static void fill_pair(struct ts_judge_pair *pair, struct ts_compare_row *row, enum ts_level level)
{
    for (int s = TS_BASE; s <= TS_NEW; s++) {
        fold(row->side[s], level);
        pair->side[s] = (struct ts_judge_side){row->side[s]->clusters, row->side[s]->cluster_count};
        pair->least_variance = fmax(pair->least_variance, row->side[s]->least_variance);
    }
    if (row->pairs)
        fill_paired(pair, row);
    pair->control = row->same_binary || row->same_build;
    pair->unlike = why_unlike(row);
    row->judged = pair;
}

static void fill_group(struct ts_compare *compare, size_t device, struct ts_judge_pair *pairs)
{
    struct ts_compare_device *d = &compare->devices[device];
    d->level = level_of(compare, device);
    d->group.pairs = pairs;
    d->group.run_count = d->run_count[TS_BASE] + d->run_count[TS_NEW];
    d->group.run_side = d->run_side;
    d->group.paired = compare->paired;
    for (size_t i = 0; i < compare->row_count; i++) {
        struct ts_compare_row *row = &compare->rows[i];
        if (row->device != device || !is_timed(compare, row))
            continue;
        fill_pair(&pairs[d->group.count++], row, d->level);
        d->same_binary += row->same_binary;
        d->same_build += !row->same_binary && row->same_build;
    }
}

void ts_compare_pair_rows(struct ts_compare *compare)
{
    size_t count, used = 0;
    struct ref *refs = collect(compare, &count);
    compare->halves = ts_alloc(count + 1, sizeof(*compare->halves));
    compare->rows = ts_alloc(count + 1, sizeof(*compare->rows));
    compare->pairs = ts_alloc(count + 1, sizeof(*compare->pairs));
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && same_key(&refs[begin], &refs[end]); end++)
            continue;
        add_row(compare, refs + begin, end - begin);
    }
    for (size_t d = 0; d < compare->device_count; d++) {
        fill_group(compare, d, compare->pairs + used);
        used += compare->devices[d].group.count;
    }
    for (size_t i = 0; i < count; i++) {
        free(refs[i].case_key);
        free(refs[i].key);
    }
    free(refs);
}
