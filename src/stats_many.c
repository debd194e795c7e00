/* stats_many.c: statistics over many rows: robust scale, the prior of their variances,
 * multiplicity.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

double ts_robust_sd(const double *x, size_t count)
{
    static const double normal_upper_quartile = 0.6744897501960817;
    double mid = ts_median(x, count);
    double *away = ts_alloc(count, sizeof(*away));
    for (size_t i = 0; i < count; i++)
        away[i] = fabs(x[i] - mid);
    double sd = ts_median(away, count) / normal_upper_quartile;
    free(away);
    return sd;
}

/* ---- derivatives of log gamma ---- */

double ts_digamma(double x)
{
    double sum = 0.0;
    for (; x < 10.0; x += 1.0)
        sum -= 1.0 / x;
    double y = 1.0 / (x * x);
    double series = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y / 132))));
    return sum + log(x) - 0.5 / x - series;
}

double ts_trigamma(double x)
{
    double sum = 0.0;
    for (; x < 10.0; x += 1.0)
        sum += 1.0 / (x * x);
    double y = 1.0 / (x * x);
    double series = 1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * 5.0 / 66)));
    return sum + 1.0 / x + 0.5 * y + series * y / x;
}

/* trigamma falls from infinity to 0, as 1/x^2 near 0 and as 1/x far away. */
double ts_trigamma_inverse(double y)
{
    double low = log(0.1 / sqrt(1.0 + y)), high = log(10.0 + 10.0 / y);
    for (int i = 0; i < 200; i++) {
        double mid = 0.5 * (low + high);
        if (ts_trigamma(exp(mid)) > y)
            low = mid;
        else
            high = mid;
    }
    return exp(0.5 * (low + high));
}

/* ---- the prior ---- */

/* Standard errors added to how much the rows' variances differ, more of them where rows are few.
 * Too few degrees of freedom of the prior cost some power, too many make false findings: with 40
 * rows of two degrees each, the plain moments said "all alike" in one night of eight where they
 * were not (tests/simulate_compare.c). */
static double caution(size_t count)
{
    return 2.0 + 16.0 / (double)count;
}

/* Standard error of the sample variance of x. */
static double error_of_variance(const double *x, size_t count)
{
    double mean = ts_mean(x, count), second = 0.0, fourth = 0.0;
    for (size_t i = 0; i < count; i++) {
        double square = (x[i] - mean) * (x[i] - mean);
        second += square / (double)count;
        fourth += square * square / (double)count;
    }
    return sqrt(fmax(0.0, fourth - second * second) / (double)count);
}

/* log of a sample variance has mean log(variance) + digamma(df/2) - log(df/2) and variance
 * trigamma(df/2); what the rows spread beyond that is the prior's. */
struct ts_variance_prior ts_variance_prior_fit(const double *variance, const double *df,
                                               size_t count)
{
    struct ts_variance_prior prior = {0};
    if (count < TS_PRIOR_LEAST)
        return prior;
    double *e = ts_alloc(count, sizeof(*e)), expected = 0.0;
    for (size_t i = 0; i < count; i++) {
        e[i] = log(variance[i]) - ts_digamma(0.5 * df[i]) + log(0.5 * df[i]);
        expected += ts_trigamma(0.5 * df[i]) / (double)count;
    }
    double mean = ts_mean(e, count);
    double beyond = ts_variance(e, count) + caution(count) * error_of_variance(e, count) - expected;
    free(e);
    if (beyond > 0.0) {
        double half = ts_trigamma_inverse(beyond);
        prior.df = 2.0 * half;
        prior.variance = exp(mean + ts_digamma(half) - log(half));
    } else {
        prior.df = INFINITY;
        prior.variance = exp(mean);
    }
    return prior;
}

/* ---- multiplicity ---- */

struct ranked {
    double p;
    size_t index;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

void ts_adjust_p(const double *p, size_t count, double *adjusted)
{
    struct ranked *order = ts_alloc(count + 1, sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct ranked){p[i], i};
    qsort(order, count, sizeof(*order), by_p);
    double least = 1.0;
    for (size_t rank = count; rank > 0; rank--) {
        least = fmin(least, order[rank - 1].p * (double)count / (double)rank);
        adjusted[order[rank - 1].index] = least;
    }
    free(order);
}
