/* test_measure.c: the clock audit and a visit, on made-up streams. */
#include "measure.h"
#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

/* ---- made-up clocks ---- */

#define EMPTY 16
#define BUSY 6

struct stream {
    struct ts_stamp empty[EMPTY], busy[BUSY];
    int64_t empty_host_ns[EMPTY], busy_host_ns[BUSY];
};

/* A stamp of an event whose clock counts in steps of tick ns. */
static struct ts_stamp stamp(uint64_t start, uint64_t ns, uint64_t tick)
{
    struct ts_stamp s = {true, start - 900, start - 400, start, start + ns};
    s.queued -= s.queued % tick;
    s.submit -= s.submit % tick;
    s.start -= s.start % tick;
    s.end -= s.end % tick;
    return s;
}

/* Empty kernels of about 3 us, busy ones of about 2 ms; the host sees a few us more. */
static void make_stream(struct stream *s, uint64_t tick)
{
    struct ts_rng rng = {5};
    uint64_t now = 1700000000123456789u;
    for (size_t i = 0; i < EMPTY; i++) {
        uint64_t ns = 3000 + ts_rng_below(&rng, 500);
        s->empty[i] = stamp(now, ns, tick);
        s->empty_host_ns[i] = (int64_t)ns + 5000;
        now += 20000 + ts_rng_below(&rng, 5000);
    }
    for (size_t i = 0; i < BUSY; i++) {
        uint64_t ns = 2000000 + ts_rng_below(&rng, 30000);
        s->busy[i] = stamp(now, ns, tick);
        s->busy_host_ns[i] = (int64_t)(ns + 5000 + ts_rng_below(&rng, 2000));
        now += 2500000 + ts_rng_below(&rng, 5000);
    }
}

static struct ts_clock audit(const struct stream *s)
{
    struct ts_clock_samples samples = {s->empty, s->empty_host_ns, EMPTY,
                                       s->busy,  s->busy_host_ns,  BUSY};
    struct ts_clock clock;
    ts_clock_audit(&clock, &samples);
    return clock;
}

/* Does something to every stamp of a stream. */
static void each(struct stream *s, void (*change)(struct ts_stamp *stamp))
{
    for (size_t i = 0; i < EMPTY; i++)
        change(&s->empty[i]);
    for (size_t i = 0; i < BUSY; i++)
        change(&s->busy[i]);
}

/* Events are refused, with one warning that holds `part` and says what is used instead. */
static void expect_refused(const struct stream *s, const char *part)
{
    struct ts_clock clock = audit(s);
    if (clock.event)
        fail_msg("events are accepted, expected: %s", part);
    assert_int_equal(clock.warning_count, 1);
    if (!strstr(clock.warnings[0], part) ||
        !strstr(clock.warnings[0], "; the host clock is used instead"))
        fail_msg("warning is \"%s\", expected \"%s\"", clock.warnings[0], part);
    assert_in_range(clock.floor_ns, 8000, 8500); /* the host's */
    assert_int_equal(clock.tick_ns, 1);
    ts_clock_free(&clock);
}

static void expect_accepted(const struct stream *s, int64_t tick_ns, size_t warnings)
{
    struct ts_clock clock = audit(s);
    if (!clock.event)
        fail_msg("events are refused: %s", clock.warnings[0]);
    assert_int_equal(clock.tick_ns, tick_ns);
    assert_int_equal(clock.warning_count, warnings);
    assert_in_range(clock.floor_ns, 2900, 3500);
    assert_true(clock.host_ratio > 0.9 && clock.host_ratio < 1.0);
    ts_clock_free(&clock);
}

static void test_good_clocks(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    expect_accepted(&s, 1, 0);
    make_stream(&s, 32);
    expect_accepted(&s, 32, 0);
}

static void test_coarse_clock_is_told(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1000);
    struct ts_clock clock = audit(&s);
    assert_true(clock.event);
    assert_int_equal(clock.tick_ns, 1000);
    assert_int_equal(clock.warning_count, 1);
    assert_non_null(strstr(clock.warnings[0], "steps of 1000 ns"));
    ts_clock_free(&clock);
}

/* One stray nanosecond does not make a 32 ns clock finer. */
static void test_tick_ignores_an_outlier(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 32);
    s.empty[7].end += 1;
    expect_accepted(&s, 32, 0);
    make_stream(&s, 32);
    s.empty[3].start += 1;
    expect_accepted(&s, 32, 0);
}

