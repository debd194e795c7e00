/* test_row.c: a row's life, and a row as JSON and back. */
#include "row_json.h"
#include "row_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metric.h"

static const struct ts_peaks peaks = {2.0e10, 9.6e10, 5.5e10};
static const struct ts_place root = {NULL, "file", 0};

/* The row of contract.md section 6. */
static void make_row(struct ts_row *row)
{
    ts_row_init(row);
    row->benchmark = ts_strdup("laplacian");
    row->variant = ts_strdup("local");
    ts_values_add(&row->size, "W", 4096);
    ts_values_add(&row->size, "H", 4096);
    ts_values_add(&row->problem, "POINTS", 5);
    ts_values_add(&row->params, "TX", 32);
    ts_values_add(&row->params, "TY", 8);
    ts_values_add_word(&row->params, "REAL", "float");
    row->staged = true;
    ts_row_set_status(row, TS_OK, NULL, NULL);
    row->source = ts_strdup("xxh3:0123456789abcdef");
    row->geometry = (struct ts_geometry){.dims = 2,
                                         .global = {4096, 4096, -1},
                                         .local = {32, 8, -1},
                                         .local_bytes = 1400,
                                         .local_bytes_reported = 2800,
                                         .work_group_limit = 4096,
                                         .preferred_multiple = 8,
                                         .private_bytes = 0,
                                         .limit_rule = ts_strdup("kernel")};
    row->build =
        (struct ts_build){812000000, ts_strdup("-DTX=32"), ts_strdup("warning: \"x\"\n"), NULL};
    row->check = (struct ts_check){
        .sizes = 4, .elements = 16788524, .worst = 0.5, .at_count = 2, .at = {3, 17}};
    ts_values_add(&row->check.at_size, "W", 100);
    ts_values_add(&row->check.at_size, "H", 110);
    row->time.first_ns = 51000000;
    const int64_t visits[][2] = {{8290000, 8310000}, {8350000, 8320000}, {8300000, 8300003}};
    ts_row_add_visit(row, visits[0], 2, 1);
    ts_row_add_visit(row, visits[1], 2, 2);
    ts_row_add_fresh_visit(row, visits[2], 2, 2);
    row->time.flags = TS_FLAG_BATCHED | TS_FLAG_IN_CACHE;
    row->time.stop = TS_STOP_PRECISION;
    row->time.disturbed = 1;
    row->time.batch = 3;
    row->work = (struct ts_work){16777216, 83886080, 134217728, -1};
}

static cJSON *parse(const char *text)
{
    struct ts_err err = {0};
    cJSON *json = ts_json_parse(text, strlen(text), "test", 1, &err);
    if (!json)
        fail_msg("%s", err.text);
    return json;
}

/* Through text, as a file would: print, parse, read. */
static void through_text(struct ts_row *out, const struct ts_row *row, const struct ts_peaks *p)
{
    struct ts_err err = {0};
    cJSON *json = ts_row_to_json(row, p);
    char *text = ts_json_print(json);
    cJSON *again = parse(text);
    if (ts_row_from_json(out, &root, again, &err) != 0)
        fail_msg("%s", err.text);
    cJSON_Delete(json);
    cJSON_Delete(again);
    free(text);
}

static void expect_same_json(const struct ts_row *a, const struct ts_row *b)
{
    cJSON *ja = ts_row_to_json(a, &peaks), *jb = ts_row_to_json(b, &peaks);
    char *ta = ts_json_print(ja), *tb = ts_json_print(jb);
    assert_string_equal(ta, tb);
    free(ta);
    free(tb);
    cJSON_Delete(ja);
    cJSON_Delete(jb);
}

/* ---- statuses ---- */

static void test_statuses(void **state)
{
    (void)state;
    static const char *const names[] = {"ok",    "skipped", "build-failed", "launch-failed",
                                        "wrong", "timeout", "crashed"};
    assert_int_equal(TS_COUNT(names), TS_STATUS_COUNT);
    for (int i = 0; i < TS_STATUS_COUNT; i++) {
        enum ts_status status;
        assert_string_equal(ts_status_name((enum ts_status)i), names[i]);
        assert_true(ts_status_by_name(names[i], &status));
        assert_int_equal(status, i);
        assert_int_equal(ts_status_is_finding(status), i >= TS_BUILD_FAILED);
    }
    enum ts_status status;
    assert_false(ts_status_by_name("OK", &status));
    assert_false(ts_status_by_name("pending", &status)); /* never in a file */
    assert_false(ts_status_is_finding(TS_PENDING));
}

