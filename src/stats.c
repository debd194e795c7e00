/* stats.c: order statistics, Student's t, intervals. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order statistics and moments ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ts_quantile(const double *x, size_t count, double p)
{
    double *sorted = ts_alloc(count, sizeof(*sorted));
    memcpy(sorted, x, count * sizeof(*x));
    qsort(sorted, count, sizeof(*sorted), by_value);
    double at = p * (double)(count - 1);
    size_t below = at > 0.0 ? (size_t)at : 0;
    if (below >= count - 1)
        below = count - 1;
    size_t above = below + 1 < count ? below + 1 : below;
    double part = at - (double)below;
    double q = sorted[below];
    if (part > 0.0 && above > below)
        q += part * (sorted[above] - sorted[below]);
    free(sorted);
    return q;
}

double ts_median(const double *x, size_t count)
{
    return ts_quantile(x, count, 0.5);
}

double ts_mean(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    return sum / (double)count;
}

double ts_variance(const double *x, size_t count)
{
    double mean = ts_mean(x, count), sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(count - 1);
}

#define BIMODAL_VALUES 10
#define BIMODAL_SHARE 5 /* a group has one value in so many, at least */
#define BIMODAL_D 6.0
#define BIMODAL_APART 0.01

/* Are sorted[0..cut) and sorted[cut..count) apart? */
static bool are_apart(const double *sorted, size_t cut, size_t count)
{
    double below = ts_mean(sorted, cut), above = ts_mean(sorted + cut, count - cut);
    double spread = sqrt(ts_variance(sorted, cut) + ts_variance(sorted + cut, count - cut));
    return above - below > BIMODAL_APART && sqrt(2.0) * (above - below) > BIMODAL_D * spread;
}

/* The cut with the least sum of squares within the groups: that with the most between them. */
static size_t best_cut(const double *sorted, size_t count, size_t least)
{
    double sum = 0.0, total = ts_mean(sorted, count) * (double)count, most = -1.0;
    size_t best = least;
    for (size_t cut = 1; cut < count; cut++) {
        sum += sorted[cut - 1];
        double below = sum / (double)cut, above = (total - sum) / (double)(count - cut);
        double between = (double)cut * (double)(count - cut) * (above - below) * (above - below);
        if (cut >= least && count - cut >= least && between > most) {
            most = between;
            best = cut;
        }
    }
    return best;
}