static void always_1_ns(struct ts_stamp *s)
{
    s->end = s->start + 1;
}

static void start_0_end_1(struct ts_stamp *s)
{
    s->queued = s->submit = s->start = 0;
    s->end = 1;
}

static void test_constant_1_ns(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    each(&s, always_1_ns);
    expect_refused(&s, "event times are always 1 ns");
    make_stream(&s, 1);
    each(&s, start_0_end_1);
    expect_refused(&s, "event times are always 1 ns");
}

/* Every empty kernel 2000 ns on a coarse clock is no reason: the long kernel differs. */
static void test_constant_empty_only(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1000);
    for (size_t i = 0; i < EMPTY; i++)
        s.empty[i].end = s.empty[i].start + 3000;
    expect_accepted(&s, 1000, 1);
}

static void all_zero(struct ts_stamp *s)
{
    s->queued = s->submit = s->start = s->end = 0;
}

static void test_all_zero(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    each(&s, all_zero);
    expect_refused(&s, "event times are zero for 22 of 22 launches");
}

static void test_end_before_start(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    s.empty[4].end = s.empty[4].start - 7; /* one is enough: it would wrap to 1e19 ns */
    expect_refused(&s, "events end before they start for 1 of 22 launches");
}

static void start_before_submit(struct ts_stamp *s)
{
    s->submit = s->start + 50;
}

static void submit_before_queued(struct ts_stamp *s)
{
    s->queued = s->submit + 50;
}

static void start_a_tick_early(struct ts_stamp *s)
{
    s->submit = s->start + 32;
}

static void test_disorder(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 32);
    each(&s, start_before_submit);
    expect_refused(&s, "event stamps are out of order (QUEUED <= SUBMIT <= START) for 22 of 22");
    make_stream(&s, 32);
    each(&s, submit_before_queued);
    expect_refused(&s, "out of order");
    make_stream(&s, 32);
    each(&s, start_a_tick_early);
    expect_accepted(&s, 32, 0);
    make_stream(&s, 32);
    start_before_submit(&s.busy[2]); /* one stray is told, START and END still serve */
    expect_accepted(&s, 32, 1);
}

static void test_untouched(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    s.busy[1] = (struct ts_stamp){.have = false, .start = 0xdeadbeef, .end = 3};
    expect_refused(&s, "event times are missing for 1 of 22 launches");
}

static void test_off_against_the_host(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    for (size_t i = 0; i < BUSY; i++)
        s.busy[i].end = s.busy[i].start + (s.busy[i].end - s.busy[i].start) * 20;
    expect_refused(&s, "times the host's for the same kernel");
    make_stream(&s, 1);
    for (size_t i = 0; i < BUSY; i++)
        s.busy[i].end = s.busy[i].start + (s.busy[i].end - s.busy[i].start) / 20;
    expect_refused(&s, "event times are 0.0499 times the host's");
}

/* Stretches the events of busy launches from `first` on. */
static void stretch(struct stream *s, size_t first, double factor)
{
    for (size_t i = first; i < BUSY; i++)
        s->busy[i].end =
            s->busy[i].start + (uint64_t)((double)(s->busy[i].end - s->busy[i].start) * factor);
}

/* No event outlasts the host's time around it; in a few launches it is passed over. */
static void test_longer_than_the_host(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    stretch(&s, 0, 1.9);
    expect_refused(&s, "event times are 1.89 times the host's for the same kernel, longer than the "
                       "launches themselves");
    make_stream(&s, 1);
    stretch(&s, 2, 1.5); /* the first two are right */
    expect_refused(&s, "longer than the launches themselves");
    make_stream(&s, 1);
    stretch(&s, 4, 1.5);
    expect_accepted(&s, 1, 0);
    make_stream(&s, 1);
    stretch(&s, 0, 0.6); /* shorter: a slow host */
    struct ts_clock clock = audit(&s);
    assert_true(clock.event);
    ts_clock_free(&clock);
}

