/* test_verdict.c: rows to numbers (metric) and rows to answers (verdict), on made-up rows. */
#include "verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure.h"
#include "metric.h"

/* ---- made-up rows ---- */

/* An ok row of one case whose visits lie around ns by `spread` (a share), two samples each. */
static struct ts_row make(const char *variant, int64_t tx, double ns, double spread, int visits)
{
    struct ts_row row;
    ts_row_init(&row);
    row.benchmark = ts_strdup("laplacian");
    row.variant = ts_strdup(variant);
    ts_values_add(&row.size, "W", 1024);
    ts_values_add(&row.problem, "POINTS", 5);
    ts_values_add(&row.params, "TX", tx);
    row.baseline = strcmp(variant, "naive") == 0;
    row.staged = strcmp(variant, "local") == 0;
    ts_row_set_status(&row, TS_OK, NULL, NULL);
    row.geometry.dims = 2;
    row.geometry.local[0] = tx;
    row.geometry.local[1] = 8;
    row.geometry.local_bytes = row.staged ? tx * 40 : 0;
    row.work.elements = 1000;
    for (int v = 0; v < visits; v++) {
        double offset = visits > 1 ? 2.0 * v / (visits - 1) - 1.0 : 0.0;
        int64_t at = (int64_t)llround(ns * (1.0 + spread * offset));
        const int64_t samples[] = {at, at};
        ts_row_add_visit(&row, samples, 2, 1 + v % 2);
    }
    return row;
}

static void add_fresh(struct ts_row *row, double ns, int visits)
{
    for (int v = 0; v < visits; v++) {
        const int64_t samples[] = {(int64_t)ns + v, (int64_t)ns + v};
        ts_row_add_fresh_visit(row, samples, 2, 2);
    }
}

static void free_rows(struct ts_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ts_row_free(&rows[i]);
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" lacks \"%s\"", text, part);
}

static void assert_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("got %.12g, want %.12g within %g", got, want, within);
}

/* ---- metrics ---- */

static const struct ts_peaks peaks = {1e10, 1e11, 0};

static void test_metrics(void **state)
{
    (void)state;
    struct ts_row row = make("local", 16, 2000, 0.01, 3);
    row.work = (struct ts_work){1000, 40000, 8000, -1};
    assert_near(ts_metric_value("median_ns", &row, NULL), 2000, 0);
    assert_near(ts_metric_value("elements_per_s", &row, NULL), 5e8, 1e-3);
    assert_near(ts_metric_value("flops_per_s", &row, &peaks), 2e10, 1e-3);
    assert_near(ts_metric_value("bytes_per_s", &row, &peaks), 4e9, 1e-3);
    assert_near(ts_metric_value("of_peak", &row, &peaks), 0.4,
                1e-12); /* 8000 B at 1e10 B/s: 800 ns */
    assert_string_equal(ts_metric_bound(&row, &peaks), "memory");
    row.work.flops = 160000; /* 1600 ns */
    assert_near(ts_metric_value("of_peak", &row, &peaks), 0.8, 1e-12);
    assert_string_equal(ts_metric_bound(&row, &peaks), "compute");
    assert_true(isnan(ts_metric_value("no_such_metric", &row, &peaks)));
    ts_row_free(&row);
}

static void test_metrics_unknown(void **state)
{
    (void)state;
    struct ts_row row = make("local", 16, 2000, 0.01, 3);
    const struct ts_peaks none = {0}, copy_only = {1e10, 0, 0};
    row.work = (struct ts_work){-1, 40000, 8000, -1};
    assert_true(isnan(ts_metric_value("elements_per_s", &row, &peaks)));
    assert_true(isnan(ts_metric_value("of_peak", &row, NULL)));
    assert_true(isnan(ts_metric_value("of_peak", &row, &none)));
    assert_null(ts_metric_bound(&row, NULL));
    assert_null(ts_metric_bound(&row, &none));
    assert_near(ts_metric_value("of_peak", &row, &copy_only), 0.4, 1e-12);
    row.work.bytes = -1;
    assert_string_equal(ts_metric_bound(&row, &peaks), "compute");
    assert_null(ts_metric_bound(&row, &copy_only));
    ts_row_set_status(&row, TS_WRONG, "mismatch", "x");
    assert_true(isnan(ts_metric_time_ns(&row).mid)); /* a failed row has no time */
    assert_true(isnan(ts_metric_value("flops_per_s", &row, &peaks)));
    ts_row_free(&row);
    row = make("local", 16, 2000, 0, 0);
    assert_true(isnan(ts_metric_time_ns(&row).mid));
    ts_row_free(&row);
}

