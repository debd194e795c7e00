/* test_job.c: a job to its line and back, and lines that must not be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "job.h"

static int read_line(struct ts_job *job, const char *line, struct ts_err *err)
{
    cJSON *parsed = ts_json_parse(line, strlen(line), "line", 1, err);
    if (!parsed)
        fail_msg("%s", err->text);
    int result = ts_job_read(job, parsed, err);
    cJSON_Delete(parsed);
    return result;
}

/* print -> parse -> read -> print gives the same line. */
static void expect_round_trip(const char *line)
{
    struct ts_err err = {0};
    struct ts_job job;
    if (read_line(&job, line, &err) != 0)
        fail_msg("%s: %s", line, err.text);
    char *again = ts_job_print(&job);
    assert_string_equal(again, line);
    free(again);
    ts_job_free(&job);
}

/* The pieces of a full job; whole numbers beyond 2^53 travel as text. */
#define CODE "\"code\":{\"source\":\"xxh3:0123456789abcdef\",\"options\":\"-DTX=8\"}"
#define ARGS                                                                                       \
    "\"args\":[{\"name\":\"a\",\"kind\":\"in\",\"type\":\"float\",\"shape\":[2,3],"                \
    "\"fill\":\"random\"},"                                                                        \
    "{\"name\":\"b\",\"kind\":\"out\",\"type\":\"float\",\"shape\":[2,3]},"                        \
    "{\"name\":\"c\",\"kind\":\"inout\",\"type\":\"uchar\",\"shape\":[1,2,3,4],"                   \
    "\"fill\":{\"random\":[-1.5,2]}},"                                                             \
    "{\"name\":\"d\",\"kind\":\"scratch\",\"type\":\"double\",\"shape\":[9]},"                     \
    "{\"name\":\"e\",\"kind\":\"scalar\",\"type\":\"ulong\",\"value\":\"9007199254740993\"},"      \
    "{\"name\":\"f\",\"kind\":\"scalar\",\"type\":\"float\",\"value\":0.082},"                     \
    "{\"name\":\"g\",\"kind\":\"local\",\"bytes\":1400},"                                          \
    "{\"name\":\"h\",\"kind\":\"in\",\"type\":\"int\",\"shape\":[4],\"fill\":\"zero\"},"           \
    "{\"name\":\"i\",\"kind\":\"in\",\"type\":\"int\",\"shape\":[4],\"fill\":\"index\"},"          \
    "{\"name\":\"j\",\"kind\":\"in\",\"type\":\"int\",\"shape\":[4],\"fill\":7},"                  \
    "{\"name\":\"k\",\"kind\":\"in\",\"type\":\"int\",\"shape\":[4],\"fill\":2.5}]"
#define LAUNCHES                                                                                   \
    "\"launches\":[{\"kernel\":\"one\",\"global\":[64,32],\"local\":[8,4],\"args\":[0,1]},"        \
    "{\"kernel\":\"two\",\"global\":[64],\"local\":[8],\"args\":[]}]"
#define REST                                                                                       \
    "\"local_bytes\":null,\"steps\":2,\"iterated\":true,\"swaps\":[[0,1]],"                        \
    "\"work\":{\"elements\":6,\"flops\":12,\"bytes\":null,\"requested_bytes\":null}"
#define INSTANCE                                                                                   \
    "{\"size\":{\"W\":3,\"H\":2},\"problem\":{\"POINTS\":5,\"REAL\":\"float\"}," ARGS "," LAUNCHES \
    "," REST "}"
#define NUMBERS "\"seed\":1,\"tolerance\":4"
#define PROVE(reference)                                                                           \
    "{\"job\":41,\"do\":\"prove\"," CODE "," NUMBERS ",\"reference\":" reference                   \
    ",\"instances\":[" INSTANCE "," INSTANCE "]}"

static const char prove_line[] = PROVE("\"laplacian\"");

static void test_round_trips(void **state)
{
    (void)state;
    expect_round_trip("{\"job\":1,\"do\":\"devices\"}");
    expect_round_trip("{\"job\":2,\"do\":\"open\",\"platform\":0,\"device\":3,\"device_id\":\"ab\","
                      "\"audit\":true," CODE "}");
    expect_round_trip("{\"job\":2,\"do\":\"open\",\"platform\":1,\"device\":0,\"audit\":false}");
    expect_round_trip("{\"job\":3,\"do\":\"peaks\"," CODE "}");
    expect_round_trip("{\"job\":5,\"do\":\"check\"," CODE ",\"seed\":1,\"instances\":[" INSTANCE
                      "]}");
    expect_round_trip(prove_line);
    expect_round_trip("{\"job\":41,\"do\":\"prove\"," CODE "," NUMBERS ",\"reference\":{" CODE
                      ",\"instances\":[" INSTANCE "]},\"instances\":[" INSTANCE "]}");
}