static void test_set_status(void **state)
{
    (void)state;
    struct ts_row row;
    ts_row_init(&row);
    assert_int_equal(row.status, TS_PENDING);
    ts_row_set_status(&row, TS_SKIPPED, "local-memory",
                      "needs %d B of local memory, device has %d B", 66560, 49152);
    assert_string_equal(row.reason.code, "local-memory");
    assert_string_equal(row.reason.text, "needs 66560 B of local memory, device has 49152 B");
    /* the row's own strings may be arguments of the next one */
    ts_row_set_status(&row, TS_WRONG, row.reason.code, "was: %s", row.reason.text);
    assert_string_equal(row.reason.code, "local-memory");
    assert_string_equal(row.reason.text, "was: needs 66560 B of local memory, device has 49152 B");
    ts_row_set_status(&row, TS_OK, NULL, NULL);
    assert_null(row.reason.code);
    assert_null(row.reason.text);
    ts_row_free(&row);
    ts_row_free(NULL);
}

/* ---- visits ---- */

static void test_visits(void **state)
{
    (void)state;
    struct ts_row row;
    ts_row_init(&row);
    const int64_t a[] = {3, 1, 2}, b[] = {10, 20};
    ts_row_add_visit(&row, a, 3, 1);
    ts_row_add_visit(&row, b, 2, 2);
    assert_int_equal(row.time.fresh_from, 2); /* none is fresh */
    ts_row_add_fresh_visit(&row, b, 2, 2);
    ts_row_add_visit(&row, a, 3, 2); /* what follows a fresh visit is fresh */
    assert_int_equal(row.time.fresh_from, 2);
    assert_int_equal(row.time.visit_count, 4);
    size_t count;
    double *medians = ts_row_visit_medians(&row, 0, &count);
    assert_int_equal(count, 4);
    assert_true(medians[0] == 2 && medians[1] == 15 && medians[2] == 15 && medians[3] == 2);
    free(medians);
    medians = ts_row_visit_medians(&row, 3, &count);
    assert_int_equal(count, 1);
    assert_true(medians[0] == 2);
    free(medians);
    medians = ts_row_visit_medians(&row, 9, &count);
    assert_int_equal(count, 0);
    free(medians);
    ts_row_free(&row);
}

static void test_case_and_key(void **state)
{
    (void)state;
    struct ts_row a, b;
    make_row(&a);
    make_row(&b);
    assert_true(ts_row_same_case(&a, &b));
    ts_values_add(&b.params, "PAD", 1);
    assert_true(ts_row_same_case(&a, &b));
    ts_values_add(&b.problem, "R", 1);
    assert_false(ts_row_same_case(&a, &b));
    struct ts_text key = {0};
    ts_row_key(&a, &key);
    assert_string_equal(key.text, "laplacian POINTS=5 W=4096 H=4096 local TX=32 TY=8 REAL=float");
    ts_text_free(&key);
    ts_row_defines(&a, &key);
    assert_string_equal(key.text, "-DPOINTS=5 -DTX=32 -DTY=8 -DREAL=float -DVARIANT_local");
    ts_text_free(&key);
    ts_values_free(&a.problem);
    ts_values_free(&a.params);
    ts_row_key(&a, &key);
    assert_string_equal(key.text, "laplacian W=4096 H=4096 local");
    ts_text_free(&key);
    ts_row_defines(&a, &key);
    assert_string_equal(key.text, "-DVARIANT_local");
    ts_text_free(&key);
    ts_row_free(&a);
    ts_row_free(&b);
}

/* ---- JSON ---- */