/* Of the work alone: a row needs neither a time nor a ceiling, and results have nothing of it. */
static void test_requested_over_compulsory(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes, requested_bytes;
        double ratio;
    } table[] = {
        {8000, 12000, 1.5}, {8000, 8000, 1.0}, {8000, 0, 0.0},
        {8000, -1, NAN},    {-1, 12000, NAN},  {0, 12000, NAN},
    };
    const char *name = "requested_over_compulsory";
    struct ts_row row = make("local", 16, 2000, 0, 0);
    for (size_t i = 0; i < TS_COUNT(table); i++) {
        row.work.bytes = table[i].bytes;
        row.work.requested_bytes = table[i].requested_bytes;
        double ratio = ts_metric_value(name, &row, NULL);
        if (isnan(table[i].ratio))
            assert_true(isnan(ratio));
        else
            assert_near(ratio, table[i].ratio, 1e-12);
    }
    cJSON *rate = ts_rate_to_json(&row, &peaks);
    assert_null(ts_json_get(rate, name));
    cJSON_Delete(rate);
    ts_row_free(&row);
}

static void test_peaks_json(void **state)
{
    (void)state;
    cJSON *json = ts_peaks_to_json(&peaks);
    struct ts_peaks back = {7, 7, 7};
    assert_true(cJSON_IsNull(ts_json_get(json, "local_bytes_per_s")));
    ts_peaks_from_json(&back, json);
    assert_true(back.copy_bytes_per_s == 1e10 && back.fma_flops_per_s == 1e11);
    assert_true(back.local_bytes_per_s == 0);
    cJSON_Delete(json);
    ts_peaks_from_json(&back, NULL);
    assert_true(back.copy_bytes_per_s == 0);
}

static void test_flags(void **state)
{
    (void)state;
    const struct ts_clock clock = {.event = true, .tick_ns = 20}; /* 100 ticks: 2000 ns */
    struct ts_row row = make("local", 16, 2000, 0.0, 3);
    row.work = (struct ts_work){1000, 0, 20000, -1}; /* 2000 ns at the peak: of_peak 1 exactly */
    row.time.flags = ~0u;
    ts_row_derive_flags(&row, &peaks, &clock);
    assert_int_equal(row.time.flags, 0);
    row.work.bytes = 20001;
    ts_row_derive_flags(&row, &peaks, &clock);
    assert_int_equal(row.time.flags, TS_FLAG_IN_CACHE);
    /* At 1e11 flops a second 2000 ns are 200,000 flops: no cache makes more of them possible. */
    row.work.flops = 200100;
    ts_row_derive_flags(&row, &peaks, &clock);
    assert_int_equal(row.time.flags, TS_FLAG_ABOVE_CEILING);
    row.work.flops = 0;
    ts_row_derive_flags(&row, NULL, NULL);
    assert_int_equal(row.time.flags, 0);
    row.time.batch = 2;
    row.time.host_clock = true;
    ts_row_derive_flags(&row, NULL, &clock);
    assert_int_equal(row.time.flags, TS_FLAG_BATCHED | TS_FLAG_HOST_CLOCK);
    ts_row_free(&row);
    row = make("local", 16, 1999, 0.0, 3);
    ts_row_derive_flags(&row, NULL, &clock);
    assert_int_equal(row.time.flags, TS_FLAG_COARSE_CLOCK);
    row.time.batch = 2; /* the batch lasts long enough */
    ts_row_derive_flags(&row, NULL, &clock);
    assert_int_equal(row.time.flags, TS_FLAG_BATCHED);
    row.time.batch = 1;
    row.time.visits[1].count = 1;
    ts_row_derive_flags(&row, NULL, NULL);
    assert_int_equal(row.time.flags, TS_FLAG_FEW_SAMPLES);
    ts_row_set_status(&row, TS_TIMEOUT, "time", "x");
    ts_row_derive_flags(&row, &peaks, &clock);
    assert_int_equal(row.time.flags, 0);
    ts_row_free(&row);
    row = make("local", 16, 9000, 0.0, 2);
    ts_row_derive_flags(&row, NULL, &clock);
    assert_int_equal(row.time.flags, TS_FLAG_FEW_SAMPLES);
    ts_row_free(&row);
}

/* ---- verdicts ---- */

static struct ts_device global_memory(void)
{
    struct ts_device device = {0};
    device.number[TS_DEVICE_LOCAL_MEM_TYPE] = TS_LOCAL_MEM_GLOBAL;
    return device;
}

