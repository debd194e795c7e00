/* measure.c: is the event clock fit for use, and how a visit is taken. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

#include "stats.h"

/* ---- clock audit ---- */

/* A step counts as the clock's tick when this share of what was seen are multiples of it, so that
 * one stray value cannot make a 32 ns clock look like a 1 ns clock. */
#define TICK_SHARE 0.8
/* Steps from here on are worth a warning. */
#define COARSE_TICK_NS 1000
/* A busy machine lets a launch look long to the host, so in the best of them the event may be this
 * part of the host's time, not less. */
#define SHORTEST_EVENT 0.5
/* An event cannot outlast the host's time around it; this much is granted to two clocks that were
 * never set by each other. */
#define LONGEST_EVENT 1.1
/* QUEUED and SUBMIT are not used for timing: one launch in ten may have them out of order. */
#define DISORDER_SHARE 0.1

/* END - START, kept below 2^62 so that it fits and can be added; 0 when reversed. */
static int64_t stamp_duration(const struct ts_stamp *s)
{
    if (s->end <= s->start)
        return 0;
    uint64_t ns = s->end - s->start, most = (uint64_t)1 << 62;
    return (int64_t)(ns < most ? ns : most);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A growing list of positive numbers. */
struct steps {
    int64_t *ns;
    size_t count, capacity;
};

static void steps_add(struct steps *s, int64_t ns)
{
    if (ns <= 0)
        return;
    TS_GROW(s->ns, s->count, s->capacity);
    s->ns[s->count++] = ns;
}

/* Adds durations and the distances between neighbouring START stamps. */
static void steps_add_stamps(struct steps *s, const struct ts_stamp *stamps, size_t count)
{
    if (count == 0)
        return;
    int64_t *start = ts_alloc(count, sizeof(*start));
    for (size_t i = 0; i < count; i++) {
        steps_add(s, stamp_duration(&stamps[i]));
        /* relative to the first, so that it fits whatever epoch the device counts from */
        start[i] = (int64_t)((stamps[i].start - stamps[0].start) & (UINT64_MAX >> 1));
    }
    qsort(start, count, sizeof(*start), by_value);
    for (size_t i = 1; i < count; i++)
        steps_add(s, start[i] - start[i - 1]);
    free(start);
}

/* The largest number that (nearly) all are multiples of, at least 1. Candidates are the greatest
 * common divisors of neighbours in the list: two good neighbours are enough to bring the true one
 * in. */
static int64_t steps_tick(const struct steps *s)
{
    int64_t best = 1;
    for (size_t i = 0; i < s->count; i++) {
        int64_t tick = greatest_divisor(s->ns[i], s->ns[(i + 1) % s->count]);
        if (tick <= best)
            continue;
        size_t multiples = 0;
        for (size_t j = 0; j < s->count; j++)
            multiples += s->ns[j] % tick == 0;
        if ((double)multiples >= TICK_SHARE * (double)s->count)
            best = tick;
    }
    return best;
}

static double median_ns(const int64_t *ns, size_t count)
{
    double *x = ts_alloc(count, sizeof(*x));
    for (size_t i = 0; i < count; i++)
        x[i] = (double)ns[i];
    double median = ts_median(x, count);
    free(x);
    return median;
}

void ts_clock_warn(struct ts_clock *clock, char *sentence)
{
    if (clock->warning_count < TS_COUNT(clock->warnings))
        clock->warnings[clock->warning_count++] = sentence;
    else
        free(sentence);
}

/* What the stamps of both kernels amount to. */
struct stamp_counts {
    size_t all, missing, zero, reversed, disorder, constant;
    int64_t constant_ns; /* the first duration; `constant` launches have it */
};

/* a after b by more than one tick. */
static bool is_late(uint64_t a, uint64_t b, int64_t tick_ns)
{
    return a > b && a - b > (uint64_t)tick_ns;
}

static void count_stamps(struct stamp_counts *c, const struct ts_stamp *stamps, size_t count,
                         int64_t tick_ns)
{
    for (size_t i = 0; i < count; i++) {
        const struct ts_stamp *s = &stamps[i];
        c->all++;
        if (!s->have) {
            c->missing++;
            continue;
        }
        c->zero += s->start == 0 && s->end == 0;
        c->reversed += s->end < s->start;
        c->disorder +=
            is_late(s->queued, s->submit, tick_ns) || is_late(s->submit, s->start, tick_ns);
        if (c->constant == 0)
            c->constant_ns = stamp_duration(s);
        c->constant += stamp_duration(s) == c->constant_ns;
    }
}

/* Event time over host time of the busy kernel. */
struct busy_ratios {
    double best;   /* of the launch where the two agree best; 0 unknown */
    double median; /* of all launches, one tick taken off each event; 0 unknown */
};

/* A clock that counts in other units is off in every launch, while a busy machine only lets some
 * launches look long to the host: so a short event is judged by the best launch. Nothing lets a
 * launch look short to the host: so a long event is judged by most. */
static struct busy_ratios find_busy_ratios(const struct ts_clock_samples *samples, int64_t tick_ns)
{
    struct busy_ratios found = {0};
    double *less_a_tick = ts_alloc(samples->busy_count, sizeof(*less_a_tick));
    size_t count = 0;
    for (size_t i = 0; i < samples->busy_count; i++) {
        double host = (double)samples->busy_host_ns[i];
        double event = (double)stamp_duration(&samples->busy[i]);
        if (!samples->busy[i].have || host <= 0.0 || event <= 0.0)
            continue;
        double ratio = event / host;
        if (found.best == 0.0 || fabs(log(ratio)) < fabs(log(found.best)))
            found.best = ratio;
        less_a_tick[count++] = (event - (double)tick_ns) / host;
    }
    if (count > 0)
        found.median = ts_median(less_a_tick, count);
    free(less_a_tick);
    return found;
}

/* Why event times cannot be used, as a new string without the end of the sentence; NULL: they can.
 */
static char *refuse_events(const struct stamp_counts *c, const struct ts_clock_samples *samples,
                           const struct busy_ratios *ratio)
{
    if (c->all == 0)
        return ts_printf("event times were not sampled");
    if (c->missing > 0)
        return ts_printf("event times are missing for %zu of %zu launches", c->missing, c->all);
    if (c->zero > 0)
        return ts_printf("event times are zero for %zu of %zu launches", c->zero, c->all);
    if (c->reversed > 0)
        return ts_printf("events end before they start for %zu of %zu launches", c->reversed,
                         c->all);
    /* A coarse clock may well give every empty kernel the same time; a long kernel must differ. */
    bool both = samples->empty_count > 0 && samples->busy_count > 0;
    if (c->constant == c->all && (both || c->constant_ns <= 1))
        return ts_printf("event times are always %lld ns", (long long)c->constant_ns);
    if ((double)c->disorder > DISORDER_SHARE * (double)c->all)
        return ts_printf("event stamps are out of order (QUEUED <= SUBMIT <= START) for %zu of %zu "
                         "launches",
                         c->disorder, c->all);
    if (ratio->best > 0.0 && ratio->best < SHORTEST_EVENT)
        return ts_printf("event times are %.3g times the host's for the same kernel", ratio->best);
    if (ratio->median > LONGEST_EVENT)
        return ts_printf("event times are %.3g times the host's for the same kernel, longer than "
                         "the launches themselves",
                         ratio->median);
    return NULL;
}

#define LONGEST_BY_HOST 2.0 /* wider than the audit: one sample decides on a whole row */
#define SHORTEST_BY_FLOOR 0.02
#define TICKS_TO_SHOW 100

bool ts_clock_believes(const struct ts_clock *clock, int64_t launches, int64_t total_ns,
                       int64_t host_ns)
{
    const double total = (double)total_ns, tick = (double)clock->tick_ns;
    const double empty = (double)clock->floor_ns * (double)launches;

    if (total > LONGEST_BY_HOST * (double)host_ns + tick)
        return false;
    return empty < TICKS_TO_SHOW * tick || total >= SHORTEST_BY_FLOOR * empty;
}

/* Tick of event times (host == false) or of the host's clock. */
static int64_t find_tick(const struct ts_clock_samples *samples, bool host)
{
    struct steps steps = {0};
    if (host) {
        for (size_t i = 0; i < samples->empty_count; i++)
            steps_add(&steps, samples->empty_host_ns[i]);
        for (size_t i = 0; i < samples->busy_count; i++)
            steps_add(&steps, samples->busy_host_ns[i]);
    } else {
        steps_add_stamps(&steps, samples->empty, samples->empty_count);
        steps_add_stamps(&steps, samples->busy, samples->busy_count);
    }
    int64_t tick = steps_tick(&steps);
    free(steps.ns);
    return tick;
}

static int64_t find_floor(const struct ts_clock_samples *samples, bool host)
{
    size_t count = samples->empty_count;
    if (count == 0)
        return 0;
    int64_t *ns = ts_alloc(count, sizeof(*ns));
    for (size_t i = 0; i < count; i++)
        ns[i] = host ? samples->empty_host_ns[i] : stamp_duration(&samples->empty[i]);
    int64_t floor_ns = (int64_t)(median_ns(ns, count) + 0.5);
    free(ns);
    return floor_ns;
}

void ts_clock_audit(struct ts_clock *clock, const struct ts_clock_samples *samples)
{
    *clock = (struct ts_clock){.tick_ns = find_tick(samples, false)};
    const struct busy_ratios ratios = find_busy_ratios(samples, clock->tick_ns);
    clock->host_ratio = ratios.best;
    struct stamp_counts counts = {0};
    count_stamps(&counts, samples->empty, samples->empty_count, clock->tick_ns);
    count_stamps(&counts, samples->busy, samples->busy_count, clock->tick_ns);
    char *why = refuse_events(&counts, samples, &ratios);
    clock->event = why == NULL;
    if (why) {
        ts_clock_warn(clock, ts_printf("%s; the host clock is used instead", why));
        free(why);
        clock->tick_ns = find_tick(samples, true);
    } else if (counts.disorder > 0) {
        ts_clock_warn(
            clock,
            ts_printf("event stamps are out of order (QUEUED <= SUBMIT <= START) for %zu of %zu "
                      "launches; START and END are used",
                      counts.disorder, counts.all));
    }
    if (clock->tick_ns >= COARSE_TICK_NS)
        ts_clock_warn(
            clock,
            ts_printf("%s times come in steps of %lld ns; short launches are timed in batches",
                      clock->event ? "event" : "host", (long long)clock->tick_ns));
    clock->floor_ns = find_floor(samples, !clock->event);
}

void ts_clock_free(struct ts_clock *clock)
{
    if (!clock)
        return;
    for (size_t i = 0; i < clock->warning_count; i++)
        free(clock->warnings[i]);
    *clock = (struct ts_clock){0};
}

cJSON *ts_clock_to_json(const struct ts_clock *clock)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "source", clock->event ? "event" : "host");
    /* Without a tick there was no audit yet. */
    ts_json_add_int_or_null(object, "tick_ns", clock->tick_ns > 0 ? clock->tick_ns : -1);
    ts_json_add_int_or_null(object, "floor_ns", clock->tick_ns > 0 ? clock->floor_ns : -1);
    if (clock->host_ratio > 0.0)
        ts_json_add_real(object, "host_ratio", clock->host_ratio);
    else
        ts_json_add_null(object, "host_ratio");
    cJSON *warnings = ts_json_add_array(object, "warnings");
    for (size_t i = 0; i < clock->warning_count; i++)
        ts_json_add_string(warnings, NULL, clock->warnings[i]);
    return object;
}

