/* test_judge.c: the arithmetic of `compare` on made-up clusters; its error rates are for
 * tests/simulate_compare.c. */
#include "judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- made-up pairs ---- */

enum { ROWS = 40, EACH = 3 };

struct made {
    struct ts_judge_pair pairs[ROWS];
    struct ts_cluster clusters[ROWS][2][EACH];
    enum ts_side sides[2];
    struct ts_judge_group group;
};

/* Every row takes 1 ms on both sides, clusters spread by `spread` (a share), a little differently
 * from row to row; NEW is slower by log `shift`. One run a side. */
static void make(struct made *m, double spread, double shift)
{
    memset(m, 0, sizeof(*m));
    for (size_t i = 0; i < ROWS; i++) {
        for (int s = TS_BASE; s <= TS_NEW; s++) {
            for (size_t c = 0; c < EACH; c++) {
                double step = ((double)c - 1.0) * spread * (1.0 + 0.2 * (double)((i * 7) % 5));
                double wobble = 0.1 * spread * (double)((int)((i * 13 + (size_t)s * 5) % 7) - 3);
                m->clusters[i][s][c] = (struct ts_cluster){
                    log(1e6) + step + wobble + (s == TS_NEW ? shift : 0.0), (size_t)s};
            }
            m->pairs[i].side[s] = (struct ts_judge_side){m->clusters[i][s], EACH};
        }
    }
    m->sides[0] = TS_BASE;
    m->sides[1] = TS_NEW;
    m->group = (struct ts_judge_group){
        .pairs = m->pairs, .count = ROWS, .run_count = 2, .run_side = m->sides};
}

static void slow_down(struct made *m, size_t row, double log_effect)
{
    for (size_t c = 0; c < EACH; c++)
        m->clusters[row][TS_NEW][c].log_ns += log_effect;
}

static const struct ts_judge_rule rule = {.threshold = 0.05, .fdr = 0.05};

/* ---- tests ---- */

static void test_nothing_changed(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, 0.0);
    ts_judge(&m.group, 1, &rule);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(m.pairs[i].verdict, TS_SAME);
}

static void test_a_slow_row_is_found_and_told_by_how_much(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, 0.0);
    slow_down(&m, 7, log(1.2));
    slow_down(&m, 9, -log(1.2));
    ts_judge(&m.group, 1, &rule);
    assert_int_equal(m.pairs[7].verdict, TS_SLOWER);
    assert_int_equal(m.pairs[9].verdict, TS_FASTER);
    assert_int_equal(m.pairs[8].verdict, TS_SAME);
    assert_true(m.pairs[7].ratio.low < 1.2 && m.pairs[7].ratio.high > 1.2);
    assert_true(fabs(m.pairs[7].ratio.mid / 1.2 - 1.0) < 0.01);
}

/* Both are needed: a change within the threshold is none, however well it is shown. */
static void test_effect_and_evidence_are_both_needed(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.001, 0.0);
    slow_down(&m, 7, log(1.03));
    ts_judge(&m.group, 1, &rule);
    assert_true(m.pairs[7].p_adjusted < 0.01);
    assert_int_equal(m.pairs[7].verdict, TS_SAME);

    make(&m, 0.2, 0.0);
    slow_down(&m, 7, log(1.2));
    ts_judge(&m.group, 1, &rule);
    assert_true(m.pairs[7].p_adjusted > 0.05);
    assert_int_equal(m.pairs[7].verdict, TS_INCONCLUSIVE);
    assert_int_equal(m.pairs[7].why, TS_WHY_NOISE);
}

static void test_a_shown_change_near_the_threshold_is_not_called_same(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, 0.0);
    slow_down(&m, 7, log(1.047));
    ts_judge(&m.group, 1, &rule);
    assert_int_equal(m.pairs[7].verdict, TS_INCONCLUSIVE);
    assert_int_equal(m.pairs[7].why, TS_WHY_THRESHOLD);
}

static void test_the_controls_shift_is_taken_out(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, log(1.06));
    for (size_t i = 0; i < 12; i++)
        m.pairs[i].control = true;
    slow_down(&m, 30, log(1.15));
    ts_judge(&m.group, 1, &rule);
    assert_true(m.group.shift_taken_out);
    assert_true(fabs(m.group.shift - log(1.06)) < 0.002);
    assert_int_equal(m.pairs[30].verdict, TS_SLOWER);
    assert_true(fabs(m.pairs[30].ratio.mid - 1.15) < 0.01);
    assert_int_equal(m.pairs[31].verdict, TS_SAME);
}

/* Six rows that moved alike may be a worse compiler as well as a slow day. */
static void test_without_control_a_shared_shift_stays(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, log(1.08));
    for (size_t i = 0; i < TS_CONTROL_LEAST - 1; i++)
        m.pairs[i].control = true;
    ts_judge(&m.group, 1, &rule);
    assert_false(m.group.shift_taken_out);
    assert_true(fabs(m.group.shift - log(1.08)) < 0.002);
    assert_int_equal(m.pairs[30].verdict, TS_SLOWER);
}

