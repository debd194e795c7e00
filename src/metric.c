/* metric.c: ceilings, the table of metrics, flags. */
#include "metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

/* ---- ceilings ---- */

static const struct {
    const char *name;
    size_t offset;
} peak_table[] = {
    {"copy_bytes_per_s", offsetof(struct ts_peaks, copy_bytes_per_s)},
    {"fma_flops_per_s", offsetof(struct ts_peaks, fma_flops_per_s)},
    {"local_bytes_per_s", offsetof(struct ts_peaks, local_bytes_per_s)},
};

cJSON *ts_peaks_to_json(const struct ts_peaks *peaks)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < TS_COUNT(peak_table); i++) {
        double value;
        memcpy(&value, (const char *)peaks + peak_table[i].offset, sizeof(value));
        if (value > 0.0)
            ts_json_add_real(object, peak_table[i].name, value);
        else
            ts_json_add_null(object, peak_table[i].name);
    }
    return object;
}

void ts_peaks_from_json(struct ts_peaks *peaks, const cJSON *object)
{
    *peaks = (struct ts_peaks){0};
    for (size_t i = 0; i < TS_COUNT(peak_table); i++) {
        double value = ts_json_number(object, peak_table[i].name, 0.0);
        if (value > 0.0 && isfinite(value))
            memcpy((char *)peaks + peak_table[i].offset, &value, sizeof(value));
    }
}

/* ---- metrics ---- */

struct ts_interval ts_metric_time_ns(const struct ts_row *row)
{
    struct ts_interval interval = {NAN, NAN, NAN, false};
    if (row->status != TS_OK || row->time.visit_count == 0)
        return interval;
    size_t count;
    double *medians = ts_row_visit_medians(row, 0, &count);
    if (count > 0)
        interval = ts_interval_of_visits(medians, count);
    free(medians);
    return interval;
}

static double median_ns(const struct ts_row *row, const struct ts_peaks *peaks)
{
    (void)peaks;
    return ts_metric_time_ns(row).mid;
}

/* amount per second; NaN when the amount is not stated. */
static double per_second(const struct ts_row *row, int64_t amount)
{
    return amount < 0 ? NAN : (double)amount * 1e9 / ts_metric_time_ns(row).mid;
}

static double elements_per_s(const struct ts_row *row, const struct ts_peaks *peaks)
{
    (void)peaks;
    return per_second(row, row->work.elements);
}

static double flops_per_s(const struct ts_row *row, const struct ts_peaks *peaks)
{
    (void)peaks;
    return per_second(row, row->work.flops);
}

static double bytes_per_s(const struct ts_row *row, const struct ts_peaks *peaks)
{
    (void)peaks;
    return per_second(row, row->work.bytes);
}

/* The shortest times in which the device could move the bytes and do the flops, in seconds; -1
 * where the work is not stated or the ceiling not measured. */
struct floors {
    double memory_s, compute_s;
};

static struct floors floors_of(const struct ts_row *row, const struct ts_peaks *peaks)
{
    struct floors f = {-1.0, -1.0};
    if (peaks && peaks->copy_bytes_per_s > 0.0 && row->work.bytes >= 0)
        f.memory_s = (double)row->work.bytes / peaks->copy_bytes_per_s;
    if (peaks && peaks->fma_flops_per_s > 0.0 && row->work.flops >= 0)
        f.compute_s = (double)row->work.flops / peaks->fma_flops_per_s;
    return f;
}

static double of_peak(const struct ts_row *row, const struct ts_peaks *peaks)
{
    struct floors f = floors_of(row, peaks);
    double floor_s = fmax(f.memory_s, f.compute_s);
    return floor_s < 0.0 ? NAN : floor_s * 1e9 / ts_metric_time_ns(row).mid;
}

/* How often each byte that must move is asked for: what staging, or a cache, can save at most. NaN
 * when either is not stated, or nothing must move. */
static double requested_over_compulsory(const struct ts_row *row, const struct ts_peaks *peaks)
{
    (void)peaks;
    const struct ts_work *work = &row->work;
    if (work->requested_bytes < 0 || work->bytes <= 0)
        return NAN;
    return (double)work->requested_bytes / (double)work->bytes;
}

