/* stats.h: small pure statistics. Floor 0. No function changes its input; all take count >= 1
 * unless they say otherwise; results are finite for finite input. */
#ifndef TS_STATS_H
#define TS_STATS_H

#include "base.h"

/* Quantile p in [0,1] by linear interpolation of order statistics (Hyndman & Fan 1996, type 7). */
double ts_quantile(const double *x, size_t count, double p);
double ts_median(const double *x, size_t count);
double ts_mean(const double *x, size_t count);
/* Unbiased variance; count >= 2. */
double ts_variance(const double *x, size_t count);
/* Quantile of Student's t with df > 0 (real, INFINITY: the normal) degrees of freedom, p in (0,1).
 * Accurate to 1e-8. */
double ts_student_quantile(double p, double df);
/* P(|T| > |t|): the two-sided p-value of t; df as above. Relative error below 1e-6. */
double ts_student_two_sided(double t, double df);

/* Do the values (> 0) fall into two groups clearly apart? The best cut in two on the logarithms
 * (least sum of squares within, as Otsu 1979) leaves each group at least a fifth of the values, and
 * the groups' distance is Ashman's D > 6 (Ashman, Bird & Zepf 1994, where 2 is a clean separation
 * of two normal groups; half a normal is apart from the other half by 2.7) and more than 1 %. Never
 * with fewer than 10 values. count may be 0. */
bool ts_is_bimodal(const double *x, size_t count);

struct ts_interval {
    double low, mid, high;
    bool known; /* false: too little data (fewer than two visits); low and high equal mid */
};

/* 95 % interval for the typical time of a row, the median of what its visits' medians (all > 0) are
 * drawn from. From five visits on by order statistics, interpolated (T. P. Hettmansperger, S. J.
 * Sheather, Confidence intervals based on interpolated order statistics, Statistics & Probability
 * Letters 4, 1986), which hold whatever the distribution is: two modes, tails, samples that follow
 * each other within a visit; with five it is the range, 93.75 %. Below that by Student's t on the
 * logarithms with count-1 degrees of freedom. mid is the median of the medians; where it lies
 * outside, the interval is widened to hold it (low <= mid <= high always).
 * tests/simulate_intervals.c prints its coverage. */
struct ts_interval ts_interval_of_visits(const double *visit_medians, size_t count);
/* 95 % interval for the ratio a/b of two rows' typical times: Welch's t on the logarithms of the
 * visit medians (Welch 1947; Satterthwaite degrees of freedom). mid is the ratio of the medians,
 * widened to as above. known == false when a side has fewer than two visits. */
struct ts_interval ts_interval_of_ratio(const double *a, size_t na, const double *b, size_t nb);

/* ---- many rows at once (stats_many.c) ---- */

/* Standard deviation by the median absolute deviation from the median, scaled to agree with the
 * normal's (Hampel 1974): half of the values may be anything. */
double ts_robust_sd(const double *x, size_t count);

/* First and second derivative of log gamma, x > 0: recurrence up to x >= 10, then the asymptotic
 * series (Abramowitz & Stegun 6.3.18, 6.4.12). Relative error below 1e-10. */
double ts_digamma(double x);
double ts_trigamma(double x);
/* x > 0 with trigamma(x) = y, y > 0. */
double ts_trigamma_inverse(double y);

/* What many rows tell of their noise: variances are taken to be drawn as
 * df * variance / chi-square(df). */
struct ts_variance_prior {
    double df;       /* 0: nothing is known; INFINITY: all rows have the same variance */
    double variance; /* typical variance, 0 where df is 0 */
};
/* Fits the prior to count sample variances (> 0) with df[i] > 0 degrees of freedom by the moments
 * of log variance (Smyth 2004, Linear models and empirical Bayes methods, section 6.2). Below
 * TS_PRIOR_LEAST rows the moments say too little: df 0. */
enum { TS_PRIOR_LEAST = 10 };
struct ts_variance_prior ts_variance_prior_fit(const double *variance, const double *df,
                                               size_t count);

/* Adjusted p-values of Benjamini & Hochberg 1995: rejecting those <= q keeps the expected share of
 * false discoveries at or below q. adjusted may be p. count 0: nothing. */
void ts_adjust_p(const double *p, size_t count, double *adjusted);

#endif