/* Many rows, names in any order: each key has its own number, whatever the table grew to. */
static void test_map(void **state)
{
    (void)state;
    struct ts_row_map map = {0};
    bool is_new;
    for (int64_t i = 0; i < 1000; i++) {
        struct ts_row row;
        ts_row_init(&row);
        row.benchmark = ts_strdup("b");
        row.variant = ts_strdup("v");
        ts_values_add(&row.params, "TX", i);
        ts_values_add(&row.params, "TY", -i);
        assert_null(ts_row_map_find(&map, &row));
        *ts_row_map_put(&map, &row, &is_new) = (size_t)i;
        assert_true(is_new);
        ts_row_free(&row);
    }
    for (int64_t i = 0; i < 1000; i++) {
        struct ts_row row;
        ts_row_init(&row);
        row.benchmark = ts_strdup("b");
        row.variant = ts_strdup("v");
        ts_values_add(&row.params, "TY", -i);
        ts_values_add(&row.params, "TX", i);
        assert_int_equal(*ts_row_map_find(&map, &row), i);
        assert_int_equal(*ts_row_map_put(&map, &row, &is_new), i);
        assert_false(is_new);
        ts_row_free(&row);
    }
    assert_int_equal(map.used, 1000);
    ts_row_map_free(&map);
}

/* Visits that were disturbed go; the confirmation's begin moves only when they reach into the
 * sweep's. */
static void test_drop_visits(void **state)
{
    (void)state;
    const int64_t ns[] = {5, 6};
    struct ts_row row;
    ts_row_init(&row);
    for (int i = 0; i < 3; i++)
        ts_row_add_visit(&row, ns, 2, i);
    ts_row_add_fresh_visit(&row, ns, 1, 7);
    assert_int_equal(row.time.fresh_from, 3);
    ts_row_drop_visits(&row, 1);
    assert_int_equal(row.time.visit_count, 3);
    assert_int_equal(row.time.fresh_from, 3);
    ts_row_drop_visits(&row, 2);
    assert_int_equal(row.time.visit_count, 1);
    assert_int_equal(row.time.fresh_from, 1);
    ts_row_add_visit(&row, ns, 2, 9);
    assert_int_equal(row.time.visits[1].worker, 9);
    ts_row_drop_visits(&row, 99);
    assert_int_equal(row.time.visit_count, 0);
    ts_row_free(&row);
}

/* Each is counted once, and no more once it is taken back; a count from a document marks the last
 * ones, as many as there are. */
static void test_mark_disturbed(void **state)
{
    (void)state;
    const int64_t ns[] = {5, 6};
    struct ts_err err = {0};
    struct ts_row row, back;
    ts_row_init(&row);
    ts_row_set_status(&row, TS_OK, NULL, NULL);
    row.benchmark = ts_strdup("b");
    row.variant = ts_strdup("v");
    ts_row_add_visit(&row, ns, 2, 0);
    ts_row_add_visit(&row, ns, 2, 0);
    assert_int_equal(ts_row_mark_disturbed(&row, 1), 1);
    ts_row_add_visit(&row, ns, 2, 0);
    assert_int_equal(row.time.disturbed, 1);
    assert_true(row.time.visits[1].disturbed && !row.time.visits[2].disturbed);
    assert_int_equal(ts_row_mark_disturbed(&row, 2), 2);
    assert_int_equal(ts_row_mark_disturbed(&row, 1), 0);
    assert_int_equal(row.time.disturbed, 3);
    ts_row_drop_visits(&row, 1);
    assert_int_equal(row.time.disturbed, 2);
    for (int told = 0; told <= 3; told++) {
        row.time.disturbed = told;
        cJSON *json = ts_row_to_json(&row, NULL);
        assert_int_equal(ts_row_from_json(&back, &root, json, &err), 0);
        assert_int_equal(back.time.disturbed, told < 2 ? told : 2);
        assert_int_equal(back.time.visits[1].disturbed, told > 0);
        assert_int_equal(back.time.visits[0].disturbed, told > 1);
        cJSON_Delete(json);
        ts_row_free(&back);
    }
    ts_row_free(&row);
}

