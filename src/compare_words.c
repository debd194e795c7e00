/* compare_words.c: the sentences of a comparison, for text and Markdown alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "table.h"

/* ---- order ---- */

/* Slow-downs to more than ten times are not worth a number. */
#define BLIND 9.0

struct place {
    const struct ts_compare_row *row;
    size_t index;
};

/* Larger is worse: how much longer NEW takes; 1 where there is no ratio. */
static double ratio_of(const struct ts_compare_row *row)
{
    return row->judged ? row->judged->ratio.mid : 1.0;
}

static int by_badness(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = (int)y->row->fails - (int)x->row->fails;
    if (order == 0)
        order = ts_outcome_kinds[x->row->outcome].rank - ts_outcome_kinds[y->row->outcome].rank;
    if (order == 0)
        order = (ratio_of(x->row) < ratio_of(y->row)) - (ratio_of(x->row) > ratio_of(y->row));
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Inconclusive rows are told where something seems to have changed, else they are only counted. */
static bool is_listed(const struct ts_compare *compare, const struct ts_compare_row *row)
{
    if (row->outcome == TS_OUT_INCONCLUSIVE && !row->fails) {
        const struct ts_judge_group *group = &compare->devices[row->device].group;
        double machine = group->shift_too_large && !group->paired ? group->shift : 0.0;
        return fabs(log(row->judged->ratio.mid) - machine) > log1p(compare->options.threshold);
    }
    bool told =
        (row->side[TS_BASE] || row->asked[TS_BASE]) && (row->side[TS_NEW] || row->asked[TS_NEW]);
    return row->fails || (told && ts_outcome_kinds[row->outcome].listed);
}

size_t *ts_compare_order(const struct ts_compare *compare, bool all, size_t *count)
{
    struct place *places = ts_alloc(compare->row_count + 1, sizeof(*places));
    size_t *order = ts_alloc(compare->row_count + 1, sizeof(*order));
    *count = 0;
    for (size_t i = 0; i < compare->row_count; i++)
        if (all || is_listed(compare, &compare->rows[i]))
            places[(*count)++] = (struct place){&compare->rows[i], i};
    qsort(places, *count, sizeof(*places), by_badness);
    for (size_t i = 0; i < *count; i++)
        order[i] = places[i].index;
    free(places);
    return order;
}

/* ---- a row ---- */

const char *ts_compare_side_name(const struct ts_compare *compare, enum ts_side side)
{
    static const char *const names[2][2] = {{"BASE", "NEW"}, {"A", "B"}};
    return names[compare->paired][side];
}

void ts_compare_row_name(const struct ts_compare *compare, const struct ts_compare_row *row,
                         struct ts_text *out)
{
    const struct ts_compare_device *device = &compare->devices[row->device];
    const struct ts_run *run =
        device->example[TS_NEW] ? device->example[TS_NEW] : device->example[TS_BASE];
    ts_row_key(row->names, out);
    if (compare->device_count > 1)
        ts_text_printf(out, " on %s", run->device.name);
}

static const char *const why_words[] = {
    [TS_WHY_NONE] = "",
    [TS_WHY_NOISE] = "too noisy to tell",
    [TS_WHY_SINGLE] = "one cluster a side gives no interval: more visits or runs are needed",
    [TS_WHY_SHIFT] = "the machine moved too much to be trusted",
    [TS_WHY_CLOCK] = "an event clock against a host clock",
    [TS_WHY_WORK] = "a launch does another amount of work",
    [TS_WHY_CACHE] = "a warm cache against a cold one",
    [TS_WHY_THRESHOLD] = "a change is shown, but not whether beyond the threshold",
};

static size_t tested_count(const struct ts_compare *compare)
{
    size_t tested = 0;
    for (size_t i = 0; i < compare->row_count; i++)
        tested += compare->rows[i].judged && isfinite(compare->rows[i].judged->p_adjusted);
    return tested;
}

static void add_judged(const struct ts_compare *compare, const struct ts_compare_row *row,
                       struct ts_text *out)
{
    const struct ts_judge_pair *pair = row->judged;
    char base[TS_HUMAN_ROOM], fresh[TS_HUMAN_ROOM];
    ts_text_printf(out, "%.3f times as long", pair->ratio.mid);
    if (pair->ratio.known)
        ts_text_printf(out, " (95 %%: %.3f to %.3f; threshold %.3g", pair->ratio.low,
                       pair->ratio.high, 1.0 + compare->options.threshold);
    else
        ts_text_printf(out, " (no interval; threshold %.3g", 1.0 + compare->options.threshold);
    if (isfinite(pair->p_adjusted))
        ts_text_printf(out, "; p %s%.2g, corrected for %zu", pair->p_adjusted < 1e-6 ? "< " : "",
                       fmax(pair->p_adjusted, 1e-6), tested_count(compare));
    ts_text_printf(out, "), %s -> %s", ts_human_time(ts_compare_time_ns(row->side[TS_BASE]), base),
                   ts_human_time(ts_compare_time_ns(row->side[TS_NEW]), fresh));
    if (pair->why != TS_WHY_NONE)
        ts_text_printf(out, "; %s", why_words[pair->why]);
}

/* "ok 8.31 ms", "wrong: mismatch: ...", "not there" */
static void add_half(const struct ts_compare_half *half, struct ts_text *out)
{
    char time[TS_HUMAN_ROOM];
    if (!half)
        ts_text_puts(out, "not there");
    else if (half->row.status == TS_OK && half->visit_count > 0)
        ts_text_printf(out, "ok, %s", ts_human_time(ts_compare_time_ns(half), time));
    else if (half->row.status == TS_OK)
        ts_text_puts(out, "proven, not timed");
    else
        ts_text_printf(out, "%s (%s%s%s)", ts_status_name(half->row.status),
                       half->row.reason.code ? half->row.reason.code : "?",
                       half->row.reason.text && half->row.reason.text[0] ? ": " : "",
                       half->row.reason.text ? half->row.reason.text : "");
}

void ts_compare_row_words(const struct ts_compare *compare, const struct ts_compare_row *row,
                          struct ts_text *out)
{
    if (row->judged) {
        add_judged(compare, row, out);
        return;
    }
    ts_text_printf(out, "%s ", ts_compare_side_name(compare, TS_BASE));
    add_half(row->side[TS_BASE], out);
    ts_text_printf(out, "; %s ", ts_compare_side_name(compare, TS_NEW));
    add_half(row->side[TS_NEW], out);
}

void ts_compare_row_counts(const struct ts_compare *compare, const struct ts_compare_row *row,
                           struct ts_text *out)
{
    if (row->fails)
        ts_text_printf(out, "counts: %s", ts_gated_words(row->gated, compare->paired));
    else if (row->waiver && ts_outcome_kinds[row->outcome].bad)
        ts_text_printf(out, "waived until %s: %s", row->waiver->until, row->waiver->reason);
    else if (!row->gated && ts_outcome_kinds[row->outcome].bad)
        ts_text_puts(out, "told only: not in the gate");
}

/* ---- the whole ---- */

void ts_compare_case_name(const struct ts_compare *compare, const struct ts_compare_case *c,
                          struct ts_text *out)
{
    static char none[] = "";
    const struct ts_run *fresh = compare->devices[c->device].example[TS_NEW];
    struct ts_row names = *c->names;
    names.variant = none;
    names.params = (struct ts_values){0};
    ts_row_key(&names, out);
    while (out->length > 0 && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
    if (compare->device_count > 1 && fresh)
        ts_text_printf(out, " on %s", fresh->device.name);
}

static void add_runs(const struct ts_compare *compare, size_t device, enum ts_side side,
                     struct ts_text *out)
{
    const char *first = NULL, *last = NULL;
    size_t runs = compare->devices[device].run_count[side];
    for (size_t i = 0; i < compare->run_count; i++) {
        const struct ts_compare_run *run = &compare->runs[i];
        if (run->device != device || run->side != side)
            continue;
        if (!first || strcmp(run->run->started, first) < 0)
            first = run->run->started;
        if (!last || strcmp(run->run->started, last) > 0)
            last = run->run->started;
    }
    ts_text_printf(out, "%s %zu run%s", ts_compare_side_name(compare, side), runs,
                   runs == 1 ? "" : "s");
    if (first)
        ts_text_printf(out, ", %s%s%s", first, runs > 1 ? " to " : "", runs > 1 ? last : "");
}

void ts_compare_sides_words(const struct ts_compare *compare, size_t device, struct ts_text *out)
{
    const struct ts_compare_device *d = &compare->devices[device];
    const struct ts_run *base = d->example[TS_BASE], *fresh = d->example[TS_NEW];
    ts_text_puts(out, base ? base->device.name : fresh->device.name);
    if (base && fresh && strcmp(base->device.name, fresh->device.name) != 0)
        ts_text_printf(out, " against %s", fresh->device.name);
    if (compare->paired) {
        ts_text_printf(out, " (A against B in one run, %s): %zu configurations timed in pairs",
                       fresh->started, d->group.count);
        return;
    }
    ts_text_puts(out, " (");
    add_runs(compare, device, TS_BASE, out);
    ts_text_puts(out, "; ");
    add_runs(compare, device, TS_NEW, out);
    ts_text_printf(out, "): %zu configurations timed on both sides", d->group.count);
}

/* Of a log ratio, to one decimal, and never -0. */
static double percent(double log_ratio)
{
    return round(1000.0 * expm1(log_ratio)) / 10.0 + 0.0;
}

static void add_shift(double low, double mid, double high, struct ts_text *out)
{
    ts_text_printf(out, "%+.1f %% (95 %%: %+.1f to %+.1f %%)", percent(mid), percent(low),
                   percent(high));
}

static void add_control_rows(const struct ts_compare_device *d, struct ts_text *out)
{
    size_t rows = d->group.control_count;
    ts_text_printf(out, "%zu configurations with the same code on both sides (%s)", rows,
                   d->same_build == 0    ? "equal binaries"
                   : d->same_binary == 0 ? "equal source, options, driver and environment"
                                         : "equal binaries, or source, options, driver and "
                                           "environment");
}

/* Median over the looks of a side's runs; NaN without any. fma: the multiply-add kernel's. */
static double sentinel_ns(const struct ts_compare *compare, size_t device, enum ts_side side,
                          bool fma)
{
    double *ns = NULL, median = NAN;
    size_t count = 0, capacity = 0;
    for (size_t r = 0; r < compare->run_count; r++) {
        const struct ts_compare_run *run = &compare->runs[r];
        for (size_t i = 0; i < run->run->sentinel.count; i++) {
            const struct ts_sentinel_point *point = &run->run->sentinel.points[i];
            if (run->device != device || run->side != side || point->excursion)
                continue;
            TS_GROW(ns, count, capacity);
            ns[count++] = (double)(fma ? point->fma_ns : point->copy_ns);
        }
    }
    if (count > 0)
        median = ts_median(ns, count);
    free(ns);
    return median;
}

/* The sentinel is two rows: told beside the control, too few to take its place. */
static void add_sentinel(const struct ts_compare *compare, size_t device, struct ts_text *out)
{
    double copy =
        sentinel_ns(compare, device, TS_NEW, false) / sentinel_ns(compare, device, TS_BASE, false);
    double fma =
        sentinel_ns(compare, device, TS_NEW, true) / sentinel_ns(compare, device, TS_BASE, true);
    if (isfinite(copy) && isfinite(fma) && copy > 0.0 && fma > 0.0)
        ts_text_printf(out, "; the sentinel's copy moved by %+.1f %%, its multiply-add by %+.1f %%",
                       percent(log(copy)), percent(log(fma)));
}

static void add_control(const struct ts_compare *compare, size_t device, struct ts_text *out)
{
    const struct ts_compare_device *d = &compare->devices[device];
    const struct ts_judge_group *g = &d->group;
    if (!isfinite(g->shift)) {
        ts_text_puts(out, "none: too few configurations");
        return;
    }
    if (!g->shift_taken_out && g->control_count < TS_CONTROL_LEAST) {
        ts_text_puts(out, "none: fewer than 5 configurations have the same code on both sides. "
                          "The median configuration moved by ");
        add_shift(g->shift_low, g->shift, g->shift_high, out);
        ts_text_puts(out, g->paired ? "; the pairs of visits leave out what the machine did"
                                    : "; whether that is the code or the machine cannot be known, "
                                      "so it is not taken out");
        return;
    }
    add_control_rows(d, out);
    ts_text_puts(out, " moved by ");
    add_shift(g->shift_low, g->shift, g->shift_high, out);
    if (g->shift_too_large)
        ts_text_printf(out,
                       ", more than %.0f %%: too much to be trusted, so everything is "
                       "inconclusive; measure again on a quiet machine",
                       100.0 * TS_SHIFT_LIMIT);
    else
        ts_text_puts(out, g->paired ? "; the pairs of visits leave out what the machine did"
                                    : ": that is the machine, and is taken out");
    if (g->scale >= 1.05)
        ts_text_printf(out,
                       "; they spread %.1f times wider than their visits say, so every "
                       "interval is as much wider",
                       g->scale);
}

void ts_compare_control_words(const struct ts_compare *compare, size_t device, struct ts_text *out)
{
    add_control(compare, device, out);
    if (!compare->paired) /* both sides have the same looks */
        add_sentinel(compare, device, out);
}

static void add_weakest(const struct ts_compare *compare, struct ts_text *out)
{
    for (size_t i = 0; i < compare->case_count && compare->case_count > 1; i++) {
        const struct ts_compare_case *c = &compare->cases[i];
        if (!(c->found >= compare->found))
            continue;
        ts_text_puts(out, "; weakest case: ");
        ts_compare_case_name(compare, c, out);
        if (compare->typical_found <= BLIND)
            ts_text_printf(out, "; in half of the cases from %.1f %% on",
                           100.0 * compare->typical_found);
        return;
    }
}

void ts_compare_found_words(double found, struct ts_text *out)
{
    if (found > BLIND)
        ts_text_puts(out, "not even a slow-down to ten times would have been told for sure");
    else
        ts_text_printf(out, "9 in 10 slow-downs of %.1f %% or more would have been told",
                       100.0 * found);
}

void ts_compare_power_words(const struct ts_compare *compare, struct ts_text *out)
{
    ts_text_puts(out, compare->found > BLIND ? "blind: in at least one configuration of the gate "
                                             : "in every configuration of the gate ");
    ts_compare_found_words(compare->found, out);
    if (compare->found <= BLIND)
        ts_text_printf(out, ", and those of %.1f %% shown to be a change",
                       100.0 * compare->evidence);
    add_weakest(compare, out);
    if (compare->blind && !compare->nothing)
        ts_text_printf(out, "; --require-power %.3g%% is not reached",
                       100.0 * compare->options.require_power);
}

void ts_compare_counts_words(const struct ts_compare *compare, struct ts_text *out)
{
    const char *joint = "";
    for (int rank = 0; rank < TS_OUTCOME_COUNT; rank++)
        for (size_t i = 0; i < TS_OUTCOME_COUNT; i++)
            if (ts_outcome_kinds[i].rank == rank && compare->count[i] > 0) {
                ts_text_printf(out, "%s%zu %s", joint, compare->count[i], ts_outcome_kinds[i].name);
                joint = ", ";
            }
}

static size_t gated_inconclusive(const struct ts_compare *compare)
{
    size_t count = 0;
    for (size_t i = 0; i < compare->row_count; i++)
        count += compare->rows[i].gated && compare->rows[i].outcome == TS_OUT_INCONCLUSIVE;
    return count;
}

void ts_compare_end_words(const struct ts_compare *compare, struct ts_text *out)
{
    if (compare->nothing && compare->failing_count == 0) {
        ts_text_puts(out, "FAIL: nothing was compared: no configuration was timed on both sides");
        return;
    }
    if (compare->failing_count > 0)
        ts_text_printf(out, "FAIL: %zu finding%s", compare->failing_count,
                       compare->failing_count == 1 ? "" : "s");
    else if (compare->blind)
        ts_text_puts(out, "FAIL: too noisy to see what --require-power asks for");
    else
        ts_text_puts(out, "PASS: nothing worse is shown");
    ts_text_printf(out, " among %zu configuration%s of --gate %s", compare->gated_count,
                   compare->gated_count == 1 ? "" : "s", ts_gate_names[compare->options.gate]);
    if (compare->waived_count > 0)
        ts_text_printf(out, ", %zu waived", compare->waived_count);
    size_t open = gated_inconclusive(compare);
    if (open > 0)
        ts_text_printf(out, ", %zu of them inconclusive", open);
}

bool ts_compare_waiver_words(const struct ts_waiver *waiver, struct ts_text *out)
{
    if (waiver->used)
        return false;
    ts_text_printf(out, "waiver %s: ", waiver->expired ? "expired" : "unused");
    ts_waiver_key(waiver, out);
    if (waiver->expired)
        ts_text_printf(out, " (until %s)", waiver->until);
    ts_text_printf(out, ": %s; remove it from the file", waiver->reason);
    return true;
}