/* A busy kernel of four ticks may well look a tick too long. */
static void test_coarse_events_look_long(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 500000);
    for (size_t i = 0; i < BUSY; i++) {
        s.busy[i].start += (i % 3) * 500000;
        s.busy[i].end = s.busy[i].start + 2500000;
    }
    struct ts_clock clock = audit(&s);
    if (!clock.event)
        fail_msg("events are refused: %s", clock.warnings[0]);
    assert_int_equal(clock.tick_ns, 500000);
    ts_clock_free(&clock);
}

/* Another process takes the host's core in most launches: the event clock is still the better one.
 */
static void test_busy_host(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    for (size_t i = 1; i < BUSY; i++)
        s.busy_host_ns[i] *= 3;
    expect_accepted(&s, 1, 0);
}

/* Two speeds of the device are no fault of its clock. */
static void test_bimodal(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1);
    for (size_t i = 0; i < EMPTY; i += 3)
        s.empty[i].end += 9000;
    for (size_t i = 0; i < BUSY; i += 2) {
        s.busy[i].end += 1500000;
        s.busy_host_ns[i] += 1500000;
    }
    struct ts_clock clock = audit(&s);
    assert_true(clock.event);
    assert_int_equal(clock.warning_count, 0);
    ts_clock_free(&clock);
}

static void test_nothing_sampled(void **state)
{
    (void)state;
    struct ts_clock_samples none = {0};
    struct ts_clock clock;
    ts_clock_audit(&clock, &none);
    assert_false(clock.event);
    assert_int_equal(clock.tick_ns, 1);
    assert_int_equal(clock.floor_ns, 0);
    assert_int_equal(clock.warning_count, 1);
    ts_clock_free(&clock);
    ts_clock_free(NULL);
}

static void test_a_clock_may_lie_later(void **state)
{
    (void)state;
    const struct ts_clock fine = {.event = true, .tick_ns = 1, .floor_ns = 400};
    const struct ts_clock coarse = {.event = true, .tick_ns = 1000000, .floor_ns = 1000000};
    const struct ts_clock unknown = {.event = true};
    assert_true(ts_clock_believes(&fine, 1, 500, 20000));
    assert_true(ts_clock_believes(&fine, 1, 39000, 20000)); /* the host's reading was late */
    assert_false(ts_clock_believes(&fine, 1, 41000, 20000));
    assert_false(ts_clock_believes(&fine, 1, INT64_MAX, 20000));
    assert_true(ts_clock_believes(&fine, 1, 8, 20000));
    assert_false(ts_clock_believes(&fine, 1, 7, 20000));
    assert_true(ts_clock_believes(&fine, 2048, 2048 * 8, 50000000));
    assert_false(ts_clock_believes(&fine, 2048, 0, 50000000));
    assert_false(ts_clock_believes(&fine, 2048, 2048, 50000000)); /* always 1 ns, as rusticl */
    /* A few short launches may well fall into one tick; thousands may not. */
    assert_true(ts_clock_believes(&coarse, 1, 0, 900000));
    assert_true(ts_clock_believes(&coarse, 1, 1000000, 30000));
    assert_false(ts_clock_believes(&coarse, 2048, 0, 50000000));
    assert_true(ts_clock_believes(&unknown, 2048, 0, 50000000));
}

static void test_clock_json(void **state)
{
    (void)state;
    struct stream s;
    make_stream(&s, 1000);
    struct ts_clock clock = audit(&s), back;
    cJSON *json = ts_clock_to_json(&clock);
    assert_string_equal(ts_json_string(json, "source", ""), "event");
    ts_clock_from_json(&back, json);
    assert_true(back.event);
    assert_int_equal(back.tick_ns, clock.tick_ns);
    assert_int_equal(back.floor_ns, clock.floor_ns);
    assert_true(back.host_ratio == clock.host_ratio);
    assert_int_equal(back.warning_count, 1);
    assert_string_equal(back.warnings[0], clock.warnings[0]);
    cJSON_Delete(json);
    ts_clock_free(&back);
    ts_clock_free(&clock);
    struct ts_clock unknown = {.tick_ns = 1};
    json = ts_clock_to_json(&unknown);
    assert_string_equal(ts_json_string(json, "source", ""), "host");
    assert_true(cJSON_IsNull(ts_json_get(json, "host_ratio")));
    cJSON_Delete(json);
    /* A run that was stopped before the audit: its continuation must see that there was none. */
    struct ts_clock unaudited = {0};
    json = ts_clock_to_json(&unaudited);
    assert_true(cJSON_IsNull(ts_json_get(json, "tick_ns")));
    ts_clock_from_json(&back, json);
    assert_int_equal(back.tick_ns, 0);
    assert_int_equal(back.floor_ns, 0);
    cJSON_Delete(json);
}