static void test_a_shift_too_large_leaves_everything_open(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, log(1.2));
    for (size_t i = 0; i < 12; i++)
        m.pairs[i].control = true;
    slow_down(&m, 30, log(1.5));
    ts_judge(&m.group, 1, &rule);
    assert_true(m.group.shift_too_large);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(m.pairs[i].verdict, TS_INCONCLUSIVE);
        assert_int_equal(m.pairs[i].why, TS_WHY_SHIFT);
    }
    /* Nothing was taken out: what is told is the ratio of the times. */
    assert_false(m.group.shift_taken_out);
    assert_true(fabs(m.pairs[30].ratio.mid - 1.2 * 1.5) < 0.02);
    assert_true(fabs(m.pairs[31].ratio.mid - 1.2) < 0.02);
}

/* Rows of the same code that differ by more than their clusters do show noise that no interval
 * within a run can hold. */
static void test_the_controls_spread_widens_every_interval(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.002, 0.0);
    for (size_t i = 0; i < 20; i++) {
        m.pairs[i].control = true;
        slow_down(&m, i, i % 2 ? 0.03 : -0.03);
    }
    slow_down(&m, 30, log(1.07));
    ts_judge(&m.group, 1, &rule);
    assert_true(m.group.scale > 5.0);
    assert_int_not_equal(m.pairs[30].verdict, TS_SLOWER);
}

/* Five rows that disagree about the machine leave open what it did, to every other row. */
static void test_the_shifts_own_error_is_in_every_interval(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.002, 0.0);
    for (size_t i = 0; i < TS_CONTROL_LEAST; i++) {
        m.pairs[i].control = true;
        slow_down(&m, i, 0.05 * ((double)i - 2.0));
    }
    ts_judge(&m.group, 1, &rule);
    assert_true(m.group.shift_taken_out && m.group.scale == 1.0);
    assert_true(m.pairs[30].error > 0.03);
    assert_int_equal(m.pairs[30].verdict, TS_INCONCLUSIVE);
}

/* Many rows tell how noisy a row is that has one cluster a side. */
static void test_a_row_without_spread_of_its_own_uses_the_others(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, 0.0);
    m.pairs[3].side[TS_BASE].count = m.pairs[3].side[TS_NEW].count = 1;
    ts_judge(&m.group, 1, &rule);
    assert_true(m.pairs[3].ratio.known);

    m.group.count = 1;
    m.group.pairs = &m.pairs[3];
    ts_judge(&m.group, 1, &rule);
    assert_false(m.pairs[3].ratio.known);
    assert_int_equal(m.pairs[3].verdict, TS_INCONCLUSIVE);
    assert_int_equal(m.pairs[3].why, TS_WHY_SINGLE);
    assert_true(isinf(m.pairs[3].found));
}

/* A row that repeats itself exactly is as exact as the clock's tick, not more. */
static void test_no_row_is_more_exact_than_its_clock(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.0, 0.0);
    slow_down(&m, 7, log(1.06));
    for (size_t i = 0; i < ROWS; i++)
        m.pairs[i].least_variance = 0.05 * 0.05;
    ts_judge(&m.group, 1, &rule);
    assert_true(m.pairs[7].error >= 0.05 * sqrt(2.0 / EACH) - 1e-9);
    assert_int_equal(m.pairs[7].verdict, TS_INCONCLUSIVE);
}

/* Nights differ for all rows alike: two nights against two are two degrees of freedom, not 80. */
static void test_nights_that_differ_widen_what_all_rows_share(void **state)
{
    (void)state;
    struct made m;
    static const enum ts_side sides[] = {TS_BASE, TS_BASE, TS_NEW, TS_NEW};
    static const double night[] = {0.0, 0.08, 0.06, 0.14};
    make(&m, 0.001, 0.0);
    m.group.run_count = 4;
    m.group.run_side = sides;
    for (size_t i = 0; i < ROWS; i++)
        for (int s = TS_BASE; s <= TS_NEW; s++) {
            m.pairs[i].side[s].count = 2;
            for (size_t c = 0; c < 2; c++) {
                m.clusters[i][s][c].run = (size_t)s * 2 + c;
                m.clusters[i][s][c].log_ns += night[(size_t)s * 2 + c];
            }
        }
    ts_judge(&m.group, 1, &rule);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(m.pairs[i].verdict, TS_INCONCLUSIVE);
        assert_true(m.pairs[i].df < 4.0);
    }
}

static void test_pairs_that_are_unlike_stay_out(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.005, 0.0);
    slow_down(&m, 7, log(3.0));
    m.pairs[7].unlike = TS_WHY_CLOCK;
    ts_judge(&m.group, 1, &rule);
    assert_int_equal(m.pairs[7].verdict, TS_INCONCLUSIVE);
    assert_int_equal(m.pairs[7].why, TS_WHY_CLOCK);
    assert_true(isnan(m.pairs[7].p_adjusted));
    assert_int_equal(m.pairs[8].verdict, TS_SAME);
}

