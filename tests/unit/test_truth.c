/* truth: inputs of a worker's cases, found again by what decides them. */
#include "truth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct ts_job_arg array(const char *name, enum ts_arg_kind kind)
{
    return (struct ts_job_arg){.name = (char *)name,
                               .kind = kind,
                               .type = TS_FLOAT,
                               .shape = {4},
                               .dims = 1,
                               .count = 4,
                               .fill = {.kind = TS_FILL_INDEX}};
}

/* Two variants of one case, whose scratch arrays stand in other places: data is found by the
 * argument's place, so that neither may get the other's. */
static void test_variants_with_other_scratch(void **state)
{
    (void)state;
    struct ts_job_arg few[] = {array("src", TS_ARG_IN), array("sums", TS_ARG_SCRATCH),
                               array("src2", TS_ARG_IN), array("dst", TS_ARG_OUT)};
    struct ts_job_arg more[] = {array("src", TS_ARG_IN), array("sums", TS_ARG_SCRATCH),
                                array("upper", TS_ARG_SCRATCH), array("src2", TS_ARG_IN),
                                array("dst", TS_ARG_OUT)};
    const struct ts_instance first = {.args = few, .arg_count = TS_COUNT(few)};
    const struct ts_instance second = {.args = more, .arg_count = TS_COUNT(more)};
    struct ts_truth *truth = ts_truth_open(NULL, NULL);
    struct ts_fault fault = {0};

    const struct ts_inputs *a = ts_truth_inputs(truth, &first, 1, TS_PATTERN_SPEC, &fault);
    const struct ts_inputs *b = ts_truth_inputs(truth, &second, 1, TS_PATTERN_SPEC, &fault);
    assert_ptr_equal(ts_truth_inputs(truth, &first, 1, TS_PATTERN_SPEC, &fault), a);
    assert_int_equal(a->count, TS_COUNT(few));
    assert_int_equal(b->count, TS_COUNT(more));
    assert_non_null(a->data[2]);
    assert_null(a->data[3]);
    assert_null(b->data[2]);
    assert_non_null(b->data[3]);
    assert_null(b->data[4]);
    ts_truth_close(truth);
}

/* Bytes that were right are right again, but only the same bytes, within the same tolerance; the
 * oldest of many are forgotten. */
static void test_known(void **state)
{
    (void)state;
    struct ts_want want = {0};
    const struct ts_proof proof = {.compared = 4, .worst = 0.5, .worst_at = 2};
    float got[4] = {1, 2, 3, 4};
    struct ts_digest128 right = ts_digest128(got, sizeof(got));

    assert_null(ts_truth_known(&want, right, 4.0));
    ts_truth_learn(&want, right, 4.0, &proof);
    const struct ts_proof *known = ts_truth_known(&want, right, 4.0);
    assert_non_null(known);
    assert_int_equal(known->worst_at, 2);
    assert_null(ts_truth_known(&want, right, 2.0));
    got[3] = 4.0000005f;
    assert_null(ts_truth_known(&want, ts_digest128(got, sizeof(got)), 4.0));
    for (int i = 0; i < TS_KNOWN_MAX; i++) {
        got[0] = (float)(10 + i);
        assert_non_null(ts_truth_known(&want, right, 4.0));
        ts_truth_learn(&want, ts_digest128(got, sizeof(got)), 4.0, &proof);
        assert_non_null(ts_truth_known(&want, ts_digest128(got, sizeof(got)), 4.0));
    }
    assert_null(ts_truth_known(&want, right, 4.0));
    free(want.known);
}

/* A reference variant may know its size by its geometry alone: with equal arguments, what it wrote
 * at one size is not what it writes at another. */
static void test_stored_of_a_size(void **state)
{
    (void)state;
    static char w[] = "W", source[] = "xxh3:0", options[] = "";
    struct ts_value eight = {.name = w, .number = 8}, four = {.name = w, .number = 4};
    const struct ts_values sizes[] = {{.items = &eight, .count = 1}, {.items = &four, .count = 1}};
    struct ts_job_arg args[] = {array("src", TS_ARG_IN), array("dst", TS_ARG_OUT)};
    const struct ts_instance instance = {.args = args, .arg_count = TS_COUNT(args)};
    const struct ts_code code = {.source = source, .options = options};
    struct ts_truth *truth = ts_truth_open(NULL, NULL);
    struct ts_fault fault = {0};
    const struct ts_inputs *inputs = ts_truth_inputs(truth, &instance, 1, TS_PATTERN_SPEC, &fault);
    void *written[] = {calloc(4, sizeof(float))};
    const size_t arg = 1;
    const int64_t bytes = 4 * sizeof(float);

    ts_truth_store(truth, &code, &sizes[0], inputs, 1, &arg, written, &bytes, 1);
    assert_non_null(ts_truth_stored(truth, &code, &sizes[0], inputs, 1));
    assert_null(ts_truth_stored(truth, &code, &sizes[1], inputs, 1));
    ts_truth_close(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_stored_of_a_size),
        cmocka_unit_test(test_variants_with_other_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
