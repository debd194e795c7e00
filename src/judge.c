/* judge.c: clusters to estimates, the control, moderated noise, verdicts, power. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

static bool is_like(const struct ts_judge_pair *pair)
{
    return pair->unlike == TS_WHY_NONE;
}

/* ---- clusters ---- */

static const char *const level_names[] = {
    [TS_BY_VISIT] = "visit",
    [TS_BY_PROCESS] = "process",
    [TS_BY_RUN] = "run",
};

const char *ts_level_name(enum ts_level level)
{
    return level_names[level];
}

size_t ts_judge_fold(const struct ts_judge_visit *visits, size_t count, enum ts_level level,
                     struct ts_cluster *clusters)
{
    double *logs = ts_alloc(count + 1, sizeof(*logs));
    size_t used = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        const struct ts_judge_visit *first = &visits[begin];
        for (end = begin; end < count && visits[end].run == first->run; end++) {
            if ((level == TS_BY_VISIT && end > begin) ||
                (level == TS_BY_PROCESS && visits[end].process != first->process))
                break;
            logs[end - begin] = visits[end].log_ns;
        }
        clusters[used++] = (struct ts_cluster){ts_median(logs, end - begin), first->run};
    }
    free(logs);
    return used;
}

/* ---- what all rows share: offsets of runs ---- */

/* The shared part of a run: of the machine where the control says so, else of whatever. */
struct shared {
    double *offset;   /* of each run, log, against the mean of all */
    bool is_machine;  /* told by the same code on both sides */
    double error, df; /* standard error of the shared part of a ratio; 0: none is known */
};

static double mean_of_run(const struct ts_judge_pair *pair, size_t run, size_t *clusters)
{
    double sum = 0.0;
    *clusters = 0;
    for (int s = TS_BASE; s <= TS_NEW; s++)
        for (size_t c = 0; c < pair->side[s].count; c++)
            if (pair->side[s].clusters[c].run == run) {
                sum += pair->side[s].clusters[c].log_ns;
                ++*clusters;
            }
    return *clusters > 0 ? sum / (double)*clusters : NAN;
}

/* What the row's mean in each run is above the row's mean over runs; false when it is absent in
 * one. */
static bool deviations(const struct ts_judge_pair *pair, size_t run_count, double *away)
{
    double mean = 0.0;
    size_t clusters;
    for (size_t r = 0; r < run_count; r++) {
        away[r] = mean_of_run(pair, r, &clusters);
        if (clusters == 0)
            return false;
        mean += away[r] / (double)run_count;
    }
    for (size_t r = 0; r < run_count; r++)
        away[r] -= mean;
    return true;
}

/* offset[r]: by how much rows (the control's, or all) are slower in run r than on average, the
 * median of those seen in every run; all 0 where there are too few. Returns how many. */
static size_t find_offsets(const struct ts_judge_group *group, bool control_only, double *offset)
{
    size_t runs = group->run_count, used = 0;
    double *away = ts_alloc((group->count + 1) * (runs + 1), sizeof(*away)); /* run by run */
    double *row = ts_alloc(runs + 1, sizeof(*row));
    for (size_t i = 0; i < group->count; i++) {
        const struct ts_judge_pair *pair = &group->pairs[i];
        if (!is_like(pair) || (control_only && !pair->control) || !deviations(pair, runs, row))
            continue;
        for (size_t r = 0; r < runs; r++)
            away[r * group->count + used] = row[r];
        used++;
    }
    for (size_t r = 0; r < runs; r++)
        offset[r] = used >= TS_CONTROL_LEAST ? ts_median(&away[r * group->count], used) : 0.0;
    free(away);
    free(row);
    return used;
}

bool ts_judge_offsets(const struct ts_judge_group *group, double *offset)
{
    return find_offsets(group, true, offset) >= TS_CONTROL_LEAST;
}

static double mean_offset(const struct ts_judge_group *group, const double *offset,
                          enum ts_side side, size_t *runs)
{
    double sum = 0.0;
    *runs = 0;
    for (size_t r = 0; r < group->run_count; r++)
        if (group->run_side[r] == side) {
            sum += offset[r];
            ++*runs;
        }
    return *runs > 0 ? sum / (double)*runs : 0.0;
}

/* A night on which all rows are wrong together is worse than a single false row: what nights share
 * is taken to be somewhat larger than it seems. */
#define SHARED_CAUTION 1.15

/* Of the difference of both sides' means, from how much the runs of a side differ. However many
 * rows there are, these are few degrees of freedom: all rows have the same slow nights. */