static void test_pays(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1420, 0.01, 5), make("naive", 32, 1500, 0.01, 5),
                            make("local", 16, 1200, 0.01, 5), make("local", 32, 1000, 0.01, 5),
                            make("vec", 8, 1600, 0.01, 5)};
    struct ts_device device = global_memory();
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 5, &rows[4], &device);
    assert_int_equal(v.pays, TS_PAYS_YES);
    assert_ptr_equal(v.baseline, &rows[0]);
    assert_ptr_equal(v.best_plain, &rows[0]);
    assert_ptr_equal(v.best_staged, &rows[3]);
    assert_ptr_equal(v.best, &rows[3]);
    assert_int_equal(v.tie_count, 1);
    assert_true(v.speedup.known && v.speedup.low > 1.3 && v.speedup.high < 1.5);
    assert_near(v.speedup.mid, 1.42, 1e-9);
    expect_text(v.why, "staging pays: 1.42 times faster (1.");
    assert_null(strstr(v.why, "CL_DEVICE_LOCAL_MEM_TYPE"));
    ts_verdict_free(&v);
    ts_verdict_free(NULL);
    free_rows(rows, 5);
}

static void test_costs(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1000, 0.01, 5), make("local", 16, 1800, 0.01, 5)};
    struct ts_device device = global_memory();
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 2, &rows[0], &device);
    assert_int_equal(v.pays, TS_PAYS_NO);
    assert_ptr_equal(v.best, &rows[0]);
    assert_near(v.speedup.mid, 1.0 / 1.8, 1e-9);
    expect_text(v.why,
                "staging costs here: the best staged configuration takes 1.80 times as long as "
                "the best plain one (1.7");
    expect_text(v.why, "; local memory is global memory on this device (CL_DEVICE_LOCAL_MEM_TYPE)");
    ts_verdict_free(&v);
    device.number[TS_DEVICE_LOCAL_MEM_TYPE] = TS_LOCAL_MEM_LOCAL;
    ts_verdict_of_case(&v, rows, 2, &rows[0], &device);
    assert_null(strstr(v.why, "CL_DEVICE_LOCAL_MEM_TYPE"));
    ts_verdict_free(&v);
    ts_verdict_of_case(&v, rows, 2, &rows[0], NULL);
    assert_int_equal(v.pays, TS_PAYS_NO);
    ts_verdict_free(&v);
    free_rows(rows, 2);
}

/* Noise larger than the difference: a tie, and the simplest of the tie set is recommended. */
static void test_tie(void **state)
{
    (void)state;
    struct ts_row rows[] = {
        make("local", 64, 1000, 0.05, 5), make("local", 16, 1005, 0.05, 5),
        make("vec", 32, 1004, 0.05, 5),   make("vec", 16, 1006, 0.05, 5),
        make("naive", 32, 1010, 0.05, 5), make("naive", 16, 1500, 0.05, 5),
    };
    struct ts_verdict v;
    struct ts_device device = global_memory();
    ts_verdict_of_case(&v, rows, 6, &rows[0], &device);
    assert_int_equal(v.pays, TS_PAYS_TIE);
    expect_text(v.why, "no difference that these measurements can show");
    expect_text(v.why, "; to tell them apart, measure longer (--visits 20)");
    assert_null(strstr(v.why, "CL_DEVICE_LOCAL_MEM_TYPE")); /* that is no reason for a tie */
    assert_int_equal(v.tie_count, 5);
    assert_ptr_equal(v.best, &rows[4]); /* the baseline, though the slowest of them */
    assert_ptr_equal(v.tie[0], &rows[4]);
    assert_ptr_equal(v.tie[1], &rows[3]); /* no local memory, fewer work-items */
    assert_ptr_equal(v.tie[2], &rows[2]);
    assert_ptr_equal(v.tie[3], &rows[1]); /* less local memory */
    assert_ptr_equal(v.tie[4], &rows[0]);
    ts_verdict_free(&v);
    free_rows(rows, 6);
}

/* After a single visit nothing is claimed; rows within 2 % count as equal. */
static void test_single_visit(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1300, 0, 1), make("local", 16, 1000, 0, 1),
                            make("local", 32, 1015, 0, 1), make("local", 8, 1025, 0, 1)};
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 4, &rows[0], NULL);
    assert_int_equal(v.pays, TS_PAYS_UNKNOWN);
    assert_false(v.speedup.known);
    assert_near(v.speedup.mid, 1.3, 1e-9);
    expect_text(v.why, "unknown: a single visit gives no interval");
    assert_int_equal(v.tie_count, 2);
    assert_ptr_equal(v.best, &rows[1]);
    cJSON *json = ts_verdict_to_json(&v), *speedup = ts_json_get(json, "speedup");
    assert_true(cJSON_IsNull(ts_json_get(speedup, "low")));
    assert_true(cJSON_IsNumber(ts_json_get(speedup, "mid")));
    cJSON_Delete(json);
    ts_verdict_free(&v);
    free_rows(rows, 4);
}

