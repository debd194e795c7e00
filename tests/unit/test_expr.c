/* Exact whole-number expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "expr.h"
#include "rng.h"

static int looked_up;

static bool lookup(void *context, const char *name, int64_t *value)
{
    static const struct {
        const char *name;
        int64_t value;
    } names[] = {{"TX", 32},
                 {"TY", 8},
                 {"W", 100},
                 {"PAD", 1},
                 {"N0", -7},
                 {"_a", 5},
                 {"MIN", INT64_MIN},
                 {"MAX", INT64_MAX},
                 {"min", 3},
                 {"zero", 0},
                 {"DEVICE_LOCAL_MEM_SIZE", 49152}};
    (void)context;
    looked_up++;
    for (size_t i = 0; i < TS_COUNT(names); i++) {
        if (!strcmp(names[i].name, name)) {
            *value = names[i].value;
            return true;
        }
    }
    return false;
}

/* The value as text, or the message. */
static const char *result(const char *text)
{
    static struct ts_err err;
    static char printed[32];
    int64_t value = 0;
    err = (struct ts_err){0};
    struct ts_expr *expr = ts_expr_compile(text, &err);
    int status = expr ? ts_expr_eval(expr, lookup, NULL, &value, &err) : -1;
    assert_int_equal(status ? TS_EXIT_USAGE : 0, err.exit_status);
    ts_expr_free(expr);
    if (status)
        return err.text;
    snprintf(printed, sizeof(printed), "%lld", (long long)value);
    return printed;
}