const struct ts_metric ts_metric_table[] = {
    {"median_ns", "median time of a launch over the visits", TS_METRIC_TIME, median_ns},
    {"elements_per_s", "elements of work per second", TS_METRIC_RATE, elements_per_s},
    {"flops_per_s", "floating-point operations per second", TS_METRIC_RATE, flops_per_s},
    {"bytes_per_s", "bytes that must move per second", TS_METRIC_RATE, bytes_per_s},
    {"of_peak", "share of the binding measured ceiling", TS_METRIC_RATE, of_peak},
    {"requested_over_compulsory", "bytes that the kernel asks for over those that must move",
     TS_METRIC_RATIO, requested_over_compulsory},
};
const size_t ts_metric_count = TS_COUNT(ts_metric_table);

double ts_metric_value(const char *name, const struct ts_row *row, const struct ts_peaks *peaks)
{
    for (size_t i = 0; i < ts_metric_count; i++)
        if (strcmp(ts_metric_table[i].name, name) == 0)
            return ts_metric_table[i].value(row, peaks);
    return NAN;
}

static bool is_memory_bound(struct floors f)
{
    return f.memory_s >= f.compute_s;
}

const char *ts_metric_bound(const struct ts_row *row, const struct ts_peaks *peaks)
{
    struct floors f = floors_of(row, peaks);
    if (fmax(f.memory_s, f.compute_s) < 0.0)
        return NULL;
    return is_memory_bound(f) ? "memory" : "compute";
}

cJSON *ts_rate_to_json(const struct ts_row *row, const struct ts_peaks *peaks)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < ts_metric_count; i++)
        if (ts_metric_table[i].kind == TS_METRIC_RATE)
            ts_json_add_real(object, ts_metric_table[i].name, ts_metric_table[i].value(row, peaks));
    bool timed = isfinite(ts_metric_time_ns(row).mid);
    ts_json_add_string(object, "bound", timed ? ts_metric_bound(row, peaks) : NULL);
    return object;
}

/* ---- flags ---- */

#define FEW_VISITS 3
#define FEW_SAMPLES 2
#define COARSE_TICKS 100
#define UNSTABLE 0.05 /* half-width of the interval */

static bool has_few_samples(const struct ts_time *time)
{
    if (time->visit_count < FEW_VISITS)
        return true;
    for (size_t i = 0; i < time->visit_count; i++)
        if (time->visits[i].count < FEW_SAMPLES)
            return true;
    return false;
}

static bool is_unstable(const struct ts_row *row)
{
    struct ts_interval interval = ts_metric_time_ns(row);
    return interval.known && interval.high - interval.low > 2.0 * UNSTABLE * interval.mid;
}

static bool is_bimodal(const struct ts_row *row)
{
    size_t count;
    double *samples = ts_row_samples(row, &count);
    bool is = ts_is_bimodal(samples, count);
    free(samples);
    return is;
}

void ts_row_derive_flags(struct ts_row *row, const struct ts_peaks *peaks,
                         const struct ts_clock *clock)
{
    struct ts_time *time = &row->time;
    time->flags = 0;
    double ns = ts_metric_time_ns(row).mid;
    if (!isfinite(ns))
        return;
    if (time->host_clock)
        time->flags |= TS_FLAG_HOST_CLOCK;
    if (clock && ns * (double)time->batch < COARSE_TICKS * (double)clock->tick_ns)
        time->flags |= TS_FLAG_COARSE_CLOCK;
    if (time->batch > 1)
        time->flags |= TS_FLAG_BATCHED;
    if (has_few_samples(time))
        time->flags |= TS_FLAG_FEW_SAMPLES;
    if (of_peak(row, peaks) > 1.0) /* no cache explains a multiply-add rate */
        time->flags |=
            is_memory_bound(floors_of(row, peaks)) ? TS_FLAG_IN_CACHE : TS_FLAG_ABOVE_CEILING;
    if (is_unstable(row))
        time->flags |= TS_FLAG_UNSTABLE;
    if (is_bimodal(row))
        time->flags |= TS_FLAG_BIMODAL;
    if (time->disturbed > 0)
        time->flags |= TS_FLAG_DRIFT;
    if (time->cache == TS_CACHE_PART)
        time->flags |= TS_FLAG_PART_COLD;
}
