/* The report's text and numbers; its pictures and page are tested by tests/report/test_report.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"

static void expect_text(struct ts_text *text, const char *wanted)
{
    assert_string_equal(text->text ? text->text : "", wanted);
    ts_text_free(text);
}

static void numbers_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } table[] = {
        {64.72, "64.7"},     {5.0, "5.00"},
        {0.01234, "0.0123"}, {123.4, "123"},
        {1234.0, "1234"},    {0.0, "0.00"},
        {-1.5, "-1.50"},     {NAN, "-"},
        {INFINITY, "-"},     {1e-30, "0.000000000000"},
    };
    for (size_t i = 0; i < TS_COUNT(table); i++) {
        struct ts_text text = {0};
        ts_report_number(table[i].value, &text);
        expect_text(&text, table[i].text);
    }
}

static void units_suit_the_largest(void **state)
{
    (void)state;
    assert_string_equal(ts_report_unit_for(2.5e9, false).name, "s");
    assert_string_equal(ts_report_unit_for(1e6, false).name, "ms");
    assert_string_equal(ts_report_unit_for(999.0, false).name, "ns");
    assert_string_equal(ts_report_unit_for(0.02, true).name, "ps");
    assert_string_equal(ts_report_unit_for(0.0, true).name, "fs");
    struct ts_report_unit unit = ts_report_unit_for(64700.0, true);
    struct ts_text text = {0};
    ts_report_unit_print(&unit, &text);
    expect_text(&text, "time per element [µs]");
}

static void fields_hold_no_syntax(void **state)
{
    (void)state;
    struct ts_text text = {0};
    ts_report_field(&text, "a\tb\nc\\n\"`x`\r\x01\x7F é");
    expect_text(&text, "a b\\nc\\\\n\\042`x`    é");
    ts_report_field(&text, "\xEF\xBF\xBFz");
    expect_text(&text, "?z");
    ts_report_label(&text, "title", "%s", "\"a\"\tb");
    expect_text(&text, "title\t\\042a\\042 b\n");
}

static void lines_break_at_joints(void **state)
{
    (void)state;
    struct ts_text text = {0};
    ts_report_wrap(&text, "kernel-work-group-size", 13, 2);
    expect_text(&text, "kernel-work-\ngroup-size");
    ts_report_wrap(&text, "CL_INVALID_KERNEL_ARGS", 13, 2);
    expect_text(&text, "CL_INVALID_\nKERNEL_ARGS");
    ts_report_wrap(&text, "abcdefghij", 4, 2);
    expect_text(&text, "abcd\nefgh…");
    ts_report_wrap(&text, "one two three", 7, 3);
    expect_text(&text, "one two\nthree");
    ts_report_wrap(&text, "ééééé", 3, 3);
    expect_text(&text, "ééé\néé");
    ts_report_wrap(&text, "a\nb", 10, 3);
    expect_text(&text, "a\nb");
    ts_report_wrap(&text, "", 10, 3);
    expect_text(&text, "");
}

static void axes_are_sorted_and_distinct(void **state)
{
    (void)state;
    struct ts_values values = {0};
    static const int64_t numbers[] = {32, 8, 128, 8, 16};
    for (size_t i = 0; i < TS_COUNT(numbers); i++)
        ts_values_add(&values, "TX", numbers[i]);
    ts_values_add_word(&values, "TX", "auto");
    struct ts_report_axis axis = {.name = "TX"};
    for (size_t i = 0; i < values.count; i++)
        ts_report_axis_add(&axis, &values.items[i]);
    struct ts_text text = {0};
    for (size_t i = 0; i < axis.count; i++) {
        ts_value_print(axis.values[i], &text);
        ts_text_puts(&text, " ");
    }
    expect_text(&text, "8 16 32 128 auto ");
    assert_int_equal(ts_report_axis_find(&axis, &values.items[0]), 2);
    assert_true(ts_report_axis_find(&axis, NULL) == SIZE_MAX);
    ts_report_axis_free(&axis);
    ts_values_free(&values);
}

static void intervals_that_are_not_known(void **state)
{
    (void)state;
    struct ts_text text = {0};
    struct ts_interval known = {1000.0, 2000.0, 4000.0, true};
    ts_report_interval_fields(&text, &known, 1000.0);
    expect_text(&text, "2\t1\t4");
    struct ts_interval single = {2000.0, 2000.0, 2000.0, false};
    ts_report_interval_fields(&text, &single, 1000.0);
    expect_text(&text, "2\t-\t-");
    struct ts_interval none = {NAN, NAN, NAN, false};
    ts_report_interval_fields(&text, &none, 1.0);
    expect_text(&text, "-\t-\t-");
}

/* Two visits of the sweep, then two of the confirmation under another load. */
static void the_sweep_s_visits_and_the_verdict_s(void **state)
{
    (void)state;
    static const int64_t swept[] = {100, 102}, fresh[] = {200, 204};
    struct ts_row rows[2];
    for (size_t i = 0; i < TS_COUNT(rows); i++) {
        ts_row_init(&rows[i]);
        rows[i].benchmark = ts_strdup("b");
        rows[i].variant = ts_strdup(i ? "local" : "naive");
        rows[i].staged = i == 1;
        rows[i].status = TS_OK;
        rows[i].work.elements = 10;
        for (size_t v = 0; v < TS_COUNT(swept); v++)
            ts_row_add_visit(&rows[i], &swept[v], 1, 0);
        for (size_t v = 0; v < TS_COUNT(fresh); v++)
            ts_row_add_fresh_visit(&rows[i], &fresh[v], 1, 0);
    }
    struct ts_report_case of = {0};
    ts_verdict_of_case(&of.verdict, rows, TS_COUNT(rows), &rows[0], NULL);
    size_t count;
    double *medians = ts_report_swept_medians(&rows[0], &count);
    assert_int_equal(count, 2);
    assert_true(medians[0] == 100.0 && medians[1] == 102.0);
    free(medians);
    assert_true(fabs(ts_report_swept(&rows[0], false).mid - 101.0) < 1e-9);
    assert_true(fabs(ts_report_swept(&rows[0], true).mid - 10.1) < 1e-9);
    assert_true(fabs(ts_report_compared(&of, &rows[0], false).mid - 202.0) < 1e-9);
    rows[0].status = TS_WRONG;
    assert_true(isnan(ts_report_swept(&rows[0], false).mid));
    ts_verdict_free(&of.verdict);
    for (size_t i = 0; i < TS_COUNT(rows); i++)
        ts_row_free(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_three_digits),
        cmocka_unit_test(units_suit_the_largest),
        cmocka_unit_test(fields_hold_no_syntax),
        cmocka_unit_test(lines_break_at_joints),
        cmocka_unit_test(axes_are_sorted_and_distinct),
        cmocka_unit_test(intervals_that_are_not_known),
        cmocka_unit_test(the_sweep_s_visits_and_the_verdict_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
