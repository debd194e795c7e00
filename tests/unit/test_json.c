/* The strict JSON gate, the printer, getters and builders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "place.h"
#include "rng.h"

static cJSON *parse(const char *text, struct ts_err *err)
{
    *err = (struct ts_err){0};
    return ts_json_parse(text, strlen(text), "x.json", 1, err);
}

/* What the gate says of the text; "" when it takes it. */
static const char *verdict(const char *text)
{
    static struct ts_err err;
    cJSON *document = parse(text, &err);
    assert_int_equal(document == NULL, err.exit_status == TS_EXIT_USAGE);
    cJSON_Delete(document);
    return err.text;
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "x.json:1:1: expected a value, found end of text"},
        {" \n ", "x.json:2:2: expected a value, found end of text"},
        {"\xEF\xBB\xBF{}", "x.json:1:1: expected a value, found a byte order mark"},
        {"{", "x.json:1:2: expected a key in double quotes or '}', found end of text"},
        {"{'a': 1}", "x.json:1:2: expected a key in double quotes or '}', found '''"},
        {"{\"a\" 1}", "x.json:1:6: expected ':' after the key, found '1'"},
        {"{\"a\": 1,}", "x.json:1:9: expected a key in double quotes, found '}'"},
        {"{\"a\": 1]", "x.json:1:8: expected ',' or '}', found ']'"},
        {"{\n  \"a\": 1\n  \"b\": 2\n}", "x.json:3:3: expected ',' or '}', found '\"'"},
        {"[1,]", "x.json:1:4: expected a value, found ']'"},
        {"[1 2]", "x.json:1:4: expected ',' or ']', found '2'"},
        {"[1] x", "x.json:1:5: expected end of text, found 'x'"},
        {"{} {}", "x.json:1:4: expected end of text, found '{'"},
        {"tru", "x.json:1:1: expected a value, found 't'"},
        {"NaN", "x.json:1:1: expected a value, found 'N'"},
        {"[-Infinity]", "x.json:1:3: expected a digit, found 'I'"},
        {"/* no */ 1", "x.json:1:1: expected a value, found '/'"},
        {"\f1", "x.json:1:1: expected a value, found byte 0x0C"},
        {"[01]", "x.json:1:3: expected no digit after a leading 0, found '1'"},
        {"[-01]", "x.json:1:4: expected no digit after a leading 0, found '1'"},
        {"[+1]", "x.json:1:2: expected a value, found '+'"},
        {"[.5]", "x.json:1:2: expected a value, found '.'"},
        {"[1.]", "x.json:1:4: expected a digit after the decimal point, found ']'"},
        {"[1,5.e1]", "x.json:1:6: expected a digit after the decimal point, found 'e'"},
        {"[1e+]", "x.json:1:5: expected a digit in the exponent, found ']'"},
        {"[0x10]", "x.json:1:3: expected ',' or ']', found 'x'"},
        {"9007199254740993", "x.json:1:1: expected a whole number within +-2^53 "
                             "(9007199254740992), found 9007199254740993"},
        {"-9007199254740993", "x.json:1:1: expected a whole number within +-2^53 "
                              "(9007199254740992), found -9007199254740993"},
        {"18446744073709551617", "x.json:1:1: expected a whole number within +-2^53 "
                                 "(9007199254740992), found 18446744073709551617"},
        {"[1e999]", "x.json:1:2: expected a number in the range of a double, found 1e999"},
        {"[-1.8e308]", "x.json:1:2: expected a number in the range of a double, found -1.8e308"},
        {"[0.1234567890123456789012345678901234567890123456789012345678901]",
         "x.json:1:2: expected a number of at most 60 characters, found a longer one"},
        {"\"a", "x.json:1:3: expected '\"' at the end of a string, found end of text"},
        {"\"a\tb\"", "x.json:1:3: expected an escape such as \\n or \\t for a control character, "
                     "found byte 0x09"},
        {"\"\\x41\"", "x.json:1:3: expected one of \" \\ / b f n r t u after the backslash, "
                      "found 'x'"},
        {"\"\\u12g4\"", "x.json:1:6: expected four hexadecimal digits after \\u, found 'g'"},
        {"\"\\u0000\"", "x.json:1:2: expected text without a zero character, found \\u0000"},
        {"\"\\ud800\"", "x.json:1:2: expected a surrogate pair (\\uD800-\\uDBFF, then "
                        "\\uDC00-\\uDFFF), found a lone high surrogate"},
        {"\"\\ud800\\u0041\"", "x.json:1:2: expected a surrogate pair (\\uD800-\\uDBFF, then "
                               "\\uDC00-\\uDFFF), found a lone high surrogate"},
        {"\"\\udc00\"", "x.json:1:2: expected a surrogate pair (\\uD800-\\uDBFF, then "
                        "\\uDC00-\\uDFFF), found a lone low surrogate"},
        {"\"\xFF\"", "x.json:1:2: expected UTF-8, found byte 0xFF"},
        {"\"\xC0\xAF\"", "x.json:1:2: expected UTF-8, found byte 0xC0"},
        {"\"\xED\xA0\x80\"", "x.json:1:2: expected UTF-8, found byte 0xED"},
        {"\"\xF4\x90\x80\x80\"", "x.json:1:2: expected UTF-8, found byte 0xF4"},
        {"\"\xE2\x82\"", "x.json:1:2: expected UTF-8, found byte 0xE2"},
        /* Columns count characters. */
        {"[\"\xC3\xA9\xF0\x9F\x98\x80\" x]", "x.json:1:7: expected ',' or ']', found 'x'"},
        {"{\"\xC3\xA9\": \xC3\xA9}", "x.json:1:7: expected a value, found '\xC3\xA9'"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++)
        assert_string_equal(verdict(cases[i].text), cases[i].message);
}