static void test_json_text(void **state)
{
    (void)state;
    struct ts_row row;
    make_row(&row);
    cJSON *json = ts_row_to_json(&row, &peaks);
    char *text = ts_json_print(json);
    /* medians 8300000, 8335000, 8300001.5: of those 8300001.5; all samples sorted: 8290000 8300000
     * 8300003 8310000 8320000 8350000 */
    const char *want =
        "{\"benchmark\":\"laplacian\",\"size\":{\"W\":4096,\"H\":4096},\"problem\":{\"POINTS\":5},"
        "\"variant\":\"local\",\"baseline\":false,\"staged\":true,"
        "\"params\":{\"TX\":32,\"TY\":8,\"REAL\":\"float\"},\"status\":\"ok\",\"reason\":null,"
        "\"source\":\"xxh3:0123456789abcdef\","
        "\"geometry\":{\"global\":[4096,4096],\"local\":[32,8],\"local_bytes\":1400,"
        "\"local_bytes_reported\":2800,\"work_group_limit\":4096,\"preferred_multiple\":8,"
        "\"private_bytes\":0,\"limit_rule\":\"kernel\"},"
        "\"build\":{\"ns\":812000000,\"options\":\"-DTX=32\",\"log\":\"warning: \\\"x\\\"\\n\","
        "\"binary\":null},"
        "\"check\":{\"sizes\":4,\"elements\":16788524,\"worst\":0.5,\"at\":[3,17],"
        "\"at_size\":{\"W\":100,\"H\":110}},"
        "\"time\":{\"clock\":\"event\",\"cache\":\"warm\",\"first_ns\":51000000,\"batch\":3,"
        "\"visits\":[[8290000,8310000],[8350000,8320000],[8300000,8300003]],\"workers\":[1,2,2],"
        "\"fresh_from\":2,\"median_ns\":8300002,\"low_ns\":8261641,\"high_ns\":8361964,"
        "\"q1_ns\":8300001,\"q3_ns\":8317500,\"flags\":[\"batched\",\"in-cache\"],"
        "\"stop\":\"precision\",\"disturbed\":1},"
        "\"work\":{\"elements\":16777216,\"flops\":83886080,\"bytes\":134217728,"
        "\"requested_bytes\":null},";
    if (strncmp(text, want, strlen(want)) != 0)
        fail_msg("got  %s\nwant %s", text, want);
    cJSON *rate = ts_json_get(json, "rate");
    assert_true(fabs(ts_json_number(rate, "elements_per_s", 0) / 2.0213e9 - 1) < 1e-3);
    assert_true(fabs(ts_json_number(rate, "of_peak", 0) / 0.8085 - 1) < 1e-3);
    assert_string_equal(ts_json_string(rate, "bound", ""), "memory");
    assert_true(cJSON_IsNull(ts_json_get(json, "talk")));
    free(text);
    cJSON_Delete(json);
    ts_row_free(&row);
}

static void test_json_round_trip(void **state)
{
    (void)state;
    struct ts_row row, back;
    make_row(&row);
    row.talk = ts_strdup("driver said: \x01 tab\t and a bad byte");
    row.check.worst = 1e300; /* an infinite deviation */
    through_text(&back, &row, &peaks);
    expect_same_json(&row, &back);
    assert_int_equal(back.time.fresh_from, 2);
    assert_int_equal(back.time.visits[1].worker, 2);
    assert_int_equal(back.time.visits[1].sample_ns[0], 8350000);
    assert_int_equal(back.time.flags, TS_FLAG_BATCHED | TS_FLAG_IN_CACHE);
    assert_int_equal(back.time.stop, TS_STOP_PRECISION);
    assert_int_equal(back.time.disturbed, 1);
    assert_true(back.check.worst == 1e300);
    assert_int_equal(back.work.requested_bytes, -1);
    ts_row_free(&back);
    ts_row_free(&row);
}