static const struct test_case {
    const char *text, *want;
} values[] = {
    {"0", "0"},
    {" 42\t\n", "42"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775807-1", "-9223372036854775808"},
    {"0x1F + 0Xa", "41"},
    {"TX*TY", "256"},
    {"(TX+2+PAD)*(TY+2)*4", "1400"},
    {"_a+min", "8"},
    {"DEVICE_LOCAL_MEM_SIZE/4", "12288"},
    /* Precedence and associativity of C. */
    {"1+2*3", "7"},
    {"10-4-3", "3"},
    {"100/10/5", "2"},
    {"7-5%3", "5"},
    {"2*6/4*2", "6"},
    {"-2*-3", "6"},
    {"- -3", "3"},
    {"+5", "5"},
    {"!0+1", "2"},
    {"!(0+1)", "0"},
    {"!!7", "1"},
    {"1 < 2 == 1", "1"},
    {"3 > 2 > 1", "0"},
    {"1 == 2 < 3", "1"},
    {"2 != 1 + 1", "0"},
    {"3 != 2 < 1", "1"},
    {"7 % 4 * 2", "6"},
    {"1 || 0 && 0", "1"},
    {"2 && 3", "1"},
    {"0 || 0", "0"},
    {"0 || 5", "1"},
    {"1 && 0 || 1", "1"},
    {"TX <= 32", "1"},
    {"TX >= 33", "0"},
    {"1 ? 2 : 3", "2"},
    {"0 ? 2 : 3", "3"},
    {"0 ? 1 : 0 ? 2 : 3", "3"},
    {"1 ? 0 ? 4 : 5 : 6", "5"},
    {"1 || 0 ? 7 : 8", "7"},
    {"(W==100 ? 5 : 11)*2", "10"},
    {"1 + (0 ? 1 : 2) * 3", "7"},
    /* `%` has the sign of the dividend. */
    {"7 % 3", "1"},
    {"-7 % 3", "-1"},
    {"7 % -3", "1"},
    {"MIN % -1", "0"},
    /* Functions. */
    {"min(3)+0*min(1,2)", "column 1: min takes 2 or more arguments, got 1"},
    {"min(3,1,2)", "1"},
    {"max(3, 9, 2, 8)", "9"},
    {"max(MIN,MAX)", "9223372036854775807"},
    {"abs(N0) + abs(7)", "14"},
    {"abs(0)", "0"},
    {"round_up(W,TX)", "128"},
    {"round_up(96,TX)", "96"},
    {"round_up(0,5)", "0"},
    {"round_up(-7,5)", "-5"},
    {"round_up(-10,5)", "-10"},
    {"ceil_div(7,2)", "4"},
    {"ceil_div(-7,2)", "-3"},
    {"ceil_div(7,-2)", "-3"},
    {"ceil_div(-7,-2)", "4"},
    {"ceil_div(6,2)", "3"},
    {"floor_div(7,2)", "3"},
    {"floor_div(-7,2)", "-4"},
    {"floor_div(7,-2)", "-4"},
    {"floor_div(-7,-2)", "3"},
    {"floor_div(-6,2)", "-3"},
    {"is_pow2(1)", "1"},
    {"is_pow2(64)", "1"},
    {"is_pow2(96)", "0"},
    {"is_pow2(0)", "0"},
    {"is_pow2(-64)", "0"},
    {"is_pow2(MIN)", "0"},
    {"min(1, 2) * max(TX , TY)", "32"},
    /* Only the side that is needed is evaluated. */
    {"0 && 1/0", "0"},
    {"1 || NOPE", "1"},
    {"0 ? NOPE : 4", "4"},
    {"1 ? 4 : 1/0", "4"},
    {"zero && W/zero > 3", "0"},
};

static const struct test_case faults[] = {
    /* Syntax. */
    {"", "column 1: expected a value, found end of expression"},
    {"W+", "column 3: expected a value, found end of expression"},
    {"W+*2", "column 3: expected a value, found \"*\""},
    {"(1", "column 3: expected \")\" or an operator, found end of expression"},
    {"1)", "column 2: expected an operator or end of expression, found \")\""},
    {"TX TY", "column 4: expected an operator or end of expression, found \"TY\""},
    {"TX = 3", "column 4: expected an operator or end of expression, found \"=\""},
    {"1 & 2", "column 3: expected an operator or end of expression, found \"&\""},
    {"1 << 2", "column 4: expected a value, found \"<\""},
    {"1 ? 2", "column 6: expected \":\" or an operator, found end of expression"},
    {"TX[0]", "column 3: expected an operator or end of expression, found \"[\""},
    {"1.5", "column 1: expected a whole number, found a fraction"},
    {"2+1e3", "column 3: expected a whole number, found \"1e3\""},
    {"10u", "column 1: expected a whole number, found \"10u\""},
    {"010", "column 1: expected a number without a leading zero, found \"010\""},
    {"0x", "column 1: expected a whole number, found \"0x\""},
    {"\xC3\xA9", "column 1: expected a value, found byte 0xC3"},
    {"9223372036854775808", "column 1: 9223372036854775808 overflows 64 bits"},
    {"min(1,2,)", "column 9: expected a value, found \")\""},
    {"min(1 2)", "column 7: expected \",\" or \")\", found \"2\""},
    {"W + round_up(1)", "column 5: round_up takes 2 arguments, got 1"},
    {"abs(1,2)", "column 1: abs takes 1 argument, got 2"},
    {"max()", "column 1: max takes 2 or more arguments, got 0"},
    {"sqrt(4)", "column 1: unknown function \"sqrt\"; there are min, max, abs, round_up, ceil_div, "
                "floor_div, is_pow2"},
    /* Evaluation. */
    {"TX*TZ", "column 4: unknown name \"TZ\""},
    {"tx", "column 1: unknown name \"tx\""},
    {"1 + W / 3", "column 7: 100 / 3 leaves a remainder; write floor_div(a,b) or ceil_div(a,b)"},
    {"W/zero", "column 2: 100 / 0 divides by zero"},
    {"W%zero", "column 2: 100 % 0 divides by zero"},
    {"floor_div(W,0)", "column 1: floor_div(100,0) divides by zero"},
    {"ceil_div(W,0)", "column 1: ceil_div(100,0) divides by zero"},
    {"round_up(W,0)", "column 1: round_up(100,0): expected a multiple above 0"},
    {"round_up(W,-4)", "column 1: round_up(100,-4): expected a multiple above 0"},
    {"round_up(MAX,4)", "column 1: round_up(9223372036854775807,4) overflows 64 bits"},
    {"MAX + 1", "column 5: 9223372036854775807 + 1 overflows 64 bits"},
    {"MIN - 1", "column 5: -9223372036854775808 - 1 overflows 64 bits"},
    {"MAX * 2", "column 5: 9223372036854775807 * 2 overflows 64 bits"},
    {"MIN / -1", "column 5: -9223372036854775808 / -1 overflows 64 bits"},
    {"floor_div(MIN,-1)", "column 1: floor_div(-9223372036854775808,-1) overflows 64 bits"},
    {"ceil_div(MIN,-1)", "column 1: ceil_div(-9223372036854775808,-1) overflows 64 bits"},
    {"-MIN", "column 1: -(-9223372036854775808) overflows 64 bits"},
    {"abs(MIN)", "column 1: abs(-9223372036854775808) overflows 64 bits"},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < TS_COUNT(values); i++)
        assert_string_equal(result(values[i].text), values[i].want);
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < TS_COUNT(faults); i++)
        assert_string_equal(result(faults[i].text), faults[i].want);
}