static void test_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {" {} ", "{}"},
        {"[ ]", "[]"},
        {"[9007199254740992, -9007199254740992, -0]", "[9007199254740992,-9007199254740992,-0]"},
        {"[1.0, 1e3, 0.1, 2.5E-3, 1e-999]", "[1,1000,0.1,0.0025,0]"},
        /* Printed so that the gate takes it again: plain digits would be refused. */
        {"[1e16, 9007199254740993.0]", "[1e+16,9007199254740992]"},
        {"[123456789012345678.0]", "[1.2345678901234568e+17]"},
        {"[true,false,null]", "[true,false,null]"},
        {"\"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\"\\\\\\u001f\x7F\"",
         "\"\xC3\xA9\xF0\x9F\x98\x80/\\b\\f\\n\\r\\t\\\"\\\\\\u001F\x7F\""},
        /* Keys that differ in case, or in another object, are different keys. */
        {"{\"a\":1,\"A\":{\"a\":2},\"\":[{\"a\":3},{\"a\":4}]}",
         "{\"a\":1,\"A\":{\"a\":2},\"\":[{\"a\":3},{\"a\":4}]}"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_err err;
        cJSON *document = parse(cases[i].text, &err);
        assert_string_equal(err.text, "");
        char *printed = ts_json_print(document);
        assert_string_equal(printed, cases[i].printed);
        assert_string_equal(verdict(printed), "");
        free(printed);
        cJSON_Delete(document);
    }
}

static void test_repeated_keys(void **state)
{
    (void)state;
    assert_string_equal(verdict("{\"TX\": 1,\n \"TY\": 2, \"TX\": 3}"),
                        "x.json:2:11: expected each key once in an object, found \"TX\" again");
    assert_string_equal(verdict("{\"a\":1,\"b\":{\"c\":1},\"\\u0061\":3}"),
                        "x.json:1:20: expected each key once in an object, found \"a\" again");
    assert_string_equal(verdict("{\"\":1,\"\":2}"),
                        "x.json:1:7: expected each key once in an object, found \"\" again");
    assert_string_equal(verdict("[{\"x\":{\"k\":1,\"k\":2},\"x\":3}]"),
                        "x.json:1:14: expected each key once in an object, found \"k\" again");
}

/* 10^5 keys in one object: a check that is quadratic would need minutes. */
static void test_many_keys(void **state)
{
    (void)state;
    struct ts_text text = {0};
    enum { KEYS = 100000 };
    ts_text_puts(&text, "{");
    for (int i = 0; i < KEYS; i++)
        ts_text_printf(&text, "\"key%d\":%d,", i, i);
    size_t open = text.length;
    ts_text_puts(&text, "\"last\":0}");
    int64_t start = ts_now_ns();
    assert_string_equal(verdict(text.text), "");
    text.length = open;
    ts_text_puts(&text, "\"key777\":0}");
    assert_non_null(strstr(verdict(text.text), "found \"key777\" again"));
    assert_true(ts_now_ns() - start < (int64_t)20 * 1000000000);
    ts_text_free(&text);
}

