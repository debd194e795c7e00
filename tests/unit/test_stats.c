/* test_stats.c: order statistics, Student's t against published tables, coverage of the intervals.
 */
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

static void assert_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("got %.12g, want %.12g within %g", got, want, within);
}

/* ---- order statistics ---- */

static void test_quantile_is_type_7(void **state)
{
    (void)state;
    const double x[] = {40, 10, 30, 20};
    assert_near(ts_quantile(x, 4, 0.0), 10, 0);
    assert_near(ts_quantile(x, 4, 0.25), 17.5, 1e-12);
    assert_near(ts_quantile(x, 4, 0.5), 25, 1e-12);
    assert_near(ts_quantile(x, 4, 0.75), 32.5, 1e-12);
    assert_near(ts_quantile(x, 4, 1.0), 40, 0);
    assert_near(ts_quantile(x, 4, 1.0 / 3.0), 20, 1e-12);
}

static void test_input_is_not_changed(void **state)
{
    (void)state;
    const double x[] = {3, 1, 2};
    double copy[3];
    memcpy(copy, x, sizeof(x));
    assert_near(ts_median(copy, 3), 2, 0);
    assert_memory_equal(copy, x, sizeof(x));
}

static void test_one_value(void **state)
{
    (void)state;
    const double x[] = {7};
    assert_near(ts_quantile(x, 1, 0.0), 7, 0);
    assert_near(ts_quantile(x, 1, 0.9), 7, 0);
    assert_near(ts_median(x, 1), 7, 0);
    assert_near(ts_mean(x, 1), 7, 0);
}