static void test_missing_sides(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1000, 0.01, 3), make("local", 16, 900, 0.01, 3)};
    struct ts_verdict v;
    ts_row_set_status(&rows[1], TS_WRONG, "mismatch", "x");
    ts_verdict_of_case(&v, rows, 2, &rows[1], NULL);
    assert_int_equal(v.pays, TS_PAYS_UNKNOWN);
    assert_string_equal(v.why, "unknown: no staged configuration is ok");
    assert_ptr_equal(v.best, &rows[0]);
    assert_null(v.best_staged);
    cJSON *json = ts_verdict_to_json(&v);
    assert_true(cJSON_IsNull(ts_json_get(json, "best_staged")));
    assert_true(cJSON_IsNull(ts_json_get(ts_json_get(json, "speedup"), "mid")));
    assert_string_equal(ts_json_string(json, "pays", ""), "unknown");
    cJSON_Delete(json);
    ts_verdict_free(&v);
    ts_verdict_of_case(&v, rows, 1, &rows[0], NULL);
    assert_string_equal(v.why, "unknown: there is no staged configuration");
    ts_verdict_free(&v);
    ts_row_set_status(&rows[0], TS_CRASHED, "signal", "x");
    ts_row_set_status(&rows[1], TS_OK, NULL, NULL);
    ts_verdict_of_case(&v, rows, 2, &rows[1], NULL);
    assert_string_equal(v.why, "unknown: no plain configuration is ok");
    assert_null(v.baseline);
    assert_ptr_equal(v.best, &rows[1]);
    ts_verdict_free(&v);
    ts_row_set_status(&rows[1], TS_CRASHED, "signal", "x");
    ts_verdict_of_case(&v, rows, 2, &rows[1], NULL);
    assert_string_equal(v.why, "unknown: no configuration is ok");
    assert_null(v.best);
    assert_int_equal(v.tie_count, 0);
    json = ts_verdict_to_json(&v);
    assert_string_equal(ts_json_string(json, "benchmark", ""), "laplacian");
    assert_int_equal(cJSON_GetArraySize(ts_json_get(json, "tie")), 0);
    cJSON_Delete(json);
    ts_verdict_free(&v);
    free_rows(rows, 2);
}

/* Other cases' rows, however fast, and rows without samples do not enter. */
static void test_other_cases(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1000, 0.01, 3), make("local", 16, 1500, 0.01, 3),
                            make("local", 32, 10, 0.01, 3), make("naive", 8, 10, 0, 0)};
    rows[2].size.items[0].number = 512;
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 4, &rows[0], NULL);
    assert_int_equal(v.pays, TS_PAYS_NO);
    assert_ptr_equal(v.best, &rows[0]);
    ts_verdict_free(&v);
    free_rows(rows, 4);
}

/* Time counts per element of work: four steps in 2000 ns beat one in 1000 ns. */
static void test_per_element(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1000, 0.01, 3), make("local", 16, 2000, 0.01, 3)};
    rows[1].work.elements = 4000;
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 2, &rows[0], NULL);
    assert_int_equal(v.pays, TS_PAYS_YES);
    assert_near(v.speedup.mid, 2.0, 1e-9);
    assert_ptr_equal(v.best, &rows[1]);
    expect_text(v.why, "2.00 times faster per element of work");
    ts_verdict_free(&v);
    rows[0].work.elements = -1; /* not stated everywhere: time alone */
    ts_verdict_of_case(&v, rows, 2, &rows[0], NULL);
    assert_int_equal(v.pays, TS_PAYS_NO);
    ts_verdict_free(&v);
    free_rows(rows, 2);
}