static void nest(struct ts_text *text, int depth)
{
    text->length = 0;
    for (int i = 0; i < depth; i++)
        ts_text_puts(text, i % 2 ? "{\"a\":" : "[");
    ts_text_puts(text, "1");
    for (int i = depth; i-- > 0;)
        ts_text_puts(text, i % 2 ? "}" : "]");
}

static void test_depth(void **state)
{
    (void)state;
    struct ts_text text = {0};
    nest(&text, 64);
    assert_string_equal(verdict(text.text), "");
    nest(&text, 65);
    assert_non_null(strstr(verdict(text.text), "expected at most 64 levels of nesting"));
    nest(&text, 1000000);
    assert_non_null(strstr(verdict(text.text), "expected at most 64 levels of nesting"));
    ts_text_free(&text);
}

static void test_first_line_and_zero_bytes(void **state)
{
    (void)state;
    struct ts_err err = {0};
    assert_null(ts_json_parse("[1,\n]", 5, "run.part", 40, &err));
    assert_string_equal(err.text, "run.part:41:1: expected a value, found ']'");
    ts_err_clear(&err);
    assert_null(ts_json_parse("[1]\0", 4, "x", 1, &err));
    assert_string_equal(err.text, "x:1:4: expected end of text, found byte 0x00");
    ts_err_clear(&err);
    /* Only `length` bytes count. */
    cJSON *document = ts_json_parse("12345", 2, "x", 1, &err);
    assert_true(cJSON_IsNumber(document) && document->valuedouble == 12);
    cJSON_Delete(document);
}

/* Whatever the gate takes, cJSON must take as well, and no prefix or change may be read beyond. */
static void test_damaged(void **state)
{
    (void)state;
    static const char good[] = "{\"a\": [1, -2.5e-3, \"x\\u00e9\\n\xC3\xA9\", true, null],\n"
                               " \"b\": {\"c\": {}, \"d\": []}, \"e\": \"\\ud83d\\ude00\"}";
    static const char bytes[] = "{}[],:\"\\u0e1-+. \n\t\xC3\xFFtfn";
    struct ts_rng rng = {7};
    struct ts_err err;
    size_t length = sizeof(good) - 1;
    for (size_t cut = 0; cut < length; cut++) {
        char *part = ts_alloc(cut, 1); /* exact, for the address sanitizer */
        memcpy(part, good, cut);
        err = (struct ts_err){0};
        assert_null(ts_json_parse(part, cut, "x", 1, &err));
        free(part);
    }
    for (int round = 0; round < 20000; round++) {
        char *copy = ts_alloc(length, 1);
        memcpy(copy, good, length);
        for (int i = 0; i < 3; i++)
            copy[ts_rng_below(&rng, length)] = bytes[ts_rng_below(&rng, sizeof(bytes) - 1)];
        err = (struct ts_err){0};
        cJSON *document = ts_json_parse(copy, length, "x", 1, &err);
        assert_int_equal(document ? 0 : TS_EXIT_USAGE, err.exit_status);
        cJSON_Delete(document);
        free(copy);
    }
}

static void test_load(void **state)
{
    (void)state;
    struct ts_err err = {0};
    assert_null(ts_json_load("/nonexistent/x.json", &err));
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    assert_string_equal(err.text, "/nonexistent/x.json: cannot open: No such file or directory");
    ts_err_clear(&err);
    assert_null(ts_json_load("/", &err));
    assert_string_equal(err.text, "/: expected a file, got a folder");
    ts_err_clear(&err);

    char path[] = "/tmp/tilesweep-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "{\"a\":\n7}", 8), 8);
    close(file);
    cJSON *document = ts_json_load(path, &err);
    unlink(path);
    assert_int_equal(ts_json_int(document, "a", 0), 7);
    cJSON_Delete(document);
}

static char *print_real(double value)
{
    cJSON *array = cJSON_CreateArray();
    ts_json_add_real(array, NULL, value);
    char *printed = ts_json_print(array);
    cJSON_Delete(array);
    return printed;
}