static void set_error_of_runs(const struct ts_judge_group *group, struct shared *shared)
{
    double squares = 0.0, inverse = 0.0;
    size_t runs[2];
    for (int s = TS_BASE; s <= TS_NEW; s++) {
        double mean = mean_offset(group, shared->offset, (enum ts_side)s, &runs[s]);
        for (size_t r = 0; r < group->run_count; r++)
            if (group->run_side[r] == (enum ts_side)s)
                squares += (shared->offset[r] - mean) * (shared->offset[r] - mean);
        inverse += 1.0 / (double)runs[s];
    }
    if (group->run_count > 2) {
        shared->df = (double)(group->run_count - 2);
        shared->error = SHARED_CAUTION * sqrt(squares / shared->df * inverse);
    }
}

static size_t control_pairs(const struct ts_judge_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += is_like(&group->pairs[i]) && group->pairs[i].control;
    return count;
}

/* Pairs of visits share nothing that could be taken out: what a run did to one visit it did to the
 * other. */
static void find_shared(struct ts_judge_group *group, struct shared *shared)
{
    if (group->paired) {
        group->control_count = control_pairs(group);
        return;
    }
    group->control_count = find_offsets(group, true, shared->offset);
    shared->is_machine = group->control_count >= TS_CONTROL_LEAST;
    if (shared->is_machine)
        return;
    find_offsets(group, false, shared->offset);
    set_error_of_runs(group, shared);
}

/* ---- a pair's own numbers ---- */

/* By how much the runs of the pair's sides are apart, as a part of its log ratio. */
static double moved_by(const struct ts_judge_pair *pair, const struct shared *shared)
{
    double moved[2] = {0.0, 0.0};
    for (int s = TS_BASE; s <= TS_NEW; s++)
        for (size_t c = 0; c < pair->side[s].count; c++)
            moved[s] += shared->offset[pair->side[s].clusters[c].run] / (double)pair->side[s].count;
    return moved[TS_NEW] - moved[TS_BASE];
}

/* The part of a pair's times that is its own: what its runs share is taken out before the spread is
 * looked at, and stays out of the ratio where it is known not to be the code's. */
static void estimate(struct ts_judge_pair *pair, const struct shared *shared)
{
    double own[2] = {0.0, 0.0}, squares = 0.0;
    size_t df = 0;
    for (int s = TS_BASE; s <= TS_NEW; s++) {
        const struct ts_judge_side *side = &pair->side[s];
        for (size_t c = 0; c < side->count; c++) {
            double offset = shared->offset[side->clusters[c].run];
            own[s] += (side->clusters[c].log_ns - offset) / (double)side->count;
        }
        for (size_t c = 0; c < side->count; c++) {
            double offset = shared->offset[side->clusters[c].run];
            double away = side->clusters[c].log_ns - offset - own[s];
            squares += away * away;
        }
        df += side->count > 0 ? side->count - 1 : 0;
    }
    pair->log_ratio = own[TS_NEW] - own[TS_BASE];
    if (!shared->is_machine)
        pair->log_ratio += moved_by(pair, shared);
    pair->df = (double)df;
    pair->own_variance = df > 0 ? fmax(squares / (double)df, pair->least_variance) : NAN;
}

/* ---- noise, moderated ---- */

/* A variance of exactly 0 (a coarse clock, made-up data) has no logarithm: so small a share of the
 * typical one stands for it. */
#define LEAST_SHARE 1e-5

static void fit_prior(struct ts_judge_group *group, double *df_of_all)
{
    double *variance = ts_alloc(group->count + 1, sizeof(*variance));
    double *df = ts_alloc(group->count + 1, sizeof(*df));
    size_t used = 0;
    *df_of_all = 0.0;
    for (size_t i = 0; i < group->count; i++) {
        const struct ts_judge_pair *pair = &group->pairs[i];
        if (!is_like(pair) || !(pair->df > 0.0))
            continue;
        variance[used] = pair->own_variance;
        df[used++] = pair->df;
        *df_of_all += pair->df;
    }
    double least = used > 0 ? LEAST_SHARE * ts_median(variance, used) : 0.0;
    for (size_t i = 0; i < used; i++)
        variance[i] = fmax(fmax(variance[i], least), 1e-20);
    group->prior = ts_variance_prior_fit(variance, df, used);
    free(variance);
    free(df);
}

/* Of a side's mean in the variance of the difference. */
static double share_of(const struct ts_judge_side *side)
{
    return side->count > 0 ? 1.0 / (double)side->count : 0.0;
}

/* Smyth 2004, section 3: the mean of both variances, weighted by their degrees of freedom. No more
 * of these than all rows have together (the prior was learnt from them). */