static void test_moments(void **state)
{
    (void)state;
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_near(ts_mean(x, 8), 5, 1e-15);
    assert_near(ts_variance(x, 8), 32.0 / 7.0, 1e-14);
    /* far from zero the variance must not drown in rounding */
    const double far[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
    assert_near(ts_variance(far, 4), 30, 1e-9);
}

/* ---- Student's t ---- */

static void test_student_published_values(void **state)
{
    (void)state;
    /* NIST/SEMATECH e-Handbook 1.3.6.7.2 has three digits; the others follow from the finite series
     * for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4). */
    static const struct {
        double p, df, t;
    } table[] = {
        {0.975, 1, 12.706204736174694},  {0.975, 2, 4.302652729749462},
        {0.975, 3, 3.182446305283708},   {0.975, 4, 2.776445105197793},
        {0.975, 5, 2.570581835636314},   {0.975, 9, 2.262157162798205},
        {0.975, 10, 2.228138851964939},  {0.975, 30, 2.042272456301238},
        {0.975, 100, 1.983971518523552}, {0.95, 3, 2.353363434801823},
        {0.995, 5, 4.032142983557536},   {0.9, 10, 1.372183641110336},
        {0.999, 7, 4.785289628638000},
    };
    for (size_t i = 0; i < TS_COUNT(table); i++) {
        assert_near(ts_student_quantile(table[i].p, table[i].df), table[i].t, 1e-8);
        assert_near(ts_student_quantile(1.0 - table[i].p, table[i].df), -table[i].t, 1e-8);
    }
}

/* One and two degrees of freedom have closed forms. */
static void test_student_closed_forms(void **state)
{
    (void)state;
    const double pi = acos(-1.0);
    for (double p = 0.02; p < 0.99; p += 0.03) {
        assert_near(ts_student_quantile(p, 1), tan(pi * (p - 0.5)), 1e-8);
        assert_near(ts_student_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-8);
    }
    assert_near(ts_student_quantile(0.5, 3.7), 0, 0);
}

/* A fraction of a degree of freedom lies between its neighbours; many degrees are the normal
 * quantile; the series for very many meets the exact way without a step. */
static void test_student_between_and_far(void **state)
{
    (void)state;
    double t = ts_student_quantile(0.975, 4.5);
    assert_true(t < 2.776445105 && t > 2.570581835);
    assert_near(ts_student_quantile(0.975, 1e9), 1.959963984540054, 1e-8);
    assert_near(ts_student_quantile(0.975, 1000), 1.962339080613630, 1e-8);
    assert_near(ts_student_quantile(0.975, 9999.999), ts_student_quantile(0.975, 10000.001), 1e-9);
}

/* ---- intervals ---- */

static double normal(struct ts_rng *rng)
{
    double u = 1.0 - ts_rng_unit(rng), v = ts_rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(2.0 * acos(-1.0) * v);
}

enum shape { NORMAL, LOG_NORMAL, TWO_MODES };

/* A visit's median: typical value 1000. */
static double draw(struct ts_rng *rng, enum shape shape)
{
    double z = normal(rng);
    if (shape == TWO_MODES) /* the truth is not in the middle of what is seen */
        return ts_rng_unit(rng) < 0.2 ? 1300.0 + z : 1000.0 + 1e-3 * z;
    return shape == NORMAL ? 1000.0 + 50.0 * z : 1000.0 * exp(0.3 * z);
}

static void expect_share(size_t covered, size_t trials)
{
    double share = (double)covered / (double)trials;
    if (share < 0.93 || share > 0.97)
        fail_msg("a 95 %% interval holds the truth in %.1f %% of %zu trials", 100 * share, trials);
}

/* The interval is what it says: of many runs, 95 % hold the true typical time. */
static void test_visits_coverage(void **state)
{
    (void)state;
    const size_t visits[] = {3, 5, 10, 20}, trials = 6000;
    struct ts_rng rng = {20260101};
    for (int shape = NORMAL; shape <= LOG_NORMAL; shape++) {
        for (size_t v = 0; v < TS_COUNT(visits); v++) {
            size_t covered = 0;
            for (size_t t = 0; t < trials; t++) {
                double x[20];
                for (size_t i = 0; i < visits[v]; i++)
                    x[i] = draw(&rng, (enum shape)shape);
                struct ts_interval in = ts_interval_of_visits(x, visits[v]);
                assert_true(in.known && in.low <= in.mid && in.mid <= in.high);
                covered += in.low <= 1000.0 && 1000.0 <= in.high;
            }
            expect_share(covered, trials);
        }
    }
}

/* Order statistics by hand: the range of five; of six a bit inwards, as the tables of
 * Hettmansperger and Sheather have it. */
static void test_visits_by_order(void **state)
{
    (void)state;
    const double x[] = {5, 1, 3, 2, 4}, y[] = {60, 10, 30, 20, 50, 40};
    struct ts_interval in = ts_interval_of_visits(x, 5);
    assert_true(in.known && in.low == 1 && in.mid == 3 && in.high == 5);
    /* gamma_1 = 0.96875, gamma_2 = 0.78125: I = 0.1, way = 5 * 0.1 / (1 + 4 * 0.1) */
    in = ts_interval_of_visits(y, 6);
    assert_near(in.low, 10 + 10 * 0.5 / 1.4, 1e-9);
    assert_near(in.mid, 35, 1e-12);
    assert_near(in.high, 60 - 10 * 0.5 / 1.4, 1e-9);
}

/* Two modes, the true median within the larger: from ten visits on distribution does not matter. */
static void test_modes_coverage(void **state)
{
    (void)state;
    const size_t trials = 6000;
    struct ts_rng rng = {5};
    size_t covered = 0;
    for (size_t t = 0; t < trials; t++) {
        double x[10];
        for (size_t i = 0; i < 10; i++)
            x[i] = draw(&rng, TWO_MODES);
        struct ts_interval in = ts_interval_of_visits(x, 10);
        /* the median of the mixture: 0.5/0.8 of the way through the lower mode, z = 0.3186 */
        covered += in.low <= 1000.0 + 0.3186e-3 && 1000.0 + 0.3186e-3 <= in.high;
    }
    expect_share(covered, trials);
}

/* The same for a ratio of two rows with unlike noise: the truth is 2. */
static void test_ratio_coverage(void **state)
{
    (void)state;
    const size_t trials = 3000;
    struct ts_rng rng = {7};
    size_t covered = 0;
    for (size_t t = 0; t < trials; t++) {
        double a[5], b[6];
        for (size_t i = 0; i < 5; i++)
            a[i] = 2000.0 * exp(0.02 * normal(&rng));
        for (size_t i = 0; i < 6; i++)
            b[i] = 1000.0 * exp(0.1 * normal(&rng));
        struct ts_interval in = ts_interval_of_ratio(a, 5, b, 6);
        assert_true(in.known && in.low <= in.mid && in.mid <= in.high);
        covered += in.low <= 2.0 && 2.0 <= in.high;
    }
    expect_share(covered, trials);
}

static void test_visits_by_hand(void **state)
{
    (void)state;
    /* logs 0, 1, 2: mean 1, s = 1, error 1/sqrt(3), t(2) = 4.302652729749 */
    const double x[] = {1.0, exp(1.0), exp(2.0)};
    struct ts_interval in = ts_interval_of_visits(x, 3);
    double half = 4.302652729749462 / sqrt(3.0);
    assert_near(log(in.low), 1.0 - half, 1e-9);
    assert_near(in.mid, exp(1.0), 1e-12);
    assert_near(log(in.high), 1.0 + half, 1e-9);
}

static void test_one_visit_is_not_known(void **state)
{
    (void)state;
    const double one[] = {42}, two[] = {20, 22};
    struct ts_interval in = ts_interval_of_visits(one, 1);
    assert_false(in.known);
    assert_true(in.low == 42 && in.mid == 42 && in.high == 42);
    assert_false(ts_interval_of_ratio(one, 1, two, 2).known);
    in = ts_interval_of_ratio(two, 2, one, 1);
    assert_false(in.known);
    assert_near(in.mid, 0.5, 1e-15);
    assert_true(in.low == in.mid && in.high == in.mid);
}

static void test_equal_visits(void **state)
{
    (void)state;
    const double x[] = {12345, 12345, 12345}, y[] = {24690, 24690};
    struct ts_interval in = ts_interval_of_visits(x, 3);
    assert_true(in.known && in.low <= in.mid && in.mid <= in.high);
    assert_near(in.low, 12345, 1e-6);
    assert_near(in.high, 12345, 1e-6);
    in = ts_interval_of_ratio(y, 2, x, 3);
    assert_true(in.known && isfinite(in.low) && isfinite(in.high));
    assert_near(in.low, 2, 1e-12);
    assert_near(in.high, 2, 1e-12);
}

/* One side without noise: the other's degrees of freedom count alone. */
static void test_ratio_one_side_still(void **state)
{
    (void)state;
    const double a[] = {1.0, exp(1.0), exp(2.0)}, b[] = {1, 1, 1, 1};
    struct ts_interval in = ts_interval_of_ratio(a, 3, b, 4);
    assert_near(log(in.high), 1.0 + 4.302652729749462 / sqrt(3.0), 1e-8);
}

/* The median of a lopsided set may lie beyond the interval around the mean: it is widened. */
static void test_mid_is_inside(void **state)
{
    (void)state;
    double x[101];
    for (int i = 0; i < 101; i++)
        x[i] = i < 51 ? 100.0 : 1000.0;
    struct ts_interval in = ts_interval_of_visits(x, 101);
    assert_near(in.mid, 100, 1e-12);
    assert_true(in.low <= in.mid && in.high > 200);
}

/* ---- many rows ---- */

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.15g, want %.15g", got, want);
}

