/* test_trend.c: steps and creep in made-up series. */
#include "trend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

enum { ROWS = 40, RUNS = 14 };

static double series[ROWS][RUNS];
static struct ts_trend trends[ROWS];

static double normal(struct ts_rng *rng)
{
    double u = 1.0 - ts_rng_unit(rng), v = ts_rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(2.0 * acos(-1.0) * v);
}

/* 1 ms with 1 % of noise from run to run. */
static void make(uint64_t seed)
{
    struct ts_rng rng = {seed};
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t r = 0; r < RUNS; r++)
            series[i][r] = log(1e6) + 0.01 * normal(&rng);
        trends[i] = (struct ts_trend){.log_ns = series[i], .count = RUNS};
    }
}

static void test_a_step_and_its_run(void **state)
{
    (void)state;
    make(1);
    for (size_t r = 9; r < RUNS; r++)
        series[4][r] += log(1.1);
    ts_trends_find(trends, ROWS, 0.05, 0.05);
    assert_true(trends[4].shown);
    assert_int_equal(trends[4].kind, TS_TREND_STEP);
    assert_int_equal(trends[4].first, 9);
    assert_true(trends[4].change.low < 1.1 && trends[4].change.high > 1.1);
}

/* No two neighbouring runs differ by more than their noise. */
static void test_creep_of_one_percent_a_night(void **state)
{
    (void)state;
    make(2);
    for (size_t r = 4; r < RUNS; r++)
        series[4][r] += 0.01 * (double)(r - 4);
    ts_trends_find(trends, ROWS, 0.05, 0.05);
    assert_true(trends[4].shown);
    assert_int_equal(trends[4].kind, TS_TREND_CREEP);
    assert_true(trends[4].first >= 2 && trends[4].first <= 6);
    assert_true(fabs(trends[4].log_change - 0.09) < 0.03);
}

static void test_one_bad_night_is_neither(void **state)
{
    (void)state;
    make(3);
    series[4][7] += log(1.3);
    ts_trends_find(trends, ROWS, 0.05, 0.05);
    assert_false(trends[4].shown);
}

static void test_a_change_within_the_threshold_is_not_told(void **state)
{
    (void)state;
    make(4);
    for (size_t r = 7; r < RUNS; r++)
        series[4][r] += log(1.03);
    ts_trends_find(trends, ROWS, 0.05, 0.05);
    assert_false(trends[4].shown);
    assert_true(trends[4].p_adjusted < 0.05);
}

static void test_too_few_runs(void **state)
{
    (void)state;
    make(5);
    for (size_t i = 0; i < ROWS; i++)
        trends[i].count = TS_TREND_LEAST - 1;
    ts_trends_find(trends, ROWS, 0.05, 0.05);
    assert_int_equal(trends[0].kind, TS_TREND_NONE);
    assert_false(trends[0].shown);
    ts_trends_find(trends, 0, 0.05, 0.05);
}

/* Seeded: of 200 histories in which nothing happens, at most one in twenty says anything, at a
 * threshold that lets everything through. */
static void test_false_alarms(void **state)
{
    (void)state;
    size_t alarms = 0;
    for (uint64_t seed = 100; seed < 300; seed++) {
        make(seed);
        ts_trends_find(trends, ROWS, 0.0, 0.05);
        bool any = false;
        for (size_t i = 0; i < ROWS; i++)
            any = any || trends[i].shown;
        alarms += any;
    }
    assert_true(alarms <= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_and_its_run),
        cmocka_unit_test(test_creep_of_one_percent_a_night),
        cmocka_unit_test(test_one_bad_night_is_neither),
        cmocka_unit_test(test_a_change_within_the_threshold_is_not_told),
        cmocka_unit_test(test_too_few_runs),
        cmocka_unit_test(test_false_alarms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
