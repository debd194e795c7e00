/* test_compare.c: what is paired with what, and which visits count; on made-up runs written to
 * files. The arithmetic has test_judge.c, the words have tests/cli/compare.txt. */
#include "compare_private.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- made-up runs ---- */

static struct ts_run make_run(const char *started)
{
    struct ts_run run = {.id = ts_strdup("run"),
                         .started = ts_strdup(started),
                         .finished = ts_strdup(started),
                         .clock = {.event = true, .tick_ns = 1}};
    char name[] = "{\"device\": {\"name\": \"Made up\", \"driver\": \"1\"}}";
    struct ts_err err = {0};
    cJSON *device = ts_json_parse(name, strlen(name), "device", 1, &err);
    assert_int_equal(ts_device_from_json(&run.device, device, &err), 0);
    cJSON_Delete(device);
    return run;
}

/* A row of 1 ms whose parameters stand in the order a, b or b, a. */
static struct ts_row *add_row(struct ts_run *run, int64_t a, bool turned)
{
    size_t added = ts_run_add_row(run); /* moves run->rows */
    struct ts_row *row = &run->rows[added];
    row->benchmark = ts_strdup("made");
    row->variant = ts_strdup("plain");
    row->baseline = true;
    ts_values_add(&row->size, "N", 100);
    ts_values_add(&row->params, turned ? "B" : "A", turned ? 7 : a);
    ts_values_add(&row->params, turned ? "A" : "B", turned ? a : 7);
    ts_row_set_status(row, TS_OK, NULL, NULL);
    return row;
}

static void add_visits(struct ts_row *row, double ns, int visits, bool fresh)
{
    for (int v = 0; v < visits; v++) {
        int64_t at = (int64_t)(ns * (1.0 + 0.001 * v));
        const int64_t samples[] = {at, at, at};
        if (fresh)
            ts_row_add_fresh_visit(row, samples, 3, 2 + v / 2);
        else
            ts_row_add_visit(row, samples, 3, v / 3);
    }
}

struct side {
    char path[64];
    struct ts_results results;
};

static struct ts_run *open_side(struct side *side, const char *started)
{
    *side = (struct side){0};
    struct ts_run *run = ts_results_add(&side->results);
    *run = make_run(started);
    return run;
}

static void save(struct side *side)
{
    struct ts_err err = {0};
    snprintf(side->path, sizeof(side->path), "/tmp/test_compare-%ld-%p.json", (long)getpid(),
             (void *)side);
    assert_int_equal(ts_results_save(&side->results, side->path, &err), 0);
    ts_results_free(&side->results);
}

static struct ts_compare *compare(struct side *base, struct side *fresh)
{
    char *names[2] = {base->path, fresh->path};
    const struct ts_compare_options options = {.files = {&names[0], &names[1]},
                                               .file_count = {1, 1},
                                               .gate = TS_GATE_ALL,
                                               .fail_on = TS_FAIL_SLOWER | TS_FAIL_FAILED,
                                               .threshold = 0.05,
                                               .fdr = 0.05};
    struct ts_err err = {0};
    struct ts_compare *c = ts_compare_open(&options, &err);
    if (!c)
        fail_msg("%s", err.text);
    unlink(base->path);
    unlink(fresh->path);
    return c;
}

/* ---- tests ---- */

static void test_keys_do_not_depend_on_the_order_of_names(void **state)
{
    (void)state;
    struct side base, fresh;
    struct ts_run *run = open_side(&base, "2026-11-29T00:00:00Z");
    for (int64_t a = 0; a < 12; a++)
        add_visits(add_row(run, a, false), 1e6, 5, false);
    save(&base);
    run = open_side(&fresh, "2026-11-30T00:00:00Z");
    for (int64_t a = 11; a >= 0; a--)
        add_visits(add_row(run, a, true), 1e6, 5, false);
    save(&fresh);
    struct ts_compare *c = compare(&base, &fresh);
    assert_int_equal(c->row_count, 12);
    assert_int_equal(c->count[TS_OUT_SAME], 12);
    assert_int_equal(ts_compare_exit_status(c), TS_EXIT_OK);
    ts_compare_free(c);
}