/* Abramowitz & Stegun 6.3.2, 6.3.3, 6.4.4: psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2,
 * psi'(1) = pi^2/6, psi'(1/2) = pi^2/2. */
static void test_derivatives_of_log_gamma(void **state)
{
    (void)state;
    const double gamma = 0.57721566490153286, pi = acos(-1.0);
    near(ts_digamma(1.0), -gamma, 1e-12);
    near(ts_digamma(0.5), -gamma - 2.0 * log(2.0), 1e-12);
    near(ts_digamma(100.0), 4.600161852738087, 1e-12);
    near(ts_trigamma(1.0), pi * pi / 6.0, 1e-12);
    near(ts_trigamma(0.5), pi * pi / 2.0, 1e-12);
    near(ts_trigamma(100.0), 0.010050166663333571, 1e-10);
    for (double x = 0.01; x < 1e5; x *= 3.0)
        near(ts_trigamma_inverse(ts_trigamma(x)), x, 1e-9);
}

static void test_two_sided_student(void **state)
{
    (void)state;
    near(ts_student_two_sided(4.302652729911275, 2.0), 0.05, 1e-8);
    near(ts_student_two_sided(-2.2281388519649385, 10.0), 0.05, 1e-8);
    near(ts_student_two_sided(1.959963984540054, INFINITY), 0.05, 1e-8);
    near(ts_student_two_sided(1.96, 2e4), ts_student_two_sided(1.96, 9.999e3), 1e-3);
    near(ts_student_two_sided(0.0, 3.0), 1.0, 1e-12);
}

static void test_robust_sd(void **state)
{
    (void)state;
    const double x[] = {1.0, 2.0, 3.0, 4.0, 1e9};
    near(ts_robust_sd(x, 5), 1.0 / 0.6744897501960817, 1e-12);
}

/* Benjamini & Hochberg 1995, by hand: p * count / rank, made monotonic from above. */
static void test_adjusted_p(void **state)
{
    (void)state;
    double p[] = {0.01, 0.5, 0.02, 0.03, 0.9};
    ts_adjust_p(p, 5, p);
    near(p[0], 0.05, 1e-12);
    near(p[1], 0.625, 1e-12);
    near(p[2], 0.05, 1e-12);
    near(p[3], 0.05, 1e-12);
    near(p[4], 0.9, 1e-12);
    ts_adjust_p(p, 0, p);
}