static void moderate(struct ts_judge_pair *pair, const struct ts_variance_prior *prior,
                     double df_of_all)
{
    double own = pair->df > 0.0 ? pair->own_variance : 0.0;
    double variance = isinf(prior->df) ? prior->variance
                      : prior->df > 0.0
                          ? (prior->df * prior->variance + pair->df * own) / (prior->df + pair->df)
                          : own;
    double clusters = share_of(&pair->side[TS_BASE]) + share_of(&pair->side[TS_NEW]);
    pair->df = fmin(pair->df + prior->df, df_of_all);
    if (pair->df > 0.0)
        pair->error = sqrt(fmax(variance, pair->least_variance) * clusters);
    else
        pair->error = pair->df = NAN;
}

/* ---- the control ---- */

typedef double (*number_of)(const struct ts_judge_pair *pair);

static double log_ratio_of(const struct ts_judge_pair *pair)
{
    return pair->log_ratio;
}

/* How far off, in errors, over what is expected of the middle half: 1 where the errors are right.
 */
static double surprise_of(const struct ts_judge_pair *pair)
{
    return fabs(pair->log_ratio) / pair->error / ts_student_quantile(0.75, pair->df);
}

/* Values of the control's pairs (or of all), those that are finite; free() them. */
static double *gather(const struct ts_judge_group *group, bool control_only, number_of value,
                      size_t *count)
{
    double *values = ts_alloc(group->count + 1, sizeof(*values));
    *count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct ts_judge_pair *pair = &group->pairs[i];
        if (!is_like(pair) || (control_only && !pair->control))
            continue;
        double x = value(pair);
        if (isfinite(x))
            values[(*count)++] = x;
    }
    return values;
}

/* What the control says: the shift with its interval, and how much wider than expected rows of the
 * same code spread. Without a control, what all rows say is told, and nothing follows from it. */
static void read_control(struct ts_judge_group *group, struct shared *shared)
{
    static const double median_over_mean = 1.2533; /* error of a median, of normal values */
    bool control = group->control_count >= TS_CONTROL_LEAST;
    size_t count, rated, runs;
    double *ratios = gather(group, control, log_ratio_of, &count);
    double *surprises = gather(group, true, surprise_of, &rated);
    group->scale = 1.0;
    group->shift_taken_out = control && !group->paired;
    group->shift_too_large = false;
    group->shift = group->shift_low = group->shift_high = NAN;
    if (count > 1) {
        double df = (double)(count - 1);
        double error = median_over_mean * ts_robust_sd(ratios, count) / sqrt((double)count);
        double half = error * ts_student_quantile(0.975, df);
        group->shift = ts_median(ratios, count);
        if (group->shift_taken_out) {
            group->shift += mean_offset(group, shared->offset, TS_NEW, &runs) -
                            mean_offset(group, shared->offset, TS_BASE, &runs);
            shared->error = error;
            shared->df = df;
        }
        group->shift_too_large = control && fabs(group->shift) > log1p(TS_SHIFT_LIMIT);
        group->shift_low = group->shift - half;
        group->shift_high = group->shift + half;
    }
    if (control && rated >= TS_CONTROL_SCALE_LEAST)
        group->scale = fmax(1.0, ts_median(surprises, rated));
    free(ratios);
    free(surprises);
}

/* What cannot be trusted is not taken out: the ratios are those of the times. */
static void put_back(struct ts_judge_group *group, const struct shared *shared)
{
    for (size_t i = 0; i < group->count; i++)
        group->pairs[i].log_ratio += moved_by(&group->pairs[i], shared);
    group->shift_taken_out = false;
}

/* The row's own noise and the shared one together, with the degrees of freedom of their sum
 * (Satterthwaite 1946). */
static void add_shared(struct ts_judge_pair *pair, double scale, const struct shared *shared)
{
    double own = scale * scale * pair->error * pair->error, other = shared->error * shared->error;
    double sum = own + other;
    if (sum > 0.0 && other > 0.0) {
        double a = own / sum, b = other / sum;
        pair->df = 1.0 / (a * a / pair->df + b * b / shared->df);
    }
    pair->error = sqrt(sum);
}

static void judge_group_numbers(struct ts_judge_group *group)
{
    struct shared shared = {.offset = ts_alloc(group->run_count + 1, sizeof(double))};
    double df_of_all;
    find_shared(group, &shared);
    for (size_t i = 0; i < group->count; i++)
        estimate(&group->pairs[i], &shared);
    fit_prior(group, &df_of_all);
    for (size_t i = 0; i < group->count; i++)
        moderate(&group->pairs[i], &group->prior, df_of_all);
    read_control(group, &shared);
    if (group->shift_too_large && group->shift_taken_out)
        put_back(group, &shared);
    for (size_t i = 0; i < group->count; i++)
        add_shared(&group->pairs[i], group->scale, &shared);
    free(shared.offset);
}

/* ---- verdicts ---- */