/* A confirmation on one side only would meet a sweep: then the sweeps are compared. */
static void test_like_meets_like(void **state)
{
    (void)state;
    struct side base, fresh;
    struct ts_run *run = open_side(&base, "2026-11-29T00:00:00Z");
    struct ts_row *both = add_row(run, 1, false);
    add_visits(both, 1e6, 5, false);
    add_visits(both, 3e6, 4, true);
    struct ts_row *one = add_row(run, 2, false);
    add_visits(one, 1e6, 5, false);
    add_visits(one, 3e6, 4, true);
    save(&base);
    run = open_side(&fresh, "2026-11-30T00:00:00Z");
    both = add_row(run, 1, false);
    add_visits(both, 1e6, 5, false);
    add_visits(both, 3e6, 4, true);
    add_visits(add_row(run, 2, false), 1e6, 5, false);
    save(&fresh);
    struct ts_compare *c = compare(&base, &fresh);
    assert_int_equal(c->rows[0].side[TS_BASE]->visit_count, 9);
    assert_int_equal(c->rows[0].side[TS_NEW]->visit_count, 9);
    assert_int_equal(c->rows[1].side[TS_BASE]->visit_count, 5);
    assert_int_equal(c->rows[1].side[TS_NEW]->visit_count, 5);
    assert_true(fabs(c->rows[1].judged->log_ratio) < 0.01);
    assert_int_equal(c->devices[0].level, TS_BY_PROCESS);
    ts_compare_free(c);
}

/* Proven, and interrupted before it was timed. */
static void test_not_timed_is_not_measured(void **state)
{
    (void)state;
    struct side base, fresh;
    struct ts_run *run = open_side(&base, "2026-11-29T00:00:00Z");
    add_visits(add_row(run, 1, false), 1e6, 5, false);
    add_visits(add_row(run, 2, false), 1e6, 5, false);
    save(&base);
    run = open_side(&fresh, "2026-11-30T00:00:00Z");
    run->interrupted = true;
    add_visits(add_row(run, 1, false), 1e6, 5, false);
    add_row(run, 2, false);
    save(&fresh);
    struct ts_compare *c = compare(&base, &fresh);
    assert_int_equal(c->rows[1].outcome, TS_OUT_NOT_MEASURED);
    assert_int_equal(ts_compare_exit_status(c), TS_EXIT_OK);
    ts_compare_free(c);
}

/* In one run it is right, in the other it crashes: that is a failure. */
static void test_a_failure_in_any_run_counts(void **state)
{
    (void)state;
    struct side base, fresh;
    struct ts_run *run = open_side(&base, "2026-11-29T00:00:00Z");
    add_visits(add_row(run, 1, false), 1e6, 5, false);
    save(&base);
    run = open_side(&fresh, "2026-11-30T00:00:00Z");
    ts_row_set_status(add_row(run, 1, false), TS_CRASHED, "signal", "%s", "killed");
    run = ts_results_add(&fresh.results);
    *run = make_run("2026-11-30T01:00:00Z");
    add_visits(add_row(run, 1, false), 1e6, 5, false);
    save(&fresh);
    struct ts_compare *c = compare(&base, &fresh);
    assert_int_equal(c->rows[0].outcome, TS_OUT_FAILED);
    assert_int_equal(ts_compare_exit_status(c), TS_EXIT_FINDING);
    ts_compare_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_do_not_depend_on_the_order_of_names),
        cmocka_unit_test(test_like_meets_like),
        cmocka_unit_test(test_not_timed_is_not_measured),
        cmocka_unit_test(test_a_failure_in_any_run_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