/* Variances that are all alike, those that differ by far more than chance, and too few. */
static void test_prior_of_variances(void **state)
{
    (void)state;
    double variance[200], df[200];
    struct ts_rng rng = {7};
    for (size_t i = 0; i < 200; i++) {
        df[i] = 4.0;
        /* chi-square of 4 degrees: -2 log(u v) */
        variance[i] = -2.0 * log((1.0 - ts_rng_unit(&rng)) * (1.0 - ts_rng_unit(&rng))) / 4.0;
    }
    struct ts_variance_prior alike = ts_variance_prior_fit(variance, df, 200);
    assert_true(alike.df > 8.0);
    assert_true(alike.variance > 0.8 && alike.variance < 1.25);
    for (size_t i = 0; i < 200; i++)
        variance[i] *= i % 2 ? 100.0 : 0.01;
    struct ts_variance_prior unlike = ts_variance_prior_fit(variance, df, 200);
    assert_true(unlike.df > 0.0 && unlike.df < 1.0);
    assert_true(ts_variance_prior_fit(variance, df, TS_PRIOR_LEAST - 1).df == 0.0);
}

/* Two groups clearly apart, and what only looks like it. */
static void test_bimodal(void **state)
{
    (void)state;
    struct ts_rng rng = {3};
    size_t found[6] = {0};
    const size_t trials = 500;
    for (size_t t = 0; t < trials; t++) {
        double x[25];
        for (int kind = 0; kind < 6; kind++) {
            for (int i = 0; i < 25; i++) {
                double z = normal(&rng), u = ts_rng_unit(&rng);
                const double values[] = {
                    1000 * (1 + 0.01 * z),                        /* one normal group */
                    1000 * exp(0.5 * z),                          /* a long tail */
                    1000 * (1 + u),                               /* even */
                    1000 * (1 + 0.01 * z) * (i == 7 ? 2.0 : 1.0), /* one outlier */
                    (u < 0.4 ? 1000 : 1100) * (1 + 0.005 * z),    /* two groups */
                    (u < 0.4 ? 1000 : 1005) * (1 + 0.0001 * z),   /* apart, but by half a percent */
                };
                x[i] = values[kind];
            }
            found[kind] += ts_is_bimodal(x, 25);
        }
    }
    for (int kind = 0; kind < 6; kind++) {
        if (kind == 4 ? found[kind] < trials * 95 / 100 : found[kind] > trials / 100)
            fail_msg("kind %d: %zu of %zu called bimodal", kind, found[kind], trials);
    }
    const double few[] = {1, 1, 1, 1, 2, 2, 2, 2, 2};
    assert_false(ts_is_bimodal(few, TS_COUNT(few)));
    assert_false(ts_is_bimodal(few, 0));
}

/* The order statistics that bound it are near count / 2 -+ 0.98 sqrt(count), also where 2^-count is
 * no number. */
static void test_many_visits(void **state)
{
    (void)state;
    for (size_t count = 60; count <= 40000; count = count * 3 / 2) {
        double *x = ts_alloc(count, sizeof(*x)), half = (double)count / 2.0;
        for (size_t i = 0; i < count; i++)
            x[i] = (double)i;
        struct ts_interval in = ts_interval_of_visits(x, count);
        double expected = 0.98 * sqrt((double)count);
        assert_true(in.known);
        assert_true(fabs((in.high - in.low) / 2.0 - expected) < 1.0);
        assert_true(in.low < half && half < in.high + 1.0);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_visits),
        cmocka_unit_test(test_quantile_is_type_7),
        cmocka_unit_test(test_input_is_not_changed),
        cmocka_unit_test(test_one_value),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_student_published_values),
        cmocka_unit_test(test_student_closed_forms),
        cmocka_unit_test(test_student_between_and_far),
        cmocka_unit_test(test_visits_coverage),
        cmocka_unit_test(test_visits_by_order),
        cmocka_unit_test(test_bimodal),
        cmocka_unit_test(test_modes_coverage),
        cmocka_unit_test(test_ratio_coverage),
        cmocka_unit_test(test_visits_by_hand),
        cmocka_unit_test(test_one_visit_is_not_known),
        cmocka_unit_test(test_equal_visits),
        cmocka_unit_test(test_ratio_one_side_still),
        cmocka_unit_test(test_mid_is_inside),
        cmocka_unit_test(test_derivatives_of_log_gamma),
        cmocka_unit_test(test_two_sided_student),
        cmocka_unit_test(test_robust_sd),
        cmocka_unit_test(test_adjusted_p),
        cmocka_unit_test(test_prior_of_variances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