/* A row of which little is known: every key is there, null. */
static void test_json_unknown_facts(void **state)
{
    (void)state;
    struct ts_row row, back;
    ts_row_init(&row);
    row.benchmark = ts_strdup("b");
    row.variant = ts_strdup("v");
    ts_row_set_status(&row, TS_SKIPPED, "budget", "the time was up");
    cJSON *json = ts_row_to_json(&row, NULL);
    char *text = ts_json_print(json);
    assert_string_equal(
        text,
        "{\"benchmark\":\"b\",\"size\":{},\"problem\":{},\"variant\":\"v\",\"baseline\":false,"
        "\"staged\":false,\"params\":{},\"status\":\"skipped\","
        "\"reason\":{\"code\":\"budget\",\"text\":\"the time was up\"},\"source\":null,"
        "\"geometry\":{\"global\":null,\"local\":null,\"local_bytes\":null,"
        "\"local_bytes_reported\":null,\"work_group_limit\":null,\"preferred_multiple\":null,"
        "\"private_bytes\":null,\"limit_rule\":null},"
        "\"build\":{\"ns\":null,\"options\":null,\"log\":\"\",\"binary\":null},\"check\":null,"
        "\"time\":null,\"work\":{\"elements\":null,\"flops\":null,\"bytes\":null,"
        "\"requested_bytes\":null},\"rate\":{\"elements_per_s\":null,\"flops_per_s\":null,"
        "\"bytes_per_s\":null,\"of_peak\":null,\"bound\":null},\"talk\":null}");
    through_text(&back, &row, NULL);
    expect_same_json(&row, &back);
    assert_int_equal(back.geometry.dims, 0);
    assert_int_equal(back.build.build_ns, -1);
    assert_true(back.check.worst == -1.0);
    ts_row_free(&back);
    ts_row_free(&row);
    free(text);
    cJSON_Delete(json);
}

/* A row that failed after some visits has no time, and no rate. */
static void test_json_failed_row_has_no_time(void **state)
{
    (void)state;
    struct ts_row row;
    make_row(&row);
    ts_row_set_status(&row, TS_WRONG, "unstable-result", "differs after the last visit");
    cJSON *json = ts_row_to_json(&row, &peaks);
    assert_true(cJSON_IsNull(ts_json_get(json, "time")));
    assert_true(cJSON_IsNull(ts_json_get(ts_json_get(json, "rate"), "of_peak")));
    assert_true(cJSON_IsNull(ts_json_get(ts_json_get(json, "rate"), "bound")));
    assert_true(cJSON_IsObject(ts_json_get(json, "check")));
    cJSON_Delete(json);
    ts_row_free(&row);
}

static void test_json_one_visit(void **state)
{
    (void)state;
    struct ts_row row;
    make_row(&row);
    while (row.time.visit_count > 1)
        free(row.time.visits[--row.time.visit_count].sample_ns);
    row.time.fresh_from = 1;
    cJSON *json = ts_row_to_json(&row, &peaks), *time = ts_json_get(json, "time");
    assert_int_equal(ts_json_int(time, "median_ns", 0), 8300000);
    assert_true(cJSON_IsNull(ts_json_get(time, "low_ns")));
    assert_true(cJSON_IsNull(ts_json_get(time, "high_ns")));
    cJSON_Delete(json);
    ts_row_free(&row);
}

