/* base, err, rng and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rng.h"
#include "values.h"

/* ---- base ---- */

static void test_text(void **state)
{
    (void)state;
    struct ts_text t = {0};
    ts_text_puts(&t, "");
    assert_string_equal(t.text, "");
    for (int i = 0; i < 1000; i++)
        ts_text_printf(&t, "%d,", i % 10);
    assert_int_equal(t.length, 2000);
    assert_int_equal(strlen(t.text), 2000);
    ts_text_add(&t, "\0x", 2);
    assert_int_equal(t.length, 2002);
    ts_text_free(&t);
    assert_null(t.text);
    ts_text_free(&t);
    ts_text_free(NULL);

    char pattern[1001];
    memset(pattern, 'a', 1000);
    pattern[1000] = '\0';
    char *printed = ts_printf("<%s>%s", pattern, "");
    assert_int_equal(strlen(printed), 1002);
    assert_int_equal(printed[1001], '>');
    free(printed);
    printed = ts_printf("%s", "");
    assert_string_equal(printed, "");
    free(printed);
}

static void test_memory(void **state)
{
    (void)state;
    int *numbers = NULL;
    size_t used = 0, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        TS_GROW(numbers, used, capacity);
        numbers[used++] = i;
    }
    assert_int_equal(numbers[999], 999);
    free(numbers);
    char *zeroed = ts_alloc(100, 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    free(zeroed);
    free(ts_alloc(0, 8)); /* not NULL, or the program would end here */
    char *cut = ts_strndup("abcdef", 3), *whole = ts_strndup("ab", 10);
    assert_string_equal(cut, "abc");
    assert_string_equal(whole, "ab");
    free(cut);
    free(whole);
}

/* A size that overflows ends the program with status 4, it does not wrap. */
static void test_out_of_memory(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        volatile size_t count = SIZE_MAX / 2;
        free(ts_realloc(NULL, count, 4));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), TS_EXIT_SYSTEM);
}

static void test_clocks(void **state)
{
    (void)state;
    int64_t first = ts_now_ns();
    assert_true(first > 0 && ts_now_ns() >= first);
    char utc[32];
    ts_utc_now(utc);
    assert_int_equal(strlen(utc), strlen("2026-11-29T20:11:03Z"));
    assert_int_equal(utc[10], 'T');
    assert_int_equal(utc[19], 'Z');
}

/* ---- err ---- */

static void test_err(void **state)
{
    (void)state;
    struct ts_err err = {0};
    assert_int_equal(ts_err_prepend(&err, "nothing"), -1);
    assert_string_equal(err.text, ""); /* no error, no context */
    assert_int_equal(ts_err_set(&err, TS_EXIT_USAGE, "expected %d, found %s\n", 3, "x"), -1);
    assert_int_equal(ts_err_set(&err, TS_EXIT_SYSTEM, "later"), -1);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE); /* the first wins */
    assert_int_equal(ts_err_prepend(&err, "params.TX[%d]", 1), -1);
    ts_err_prepend(&err, "%s", "a.json");
    assert_string_equal(err.text, "a.json: params.TX[1]: expected 3, found x");
    ts_err_clear(&err);
    assert_int_equal(err.exit_status, 0);
    assert_string_equal(err.text, "");
}

static void test_err_long(void **state)
{
    (void)state;
    enum { ROOM = sizeof(((struct ts_err *)0)->text) - 1 };
    struct ts_text long_text = {0};
    for (int i = 0; i < ROOM; i++)
        ts_text_puts(&long_text, "a");
    struct ts_err err = {0};
    ts_err_set(&err, 2, "%s", long_text.text);
    assert_int_equal(strlen(err.text), ROOM); /* fits exactly */
    assert_int_equal(err.text[ROOM - 1], 'a');
    ts_err_prepend(&err, "x");
    assert_int_equal(strlen(err.text), ROOM);
    assert_string_equal(err.text + ROOM - 4, "a...");
    assert_memory_equal(err.text, "x: a", 4);

    long_text.length = 0; /* characters of three bytes are not split */
    for (int i = 0; i < ROOM; i++)
        ts_text_puts(&long_text, "\xE2\x82\xAC");
    ts_err_clear(&err);
    ts_err_set(&err, 2, "%s", long_text.text);
    size_t length = strlen(err.text);
    assert_int_equal((length - 3) % 3, 0);
    assert_string_equal(err.text + length - 6, "\xE2\x82\xAC...");
    ts_text_free(&long_text);
}

/* ---- rng ---- */

static void test_rng_sequence(void **state)
{
    (void)state;
    /* Reference outputs of splitmix64 for the seed 1234567. */
    static const uint64_t want[] = {6457827717110365317u, 3203168211198807973u,
                                    9817491932198370423u, 4593380528125082431u,
                                    16408922859458223821u};
    struct ts_rng rng = {1234567};
    for (size_t i = 0; i < TS_COUNT(want); i++)
        assert_true(ts_rng_next(&rng) == want[i]);
    /* The stateless form with stream 0 is the same sequence. */
    for (size_t i = 0; i < TS_COUNT(want); i++)
        assert_true(ts_hash3(1234567, 0, i) == want[i]);
    assert_true(ts_hash3(1, 1, 0) != ts_hash3(1, 2, 0));
}

