/* test_pair.c: ratios of visits made in pairs. */
#include "pair.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct ts_row *row, int64_t ns, int worker, int pair)
{
    const int64_t samples[] = {ns, ns, 100 * ns}; /* the median counts */
    ts_row_add_visit(row, samples, 3, worker);
    row->time.visits[row->time.visit_count - 1].pair = pair;
}

/* By their numbers, whatever the order; what has no partner says nothing. */
static void visits_meet_by_their_numbers(void **state)
{
    (void)state;
    struct ts_row a, b;
    struct ts_judge_visit ratios[4];
    ts_row_init(&a);
    ts_row_init(&b);
    assert_int_equal(ts_pair_next(&a, &b), 0);
    add(&a, 1000, 1, 0);
    add(&a, 5000, 1, 1); /* its partner was taken back */
    add(&a, 2000, 2, 2);
    add(&a, 7000, 3, -1);
    add(&b, 3000, 4, 2);
    add(&b, 1100, 5, 0);
    add(&b, 9000, 6, 3);
    add(&b, 9000, 6, -1);
    assert_int_equal(ts_pair_ratios(&a, &b, ratios), 2);
    assert_true(fabs(ratios[0].log_ns - log(1.5)) < 1e-12 && ratios[0].process == 4);
    assert_true(fabs(ratios[1].log_ns - log(1.1)) < 1e-12 && ratios[1].process == 5);
    assert_int_equal(ts_pair_next(&a, &b), 4);
    assert_int_equal(ts_pair_next(&a, NULL), 3);
    ts_row_free(&a);
    ts_row_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_meet_by_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