void ts_clock_from_json(struct ts_clock *clock, const cJSON *object)
{
    const char *source = ts_json_string(object, "source", "host");
    *clock = (struct ts_clock){
        .event = source[0] == 'e',
        .tick_ns = ts_json_int(object, "tick_ns", 0),
        .floor_ns = ts_json_int(object, "floor_ns", 0),
        .host_ratio = ts_json_number(object, "host_ratio", 0.0),
    };
    if (clock->tick_ns < 1 || clock->floor_ns < 0) /* no audit yet, or none that can be */
        clock->tick_ns = clock->floor_ns = 0;
    const cJSON *warning;
    cJSON_ArrayForEach(warning, ts_json_get(object, "warnings"))
    {
        if (cJSON_IsString(warning))
            ts_clock_warn(clock, ts_strdup(warning->valuestring));
    }
}

/* ---- a visit ---- */

/* Growth of a batch that is too short, as google-benchmark predicts its iterations: aim a little
 * above what is needed; where the last total says too little, ten times as many. */
#define GROWTH_MARGIN 1.4
#define GROWTH_BLIND 10

/* What one sample must last: where shorter, the clock's step and the launch's own cost show. */
static int64_t sample_threshold_ns(const struct ts_clock *clock)
{
    int64_t ticks = 100 * clock->tick_ns, floors = 20 * clock->floor_ns;
    return ticks > floors ? ticks : floors;
}

