/* metric.h: from rows (facts) to numbers people read, in one table. Floor 1. A new metric is one
 * row of the table in metric.c and then shows on old results too. */
#ifndef TS_METRIC_H
#define TS_METRIC_H

#include "row.h"

/* Ceilings of the run's device, measured by the run; 0: not measured. */
struct ts_peaks {
    double copy_bytes_per_s;  /* bytes read + bytes written */
    double fma_flops_per_s;   /* single precision, a multiply-add counts 2 */
    double local_bytes_per_s; /* bytes read from local memory */
};
cJSON *ts_peaks_to_json(const struct ts_peaks *peaks);
void ts_peaks_from_json(struct ts_peaks *peaks, const cJSON *object);

/* Where results store a metric. */
enum ts_metric_kind {
    TS_METRIC_TIME, /* in a row's `time` */
    TS_METRIC_RATE, /* in a row's `rate` */
    TS_METRIC_RATIO /* nowhere: of the work alone, computed whenever results are read */
};

struct ts_metric {
    const char *name; /* JSON key, unit included: "bytes_per_s" */
    const char *doc;
    enum ts_metric_kind kind;
    /* NaN when it cannot be computed. peaks may be NULL. */
    double (*value)(const struct ts_row *row, const struct ts_peaks *peaks);
};
extern const struct ts_metric ts_metric_table[];
extern const size_t ts_metric_count;
/* NaN when unknown name or value. */
double ts_metric_value(const char *name, const struct ts_row *row, const struct ts_peaks *peaks);

/* "memory", "compute" or NULL: which measured ceiling binds: the larger of bytes/copy peak and
 * flops/fma peak (roofline; Williams, Waterman, Patterson 2009). */
const char *ts_metric_bound(const struct ts_row *row, const struct ts_peaks *peaks);

/* The row's interval over all its visits, in ns; known == false and mid == NaN without visits or
 * when the row is not ok. */
struct ts_interval ts_metric_time_ns(const struct ts_row *row);

/* {"elements_per_s": ..., "of_peak": ..., "bound": ...}: the metrics that are rates, then what
 * binds */
cJSON *ts_rate_to_json(const struct ts_row *row, const struct ts_peaks *peaks);

/* Computes row->time.flags from the facts of an ok row: host-clock, coarse-clock (a sample, batch
 * included, lasts less than 100 ticks), batched, few-samples (fewer than 3 visits, or a visit of
 * fewer than 2 samples), in-cache, above-ceiling (of_peak above 1, where memory or multiply-adds
 * bind). No flags for other rows. clock and peaks may be NULL: what needs them is not flagged. Call
 * when a row's last visit is in; calling again is harmless. */
struct ts_clock;
void ts_row_derive_flags(struct ts_row *row, const struct ts_peaks *peaks,
                         const struct ts_clock *clock);

#endif
