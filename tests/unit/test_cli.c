/* test_cli.c: option parsing from a table, durations, help. */
#include "cli.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct target {
    bool flag, seed_given;
    int verbose, number;
    const char *text;
    struct ts_cli_list list;
    uint64_t seed;
    int64_t time_ns;
    int calls;
};

static int take_call(void *target, const char *value, struct ts_err *err)
{
    if (!strcmp(value, "bad"))
        return ts_err_set(err, TS_EXIT_USAGE, "expected good, got \"bad\"");
    ((struct target *)target)->calls++;
    return 0;
}

#define AT(member) offsetof(struct target, member)
static const struct ts_option options[] = {
    {"flag", 'f', NULL, TS_OPTION_FLAG, AT(flag), .help = "a flag"},
    {"verbose", 'v', NULL, TS_OPTION_COUNT, AT(verbose), .help = "more"},
    {"number", 'n', "N", TS_OPTION_INT, AT(number), .low = 1, .high = 10, .help = "a number"},
    {"text", 't', "TEXT", TS_OPTION_TEXT, AT(text), .help = "a text"},
    {"list", 'l', "ITEM", TS_OPTION_LIST, AT(list), .help = "an item"},
    {"seed", 0, "N", TS_OPTION_SEED, AT(seed), .also = AT(seed_given), .help = "a seed"},
    {"time", 0, "T", TS_OPTION_DURATION, AT(time_ns), .help = "a time"},
    {"call", 0, "X", TS_OPTION_CALL, .call = take_call, .help = "a call"},
};
static const struct ts_cli cli = {
    .command = "try",
    .usage = "[OPTION]... [FILE]...",
    .about = "Try.",
    .options = options,
    .option_count = TS_COUNT(options),
    .max_args = 3,
    .arg_name = "FILE",
};

struct parsed {
    struct target target;
    struct ts_cli_args args;
    struct ts_err err;
    char *words[16];
    int status;
};

/* words: NULL-terminated, without the command. */
static void parse(struct parsed *p, const struct ts_cli *how, const char *const *words)
{
    *p = (struct parsed){0};
    static char command[] = "try";
    int count = 0;
    p->words[count++] = command;
    for (; words[count - 1]; count++)
        p->words[count] = (char *)words[count - 1];
    p->status = ts_cli_parse(how, count, p->words, &p->target, &p->args, &p->err);
}
#define PARSE(p, ...) parse(p, &cli, (const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(const char *message, const char *const *words)
{
    struct parsed p;
    parse(&p, &cli, words);
    assert_int_equal(p.status, -1);
    assert_int_equal(p.err.exit_status, TS_EXIT_USAGE);
    assert_string_equal(p.err.text, message);
    ts_cli_list_free(&p.target.list);
}
#define REFUSED(message, ...) assert_refused(message, (const char *const[]){__VA_ARGS__, NULL})

static void test_spellings(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "a", "--number=3", "-fvv", "--text", "x y", "-lone", "-l", "two", "b", "-");
    assert_int_equal(p.status, 0);
    assert_true(p.target.flag);
    assert_int_equal(p.target.verbose, 2);
    assert_int_equal(p.target.number, 3);
    assert_string_equal(p.target.text, "x y");
    assert_int_equal(p.target.list.count, 2);
    assert_string_equal(p.target.list.items[1], "two");
    assert_int_equal(p.args.count, 3);
    assert_string_equal(p.args.items[0], "a");
    assert_string_equal(p.args.items[1], "b");
    assert_string_equal(p.args.items[2], "-");
    ts_cli_list_free(&p.target.list);
}

static void test_values_that_look_like_options(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--text=", "-l=x", "-vt-", "--list", "--flag");
    assert_int_equal(p.status, 0);
    assert_string_equal(p.target.text, "-");
    assert_string_equal(p.target.list.items[0], "=x");
    assert_string_equal(p.target.list.items[1], "--flag");
    assert_false(p.target.flag);
    ts_cli_list_free(&p.target.list);
}

static void test_a_later_value_wins(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "-n1", "-n", "2", "--number=9");
    assert_int_equal(p.target.number, 9);
}

static void test_double_dash(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "a", "--", "-f", "--");
    assert_int_equal(p.status, 0);
    assert_false(p.target.flag);
    assert_int_equal(p.args.count, 3);
    assert_int_equal(p.args.split, 1);
    assert_string_equal(p.args.items[2], "--");
    PARSE(&p, "a", "b");
    assert_int_equal(p.args.split, 2);
}

