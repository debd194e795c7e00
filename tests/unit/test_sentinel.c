/* test_sentinel.c: excursions and drift on made-up series of looks. */
#include "sentinel.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

static bool add(struct ts_sentinel_series *series, double copy, double fma)
{
    struct ts_sentinel_point point = {
        .at_ms = (int64_t)series->count * 100,
        .copy_ns = (int64_t)(1e6 * copy),
        .fma_ns = (int64_t)(2e5 * fma),
    };
    return ts_sentinel_add(series, &point);
}

static void a_quiet_device_has_none(void **state)
{
    (void)state;
    struct ts_sentinel_series series = {0};
    struct ts_rng rng = {1};
    for (int i = 0; i < 1000; i++)
        assert_false(add(&series, 1 + 0.02 * ts_rng_unit(&rng), 1 + 0.01 * ts_rng_unit(&rng)));
    assert_true(fabs(ts_sentinel_drift(&series).copy - 1) < 0.005);
    ts_sentinel_free(&series);
    assert_int_equal(series.count, 0);
}

/* Either kernel, either way: throttled arithmetic, a neighbour on the memory, and his going away.
 */
static void excursions_are_seen(void **state)
{
    (void)state;
    const double shifts[][2] = {{1.1, 1}, {1, 1.1}, {0.9, 1}, {1, 0.8}};
    for (size_t i = 0; i < TS_COUNT(shifts); i++) {
        struct ts_sentinel_series series = {0};
        for (int look = 0; look < 5; look++)
            assert_false(add(&series, 1 + 0.001 * look, 1));
        assert_true(add(&series, shifts[i][0], shifts[i][1]));
        assert_true(series.points[5].excursion);
        assert_false(add(&series, 1, 1)); /* the level is still the old one */
        ts_sentinel_free(&series);
    }
}

/* What is the same noise as always is none, however large; nor is the start judged. */
static void noise_is_no_excursion(void **state)
{
    (void)state;
    struct ts_sentinel_series series = {0};
    assert_false(add(&series, 1, 1));
    assert_false(add(&series, 2, 1));
    assert_false(add(&series, 3, 1));
    ts_sentinel_free(&series);
    for (int i = 0; i < 9; i++)
        add(&series, i % 2 ? 1.0 : 1.15, 1);
    assert_false(add(&series, 1.25, 1));
    ts_sentinel_free(&series);
}

static void a_new_level_becomes_normal(void **state)
{
    (void)state;
    struct ts_sentinel_series series = {0};
    int excursions = 0;
    for (int i = 0; i < 9; i++)
        add(&series, 1, 1);
    for (int i = 0; i < 20; i++)
        excursions += add(&series, 1.3, 1);
    assert_true(excursions >= 2 && excursions <= 4);
    struct ts_sentinel_pair drift = ts_sentinel_drift(&series);
    assert_true(fabs(drift.copy - 1.3) < 1e-9 && fabs(drift.fma - 1) < 1e-9);
    ts_sentinel_free(&series);
}

static void creeping_is_drift(void **state)
{
    (void)state;
    struct ts_sentinel_series series = {0};
    for (int i = 0; i < 300; i++)
        assert_false(add(&series, 1 + 0.0005 * i, 1));
    assert_true(ts_sentinel_drift(&series).copy > 1.08);
    ts_sentinel_free(&series);
    for (int i = 0; i < 5; i++)
        add(&series, 1 + i, 1);
    assert_true(ts_sentinel_drift(&series).copy == 1.0); /* too few looks to tell */
    ts_sentinel_free(&series);
}

static void looks_are_read_back(void **state)
{
    (void)state;
    struct ts_sentinel_point point = {123, 1000, 200, 4, true}, back;
    struct ts_err err = {0};
    cJSON *json = ts_sentinel_point_to_json(&point);
    assert_int_equal(ts_sentinel_point_from_json(&back, json, &err), 0);
    assert_int_equal(back.at_ms, point.at_ms);
    assert_int_equal(back.copy_ns, point.copy_ns);
    assert_int_equal(back.fma_ns, point.fma_ns);
    assert_int_equal(back.worker, point.worker);
    assert_true(back.excursion);
    cJSON_Delete(json);
    const char *const bad[] = {"[]", "{}", "{\"at_ms\":-1,\"copy_ns\":1,\"fma_ns\":1,\"worker\":0}",
                               "{\"at_ms\":1,\"copy_ns\":0,\"fma_ns\":1,\"worker\":0}",
                               "{\"at_ms\":1,\"copy_ns\":1,\"fma_ns\":1.5,\"worker\":0}"};
    for (size_t i = 0; i < TS_COUNT(bad); i++) {
        struct ts_err told = {0};
        json = cJSON_Parse(bad[i]);
        assert_int_equal(ts_sentinel_point_from_json(&back, json, &told), -1);
        assert_int_equal(told.exit_status, TS_EXIT_USAGE);
        cJSON_Delete(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_device_has_none), cmocka_unit_test(excursions_are_seen),
        cmocka_unit_test(noise_is_no_excursion),   cmocka_unit_test(a_new_level_becomes_normal),
        cmocka_unit_test(creeping_is_drift),       cmocka_unit_test(looks_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