/* A fault is told with its place, and leaves nothing behind. */
static void test_json_faults(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *place;
    } table[] = {
        {"\"benchmark\":\"laplacian\"", "\"benchmark\":7", "benchmark: "},
        {"\"size\":{\"W\":4096", "\"size\":{\"W\":4096.5", "size"},
        {"\"variant\":\"local\"", "\"variant\":\"\"", "variant: "},
        {"\"params\":{\"TX\":32", "\"params\":{\"TX\":null", "params"},
        {"\"status\":\"ok\"", "\"status\":\"fine\"", "status: "},
        {"\"status\":\"ok\"", "\"status\":\"wrong\"", "reason: "},
        {"\"clock\":\"event\"", "\"clock\":\"sun\"", "time.clock: "},
        {"\"batch\":3", "\"batch\":0", "time.batch: "},
        {"[8350000,8320000]", "17", "time.visits[1]: "},
        {"[8350000,8320000]", "[8350000,0]", "time.visits[1][1]: "},
        {"[8350000,8320000]", "[8350000,1.5]", "time.visits[1][1]: "},
        {"\"workers\":[1,2,2]", "\"workers\":[1,\"x\",2]", "time.workers[1]: "},
        {"\"fresh_from\":2", "\"fresh_from\":4", "time.fresh_from: "},
        {"\"time\":{", "\"time\":7,\"other\":{", "time: "},
        {"\"visits\":[", "\"visits\":[[],", "time.visits[0]: "},
        {"\"median_ns\":", "\"median_ns\":\"fast\",\"was\":", "time.median_ns: "},
        {"\"flags\":[", "\"flags\":[1,", "time.flags[0]: "},
        {"\"stop\":", "\"stop\":\"tired\",\"was\":", "time.stop: "},
        {"\"disturbed\":", "\"disturbed\":-1,\"was\":", "time.disturbed: "},
        {"\"params\":{", "\"params\":[1],\"was\":{", "params: "},
        {"\"TX\":32", "\"TX\":[1]", "params.TX: "},
        {"\"size\":{\"W\":4096", "\"size\":{\"W\":\"wide\"", "size.W: "},
        {"\"baseline\":", "\"baseline\":1,\"was\":", "baseline: "},
        {"\"staged\":", "\"staged\":null,\"was\":", "staged: "},
        {"\"source\":", "\"source\":7,\"was\":", "source: "},
        {"\"geometry\":{", "\"geometry\":[],\"was\":{", "geometry: "},
        {"\"local\":[", "\"local\":[0,", "geometry.local[0]: "},
        {"\"local_bytes\":", "\"local_bytes\":1.5,\"was\":", "geometry.local_bytes: "},
        {"\"log\":", "\"log\":null,\"was\":", "build.log: "},
        {"\"ns\":", "\"ns\":-1,\"was\":", "build.ns: "},
        {"\"worst\":", "\"worst\":true,\"was\":", "check.worst: "},
        {"\"at_size\":", "\"at_size\":{\"W\":1.5},\"was\":", "check.at_size.W: "},
        {"\"flops\":", "\"flops\":\"many\",\"was\":", "work.flops: "},
        {"\"of_peak\":", "\"of_peak\":\"1\",\"was\":", "rate.of_peak: "},
        {"\"talk\":", "\"talk\":[],\"was\":", "talk: "},
    };
    struct ts_row row, back;
    make_row(&row);
    cJSON *json = ts_row_to_json(&row, &peaks);
    char *good = ts_json_print(json);
    for (size_t i = 0; i < TS_COUNT(table); i++) {
        const char *at = strstr(good, table[i].from);
        assert_non_null(at);
        char *bad =
            ts_printf("%.*s%s%s", (int)(at - good), good, table[i].to, at + strlen(table[i].from));
        cJSON *broken = parse(bad);
        struct ts_err err = {0};
        assert_int_equal(ts_row_from_json(&back, &root, broken, &err), -1);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
        char *start = ts_printf("file: %s", table[i].place);
        if (strncmp(err.text, start, strlen(start)) != 0)
            fail_msg("message is \"%s\", expected it to begin with \"%s\"", err.text, start);
        free(start);
        cJSON_Delete(broken);
        free(bad);
    }
    free(good);
    cJSON_Delete(json);
    ts_row_free(&row);
    struct ts_err err = {0};
    assert_int_equal(ts_row_from_json(&back, &root, NULL, &err), -1);
}

/* What a newer writer adds does no harm. */
static void test_json_unknown_keys(void **state)
{
    (void)state;
    cJSON *json = parse("{\"benchmark\":\"b\",\"size\":{},\"problem\":{},\"params\":{},\"variant\":"
                        "\"v\",\"status\":\"ok\","
                        "\"later\":1,\"time\":{\"clock\":\"host\",\"visits\":[[5]],\"flags\":["
                        "\"later\",\"batched\"]}}");
    struct ts_row row;
    struct ts_err err = {0};
    assert_int_equal(ts_row_from_json(&row, &root, json, &err), 0);
    assert_true(row.time.host_clock);
    assert_int_equal(row.time.flags, TS_FLAG_BATCHED);
    assert_int_equal(row.time.fresh_from, 1);
    assert_int_equal(row.time.batch, 1);
    cJSON_Delete(json);
    ts_row_free(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_set_status),
        cmocka_unit_test(test_visits),
        cmocka_unit_test(test_case_and_key),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_drop_visits),
        cmocka_unit_test(test_mark_disturbed),
        cmocka_unit_test(test_json_text),
        cmocka_unit_test(test_json_round_trip),
        cmocka_unit_test(test_json_unknown_facts),
        cmocka_unit_test(test_json_failed_row_has_no_time),
        cmocka_unit_test(test_json_one_visit),
        cmocka_unit_test(test_json_faults),
        cmocka_unit_test(test_json_unknown_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
