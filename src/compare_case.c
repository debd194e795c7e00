/* compare_case.c: what became of a case's answer, and which configurations the gate watches. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"

/* ---- cases ---- */

static void take_side(struct ts_compare *compare, struct ts_compare_case *c, enum ts_side side)
{
    const struct ts_run *run = compare->devices[c->device].example[side];
    c->side_rows[side] = ts_alloc(c->row_count + 1, sizeof(**c->side_rows));
    for (size_t i = 0; i < c->row_count; i++) {
        const struct ts_compare_row *row = &compare->rows[c->first_row + i];
        if (row->side[side])
            c->side_rows[side][c->side_count[side]++] = row->side[side]->row;
    }
    if (c->side_count[side] > 0)
        ts_verdict_of_case(&c->verdict[side], c->side_rows[side], c->side_count[side],
                           c->side_rows[side], run ? &run->device : NULL);
}

void ts_compare_find_cases(struct ts_compare *compare)
{
    compare->cases = ts_alloc(compare->row_count + 1, sizeof(*compare->cases));
    for (size_t i = 0; i < compare->row_count; i++) {
        struct ts_compare_row *row = &compare->rows[i];
        struct ts_compare_case *c = &compare->cases[compare->case_count];
        if (compare->case_count > 0 && c[-1].device == row->device &&
            ts_row_same_case(c[-1].names, row->names))
            c--;
        else
            *c = (struct ts_compare_case){
                .names = row->names, .device = row->device, .first_row = i};
        compare->case_count = (size_t)(c - compare->cases) + 1;
        row->in_case = compare->case_count - 1;
        c->row_count++;
    }
    for (size_t i = 0; i < compare->case_count; i++) {
        take_side(compare, &compare->cases[i], TS_BASE);
        take_side(compare, &compare->cases[i], TS_NEW);
    }
}

/* The compared row of one of the case's side rows; NULL for NULL. */
static struct ts_compare_row *row_of(const struct ts_compare *compare,
                                     const struct ts_compare_case *c, enum ts_side side,
                                     const struct ts_row *of)
{
    size_t before = of ? (size_t)(of - c->side_rows[side]) : 0;
    for (size_t i = 0; of && i < c->row_count; i++) {
        struct ts_compare_row *row = &compare->rows[c->first_row + i];
        if (row->side[side] && before-- == 0)
            return row;
    }
    return NULL;
}

/* ---- the gate ---- */

static const struct {
    unsigned bit;
    const char *words, *ab_words;
} gated_words[] = {
    {TS_GATED_BEST_BASE, "best of its case in BASE", "best of its case in A"},
    {TS_GATED_BEST_NEW, "best of its case in NEW", "best of its case in B"},
    {TS_GATED_BASELINE, "baseline of its case", "baseline of its case"},
    {TS_GATED_DEPLOYED, "deployed", "deployed"},
    {TS_GATED_ALL, "--gate all", "--gate all"},
    {TS_GATED_BROKEN, "fails in NEW alone", "fails on B alone"},
};

const char *ts_gated_words(unsigned gated, bool ab)
{
    for (size_t i = 0; i < TS_COUNT(gated_words); i++)
        if (gated & gated_words[i].bit)
            return ab ? gated_words[i].ab_words : gated_words[i].words;
    return "";
}

static void gate_row(struct ts_compare *compare, const struct ts_compare_case *c, enum ts_side side,
                     const struct ts_row *of, enum ts_gated why)
{
    struct ts_compare_row *row = row_of(compare, c, side, of);
    if (row)
        row->gated |= (unsigned)why;
}

/* Of each side: the one that its verdict recommends, the fastest of all, and the baseline. */
static void gate_best(struct ts_compare *compare, const struct ts_compare_case *c)
{
    for (int s = TS_BASE; s <= TS_NEW; s++) {
        const struct ts_verdict *v = &c->verdict[s];
        enum ts_side side = (enum ts_side)s;
        enum ts_gated best = side == TS_BASE ? TS_GATED_BEST_BASE : TS_GATED_BEST_NEW;
        gate_row(compare, c, side, v->best, best);
        if (v->best_plain && v->best_staged)
            gate_row(compare, c, side, v->speedup.mid > 1.0 ? v->best_staged : v->best_plain, best);
        gate_row(compare, c, side, v->baseline, TS_GATED_BASELINE);
    }
}

