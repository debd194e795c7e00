/* test_table.c: alignment, UTF-8 on terminals, numbers with units. */
#include "table.h"

#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_alignment(void **state)
{
    (void)state;
    struct ts_table t = {0};
    ts_table_column(&t, "variant", TS_LEFT);
    ts_table_column(&t, "time", TS_RIGHT);
    ts_table_column(&t, "note", TS_LEFT);
    ts_table_cell(&t, "naive");
    ts_table_cell(&t, "%d ms", 12345);
    ts_table_cell(&t, "a long note");
    ts_table_cell(&t, "\xC3\xA9t\xC3\xA9");
    ts_table_cell(&t, "1 ms");
    ts_table_end_row(&t);
    ts_table_end_row(&t); /* no row is under way: nothing */
    struct ts_text out = {0};
    ts_table_print(&t, "> ", &out);
    assert_string_equal(out.text, "> variant      time  note\n"
                                  "> naive    12345 ms  a long note\n"
                                  "> \xC3\xA9t\xC3\xA9          1 ms\n");
    ts_text_free(&out);
    ts_table_free(&t);
}

static void test_no_heading(void **state)
{
    (void)state;
    struct ts_table t = {0};
    ts_table_column(&t, NULL, TS_LEFT);
    ts_table_cell(&t, "x");
    struct ts_text out = {0};
    ts_table_print(&t, "", &out);
    assert_string_equal(out.text, "x\n");
    ts_text_free(&out);
    ts_table_free(&t);
}

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(ts_text_columns(""), 0);
    assert_int_equal(ts_text_columns("abc"), 3);
    assert_int_equal(ts_text_columns("e\xCC\x81"), 1);                /* e, combining acute */
    assert_int_equal(ts_text_columns("\xE6\xBC\xA2\xE5\xAD\x97"), 4); /* two ideographs */
    assert_int_equal(ts_text_columns("\xFF\xC3"), 2);                 /* invalid bytes: one each */
    assert_int_equal(ts_text_fit("abcdef", 4), 4);
    assert_int_equal(ts_text_fit("a\xE6\xBC\xA2z", 2), 1);
    assert_int_equal(ts_text_fit("a\xE6\xBC\xA2z", 3), 4);
    assert_int_equal(ts_text_fit("ab", 9), 2);
}

static void test_printable(void **state)
{
    (void)state;
    /* ESC, newline, a stray byte, the three bytes of a surrogate, the C1 control CSI */
    char *text = ts_text_printable("a\033[31m\n\xC3\xA9\x9B,\xED\xA0\x80,\xC2\x9B,z");
    assert_string_equal(text, "a?[31m?\xC3\xA9?,???,?,z");
    free(text);
}

static void expect_time(double ns, const char *want)
{
    char buffer[TS_HUMAN_ROOM];
    assert_string_equal(ts_human_time(ns, buffer), want);
}

static void test_times(void **state)
{
    (void)state;
    expect_time(0, "0.00 ns");
    expect_time(0.0123, "12.3 ps");
    expect_time(0.9996, "1.00 ns");
    expect_time(1, "1.00 ns");
    expect_time(999, "999 ns");
    expect_time(999.7, "1.00 us");
    expect_time(1234567, "1.23 ms");
    expect_time(12345678, "12.3 ms");
    expect_time(123456789, "123 ms");
    expect_time(4.56e9, "4.56 s");
    expect_time(4.56e12, "4560 s");
    expect_time(NAN, "-");
    expect_time(INFINITY, "-");
    expect_time(-1, "-");
}

static void test_rates_and_sizes(void **state)
{
    (void)state;
    char buffer[TS_HUMAN_ROOM];
    assert_string_equal(ts_human_rate(1.61e10, "B/s", buffer), "16.1 GB/s");
    assert_string_equal(ts_human_rate(5.1e13, "FLOP/s", buffer), "51.0 TFLOP/s");
    assert_string_equal(ts_human_rate(0, "B/s", buffer), "0.00 B/s");
    assert_string_equal(ts_human_rate(NAN, "B/s", buffer), "-");
    assert_string_equal(ts_human_bytes(49152, buffer), "48 KiB");
    assert_string_equal(ts_human_bytes(1000, buffer), "1000 B");
    assert_string_equal(ts_human_bytes(1610612736, buffer), "1.50 GiB");
    assert_string_equal(ts_human_bytes(0, buffer), "0 B");
    assert_string_equal(ts_human_bytes(-1, buffer), "-");
    assert_string_equal(ts_human_bytes(INT64_MAX, buffer), "8192 PiB");
}

static void test_spans(void **state)
{
    (void)state;
    char buffer[TS_HUMAN_ROOM];
    assert_string_equal(ts_human_span(2600000000, buffer), "3 s");
    assert_string_equal(ts_human_span(125000000000, buffer), "2 min 05 s");
    assert_string_equal(ts_human_span(4800000000000, buffer), "1 h 20 min");
    assert_string_equal(ts_human_span(-5, buffer), "0 s");
}

static void test_markup(void **state)
{
    (void)state;
    struct ts_text out = {0};
    ts_text_add_markup(&out, "<a b=\"c\" d='e'>&]]>\n\t\xC3\xA9\x01\x7F\xFF\xEF\xBF\xBE\xEF\xBF\xBF"
                             "\xEF\xBF\xBD");
    ts_text_add_markup(&out, NULL);
    assert_string_equal(out.text, "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;]]&gt;\n\t\xC3\xA9"
                                  "?????\xEF\xBF\xBD");
    ts_text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment),       cmocka_unit_test(test_no_heading),
        cmocka_unit_test(test_columns),         cmocka_unit_test(test_printable),
        cmocka_unit_test(test_markup),          cmocka_unit_test(test_times),
        cmocka_unit_test(test_rates_and_sizes), cmocka_unit_test(test_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
