/* trend.c: the best step and the best hinge of every series, judged by noise shared over rows. */
#include "trend.h"

#include <math.h>
#include <stdlib.h>

enum { STEP_LEAST = 2, CREEP_LEAST = 3 };

const char *ts_trend_name(enum ts_trend_kind kind)
{
    static const char *const names[] = {
        [TS_TREND_NONE] = "none", [TS_TREND_STEP] = "step", [TS_TREND_CREEP] = "creep"};
    return names[kind];
}

/* ---- shapes ---- */

/* 0 before, 1 from `first` on. */
static double step_at(size_t i, size_t first)
{
    return i >= first ? 1.0 : 0.0;
}

/* 0 up to `first`, 1 at the last run, a straight line between. */
static double hinge_at(size_t i, size_t first, size_t count)
{
    return i <= first ? 0.0 : (double)(i - first) / (double)(count - 1 - first);
}

struct fit {
    enum ts_trend_kind kind;
    size_t first;
    double change, squares, spread; /* coefficient; what is left; sum of squares of the shape */
};

/* Least squares of level + change * shape. */
static struct fit fit_shape(const struct ts_trend *trend, enum ts_trend_kind kind, size_t first)
{
    size_t n = trend->count;
    double mean_h = 0.0, mean_x = 0.0, hh = 0.0, hx = 0.0, xx = 0.0;
    for (size_t i = 0; i < n; i++) {
        mean_h += (kind == TS_TREND_STEP ? step_at(i, first) : hinge_at(i, first, n)) / (double)n;
        mean_x += trend->log_ns[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double h = (kind == TS_TREND_STEP ? step_at(i, first) : hinge_at(i, first, n)) - mean_h;
        double x = trend->log_ns[i] - mean_x;
        hh += h * h;
        hx += h * x;
        xx += x * x;
    }
    return (struct fit){kind, first, hx / hh, xx - hx * hx / hh, hh};
}

static struct fit best_fit(const struct ts_trend *trend)
{
    struct fit best = fit_shape(trend, TS_TREND_STEP, STEP_LEAST);
    for (size_t k = STEP_LEAST + 1; k + STEP_LEAST <= trend->count; k++) {
        struct fit fit = fit_shape(trend, TS_TREND_STEP, k);
        best = fit.squares < best.squares ? fit : best;
    }
    for (size_t k = 0; k + CREEP_LEAST < trend->count; k++) {
        struct fit fit = fit_shape(trend, TS_TREND_CREEP, k);
        best = fit.squares < best.squares ? fit : best;
    }
    return best;
}

/* ---- noise ---- */

/* Half the mean square of successive differences (von Neumann 1941): a level that moves slowly, or
 * once, hardly enters it. As many degrees of freedom as its variance has. */
static double noise_of(const struct ts_trend *trend, double *df)
{
    double squares = 0.0, n = (double)trend->count;
    for (size_t i = 1; i < trend->count; i++) {
        double step = trend->log_ns[i] - trend->log_ns[i - 1];
        squares += step * step;
    }
    *df = 2.0 * (n - 1.0) * (n - 1.0) / (3.0 * n - 4.0);
    return squares / (2.0 * (n - 1.0));
}

static struct ts_variance_prior prior_of(const struct ts_trend *trends, size_t count)
{
    double *variance = ts_alloc(count + 1, sizeof(*variance));
    double *df = ts_alloc(count + 1, sizeof(*df));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (trends[i].count < TS_TREND_LEAST)
            continue;
        variance[used] = fmax(noise_of(&trends[i], &df[used]), 1e-20);
        used++;
    }
    struct ts_variance_prior prior = ts_variance_prior_fit(variance, df, used);
    free(variance);
    free(df);
    return prior;
}

/* ---- a series ---- */

static void judge(struct ts_trend *trend, const struct ts_variance_prior *prior)
{
    double df, own = noise_of(trend, &df), variance = own;
    struct fit fit = best_fit(trend);
    if (isinf(prior->df))
        variance = prior->variance;
    else if (prior->df > 0.0)
        variance = (prior->df * prior->variance + df * own) / (prior->df + df);
    trend->kind = fit.kind;
    trend->first = fit.first;
    trend->log_change = fit.change;
    trend->error = sqrt(variance / fit.spread);
    trend->df = fmin(df + prior->df, 1e4);
    double half = trend->error * ts_student_quantile(0.975, trend->df);
    trend->change =
        (struct ts_interval){exp(fit.change - half), exp(fit.change), exp(fit.change + half), true};
    double p = trend->error > 0.0 ? ts_student_two_sided(fit.change / trend->error, trend->df)
                                  : (fit.change == 0.0 ? 1.0 : 0.0);
    /* Looked at every place, for two shapes (Bonferroni). */
    trend->p = fmin(1.0, p * 2.0 * (double)trend->count);
}

void ts_trends_find(struct ts_trend *trends, size_t count, double threshold, double fdr)
{
    struct ts_variance_prior prior = prior_of(trends, count);
    double *p = ts_alloc(count + 1, sizeof(*p));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        struct ts_trend *trend = &trends[i];
        trend->kind = TS_TREND_NONE;
        trend->shown = false;
        trend->log_change = 0.0;
        trend->error = trend->df = trend->p = trend->p_adjusted = NAN;
        trend->change = (struct ts_interval){1.0, 1.0, 1.0, false};
        if (trend->count < TS_TREND_LEAST)
            continue;
        judge(trend, &prior);
        p[used++] = trend->p;
    }
    ts_adjust_p(p, used, p);
    used = 0;
    for (size_t i = 0; i < count; i++) {
        struct ts_trend *trend = &trends[i];
        if (trend->kind == TS_TREND_NONE)
            continue;
        trend->p_adjusted = p[used++];
        trend->shown = trend->p_adjusted <= fdr && fabs(trend->log_change) > log1p(threshold);
    }
    free(p);
}