/* ---- the answer of a case ---- */

static bool is_tied(const struct ts_compare *compare, const struct ts_compare_case *c,
                    enum ts_side side, const struct ts_compare_row *row)
{
    const struct ts_verdict *v = &c->verdict[side];
    for (size_t i = 0; i < v->tie_count; i++)
        if (row_of(compare, c, side, v->tie[i]) == row)
            return true;
    return false;
}

/* Best of NEW over best of BASE, the machine's part taken out as in the rows. */
static double best_ratio(const struct ts_compare *compare, const struct ts_compare_case *c)
{
    const struct ts_judge_group *group = &compare->devices[c->device].group;
    if (!c->best[TS_BASE] || !c->best[TS_NEW])
        return NAN;
    /* Of `ab`, the same one is best compared by its pairs of visits. */
    if (compare->paired && c->best[TS_BASE] == c->best[TS_NEW] && c->best[TS_NEW]->judged)
        return c->best[TS_NEW]->judged->ratio.mid;
    double ratio = ts_compare_time_ns(c->best[TS_NEW]->side[TS_NEW]) /
                   ts_compare_time_ns(c->best[TS_BASE]->side[TS_BASE]);
    return group->shift_taken_out ? ratio / exp(group->shift) : ratio;
}

static bool is_lost(enum ts_outcome outcome)
{
    return outcome == TS_OUT_SLOWER || outcome == TS_OUT_VANISHED || outcome == TS_OUT_FAILED;
}

/* Slower only where the best of BASE got slower and nothing else makes up for it. */
static enum ts_outcome outcome_of(const struct ts_compare *compare, const struct ts_compare_case *c)
{
    double limit = 1.0 + compare->options.threshold;
    if (!c->best[TS_BASE] || !c->best[TS_NEW])
        return TS_OUT_NOT_MEASURED;
    enum ts_outcome base = c->best[TS_BASE]->outcome, fresh = c->best[TS_NEW]->outcome;
    if (is_lost(base) && c->best_ratio > limit)
        return TS_OUT_SLOWER;
    if ((fresh == TS_OUT_FASTER || fresh == TS_OUT_APPEARED || fresh == TS_OUT_FIXED) &&
        c->best_ratio < 1.0 / limit)
        return TS_OUT_FASTER;
    if (is_lost(base) || base == TS_OUT_FASTER || base == TS_OUT_SAME)
        return TS_OUT_SAME;
    return base == TS_OUT_INCONCLUSIVE ? TS_OUT_INCONCLUSIVE : TS_OUT_NOT_MEASURED;
}

static void add_config(struct ts_text *out, const struct ts_row *row)
{
    ts_text_puts(out, row->variant);
    if (row->params.count > 0)
        ts_text_puts(out, " ");
    ts_values_print(&row->params, "", " ", out);
}

/* What staging did, where both sides know; NULL: nothing new. */
static const char *staging_words(enum ts_pays base, enum ts_pays fresh)
{
    static const char *const words[3][3] = {
        [TS_PAYS_YES] = {[TS_PAYS_NO] = "staging stopped to pay: it costs now",
                         [TS_PAYS_TIE] = "staging is no longer shown to pay"},
        [TS_PAYS_NO] = {[TS_PAYS_YES] = "staging started to pay"},
        [TS_PAYS_TIE] = {[TS_PAYS_YES] = "staging is now shown to pay"},
    };
    return base == TS_PAYS_UNKNOWN || fresh == TS_PAYS_UNKNOWN ? NULL : words[base][fresh];
}