static int64_t next_batch(int64_t batch, int64_t total_ns, int64_t threshold_ns, int64_t max_batch)
{
    double wanted = (double)batch * GROWTH_BLIND;
    if (total_ns > threshold_ns / GROWTH_BLIND)
        wanted = (double)batch * GROWTH_MARGIN * (double)threshold_ns / (double)total_ns;
    if (wanted >= (double)max_batch)
        return max_batch;
    int64_t next = (int64_t)wanted;
    return next > batch ? next : batch + 1;
}

/* One launch of a batch; its time is at least 1 ns. */
static int launch_batch(ts_launch_fn launch, void *context, int64_t batch, int64_t *total_ns)
{
    *total_ns = 0;
    if (launch(context, batch, total_ns) != 0)
        return -1;
    if (*total_ns < 1)
        *total_ns = 1;
    return 0;
}

static void keep_sample(struct ts_visit_result *result, int64_t total_ns)
{
    int64_t ns = (total_ns + result->batch / 2) / result->batch;
    result->sample_ns[result->count++] = ns > 1 ? ns : 1;
}

/* Fills result->sample_ns. The warm-up cannot tell the batch: a first launch may be 1,000 times
 * slower; nor can an earlier visit, after which the device may have become faster. So every sample
 * is asked, and one that is too short ends its batch: with a larger one the visit's samples are
 * taken anew, so that all of a visit are alike. */