static void test_rng_ranges(void **state)
{
    (void)state;
    struct ts_rng rng = {1};
    int seen[6] = {0};
    double sum = 0;
    for (int i = 0; i < 60000; i++) {
        uint64_t drawn = ts_rng_below(&rng, 6);
        assert_true(drawn < 6);
        seen[drawn]++;
        double unit = ts_rng_unit(&rng);
        assert_true(unit >= 0 && unit < 1);
        sum += unit;
    }
    for (int i = 0; i < 6; i++) /* 10000 expected, standard deviation 91 */
        assert_true(seen[i] > 9500 && seen[i] < 10500);
    assert_true(sum > 29500 && sum < 30500);
    assert_int_equal(ts_rng_below(&rng, 1), 0);
    /* Just above half the range, a plain remainder would draw small numbers twice as often. */
    uint64_t bound = ((uint64_t)1 << 63) + ((uint64_t)1 << 62), low = 0;
    for (int i = 0; i < 9000; i++)
        low += ts_rng_below(&rng, bound) < bound / 3;
    assert_true(low > 2700 && low < 3300);
}

static void test_rng_shuffle(void **state)
{
    (void)state;
    int first_place[4] = {0};
    struct ts_rng rng = {9};
    for (int round = 0; round < 4000; round++) {
        size_t items[] = {0, 1, 2, 3};
        ts_rng_shuffle(&rng, items, 4);
        assert_int_equal(items[0] + items[1] + items[2] + items[3], 6);
        assert_int_equal((1 << items[0]) | (1 << items[1]) | (1 << items[2]) | (1 << items[3]), 15);
        first_place[items[0]]++;
    }
    for (int i = 0; i < 4; i++)
        assert_true(first_place[i] > 850 && first_place[i] < 1150);
    ts_rng_shuffle(&rng, NULL, 0);
}

/* ---- values ---- */

static void fill(struct ts_values *v)
{
    ts_values_add(v, "TX", 32);
    ts_values_add_word(v, "REAL", "float");
    ts_values_add(v, "R", -1);
}

static void test_values_find(void **state)
{
    (void)state;
    struct ts_values v = {0};
    assert_null(ts_values_find(&v, "TX"));
    fill(&v);
    assert_int_equal(ts_values_number(&v, "TX", 0), 32);
    assert_int_equal(ts_values_number(&v, "tx", 7), 7);
    assert_int_equal(ts_values_number(&v, "REAL", 7), 7); /* a word is no number */
    assert_string_equal(ts_values_find(&v, "REAL")->word, "float");
    ts_values_free(&v);
    assert_int_equal(v.count, 0);
    ts_values_free(NULL);
}

static void test_values_equal(void **state)
{
    (void)state;
    struct ts_values a = {0}, b = {0}, empty = {0};
    fill(&a);
    ts_values_copy(&b, &a);
    assert_true(ts_values_equal(&a, &b));
    assert_true(a.items[0].name != b.items[0].name); /* a copy, not shared */
    assert_false(ts_values_equal(&a, &empty));
    assert_true(ts_values_equal(&empty, &empty));
    b.items[0].number++;
    assert_false(ts_values_equal(&a, &b));
    ts_values_free(&b);
    ts_values_copy(&b, &a);
    ts_values_copy(&b, &b); /* appends, also from itself */
    assert_int_equal(b.count, 6);
    assert_false(ts_values_equal(&a, &b));
    ts_values_free(&b);
    struct ts_values number = {0}, word = {0}, other = {0};
    ts_values_add(&number, "REAL", 0);
    ts_values_add_word(&word, "REAL", "float");
    ts_values_add_word(&other, "REAL", "double");
    assert_false(ts_values_equal(&number, &word));
    assert_false(ts_values_equal(&word, &other));
    ts_values_free(&number);
    ts_values_free(&word);
    ts_values_free(&other);
    ts_values_free(&a);
}

static void test_values_json(void **state)
{
    (void)state;
    struct ts_values v = {0}, back = {0};
    struct ts_err err = {0};
    fill(&v);
    cJSON *object = ts_values_to_json(&v);
    char *printed = ts_json_print(object);
    assert_string_equal(printed, "{\"TX\":32,\"REAL\":\"float\",\"R\":-1}");
    free(printed);
    assert_int_equal(ts_values_from_json(&back, object, &err), 0);
    assert_true(ts_values_equal(&v, &back));
    cJSON_Delete(object);
    ts_values_free(&v);
    ts_values_free(&back);
}

static void test_values_json_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[1]", "expected an object of names and values"},
        {"{\"TX\": 1.5}", "TX: expected a whole number or a name"},
        {"{\"TX\": null}", "TX: expected a whole number or a name"},
        {"{\"TX\": 8, \"TY\": [8]}", "TY: expected a whole number or a name"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_err err = {0};
        struct ts_values v = {0};
        cJSON *d = ts_json_parse(cases[i].text, strlen(cases[i].text), "x", 1, &err);
        assert_int_equal(ts_values_from_json(&v, d, &err), -1);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
        assert_string_equal(err.text, cases[i].message);
        cJSON_Delete(d);
        ts_values_free(&v);
    }
}

static void test_values_print(void **state)
{
    (void)state;
    struct ts_values v = {0};
    struct ts_text out = {0};
    ts_values_print(&v, "-D", " ", &out);
    assert_string_equal(out.text, "");
    fill(&v);
    ts_values_print(&v, "", " ", &out);
    assert_string_equal(out.text, "TX=32 REAL=float R=-1");
    out.length = 0;
    ts_values_print(&v, "-D", ",", &out);
    assert_string_equal(out.text, "-DTX=32,-DREAL=float,-DR=-1");
    ts_text_free(&out);
    ts_values_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),          cmocka_unit_test(test_memory),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_err),           cmocka_unit_test(test_err_long),
        cmocka_unit_test(test_rng_sequence),  cmocka_unit_test(test_rng_ranges),
        cmocka_unit_test(test_rng_shuffle),   cmocka_unit_test(test_values_find),
        cmocka_unit_test(test_values_equal),  cmocka_unit_test(test_values_json),
        cmocka_unit_test(test_values_print),  cmocka_unit_test(test_values_json_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