/* ---- a visit ---- */

/* A made-up device: a launch of n takes n*launch_ns, the very first one slow_ns more. */
struct device {
    int64_t launch_ns, slow_ns;
    int fail_at; /* call that fails; -1 never */
    int calls;
    int64_t batches[4096];
};

static int launch(void *context, int64_t batch, int64_t *total_ns)
{
    struct device *d = context;
    assert_true(d->calls < (int)TS_COUNT(d->batches));
    if (d->calls == d->fail_at)
        return -1;
    d->batches[d->calls] = batch;
    *total_ns = d->launch_ns * batch + (d->calls == 0 ? d->slow_ns : 0);
    d->calls++;
    return 0;
}

static const struct ts_clock fine = {
    .event = true, .tick_ns = 1, .floor_ns = 500}; /* threshold 10 us */

static struct ts_visit_result visit(struct device *d, int samples, int64_t batch, int64_t max_batch)
{
    struct ts_visit_plan plan = {&fine, samples, batch, max_batch};
    struct ts_visit_result result;
    assert_int_equal(ts_measure_visit(&plan, launch, d, &result), 0);
    assert_int_equal(result.count, samples);
    return result;
}

/* A long launch: the warm-up is told apart, no launch is wasted. */
static void test_visit_long_launch(void **state)
{
    (void)state;
    struct device d = {.launch_ns = 50000, .slow_ns = 7000000, .fail_at = -1};
    struct ts_visit_result r = visit(&d, 5, 0, 1 << 20);
    assert_int_equal(r.first_ns, 7050000);
    assert_int_equal(r.batch, 1);
    assert_int_equal(d.calls, 6);
    for (size_t i = 0; i < r.count; i++)
        assert_int_equal(r.sample_ns[i], 50000);
    free(r.sample_ns);
}

/* A short launch is batched until a sample lasts the threshold, however slow the first launch was.
 */
static void test_visit_short_launch(void **state)
{
    (void)state;
    const int64_t lengths[] = {1, 7, 90, 1300, 9999};
    for (size_t i = 0; i < TS_COUNT(lengths); i++) {
        struct device d = {.launch_ns = lengths[i], .slow_ns = 80000000, .fail_at = -1};
        struct ts_visit_result r = visit(&d, 3, 0, 1 << 20);
        assert_true(r.batch > 1 && r.batch * lengths[i] >= 10000);
        assert_true(r.batch * lengths[i] < 30000); /* and not much longer */
        assert_true(d.calls <= 10);
        for (size_t j = 0; j < r.count; j++)
            assert_int_equal(r.sample_ns[j], lengths[i]);
        assert_int_equal(d.batches[0], 1);
        assert_int_equal(d.batches[d.calls - 1], r.batch);
        free(r.sample_ns);
    }
}

static void test_visit_max_batch(void **state)
{
    (void)state;
    struct device d = {.launch_ns = 1, .fail_at = -1};
    struct ts_visit_result r = visit(&d, 2, 0, 100);
    assert_int_equal(r.batch, 100);
    for (int i = 0; i < d.calls; i++)
        assert_true(d.batches[i] <= 100);
    free(r.sample_ns);
    struct device e = {.launch_ns = 1, .fail_at = -1};
    r = visit(&e, 2, 0, 1);
    assert_int_equal(r.batch, 1);
    assert_int_equal(e.calls, 3);
    free(r.sample_ns);
}

/* A batch that was decided earlier is used again: one warm-up, then the samples. Nor does a kernel
 * that became slower shrink it. */
static void test_visit_given_batch(void **state)
{
    (void)state;
    const int64_t lengths[] = {157, 100000};
    for (size_t i = 0; i < TS_COUNT(lengths); i++) {
        struct device d = {.launch_ns = lengths[i], .fail_at = -1};
        struct ts_visit_result r = visit(&d, 4, 64, 1 << 20);
        assert_int_equal(r.batch, 64);
        assert_int_equal(d.calls, 5);
        assert_int_equal(d.batches[0], 1);
        for (int j = 1; j < 5; j++)
            assert_int_equal(d.batches[j], 64);
        free(r.sample_ns);
    }
}