bool ts_is_bimodal(const double *x, size_t count)
{
    if (count < BIMODAL_VALUES)
        return false;
    double *sorted = ts_alloc(count, sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        sorted[i] = log(x[i]);
    qsort(sorted, count, sizeof(*sorted), by_value);
    bool is = are_apart(
        sorted, best_cut(sorted, count, (count + BIMODAL_SHARE - 1) / BIMODAL_SHARE), count);
    free(sorted);
    return is;
}

/* ---- Student's t ---- */

/* Continued fraction of the incomplete beta function by Lentz's method (Abramowitz &
 * Stegun 26.5.8); converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300, enough = 1e-15;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1.0 + even * d;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = 1.0 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1.0 + odd * d;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = 1.0 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= d * c;
        if (fabs(d * c - 1.0) < enough)
            break;
    }
    return f;
}

/* Regularised incomplete beta function I_x(a, b); y = 1 - x is given apart, so that neither loses
 * digits near 0. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0.0)
        return 0.0;
    if (y <= 0.0)
        return 1.0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, y) / b;
}

/* P(T > t) for t >= 0 (Abramowitz & Stegun 26.7.1). */
static double student_tail(double t, double df)
{
    double sum = df + t * t;
    return 0.5 * incomplete_beta(0.5 * df, 0.5, df / sum, t * t / sum);
}

/* z with P(Z > z) = q, 0 < q <= 0.5, by bisection. */
static double normal_upper(double q)
{
    double low = 0.0, high = 40.0;
    for (int i = 0; i < 100; i++) {
        double mid = 0.5 * (low + high);
        if (0.5 * erfc(mid / sqrt(2.0)) > q)
            low = mid;
        else
            high = mid;
    }
    return 0.5 * (low + high);
}

/* t with P(T > t) = q, 0 < q <= 0.5. Above 10^4 degrees of freedom the series around the normal
 * quantile (Abramowitz & Stegun 26.7.5) is exact to 1e-12 and lgamma is not. */
static double student_upper(double q, double df)
{
    if (df > 1e4) {
        double z = normal_upper(q), z2 = z * z;
        return z + z * (z2 + 1.0) / (4.0 * df) +
               z * ((5.0 * z2 + 16.0) * z2 + 3.0) / (96.0 * df * df);
    }
    double low = 0.0, high = 1.0;
    while (student_tail(high, df) > q && high < 1e150) {
        low = high;
        high *= 2.0;
    }
    for (int i = 0; i < 80; i++) {
        double mid = 0.5 * (low + high);
        if (student_tail(mid, df) > q)
            low = mid;
        else
            high = mid;
    }
    return 0.5 * (low + high);
}

double ts_student_quantile(double p, double df)
{
    if (p > 0.5)
        return student_upper(1.0 - p, df);
    if (p < 0.5)
        return -student_upper(p, df);
    return 0.0;
}

double ts_student_two_sided(double t, double df)
{
    t = fabs(t);
    if (df > 1e4) { /* Abramowitz & Stegun 26.7.8: lgamma loses digits up here */
        double z = isinf(df) ? t : t * (1.0 - 0.25 / df) / sqrt(1.0 + t * t / (2.0 * df));
        return erfc(z / sqrt(2.0));
    }
    return 2.0 * student_tail(t, df);
}

/* ---- intervals ---- */

#define CONFIDENCE_UPPER 0.975 /* two-sided 95 % */
/* From so many visits on order statistics alone reach the confidence (but for 1.25 % with five). */
#define ORDER_VISITS 5

static double *new_logs(const double *x, size_t count)
{
    double *logs = ts_alloc(count, sizeof(*logs));
    for (size_t i = 0; i < count; i++)
        logs[i] = log(x[i]);
    return logs;
}

/* Centred on the mean of the logarithms, for which Student's t is right; mid is a median, and where
 * it lies outside the interval is widened to hold it. */
static struct ts_interval interval_around(double mid, double mean_log, double half_log)
{
    return (struct ts_interval){
        .low = fmin(mid, exp(mean_log - half_log)),
        .mid = mid,
        .high = fmax(mid, exp(mean_log + half_log)),
        .known = true,
    };
}

/* Between the k-th and the (k+1)-th order statistics from either end (k from 1), the fraction of
 * the way inwards at which coverage is what is wanted (Hettmansperger & Sheather 1986,
 * formula 1.3). With five the range is all there is (93.75 %). */
static struct ts_interval interval_by_order(const double *sorted, size_t count)
{
    const double wanted = 2.0 * CONFIDENCE_UPPER - 1.0;
    /* P(B <= k - 1) and P(B <= k) for B binomial (count, 1/2), the last term of the sum in
     * logarithms, because 2^-count is 0 from 1075 on. */
    double log_term = -(double)count * log(2.0), tail_before = 0.0, tail = exp(log_term);
    size_t k = 0;
    do {
        k++;
        log_term += log((double)(count - k + 1) / (double)k);
        tail_before = tail;
        tail += exp(log_term);
    } while (k < count / 2 && 1.0 - 2.0 * tail >= wanted);
    double outer = 1.0 - 2.0 * tail_before, inner = 1.0 - 2.0 * tail;
    double part = outer <= wanted ? 0.0 : (outer - wanted) / (outer - inner);
    double way = (double)(count - k) * part / ((double)k + (double)(count - 2 * k) * part);
    return (struct ts_interval){
        .low = sorted[k - 1] + way * (sorted[k] - sorted[k - 1]),
        .mid = ts_median(sorted, count),
        .high = sorted[count - k] - way * (sorted[count - k] - sorted[count - k - 1]),
        .known = true,
    };
}

struct ts_interval ts_interval_of_visits(const double *visit_medians, size_t count)
{
    double mid = ts_median(visit_medians, count);
    if (count < 2)
        return (struct ts_interval){mid, mid, mid, false};
    if (count >= ORDER_VISITS) {
        double *sorted = ts_alloc(count, sizeof(*sorted));
        memcpy(sorted, visit_medians, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), by_value);
        struct ts_interval interval = interval_by_order(sorted, count);
        free(sorted);
        return interval;
    }
    double *logs = new_logs(visit_medians, count);
    double mean = ts_mean(logs, count);
    double error = sqrt(ts_variance(logs, count) / (double)count);
    free(logs);
    return interval_around(mid, mean,
                           error * ts_student_quantile(CONFIDENCE_UPPER, (double)(count - 1)));
}

struct ts_interval ts_interval_of_ratio(const double *a, size_t na, const double *b, size_t nb)
{
    double mid = ts_median(a, na) / ts_median(b, nb);
    if (na < 2 || nb < 2)
        return (struct ts_interval){mid, mid, mid, false};
    double *log_a = new_logs(a, na), *log_b = new_logs(b, nb);
    double mean = ts_mean(log_a, na) - ts_mean(log_b, nb);
    double va = ts_variance(log_a, na) / (double)na, vb = ts_variance(log_b, nb) / (double)nb;
    free(log_a);
    free(log_b);
    if (!(va + vb > 0.0)) /* no visit differs from another: nothing to widen by */
        return interval_around(mid, mean, 0.0);
    double share = va / (va + vb); /* squares of va and vb themselves could vanish */
    double df =
        1.0 / (share * share / (double)(na - 1) + (1.0 - share) * (1.0 - share) / (double)(nb - 1));
    return interval_around(mid, mean, sqrt(va + vb) * ts_student_quantile(CONFIDENCE_UPPER, df));
}