static void repeat(struct ts_text *text, const char *part, int times)
{
    for (int i = 0; i < times; i++)
        ts_text_puts(text, part);
}

static void test_bounds(void **state)
{
    (void)state;
    struct ts_text text = {0};
    /* The most operands that can wait: address sanitizer sees a stack that is too small. */
    repeat(&text, "1==1<1+1*min(1,", 64);
    ts_text_puts(&text, "1==1<1+1*1");
    repeat(&text, ")", 64);
    assert_string_equal(result(text.text), "1");
    text.length = 0;
    repeat(&text, "(", 64);
    ts_text_puts(&text, "7");
    repeat(&text, ")", 64);
    assert_string_equal(result(text.text), "7");
    text.length = 0;
    repeat(&text, "(", 65);
    assert_string_equal(result(text.text), "column 66: nested deeper than 64 levels");
    text.length = 0;
    repeat(&text, "!", 3000);
    assert_string_equal(result(text.text), "column 65: nested deeper than 64 levels");
    text.length = 0;
    repeat(&text, "1+", 2047);
    ts_text_puts(&text, "1");
    assert_string_equal(result(text.text), "2048"); /* length 4095, no nesting */
    ts_text_puts(&text, " ");
    assert_string_equal(result(text.text), "2048");
    ts_text_puts(&text, " ");
    assert_string_equal(result(text.text),
                        "column 4097: expected an expression of at most 4096 bytes");
    ts_text_free(&text);
}

static void test_names(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_expr *expr = ts_expr_compile("TX*TY + max(TX, zero && W) + TX1", &err);
    assert_non_null(expr);
    assert_string_equal(ts_expr_text(expr), "TX*TY + max(TX, zero && W) + TX1");
    static const char *const want[] = {"TX", "TY", "zero", "W", "TX1"};
    size_t count;
    const char *const *names = ts_expr_names(expr, &count);
    assert_int_equal(count, TS_COUNT(want));
    for (size_t i = 0; i < count; i++)
        assert_string_equal(names[i], want[i]);
    ts_expr_free(expr);

    expr = ts_expr_compile("1+2", &err);
    ts_expr_names(expr, &count);
    assert_int_equal(count, 0);
    int64_t value;
    assert_int_equal(ts_expr_eval(expr, NULL, NULL, &value, &err), 0); /* needs no lookup */
    ts_expr_free(expr);
    ts_expr_free(NULL);
}

/* Compiled once, evaluated often; each use looks the names up anew. */
static void test_again(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_expr *expr = ts_expr_compile("TX + TY", &err);
    looked_up = 0;
    for (int i = 0; i < 3; i++) {
        int64_t value = 0;
        assert_int_equal(ts_expr_eval(expr, lookup, NULL, &value, &err), 0);
        assert_int_equal(value, 40);
    }
    assert_int_equal(looked_up, 6);
    ts_expr_free(expr);
}

/* Made-up texts: no crash, no endless loop, and a message with a column wherever it fails. */
static void test_random_texts(void **state)
{
    (void)state;
    static const char *const parts[] = {"TX", "W",  "1", "0",    "7",    "(",         ")",  "+",
                                        "-",  "*",  "/", "%",    "!",    "?",         ":",  "<",
                                        ">=", "==", ",", "&&",   "||",   "MIN",       " ",  "=",
                                        "x",  "$",  ".", "min(", "abs(", "round_up(", "0x", "MAX"};
    struct ts_rng rng = {3};
    int good = 0;
    for (int round = 0; round < 50000; round++) {
        struct ts_text text = {0};
        ts_text_puts(&text, "");
        for (uint64_t n = ts_rng_below(&rng, 9); n > 0; n--)
            ts_text_puts(&text, parts[ts_rng_below(&rng, TS_COUNT(parts))]);
        const char *got = result(text.text);
        good += strncmp(got, "column ", 7) != 0;
        ts_text_free(&text);
    }
    assert_true(good > 500 && good < 49500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_names),
        cmocka_unit_test(test_again),  cmocka_unit_test(test_random_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