static void add_best_words(const struct ts_compare *compare, const struct ts_compare_case *c,
                           struct ts_text *out)
{
    static const char *const words[TS_OUTCOME_COUNT] = {
        [TS_OUT_SLOWER] = "the best configuration got slower",
        [TS_OUT_FASTER] = "the best configuration got faster",
        [TS_OUT_SAME] = "the best is as fast as before",
        [TS_OUT_INCONCLUSIVE] = "these visits cannot tell whether the best changed",
        [TS_OUT_NOT_MEASURED] = "the best was not measured on both sides",
    };
    if (c->outcome == TS_OUT_SAME && is_lost(c->best[TS_BASE]->outcome))
        ts_text_printf(out, "the best of %s is %s, and another makes up for it",
                       ts_compare_side_name(compare, TS_BASE),
                       ts_outcome_kinds[c->best[TS_BASE]->outcome].name);
    else
        ts_text_puts(out, words[c->outcome]);
    if (isfinite(c->best_ratio))
        ts_text_printf(out, ", best against best %.3f times as long", c->best_ratio);
    if (!c->other_best)
        return;
    ts_text_puts(out, "; another became best: ");
    add_config(out, c->best[TS_NEW]->names);
    ts_text_puts(out, " (was ");
    add_config(out, c->best[TS_BASE]->names);
    ts_text_puts(out, ")");
}

static void set_case_power(struct ts_compare *compare, struct ts_compare_case *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct ts_compare_row *row = &compare->rows[c->first_row + i];
        if (!row->gated || !row->judged)
            continue;
        c->found = fmax(c->found, row->judged->found);
        c->evidence = fmax(c->evidence, row->judged->evidence);
    }
    if (c->found == 0.0)
        c->found = c->evidence = NAN; /* nothing of it is in the gate */
    compare->found = fmax(compare->found, c->found);
    compare->evidence = fmax(compare->evidence, c->evidence);
}

static void judge_case(struct ts_compare *compare, struct ts_compare_case *c)
{
    struct ts_text words = {0};
    for (int s = TS_BASE; s <= TS_NEW; s++)
        c->best[s] = row_of(compare, c, (enum ts_side)s, c->verdict[s].best);
    c->best_ratio = best_ratio(compare, c);
    c->outcome = outcome_of(compare, c);
    c->other_best = c->best[TS_BASE] && c->best[TS_NEW] && c->best[TS_BASE] != c->best[TS_NEW] &&
                    !is_tied(compare, c, TS_BASE, c->best[TS_NEW]) &&
                    !is_tied(compare, c, TS_NEW, c->best[TS_BASE]);
    add_best_words(compare, c, &words);
    const char *staging = staging_words(c->verdict[TS_BASE].pays, c->verdict[TS_NEW].pays);
    if (staging && c->side_count[TS_BASE] > 0 && c->side_count[TS_NEW] > 0)
        ts_text_printf(&words, "; %s", staging);
    c->words = words.text;
}

/* The lower median, which is one of the values: they may be infinite. */
static double typical_found(const struct ts_compare *compare)
{
    double *found = ts_alloc(compare->case_count + 1, sizeof(*found));
    size_t count = 0;
    for (size_t i = 0; i < compare->case_count; i++)
        if (!isnan(compare->cases[i].found))
            found[count++] = fmin(compare->cases[i].found, DBL_MAX);
    double typical =
        count > 0
            ? ts_quantile(found, count, (double)((count - 1) / 2) / fmax(1.0, (double)(count - 1)))
            : NAN;
    free(found);
    return typical;
}

/* A kernel that computes something wrong, or does not build any more, is no matter of speed: it
 * counts, be it among the best or not. Who names what is deployed named all that counts; but
 * between two edits (`ab`) nothing but the edit can have broken it. */
static void gate_broken(struct ts_compare *compare)
{
    bool counts = compare->paired || compare->options.gate == TS_GATE_BEST;
    for (size_t i = 0; i < compare->row_count && counts; i++)
        if (compare->rows[i].outcome == TS_OUT_FAILED)
            compare->rows[i].gated |= TS_GATED_BROKEN;
}

void ts_compare_judge_cases(struct ts_compare *compare)
{
    for (size_t i = 0; i < compare->case_count; i++) {
        struct ts_compare_case *c = &compare->cases[i];
        if (compare->options.gate == TS_GATE_BEST)
            gate_best(compare, c);
        judge_case(compare, c);
    }
    for (size_t i = 0; i < compare->row_count && compare->options.gate == TS_GATE_ALL; i++)
        compare->rows[i].gated = TS_GATED_ALL;
    gate_broken(compare);
    for (size_t i = 0; i < compare->case_count; i++)
        set_case_power(compare, &compare->cases[i]);
    if (compare->found == 0.0)
        compare->found = compare->evidence = INFINITY;
    compare->typical_found = typical_found(compare);
}
