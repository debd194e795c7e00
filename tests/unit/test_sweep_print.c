/* test_sweep_print.c: what `run` says of made-up rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sweep_private.h"

/* One of a case at size W=1024 whose visits all last ns, and whose launch advances so many steps of
 * 1000 elements. */
static struct ts_row *add(struct ts_run *run, const char *variant, int64_t steps, int64_t ns)
{
    size_t index = ts_run_add_row(run);
    struct ts_row *row = &run->rows[index];

    row->benchmark = ts_strdup("waves");
    row->variant = ts_strdup(variant);
    ts_values_add(&row->size, "W", 1024);
    ts_values_add(&row->params, "STEPS", steps);
    row->staged = strcmp(variant, "fused") == 0;
    row->baseline = !row->staged;
    ts_row_set_status(row, TS_OK, NULL, NULL);
    row->work = (struct ts_work){1000 * steps, 40000 * steps, 8000, -1};
    for (int visit = 0; visit < 5; visit++) {
        const int64_t samples[] = {ns, ns};
        ts_row_add_visit(row, samples, 2, 1);
    }
    return row;
}

static char *shown(const struct ts_run *run)
{
    struct ts_text text = {0};
    ts_sweep_print_verdicts(run, 0, &text);
    return text.text;
}

static void expect(const char *text, const char *part)
{
    assert_non_null(text);
    if (!strstr(text, part))
        fail_msg("\"%s\" lacks \"%s\"", text ? text : "", part);
}

static struct ts_run begin(void)
{
    struct ts_run run = {.peaks = {1e10, 1e11, 0}};

    run.device.name = ts_strdup("a device");
    run.device.platform_name = ts_strdup("a platform");
    return run;
}

/* A launch of the one takes longer than one of the other, yet is faster per element: times and
 * rates must not contradict the verdict. */
static void test_per_element(void **state)
{
    (void)state;
    struct ts_run run = begin();

    add(&run, "plain", 1, 2000); /* 800 ns at the copy ceiling, 400 at the other */
    add(&run, "fused", 4, 4000)->work.bytes = 20000; /* 2000, 1600 */
    char *text = shown(&run);
    expect(text,
           "best plain   plain STEPS=1  2.00 us  2.00 ns per element  20.0 GFLOP/s  40 % of the "
           "copy ceiling\n");
    expect(text,
           "best staged  fused STEPS=4  4.00 us  1.00 ns per element  40.0 GFLOP/s  50 % of the "
           "copy ceiling\n");
    expect(text, "staging pays: yes, 2x per element (95 %: 2 to 2)\n");
    free(text);
    ts_run_free(&run);
}

/* Where all do the same work nothing of that is said. */
static void test_per_launch(void **state)
{
    (void)state;
    struct ts_run run = begin();

    add(&run, "plain", 1, 2000);
    add(&run, "fused", 1, 1600);
    char *text = shown(&run);
    expect(text, "best plain   plain STEPS=1  2.00 us  4.00 GB/s  40 % of the copy ceiling\n");
    expect(text, "best staged  fused STEPS=1  1.60 us  5.00 GB/s  50 % of the copy ceiling\n");
    assert_null(strstr(text, "element"));
    free(text);
    ts_run_free(&run);
}

/* The confirmation's visits take twice as long as the sweep's: share and rate are of the time
 * beside them, not of all visits. */
static void test_rates_of_the_time_beside_them(void **state)
{
    (void)state;
    struct ts_run run = begin();

    add(&run, "plain", 1, 1000); /* 800 ns at the copy ceiling */
    add(&run, "fused", 1, 1000);
    for (size_t r = 0; r < run.row_count; r++)
        for (int visit = 0; visit < 4; visit++) {
            const int64_t samples[] = {2000, 2000};
            ts_row_add_fresh_visit(&run.rows[r], samples, 2, 1);
        }
    char *text = shown(&run);
    expect(text, "best plain   plain STEPS=1  2.00 us  4.00 GB/s  40 % of the copy ceiling\n");
    expect(text, "best staged  fused STEPS=1  2.00 us  4.00 GB/s  40 % of the copy ceiling\n");
    free(text);
    ts_run_free(&run);
}

/* What is above the copy ceiling comes from a cache; what is above the other is a wrong count. */
static void test_above_the_ceilings(void **state)
{
    (void)state;
    struct ts_run run = begin();

    add(&run, "plain", 1, 640); /* 800 ns at the copy ceiling, 400 at the other */
    struct ts_row *row = add(&run, "fused", 1, 1000);
    row->work.flops = 120000; /* 1200 */
    char *text = shown(&run);
    expect(text, "640 ns  62.5 GFLOP/s  125 % of the copy ceiling (in cache)\n");
    expect(text, "1.00 us   120 GFLOP/s  120 % of the multiply-add ceiling\n");
    free(text);
    ts_run_free(&run);
}

/* Many cases end with what was answered how often; a single one needs no such line. */
static void test_tally(void **state)
{
    (void)state;
    const int64_t staged_ns[] = {1000, 3000, 3000, 0}; /* yes, no, no, none */
    struct ts_run run = begin();

    for (size_t i = 0; i < TS_COUNT(staged_ns); i++) {
        size_t first = run.row_count;
        add(&run, "plain", 1, 2000);
        if (staged_ns[i] > 0)
            add(&run, "fused", 1, staged_ns[i]);
        for (size_t r = first; r < run.row_count; r++)
            ts_values_add(&run.rows[r].problem, "CASE", (int64_t)i);
        char *text = shown(&run);
        if (i == 0)
            assert_null(strstr(text, "\nstaging pays"));
        if (i == TS_COUNT(staged_ns) - 1)
            expect(text, "\n7 configurations: 7 ok\nstaging pays: 1 yes, 2 no, 1 unknown\n");
        free(text);
    }
    ts_run_free(&run);
}

static void test_failures(void **state)
{
    (void)state;
    struct ts_run run = begin();

    add(&run, "plain", 1, 2000);
    ts_row_set_status(add(&run, "fused", 2, 4000), TS_BUILD_FAILED, "compiler", "no");
    char *text = shown(&run);
    assert_null(strstr(text, "hint: ")); /* nothing that `check` could see */
    free(text);
    ts_row_set_status(add(&run, "fused", 4, 4000), TS_WRONG, "mismatch", "dst[0] is 1");
    text = shown(&run);
    expect(text, "  wrong mismatch: waves W=1024 fused STEPS=4: dst[0] is 1\n"
                 "  hint: `tilesweep check SPEC` may tell where\n"
                 "3 configurations: 1 ok, 2 failed\n");
    free(text);
    ts_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_per_element),
        cmocka_unit_test(test_per_launch),
        cmocka_unit_test(test_rates_of_the_time_beside_them),
        cmocka_unit_test(test_above_the_ceilings),
        cmocka_unit_test(test_tally),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