static void test_time_round_trip(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_job job, again;
    assert_int_equal(read_line(&job, prove_line, &err), 0);
    ts_instance_free(&job.instances[1]);
    job.instance_count = 1;
    job.verb = TS_JOB_TIME;
    job.samples = 5;
    job.batch = (int64_t)1 << 60;
    job.prove_last = true;
    job.cold = true;
    job.seed = UINT64_MAX;
    job.clock.event = true;
    job.clock.tick_ns = 1000;
    job.clock.floor_ns = 420;
    char *line = ts_job_print(&job);
    assert_non_null(strstr(line, "\"seed\":\"18446744073709551615\""));
    assert_non_null(strstr(line, "\"batch\":\"1152921504606846976\""));
    assert_int_equal(read_line(&again, line, &err), 0);
    assert_true(again.seed == UINT64_MAX);
    assert_true(again.batch == (int64_t)1 << 60);
    assert_int_equal(again.samples, 5);
    assert_false(again.prove_first);
    assert_true(again.prove_last);
    assert_true(again.cold);
    assert_int_equal(again.clock.tick_ns, 1000);
    char *second = ts_job_print(&again);
    assert_string_equal(second, line);
    free(second);
    free(line);
    ts_job_free(&again);
    ts_job_free(&job);
}

static void test_what_is_read(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_job job;
    assert_int_equal(read_line(&job, prove_line, &err), 0);
    assert_int_equal(job.id, 41);
    assert_int_equal(job.instance_count, 2);
    const struct ts_instance *in = &job.instances[1];
    assert_int_equal(in->args[2].count, 24);
    assert_int_equal(in->args[2].dims, 4);
    assert_int_equal(in->args[2].fill.kind, TS_FILL_RANDOM);
    assert_true(in->args[2].fill.low < -1.4);
    assert_true(in->args[4].whole_value == 9007199254740993);
    assert_int_equal(in->args[6].local_bytes, 1400);
    assert_int_equal(in->args[10].fill.kind, TS_FILL_NUMBER);
    assert_int_equal(in->local_bytes, -1);
    assert_int_equal(in->work.flops, 12);
    assert_int_equal(in->work.bytes, -1);
    ts_job_free(&job);
    ts_job_free(&job); /* empty now */
}

static void test_optional_and_unknown_keys(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_job job;
    assert_int_equal(read_line(&job,
                               "{\"job\":1,\"do\":\"prove\",\"later\":[1]," CODE "," NUMBERS
                               ",\"instances\":[{\"new\":1,\"args\":[],\"launches\":[{\"kernel\":"
                               "\"k\",\"global\":[1],\"local\":[1],\"args\":[]}]}]}",
                               &err),
                     0);
    assert_null(job.reference);
    assert_int_equal(job.instances[0].steps, 1);
    assert_int_equal(job.instances[0].local_bytes, -1);
    assert_int_equal(job.instances[0].work.elements, -1);
    ts_job_free(&job);
}