static void test_refusals(void **state)
{
    (void)state;
    REFUSED("try: unknown option --nubmer; did you mean \"--number\"?", "--nubmer=3");
    REFUSED("try: unknown option --hlep; did you mean \"--help\"?", "--hlep");
    REFUSED("try: unknown option --zzzzzzzz", "--zzzzzzzz");
    REFUSED("try: unknown option --num", "--num");
    REFUSED("try: unknown option -z", "-z");
    REFUSED("try: unknown option -z in \"-fz\"", "-fz");
    REFUSED("try: option --flag takes no value, got \"1\"", "--flag=1");
    REFUSED("try: option --text needs a value: TEXT", "--text");
    REFUSED("try: option -n needs a value: N", "-fn");
    REFUSED("try: -n: expected a whole number from 1 to 10, got \"11\"", "-n11");
    REFUSED("try: --number: expected a whole number from 1 to 10, got \"\"", "--number=");
    REFUSED("try: --number: expected a whole number from 1 to 10, got \"3x\"", "--number=3x");
    REFUSED("try: --number: expected a whole number from 1 to 10, got \" 3\"", "--number= 3");
    REFUSED("try: --call: expected good, got \"bad\"", "--call=bad");
    REFUSED("try: --time: expected a time above zero, got \"0s\"", "--time=0s");
    REFUSED("try: unexpected argument \"d\"", "a", "b", "c", "d");
}

static void test_number_of_arguments(void **state)
{
    (void)state;
    struct ts_cli one = cli;
    struct parsed p;
    one.min_args = 1;
    const char *const none[] = {NULL};
    parse(&p, &one, none);
    assert_string_equal(p.err.text, "try: expected at least one FILE");
    one.max_args = 1;
    parse(&p, &one, none);
    assert_string_equal(p.err.text, "try: expected one FILE");
}

static void test_seed(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--seed=18446744073709551615");
    assert_true(p.target.seed == UINT64_MAX);
    assert_true(p.target.seed_given);
    PARSE(&p, "--seed", "0xff");
    assert_true(p.target.seed == 255);
    REFUSED("try: --seed: expected a whole number from 0 to 2^64-1, got \"18446744073709551616\"",
            "--seed=18446744073709551616");
    REFUSED("try: --seed: expected a whole number from 0 to 2^64-1, got \"-1\"", "--seed=-1");
}

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"250ms", 250000000},
        {"90s", 90000000000},
        {"10m", 600000000000},
        {"1h", 3600000000000},
        {"1.5s", 1500000000},
        {"20us", 20000},
        {"5ns", 5},
        {"3", 3000000000},
        {"0.1ms", 100000},
        {"2min", 120000000000},
        {"0", 0},
    };
    static const char *const bad[] = {"",      "s",    ".",    ".s",          "5x",  "-1s",
                                      "1e3s",  "inf",  "nan",  "1.2.3s",      "1 s", "5S",
                                      "0x10s", "1,5s", "10mm", "99999999999h"};
    for (size_t i = 0; i < TS_COUNT(good); i++) {
        struct ts_err err = {0};
        int64_t ns = -1;
        assert_int_equal(ts_duration_parse(good[i].text, &ns, &err), 0);
        assert_true(ns == good[i].ns);
    }
    for (size_t i = 0; i < TS_COUNT(bad); i++) {
        struct ts_err err = {0};
        int64_t ns;
        assert_int_equal(ts_duration_parse(bad[i], &ns, &err), -1);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    }
}

static void test_help(void **state)
{
    (void)state;
    struct ts_text text = {0};
    ts_cli_help(&cli, &text);
    assert_non_null(strstr(text.text, "Usage: tilesweep try [OPTION]... [FILE]...\n\nTry.\n"));
    for (size_t i = 0; i < TS_COUNT(options); i++)
        assert_non_null(strstr(text.text, options[i].name));
    assert_non_null(strstr(text.text, "  -n, --number N              a number\n"));
    assert_non_null(strstr(text.text, "  -h, --help                  show this help\n"));
    ts_text_free(&text);
}

static void test_wrap(void **state)
{
    (void)state;
    struct ts_text text = {0};
    ts_wrap(&text, "aa bb cc dd\n\nee averylongword f", 0, 2, 8);
    assert_string_equal(text.text, "aa bb cc\n  dd\n\n  ee\n  averylongword\n  f");
    ts_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_values_that_look_like_options),
        cmocka_unit_test(test_a_later_value_wins),
        cmocka_unit_test(test_double_dash),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_number_of_arguments),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