/* Where the given batch no longer reaches the threshold, it grows, and what it gave is dropped. */
static void test_visit_given_batch_grows(void **state)
{
    (void)state;
    struct device d = {.launch_ns = 3, .fail_at = -1};
    struct ts_visit_result r = visit(&d, 4, 64, 1 << 20);
    assert_true(r.batch * 3 >= 10000 && r.batch * 3 < 30000);
    assert_int_equal(d.batches[1], 64);
    for (int i = d.calls - 4; i < d.calls; i++)
        assert_int_equal(d.batches[i], r.batch);
    free(r.sample_ns);
    struct device e = {.launch_ns = 3, .fail_at = -1};
    r = visit(&e, 2, 64, 100); /* as far as it may */
    assert_int_equal(r.batch, 100);
    assert_int_equal(e.calls, 4);
    free(r.sample_ns);
    struct device f = {.launch_ns = 3, .fail_at = -1};
    r = visit(&f, 2, 64, 10); /* given for a device that admitted more */
    assert_int_equal(r.batch, 10);
    assert_int_equal(f.calls, 3);
    free(r.sample_ns);
}

/* 100 ticks decide where they are longer than 20 floors. */
static void test_visit_coarse_clock(void **state)
{
    (void)state;
    struct ts_clock coarse = {.tick_ns = 1000, .floor_ns = 500};
    struct device d = {.launch_ns = 20000, .fail_at = -1};
    struct ts_visit_plan plan = {&coarse, 1, 0, 1 << 20};
    struct ts_visit_result r;
    assert_int_equal(ts_measure_visit(&plan, launch, &d, &r), 0);
    assert_true(r.batch * 20000 >= 100000);
    free(r.sample_ns);
}

static int launch_by_table(void *context, int64_t batch, int64_t *total_ns)
{
    const int64_t **next = context;
    (void)batch;
    *total_ns = *(*next)++;
    return 0;
}

/* A kernel that becomes faster in the middle of a visit: all samples have the last batch. */
static void test_visit_grows_on_the_way(void **state)
{
    (void)state;
    const int64_t totals[] = {900000, 10400, 10300, 5000, 14000, 14010, 14020};
    const int64_t *next = totals;
    struct ts_visit_plan plan = {&fine, 3, 10, 100};
    struct ts_visit_result r;
    assert_int_equal(ts_measure_visit(&plan, launch_by_table, &next, &r), 0);
    assert_true(next == totals + TS_COUNT(totals));
    assert_int_equal(r.batch, 28);
    assert_int_equal(r.count, 3);
    for (size_t i = 0; i < r.count; i++)
        assert_int_equal(r.sample_ns[i], (totals[4 + i] + 14) / 28);
    free(r.sample_ns);
}

/* total/batch is rounded to nearest, and never below 1 ns. */
static void test_visit_rounding(void **state)
{
    (void)state;
    const int64_t totals[] = {10, 14, 15, 16, 1, 0, -5};
    const int64_t *next = totals;
    struct ts_visit_plan plan = {&fine, 6, 10, 10};
    struct ts_visit_result r;
    assert_int_equal(ts_measure_visit(&plan, launch_by_table, &next, &r), 0);
    const int64_t want[] = {1, 2, 2, 1, 1, 1};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(r.sample_ns[i], want[i]);
    free(r.sample_ns);
}

/* A failed launch ends the visit wherever it happens. */
static void test_visit_failure(void **state)
{
    (void)state;
    for (int at = 0; at < 8; at++) {
        struct device d = {.launch_ns = 700, .slow_ns = 5, .fail_at = at};
        struct ts_visit_plan plan = {&fine, 6, 0, 1 << 20};
        struct ts_visit_result r;
        assert_int_equal(ts_measure_visit(&plan, launch, &d, &r), -1);
        assert_null(r.sample_ns);
        assert_int_equal(r.count, 0);
        assert_int_equal(d.calls, at);
        assert_int_equal(r.first_ns, at == 0 ? -1 : 705);
    }
}

/* ---- when a row has visits enough ---- */

