/* measure.h: the arithmetic of measurement with launch and clock as callbacks. Floor 1; knows no
 * device and is tested on made-up streams (law 5). */
#ifndef TS_MEASURE_H
#define TS_MEASURE_H

#include "row.h"

/* ---- clock audit ---- */

/* Event times of one command in ns as the device gave them; have == false: the query failed or left
 * its output untouched. */
struct ts_stamp {
    bool have;
    uint64_t queued, submit, start, end;
};

/* The raw material, taken by the worker: `empty` from launches of an empty kernel, `busy` from
 * launches of a kernel of at least a millisecond, each of those with the host's monotonic time
 * around it. */
struct ts_clock_samples {
    const struct ts_stamp *empty;
    const int64_t *empty_host_ns;
    size_t empty_count;
    const struct ts_stamp *busy;
    const int64_t *busy_host_ns;
    size_t busy_count;
};

struct ts_clock {
    bool event;        /* false: event times lie, the host clock is used */
    int64_t tick_ns;   /* smallest step between observed durations and stamps; 0: no audit yet */
    int64_t floor_ns;  /* median time of an empty kernel by the chosen clock */
    double host_ratio; /* event / host time of the busy kernel where they agree best; 0 unknown */
    char *warnings[8]; /* sentences; free by ts_clock_free */
    size_t warning_count;
};

/* Decides. Events are refused when stamps are missing, zero, constant over kernels of different
 * length (rusticl: always 1 ns), reversed (QUEUED <= SUBMIT <= START <= END within one tick), or
 * off the host's for the busy kernel: shorter than half in every launch, or longer by a tenth (and
 * a tick) in most. One warning says why. */
void ts_clock_audit(struct ts_clock *clock, const struct ts_clock_samples *samples);
/* Can the event times of so many launches, which the host waited host_ns for, be true? Asked of
 * every sample, for a clock may begin to lie after its audit. Not when they are twice as long as
 * the host waited, and not when they are shorter than a fiftieth of as many empty kernels (where
 * the clock's tick could show these). */
bool ts_clock_believes(const struct ts_clock *clock, int64_t launches, int64_t total_ns,
                       int64_t host_ns);
/* One more warning, as far as there is room; takes the sentence. */
void ts_clock_warn(struct ts_clock *clock, char *sentence);
void ts_clock_free(struct ts_clock *clock);
cJSON *ts_clock_to_json(const struct ts_clock *clock);
void ts_clock_from_json(struct ts_clock *clock, const cJSON *object);

/* ---- a visit ---- */

/* launch `batch` times and tell the time of all together in ns (> 0) by the clock in use.
 * Returns 0; -1 stops the visit (the device failed; the callback keeps the reason). */
typedef int (*ts_launch_fn)(void *context, int64_t batch, int64_t *total_ns);

struct ts_visit_plan {
    const struct ts_clock *clock;
    int samples;       /* wanted, >= 1 */
    int64_t batch;     /* launches a sample to begin with; 0: one */
    int64_t max_batch; /* >= 1 */
};

struct ts_visit_result {
    int64_t first_ns;   /* the visit's first launch (warm-up) */
    int64_t batch;      /* used for all samples */
    int64_t *sample_ns; /* per launch: total/batch, rounded to nearest, >= 1; caller frees */
    size_t count;
};

/* One warm-up launch, then batches. A sample must last max(100 ticks, 20 floors): one that is
 * shorter is dropped, with those before it, and the batch grows (to at most max_batch). The plan's
 * batch is where that starts, so that a later visit need not search again; it grows where launches
 * became faster and never shrinks. Returns -1 when a launch failed. */
int ts_measure_visit(const struct ts_visit_plan *plan, ts_launch_fn launch, void *context,
                     struct ts_visit_result *result);

/* ---- when a row has visits enough ---- */

struct ts_stop_rule {
    double precision; /* half-width of the 95 % interval over the median, e.g. 0.01 */
    size_t least;     /* visits, at least */
    size_t most;      /* visits, at most */
};
/* What ends the row's visits now; TS_STOP_NONE: go on. The plateau: PLATEAU_BACK visits more made
 * the interval less than a twentieth narrower, although a quarter is what independent noise would
 * give at ten visits: the rest is not noise that visits average out. Time is the caller's. */
enum ts_stop ts_measure_stop(const struct ts_stop_rule *rule, const double *visit_medians,
                             size_t count);

#endif