static int take_samples(const struct ts_visit_plan *plan, ts_launch_fn launch, void *context,
                        size_t wanted, struct ts_visit_result *result)
{
    int64_t threshold_ns = sample_threshold_ns(plan->clock), total_ns;
    while (result->count < wanted) {
        if (launch_batch(launch, context, result->batch, &total_ns) != 0)
            return -1;
        if (total_ns >= threshold_ns || result->batch >= plan->max_batch) {
            keep_sample(result, total_ns);
            continue;
        }
        result->batch = next_batch(result->batch, total_ns, threshold_ns, plan->max_batch);
        result->count = 0;
    }
    return 0;
}

int ts_measure_visit(const struct ts_visit_plan *plan, ts_launch_fn launch, void *context,
                     struct ts_visit_result *result)
{
    size_t wanted = plan->samples > 0 ? (size_t)plan->samples : 1;
    int64_t batch = plan->batch < plan->max_batch ? plan->batch : plan->max_batch, total_ns;
    *result = (struct ts_visit_result){.first_ns = -1, .batch = batch > 0 ? batch : 1};
    result->sample_ns = ts_alloc(wanted, sizeof(*result->sample_ns));
    if (launch_batch(launch, context, 1, &total_ns) == 0) {
        result->first_ns = total_ns;
        if (take_samples(plan, launch, context, wanted, result) == 0)
            return 0;
    }
    free(result->sample_ns);
    result->sample_ns = NULL;
    result->count = 0;
    return -1;
}

/* ---- when a row has visits enough ---- */

#define PLATEAU_BACK 4
#define PLATEAU_LEFT 0.95
#define PLATEAU_VISITS 9

static double half_width(const double *visit_medians, size_t count)
{
    struct ts_interval interval = ts_interval_of_visits(visit_medians, count);
    return interval.known ? 0.5 * (interval.high - interval.low) / interval.mid : INFINITY;
}

enum ts_stop ts_measure_stop(const struct ts_stop_rule *rule, const double *visit_medians,
                             size_t count)
{
    if (count < rule->least || count < 2)
        return TS_STOP_NONE;
    double now = half_width(visit_medians, count);
    if (now <= rule->precision)
        return TS_STOP_PRECISION;
    if (count >= rule->most)
        return TS_STOP_VISITS;
    if (count >= PLATEAU_VISITS &&
        now > PLATEAU_LEFT * half_width(visit_medians, count - PLATEAU_BACK))
        return TS_STOP_PLATEAU;
    return TS_STOP_NONE;
}