static double noise(struct ts_rng *rng)
{
    double sum = -6.0; /* close enough to normal */
    for (int i = 0; i < 12; i++)
        sum += ts_rng_unit(rng);
    return sum;
}

/* How many visits a stream of this noise takes, and what ended it. */
static size_t visits_until_stop(double scale, bool modes, enum ts_stop *why, uint64_t seed)
{
    const struct ts_stop_rule rule = {.precision = 0.01, .least = 5, .most = 40};
    struct ts_rng rng = {seed};
    double x[64];
    size_t count = 0;
    do {
        double mode = modes && ts_rng_unit(&rng) < 0.5 ? 1.2 : 1.0;
        x[count++] = 1e6 * mode * (1.0 + scale * noise(&rng));
        *why = ts_measure_stop(&rule, x, count);
    } while (*why == TS_STOP_NONE && count < 60);
    return count;
}

static void test_stop_rule(void **state)
{
    (void)state;
    enum ts_stop why;
    for (uint64_t seed = 0; seed < 50; seed++) {
        /* Still: at once. A little noise: soon, by precision. Two modes: never narrow, and ended.
         */
        assert_int_equal(visits_until_stop(0.001, false, &why, seed), 5);
        assert_int_equal(why, TS_STOP_PRECISION);
        assert_true(visits_until_stop(0.01, false, &why, seed) <= 40);
        assert_true(why != TS_STOP_NONE);
        assert_true(visits_until_stop(0.001, true, &why, seed) <= 40);
        assert_true(why != TS_STOP_NONE);
    }
    /* Fewer than asked for never end it; the most always do. */
    const struct ts_stop_rule rule = {.precision = 0.01, .least = 3, .most = 4};
    const double x[] = {100, 150, 200, 250};
    assert_int_equal(ts_measure_stop(&rule, x, 2), TS_STOP_NONE);
    assert_int_equal(ts_measure_stop(&rule, x, 3), TS_STOP_NONE);
    assert_int_equal(ts_measure_stop(&rule, x, 4), TS_STOP_VISITS);
    const double still[] = {100, 100, 100};
    assert_int_equal(ts_measure_stop(&rule, still, 2), TS_STOP_NONE);
    assert_int_equal(ts_measure_stop(&rule, still, 3), TS_STOP_PRECISION);
}

/* Nine visits that are no nearer to each other than five were: more do not help. */
static void test_plateau(void **state)
{
    (void)state;
    const struct ts_stop_rule rule = {.precision = 0.01, .least = 5, .most = 40};
    double x[9];
    for (int i = 0; i < 9; i++)
        x[i] = i < 5 ? 1000 : i % 2 ? 1000 : 1200; /* the noise came late */
    assert_int_equal(ts_measure_stop(&rule, x, 9), TS_STOP_PLATEAU);
    for (int i = 0; i < 9; i++)
        x[i] = 1000 + 30 * i;
    assert_int_equal(ts_measure_stop(&rule, x, 8), TS_STOP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_may_lie_later),
        cmocka_unit_test(test_good_clocks),
        cmocka_unit_test(test_coarse_clock_is_told),
        cmocka_unit_test(test_tick_ignores_an_outlier),
        cmocka_unit_test(test_constant_1_ns),
        cmocka_unit_test(test_constant_empty_only),
        cmocka_unit_test(test_all_zero),
        cmocka_unit_test(test_end_before_start),
        cmocka_unit_test(test_disorder),
        cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_off_against_the_host),
        cmocka_unit_test(test_longer_than_the_host),
        cmocka_unit_test(test_coarse_events_look_long),
        cmocka_unit_test(test_busy_host),
        cmocka_unit_test(test_bimodal),
        cmocka_unit_test(test_nothing_sampled),
        cmocka_unit_test(test_clock_json),
        cmocka_unit_test(test_visit_long_launch),
        cmocka_unit_test(test_visit_short_launch),
        cmocka_unit_test(test_visit_max_batch),
        cmocka_unit_test(test_visit_given_batch),
        cmocka_unit_test(test_visit_given_batch_grows),
        cmocka_unit_test(test_visit_grows_on_the_way),
        cmocka_unit_test(test_visit_coarse_clock),
        cmocka_unit_test(test_visit_rounding),
        cmocka_unit_test(test_visit_failure),
        cmocka_unit_test(test_stop_rule),
        cmocka_unit_test(test_plateau),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