/* The ranking goes by the sweep's visits, the speed-up by the fresh ones of both finalists. */
static void test_fresh_visits(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1000, 0.01, 3), make("local", 16, 800, 0.01, 3),
                            make("local", 32, 820, 0.01, 3)};
    add_fresh(&rows[0], 1100, 3);
    add_fresh(&rows[1], 1375, 3); /* the lucky winner of the sweep */
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 3, &rows[0], NULL);
    assert_ptr_equal(v.best_staged, &rows[1]);
    assert_near(v.speedup.mid, 0.8, 1e-3);
    assert_int_equal(v.pays, TS_PAYS_NO);
    /* the times told beside it are those that it compares; others have only the sweep's */
    assert_near(ts_verdict_time_ns(&v, &rows[0]) / ts_verdict_time_ns(&v, &rows[1]), v.speedup.mid,
                1e-9);
    assert_near(ts_verdict_time_ns(&v, &rows[2]), 820, 20);
    ts_verdict_free(&v);
    /* one side with a single fresh visit: the sweep's visits of both, never a mix */
    rows[0].time.fresh_from = rows[0].time.visit_count - 1;
    ts_verdict_of_case(&v, rows, 3, &rows[0], NULL);
    assert_near(v.speedup.mid, 1.25, 0.05);
    assert_near(ts_verdict_time_ns(&v, &rows[1]), 800, 20);
    ts_verdict_free(&v);
    free_rows(rows, 3);
}

/* A tie names both finalists as equal, and the simpler one is recommended, however far apart noisy
 * medians lie. */
static void test_tie_holds_both_finalists(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1000, 0.01, 3), make("local", 16, 800, 0.01, 3)};
    for (int i = 0; i < 3; i++) {
        add_fresh(&rows[0], 700 + 300 * i, 1);
        add_fresh(&rows[1], 500 + 400 * i, 1);
    }
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 2, &rows[0], NULL);
    assert_int_equal(v.pays, TS_PAYS_TIE);
    assert_int_equal(v.tie_count, 2);
    assert_ptr_equal(v.best, &rows[0]);
    ts_verdict_free(&v);
    free_rows(rows, 2);
}

static void test_finalists(void **state)
{
    (void)state;
    struct ts_row rows[] = {make("naive", 16, 1400, 0.01, 3), make("vec", 16, 1000, 0.01, 3),
                            make("local", 16, 1100, 0.01, 3), make("local", 32, 900, 0.01, 3),
                            make("naive", 32, 1300, 0.01, 3)};
    size_t index[3];
    assert_int_equal(ts_verdict_finalists(rows, 5, &rows[0], index, 3), 3);
    assert_true(index[0] == 1 && index[1] == 3 && index[2] == 4);
    assert_int_equal(ts_verdict_finalists(rows, 5, &rows[0], index, 2), 2);
    assert_int_equal(ts_verdict_finalists(rows, 5, &rows[0], index, 0), 0);
    ts_row_set_status(&rows[1], TS_WRONG, "mismatch",
                      "x"); /* now the baseline is the best plain one */
    assert_int_equal(ts_verdict_finalists(rows, 5, &rows[0], index, 3), 2);
    assert_true(index[0] == 4 && index[1] == 3);
    for (size_t i = 0; i < 5; i++)
        ts_row_set_status(&rows[i], TS_SKIPPED, "budget", "x");
    assert_int_equal(ts_verdict_finalists(rows, 5, &rows[0], index, 3), 0);
    free_rows(rows, 5);
}

static void test_verdict_json(void **state)
{
    (void)state;
    struct ts_row rows[40];
    for (int i = 0; i < 40; i++)
        rows[i] = make(i % 2 ? "local" : "naive", 8 + i, 1000, 0.01, 3);
    struct ts_verdict v;
    ts_verdict_of_case(&v, rows, 40, &rows[0], NULL);
    cJSON *json = ts_verdict_to_json(&v);
    assert_int_equal(cJSON_GetArraySize(ts_json_get(json, "tie")), 32);
    assert_int_equal(ts_json_int(json, "tie_count", 0), 40);
    cJSON *best = ts_json_get(json, "best");
    char *text = ts_json_print(best);
    assert_string_equal(text, "{\"variant\":\"naive\",\"params\":{\"TX\":8},\"median_ns\":1000}");
    free(text);
    assert_string_equal(ts_json_string(json, "pays", ""), "tie");
    assert_true(cJSON_IsNumber(ts_json_get(ts_json_get(json, "speedup"), "low")));
    assert_string_equal(ts_json_string(json, "why", ""), v.why);
    cJSON_Delete(json);
    ts_verdict_free(&v);
    free_rows(rows, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_metrics_unknown),
        cmocka_unit_test(test_requested_over_compulsory),
        cmocka_unit_test(test_peaks_json),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_pays),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_tie),
        cmocka_unit_test(test_single_visit),
        cmocka_unit_test(test_missing_sides),
        cmocka_unit_test(test_other_cases),
        cmocka_unit_test(test_per_element),
        cmocka_unit_test(test_fresh_visits),
        cmocka_unit_test(test_tie_holds_both_finalists),
        cmocka_unit_test(test_finalists),
        cmocka_unit_test(test_verdict_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