/* Every finite double comes back bit for bit (cJSON's own printer loses the last digit of some). */
static void test_numbers_come_back(void **state)
{
    (void)state;
    struct ts_rng rng = {1};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = ts_rng_next(&rng);
        double value, again;
        memcpy(&value, &bits, sizeof(value));
        if (i % 2)
            value = 1e9 * ts_rng_unit(&rng);
        if (!isfinite(value))
            continue;
        char *printed = print_real(value);
        struct ts_err err;
        cJSON *document = parse(printed, &err);
        assert_string_equal(err.text, "");
        again = cJSON_GetArrayItem(document, 0)->valuedouble;
        assert_memory_equal(&again, &value, sizeof(value));
        cJSON_Delete(document);
        free(printed);
    }
}

static void test_builders(void **state)
{
    (void)state;
    const int64_t two53 = (int64_t)1 << 53;
    cJSON *o = cJSON_CreateObject();
    ts_json_add_int(o, "big", two53 - 1);
    ts_json_add_int(o, "low", -two53);
    ts_json_add_int(o, "beyond", INT64_MAX);
    ts_json_add_int_or_null(o, "none", -1);
    ts_json_add_int_or_null(o, "zero", 0);
    ts_json_add_real(o, "nan", NAN);
    ts_json_add_real(o, "inf", -INFINITY);
    ts_json_add_real(o, "real", 8.2e6);
    ts_json_add_string(o, "null", NULL);
    ts_json_add_string(o, "bad", "a\xFFz\xC3");
    ts_json_add_string(o, "k\xFF", "<\x01>");
    ts_json_add_bool(o, "yes", true);
    ts_json_add_string(ts_json_add_array(o, "list"), NULL, "x");
    ts_json_add_int(ts_json_add_object(o, "inner"), "a", 1);
    ts_json_add_item(o, "item", NULL);
    char *printed = ts_json_print(o);
    assert_string_equal(printed,
                        "{\"big\":9007199254740991,\"low\":-9007199254740992,"
                        "\"beyond\":9.223372036854776e+18,\"none\":null,\"zero\":0,\"nan\":null,"
                        "\"inf\":null,\"real\":8200000,\"null\":null,\"bad\":\"a\xEF\xBF\xBDz\xEF"
                        "\xBF\xBD\",\"k\xEF\xBF\xBD\":\"<\\u0001>\",\"yes\":true,\"list\":[\"x\"],"
                        "\"inner\":{\"a\":1},\"item\":null}");
    assert_string_equal(verdict(printed), "");
    free(printed);
    cJSON_Delete(o);
}

/* Numbers from 0 that a double cannot hold are written as text and read back exactly. */
static void test_unsigned(void **state)
{
    (void)state;
    static const char text[] = "[0,9007199254740992,\"9007199254740993\",\"18446744073709551615\"]";
    const uint64_t numbers[] = {0, 9007199254740992, 9007199254740993, UINT64_MAX};
    const struct ts_place root = ts_place_root("x");
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < TS_COUNT(numbers); i++) {
        const cJSON *item = ts_json_add_unsigned(list, NULL, numbers[i]);
        struct ts_err err = {0};
        uint64_t back = 1;
        assert_int_equal(ts_place_unsigned(&root, item, &back, &err), 0);
        assert_true(back == numbers[i]);
    }
    char *printed = ts_json_print(list);
    assert_string_equal(printed, text);
    free(printed);
    cJSON_Delete(list);

    static const char bad[] = "[-1,1.5,null,\"\",\"-1\",\" 1\",\"1x\",\"18446744073709551616\"]";
    struct ts_err parse = {0};
    cJSON *faults = ts_json_parse(bad, sizeof(bad) - 1, "bad", 1, &parse);
    assert_non_null(faults);
    const cJSON *item;
    cJSON_ArrayForEach(item, faults)
    {
        struct ts_err err = {0};
        uint64_t kept = 7;
        assert_int_equal(ts_place_unsigned(&root, item, &kept, &err), -1);
        assert_non_null(strstr(err.text, "expected a whole number from 0"));
        assert_true(kept == 7);
        ts_err_clear(&err);
    }
    struct ts_err err = {0};
    uint64_t none = 7;
    assert_int_equal(ts_place_unsigned(&root, NULL, &none, &err), -1);
    assert_true(none == 7);
    cJSON_Delete(faults);
}

static void test_pretty(void **state)
{
    (void)state;
    struct ts_err err;
    cJSON *d = parse("{\"a\":[1,2],\"b\":[[1],[2,3]],\"c\":{},\"d\":[],\"e\":{\"f\":null}}", &err);
    char *printed = ts_json_print_pretty(d);
    assert_string_equal(printed, "{\n"
                                 "  \"a\": [1, 2],\n"
                                 "  \"b\": [\n"
                                 "    [1],\n"
                                 "    [2, 3]\n"
                                 "  ],\n"
                                 "  \"c\": {},\n"
                                 "  \"d\": [],\n"
                                 "  \"e\": {\n"
                                 "    \"f\": null\n"
                                 "  }\n"
                                 "}");
    free(printed);
    cJSON_Delete(d);
}

