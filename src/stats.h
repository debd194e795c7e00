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
/* Quantile of Student's t with df > 0 (real) degrees of freedom, p in (0,1). Accurate to 1e-8. */
double ts_student_quantile(double p, double df);

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

#endif