static void test_power_grows_with_noise_and_holds_the_threshold(void **state)
{
    (void)state;
    struct made m;
    make(&m, 0.002, 0.0);
    ts_judge(&m.group, 1, &rule);
    double quiet = m.pairs[5].found;
    assert_true(quiet > 0.05 && quiet < 0.10);
    assert_true(m.pairs[5].evidence < quiet);
    make(&m, 0.02, 0.0);
    ts_judge(&m.group, 1, &rule);
    assert_true(m.pairs[5].found > 2.0 * quiet);
}

/* What `ab` hands over: BASE has no clusters, NEW's are log ratios. */
static void make_paired(struct made *m, double spread)
{
    make(m, spread, 0.0);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t c = 0; c < EACH; c++)
            m->clusters[i][TS_NEW][c].log_ns -= log(1e6);
        m->pairs[i].side[TS_BASE] = (struct ts_judge_side){NULL, 0};
    }
    m->group.paired = true;
}

static void test_pairs_are_judged_by_their_own_ratios(void **state)
{
    (void)state;
    struct made m;
    make_paired(&m, 0.005);
    slow_down(&m, 7, log(1.1));
    ts_judge(&m.group, 1, &rule);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(m.pairs[i].verdict, i == 7 ? TS_SLOWER : TS_SAME);
    assert_true(fabs(m.pairs[7].ratio.mid - 1.1) < 0.01);
    /* The error of one mean of EACH values: there is no second side to add its own. */
    const struct ts_variance_prior *prior = &m.group.prior;
    double df = EACH - 1, own = m.pairs[7].own_variance;
    double variance = isinf(prior->df)
                          ? prior->variance
                          : (prior->df * prior->variance + df * own) / (prior->df + df);
    assert_true(fabs(m.pairs[7].error / sqrt(variance / EACH) - 1.0) < 1e-9);
    assert_true(m.pairs[7].df >= EACH - 1);
}

/* The same code in pairs of visits: nothing is taken out, for nothing of the machine is left; what
 * still moves all of it shows. */
static void test_nothing_is_taken_out_of_pairs(void **state)
{
    (void)state;
    struct made m;
    make_paired(&m, 0.005);
    for (size_t i = 0; i < ROWS; i++) {
        m.pairs[i].control = i >= 20;
        slow_down(&m, i, log(1.08));
    }
    ts_judge(&m.group, 1, &rule);
    assert_int_equal(m.group.control_count, 20);
    assert_false(m.group.shift_taken_out);
    assert_true(fabs(m.group.shift - log(1.08)) < 0.01);
    assert_true(fabs(m.pairs[0].log_ratio - log(1.08)) < 0.01);
    /* The control's spread says that the intervals are too narrow. */
    assert_true(m.group.scale > 5.0);
    make_paired(&m, 0.005);
    for (size_t i = 0; i < ROWS; i++) {
        m.pairs[i].control = true;
        slow_down(&m, i, log(1.2));
    }
    ts_judge(&m.group, 1, &rule);
    assert_true(m.group.shift_too_large);
    assert_int_equal(m.pairs[0].verdict, TS_INCONCLUSIVE);
}

static void test_folding(void **state)
{
    (void)state;
    const struct ts_judge_visit visits[] = {{1.0, 0, 1}, {3.0, 0, 1}, {2.0, 0, 1},
                                            {8.0, 0, 2}, {9.0, 1, 2}, {11.0, 1, 2}};
    struct ts_cluster out[6];
    assert_int_equal(ts_judge_fold(visits, 6, TS_BY_VISIT, out), 6);
    assert_int_equal(ts_judge_fold(visits, 6, TS_BY_PROCESS, out), 3);
    assert_true(out[0].log_ns == 2.0 && out[1].log_ns == 8.0 && out[2].log_ns == 10.0);
    assert_int_equal(ts_judge_fold(visits, 6, TS_BY_RUN, out), 2);
    assert_true(out[0].log_ns == 2.5 && out[1].run == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changed),
        cmocka_unit_test(test_a_slow_row_is_found_and_told_by_how_much),
        cmocka_unit_test(test_effect_and_evidence_are_both_needed),
        cmocka_unit_test(test_a_shown_change_near_the_threshold_is_not_called_same),
        cmocka_unit_test(test_the_controls_shift_is_taken_out),
        cmocka_unit_test(test_without_control_a_shared_shift_stays),
        cmocka_unit_test(test_a_shift_too_large_leaves_everything_open),
        cmocka_unit_test(test_the_controls_spread_widens_every_interval),
        cmocka_unit_test(test_the_shifts_own_error_is_in_every_interval),
        cmocka_unit_test(test_a_row_without_spread_of_its_own_uses_the_others),
        cmocka_unit_test(test_no_row_is_more_exact_than_its_clock),
        cmocka_unit_test(test_nights_that_differ_widen_what_all_rows_share),
        cmocka_unit_test(test_pairs_that_are_unlike_stay_out),
        cmocka_unit_test(test_power_grows_with_noise_and_holds_the_threshold),
        cmocka_unit_test(test_pairs_are_judged_by_their_own_ratios),
        cmocka_unit_test(test_nothing_is_taken_out_of_pairs),
        cmocka_unit_test(test_folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