static void test_getters(void **state)
{
    (void)state;
    struct ts_err err;
    cJSON *d =
        parse("{\"s\":\"x\",\"n\":16.5,\"i\":16,\"t\":true,\"z\":null,\"e\":1e3,\"h\":1e16}", &err);
    int64_t whole = 0;
    assert_string_equal(ts_json_string(d, "s", "-"), "x");
    assert_string_equal(ts_json_string(d, "S", "-"), "-"); /* case counts */
    assert_string_equal(ts_json_string(d, "i", "-"), "-");
    assert_string_equal(ts_json_string(d, "z", "-"), "-");
    assert_true(ts_json_number(d, "n", 0) == 16.5);
    assert_true(ts_json_number(d, "z", -1) == -1);
    assert_int_equal(ts_json_int(d, "i", -1), 16);
    assert_int_equal(ts_json_int(d, "n", -1), -1); /* a fraction is no whole number */
    assert_int_equal(ts_json_int(d, "e", -1), 1000);
    assert_int_equal(ts_json_int(d, "h", -1), -1); /* beyond 2^53 */
    assert_int_equal(ts_json_int(NULL, "i", -1), -1);
    assert_true(ts_json_bool(d, "t", false));
    assert_true(ts_json_bool(d, "i", true));
    assert_false(ts_json_whole(ts_json_get(d, "s"), &whole));
    assert_true(cJSON_IsNull(ts_json_get(d, "z")));
    assert_null(ts_json_get(d, "absent"));
    cJSON_Delete(d);
}

static void clean_is(const char *text, size_t length, size_t most, const char *want)
{
    char *clean = ts_utf8_clean(text, length, most);
    assert_string_equal(clean, want);
    free(clean);
}

static void test_utf8_clean(void **state)
{
    (void)state;
    clean_is("", 0, 0, "");
    clean_is("plain", 5, 5, "plain");
    clean_is("a\0b", 3, 0,
             "a\xEF\xBF\xBD"
             "b");
    clean_is("\xE2\x82\xACx", 4, 0, "\xE2\x82\xACx");
    clean_is("\xE2\x82", 2, 0, "\xEF\xBF\xBD\xEF\xBF\xBD");
    clean_is("\xED\xA0\x80", 3, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    clean_is("0123456789", 10, 4, "0123\n[cut: 6 bytes]");
    clean_is("abc\xE2\x82\xAC", 6, 5, "abc\n[cut: 3 bytes]"); /* not inside a character */
}

/* Sets a locale with decimal commas, one made for this test where the system has none; the folder
 * it is made in, to be removed, or NULL. */
static char *set_german(void)
{
    static char folder[] = "/tmp/ts-locale-XXXXXX";
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return NULL;
    if (!mkdtemp(folder))
        fail_msg("cannot make a folder");
    char *command =
        ts_printf("localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 2>&1", folder);
    int status = system(command);
    free(command);
    setenv("LOCPATH", folder, 1);
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        fail_msg("localedef made no locale (status %d); Debian's package locales has what it needs",
                 status);
    return folder;
}

/* A library may have set a locale with decimal commas. */
static void test_locale(void **state)
{
    (void)state;
    char *folder = set_german();
    struct ts_err err;
    cJSON *document = parse("[0.5]", &err);
    char *printed = ts_json_print(document), *text = ts_printf("%.2f", 0.25), there[8];
    snprintf(there, sizeof(there), "%.1f", 0.5);
    setlocale(LC_ALL, "C");
    if (folder) {
        char *command = ts_printf("rm -r %s", folder);
        assert_int_equal(system(command), 0);
        free(command);
    }
    assert_string_equal(there, "0,5"); /* else the test shows nothing */
    assert_string_equal(printed, "[0.5]");
    assert_string_equal(text, "0.25");
    free(printed);
    free(text);
    cJSON_Delete(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_repeated_keys),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_first_line_and_zero_bytes),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_builders),
        cmocka_unit_test(test_unsigned),
        cmocka_unit_test(test_numbers_come_back),
        cmocka_unit_test(test_pretty),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_utf8_clean),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