static void set_interval(struct ts_judge_pair *pair)
{
    bool known = isfinite(pair->error);
    double half = known ? pair->error * ts_student_quantile(0.975, pair->df) : 0.0;
    pair->ratio = (struct ts_interval){
        .low = exp(pair->log_ratio - half),
        .mid = exp(pair->log_ratio),
        .high = exp(pair->log_ratio + half),
        .known = known,
    };
    if (known && pair->error > 0.0)
        pair->p = ts_student_two_sided(pair->log_ratio / pair->error, pair->df);
    else
        pair->p = known ? (pair->log_ratio == 0.0 ? 1.0 : 0.0) : NAN;
}

static void decide(struct ts_judge_pair *pair, enum ts_judged verdict, enum ts_why why)
{
    pair->verdict = verdict;
    pair->why = why;
}

static void decide_pair(struct ts_judge_pair *pair, const struct ts_judge_group *group,
                        const struct ts_judge_rule *rule)
{
    double effect = log1p(rule->threshold);
    bool shown = pair->p_adjusted <= rule->fdr; /* false for NaN */
    if (!is_like(pair))
        decide(pair, TS_INCONCLUSIVE, pair->unlike);
    else if (group->shift_too_large)
        decide(pair, TS_INCONCLUSIVE, TS_WHY_SHIFT);
    else if (!pair->ratio.known)
        decide(pair, TS_INCONCLUSIVE, TS_WHY_SINGLE);
    else if (shown && fabs(pair->log_ratio) > effect)
        decide(pair, pair->log_ratio > 0.0 ? TS_SLOWER : TS_FASTER, TS_WHY_NONE);
    else if (log(pair->ratio.low) >= -effect && log(pair->ratio.high) <= effect)
        decide(pair, TS_SAME, TS_WHY_NONE);
    else
        decide(pair, TS_INCONCLUSIVE, shown ? TS_WHY_THRESHOLD : TS_WHY_NOISE);
}

/* One more discovery beside those made needs p <= fdr * (made + 1) / tested. The estimate must then
 * exceed the critical one (and the threshold, to be told) with probability TS_POWER. */
static void set_power(struct ts_judge_pair *pair, const struct ts_judge_group *group,
                      const struct ts_judge_rule *rule, size_t tested, size_t made)
{
    pair->found = pair->evidence = INFINITY;
    if (!is_like(pair) || !pair->ratio.known || group->shift_too_large)
        return;
    size_t others = made - (pair->p_adjusted <= rule->fdr ? 1 : 0);
    double p = rule->fdr * (double)(others + 1) / (double)tested;
    double critical = pair->error * ts_student_quantile(1.0 - 0.5 * p, pair->df);
    double margin = pair->error * ts_student_quantile(TS_POWER, pair->df);
    pair->evidence = expm1(critical + margin);
    pair->found = expm1(fmax(critical, log1p(rule->threshold)) + margin);
}

/* ---- all ---- */

/* Every pair of every group that has a p-value; free() the array. */
static struct ts_judge_pair **tested_pairs(struct ts_judge_group *groups, size_t count,
                                           size_t *tested)
{
    size_t room = 1;
    for (size_t g = 0; g < count; g++)
        room += groups[g].count;
    struct ts_judge_pair **pairs = ts_alloc(room, sizeof(struct ts_judge_pair *));
    *tested = 0;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            if (is_like(&groups[g].pairs[i]) && isfinite(groups[g].pairs[i].p))
                pairs[(*tested)++] = &groups[g].pairs[i];
    return pairs;
}

/* Returns the number of pairs whose change is shown. */
static size_t correct_for_multiplicity(struct ts_judge_pair **pairs, size_t count, double fdr)
{
    double *p = ts_alloc(count + 1, sizeof(*p));
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        p[i] = pairs[i]->p;
    ts_adjust_p(p, count, p);
    for (size_t i = 0; i < count; i++) {
        pairs[i]->p_adjusted = p[i];
        shown += p[i] <= fdr;
    }
    free(p);
    return shown;
}

void ts_judge(struct ts_judge_group *groups, size_t count, const struct ts_judge_rule *rule)
{
    for (size_t g = 0; g < count; g++) {
        judge_group_numbers(&groups[g]);
        for (size_t i = 0; i < groups[g].count; i++) {
            set_interval(&groups[g].pairs[i]);
            groups[g].pairs[i].p_adjusted = NAN;
            if (!is_like(&groups[g].pairs[i]))
                groups[g].pairs[i].p = NAN;
        }
    }
    size_t tested;
    struct ts_judge_pair **pairs = tested_pairs(groups, count, &tested);
    size_t shown = correct_for_multiplicity(pairs, tested, rule->fdr);
    free(pairs);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            decide_pair(&groups[g].pairs[i], &groups[g], rule);
            set_power(&groups[g].pairs[i], &groups[g], rule, tested, shown);
        }
}