static void test_faults(void **state)
{
    /* One replacement in prove_line each. */
    static const struct {
        const char *find, *with, *message;
    } cases[] = {
        {"\"job\":41", "\"job\":-1", "job: job: expected at least 0, got -1"},
        {"\"job\":41,", "", "job: job: missing; expected a whole number"},
        {"\"prove\"", "\"proof\"", "job: do: unknown job \"proof\""},
        {"\"seed\":1", "\"seed\":\"-1\"", "job: seed: expected a whole number from 0, got \"-1\""},
        {"\"tolerance\":4", "\"tolerance\":-4", "job: tolerance: expected at least 0"},
        {"\"kind\":\"in\"", "\"kind\":\"inn\"",
         "job: instances[0].args[0].kind: unknown kind \"inn\""},
        {"\"type\":\"float\"", "\"type\":\"flaot\"",
         "job: instances[0].args[0].type: unknown type \"flaot\""},
        {"[2,3]", "[2,0]", "job: instances[0].args[0].shape[1]: expected at least 1, got 0"},
        {"[2,3]", "[]",
         "job: instances[0].args[0].shape: expected a list of at least one element, got an empty "
         "list"},
        {"[1,2,3,4]", "[1,2,3,4,5]",
         "job: instances[0].args[2].shape: expected at most 4 numbers, got 5"},
        {"[2,3]", "[4000000000,4000000000]",
         "job: instances[0].args[0]: an array of over 2^62 bytes"},
        {"\"bytes\":1400", "\"bytes\":0",
         "job: instances[0].args[6].bytes: expected at least 1, got 0"},
        {"\"fill\":\"zero\"", "\"fill\":\"zeor\"",
         "job: instances[0].args[7].fill: expected a fill, got \"zeor\""},
        {"\"fill\":2.5", "\"fill\":\"delta\"",
         "job: instances[0].args[10].fill: expected a fill, got \"delta\""}, /* a pattern, no fill
                                                                              */
        {"\"fill\":2.5", "\"fill\":{\"constant\":2.5}",
         "job: instances[0].args[10].fill: expected a fill, got an object"},
        {"\"args\":[0,1]", "\"args\":[0,12]",
         "job: instances[0].launches[0].args[1]: expected 0 to 10, got 12"},
        {"\"local\":[8,4]", "\"local\":[8]",
         "job: instances[0].launches[0]: global has 2 dimensions, local 1"},
        {"\"global\":[64,32]", "\"global\":[64,32,1,1]",
         "job: instances[0].launches[0].global: expected at most 3 numbers, got 4"},
        {"[[0,1]]", "[[0]]", "job: instances[0].swaps[0]: expected a pair, got a list"},
        {"[[0,1]]", "[[0,3]]",
         "job: instances[0].swaps[0]: expected two arrays of one type and size"},
        {"[[0,1]]", "[[4,4]]",
         "job: instances[0].swaps[0]: expected two arrays of one type and size"},
        {"\"steps\":2", "\"steps\":0", "job: instances[0].steps: expected at least 1, got 0"},
        {"{\"W\":3,\"H\":2}", "[]",
         "job: instances[0].size: expected an object, got an empty list"},
        {"\"laplacian\"", "{" CODE ",\"instances\":[]}",
         "job: reference.instances: expected 2, as many as the job's, got 0"},
        {"\"options\":\"-DTX=8\"", "\"options\":8", "job: code.options: expected a text, got 8"},
        {"\"do\":\"prove\"", "\"do\":\"time\"", NULL}, /* two instances, no samples */
    };
    (void)state;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_err err = {0};
        struct ts_job job;
        const char *at = strstr(prove_line, cases[i].find);
        assert_non_null(at);
        char *line = ts_printf("%.*s%s%s", (int)(at - prove_line), prove_line, cases[i].with,
                               at + strlen(cases[i].find));
        assert_int_equal(read_line(&job, line, &err), -1);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
        if (cases[i].message)
            assert_string_equal(err.text, cases[i].message);
        assert_null(job.instances);
        free(line);
    }
}

/* The bytes that a kernel gets, at any alignment; nothing of an earlier value is left. */
static void test_scalar_store(void **state)
{
    static const struct {
        enum ts_elem type;
        int64_t whole;
        double real;
        uint64_t bytes; /* little-endian */
    } cases[] = {
        {TS_FLOAT, 0, 0.5, 0x3f000000},
        {TS_DOUBLE, 0, -2.0, 0xc000000000000000},
        {TS_INT, -2, 0, 0xfffffffe},
        {TS_UINT, 4294967295, 0, 0xffffffff},
        {TS_LONG, INT64_MIN, 0, 0x8000000000000000},
        {TS_ULONG, 9007199254740993, 0, 9007199254740993},
        {TS_CHAR, -1, 0, 0xff},
        {TS_USHORT, 0x1234, 0, 0x1234},
    };
    (void)state;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_job_arg arg = {.kind = TS_ARG_SCALAR,
                                 .type = cases[i].type,
                                 .whole_value = cases[i].whole,
                                 .real_value = cases[i].real};
        unsigned char out[9];
        uint64_t bytes;
        memset(out, 0xee, sizeof(out));
        ts_job_scalar_store(&arg, out + 1);
        memcpy(&bytes, out + 1, sizeof(bytes));
        assert_true(bytes == cases[i].bytes);
        assert_int_equal(out[0], 0xee);
    }
}

static void test_digest(void **state)
{
    (void)state;
    /* XXH3_64bits of nothing is a published constant. */
    char *empty = ts_digest("", 0), *one = ts_digest("a", 1);
    assert_string_equal(empty, "xxh3:2d06800538d394c2");
    assert_int_equal(strlen(one), 21);
    assert_string_not_equal(one, empty);
    free(empty);
    free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),  cmocka_unit_test(test_time_round_trip),
        cmocka_unit_test(test_what_is_read), cmocka_unit_test(test_optional_and_unknown_keys),
        cmocka_unit_test(test_faults),       cmocka_unit_test(test_digest),
        cmocka_unit_test(test_scalar_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
