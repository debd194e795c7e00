/* row.h: a row of the results: one configuration of one case on one device, what became of it, and
 * its times. Floor 1. Facts only (law 2): metrics are computed by metric.h, answers by verdict.h.
 *
 * A row owns all it points to; ts_row_free releases it (not the struct itself). */
#ifndef TS_ROW_H
#define TS_ROW_H

#include "stats.h"
#include "values.h"

/* contract.md section 4; names in ts_status_name. */
enum ts_status {
    TS_OK,
    TS_SKIPPED,
    TS_BUILD_FAILED,
    TS_LAUNCH_FAILED,
    TS_WRONG,
    TS_TIMEOUT,
    TS_CRASHED,
    TS_STATUS_COUNT,
    TS_PENDING = -1 /* not decided yet: never written to a results file */
};

const char *ts_status_name(enum ts_status status); /* "ok", "build-failed", ... */
bool ts_status_by_name(const char *name, enum ts_status *out);
/* A finding (exit status 1): everything but ok and skipped. */
bool ts_status_is_finding(enum ts_status status);

/* The versions that `ab` sets side by side in one run. */
enum ts_ab { TS_AB_NONE, TS_AB_A, TS_AB_B };
const char *ts_ab_name(enum ts_ab side); /* "a", "b"; NULL for none */
bool ts_ab_by_name(const char *name, enum ts_ab *out);

struct ts_reason {
    char *code; /* NULL when status is ok */
    char *text;
};

/* Facts of launching; -1: not known. Chains of launches: of the first launch; local_bytes is the
 * largest of any launch. */
struct ts_geometry {
    int dims;                     /* 1..3; 0 when not known */
    int64_t global[3], local[3];  /* work-items */
    int64_t local_bytes;          /* declared by the spec, else what the device reported */
    int64_t local_bytes_reported; /* CL_KERNEL_LOCAL_MEM_SIZE */
    int64_t work_group_limit;     /* CL_KERNEL_WORK_GROUP_SIZE */
    int64_t preferred_multiple;   /* CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE */
    int64_t private_bytes;        /* CL_KERNEL_PRIVATE_MEM_SIZE */
    char *limit_rule;             /* "kernel" or "device": which work-group limit decided; NULL */
};

struct ts_build {
    int64_t build_ns; /* -1: not built */
    char *options;
    char *log;    /* "" when the compiler said nothing; cut at 64 KiB */
    char *binary; /* digest of the device binary, NULL when not taken */
};

/* The proof. at: index of the worst element in the shape's order, at_size: where it was seen. */
struct ts_check {
    int64_t sizes, elements; /* sizes proven on, elements compared; 0: never proven */
    double worst;            /* largest |got - want| / (eps * scale); -1: nothing compared */
    int at_count;
    int64_t at[4];
    struct ts_values at_size;
};

enum ts_time_flag {
    TS_FLAG_HOST_CLOCK = 1 << 0,
    TS_FLAG_COARSE_CLOCK = 1 << 1,
    TS_FLAG_BATCHED = 1 << 2,
    TS_FLAG_FEW_SAMPLES = 1 << 3,
    TS_FLAG_IN_CACHE = 1 << 4,
    TS_FLAG_UNSTABLE = 1 << 5,
    TS_FLAG_BIMODAL = 1 << 6,
    TS_FLAG_DRIFT = 1 << 7,
    TS_FLAG_PART_COLD = 1 << 8,
    TS_FLAG_ABOVE_CEILING = 1 << 9,
};

/* Every flag, its word in results, and what it means to a reader; in the order they are written. */
struct ts_flag_entry {
    unsigned flag;
    const char *name, *meaning;
};
extern const struct ts_flag_entry ts_flag_table[];
extern const size_t ts_flag_count;

/* What ended the visits of a row. */
enum ts_stop {
    TS_STOP_NONE,      /* not known (an older file), or not ended */
    TS_STOP_PRECISION, /* its interval is as narrow as was asked for */
    TS_STOP_PLATEAU,   /* more visits no longer make it narrower */
    TS_STOP_TIME,      /* the time for more visits was over */
    TS_STOP_VISITS,    /* as many visits as are ever made, or (--quick) were asked for */
    TS_STOP_COUNT,
};
const char *ts_stop_name(enum ts_stop stop);    /* "precision", ...; NULL for none */
enum ts_stop ts_stop_by_name(const char *name); /* none for an unknown or NULL name */

/* What the timed launches found in the device's caches. */
enum ts_cache {
    TS_CACHE_WARM, /* what the launch before them left */
    TS_CACHE_COLD, /* nothing of their data (--cache cold) */
    TS_CACHE_PART, /* cold was asked for, but not all visits were made so */
    TS_CACHE_COUNT,
};
const char *ts_cache_name(enum ts_cache cache);   /* "warm", "cold", "part" */
enum ts_cache ts_cache_by_name(const char *name); /* warm for an unknown or NULL name */

struct ts_visit {
    int64_t *sample_ns;
    size_t count;
    int worker; /* ordinal of the worker process within the run */
    int pair;   /* of `ab`: the visit of the other side with this number was made next to it; -1 */
    bool disturbed; /* counted in the row's `disturbed`; read from a document, which tells only how
                     * many, the last ones are marked */
};

struct ts_time {
    bool host_clock;
    enum ts_cache cache;
    int64_t first_ns; /* the first launch, -1 unknown */
    int64_t batch;    /* launches per sample */
    struct ts_visit *visits;
    size_t visit_count, visit_capacity;
    size_t fresh_from; /* visits from here on are the confirmation, taken after the ranking;
                        * == visit_count when there was none */
    unsigned flags;    /* enum ts_time_flag */
    enum ts_stop stop;
    int disturbed; /* visits kept although the sentinel did not believe them, or although a stop
                    * lies in them */
};

struct ts_work {
    int64_t elements, flops, bytes, requested_bytes; /* per launch; -1: not stated */
};

struct ts_row {
    char *benchmark;
    struct ts_values size, problem, params;
    char *variant;
    enum ts_ab side;
    bool baseline, staged;
    enum ts_status status;
    struct ts_reason reason;
    char *source; /* digest of the source text, NULL before it is known */
    struct ts_geometry geometry;
    struct ts_build build;
    struct ts_check check;
    struct ts_time time;
    struct ts_work work;
    char *talk; /* what the driver or kernel printed during the row's jobs; NULL; cut at 64 KiB */
};

/* The parts by themselves: all facts unknown; ..._free releases and leaves them so. */
void ts_geometry_init(struct ts_geometry *geometry);
void ts_geometry_free(struct ts_geometry *geometry);
void ts_build_init(struct ts_build *build);
void ts_build_free(struct ts_build *build);

/* All "not known": status pending, -1 in every fact; nothing proven (check.sizes and elements 0),
 * one launch a sample. */
void ts_row_init(struct ts_row *row);
void ts_row_free(struct ts_row *row);

/* Sets status and reason; replaces an earlier one. code NULL for ok. */
void ts_row_set_status(struct ts_row *row, enum ts_status status, const char *code,
                       const char *format, ...) TS_PRINTF(4, 5);

/* Appends one visit; samples are copied. A visit of the sweep keeps fresh_from at the end; the
 * confirmation's visits are added by ts_row_add_fresh_visit, which leaves fresh_from where it is,
 * and are not followed by others. */
void ts_row_add_visit(struct ts_row *row, const int64_t *sample_ns, size_t count, int worker);
void ts_row_add_fresh_visit(struct ts_row *row, const int64_t *sample_ns, size_t count, int worker);

/* Takes the last `count` visits back: they were disturbed. */
void ts_row_drop_visits(struct ts_row *row, size_t count);
/* Marks and counts the last `count` visits that are not marked as disturbed yet; how many it found.
 */
size_t ts_row_mark_disturbed(struct ts_row *row, size_t count);

/* All samples of all visits in ns, visit by visit, into a new array; *count of them. */
double *ts_row_samples(const struct ts_row *row, size_t *count);
/* Medians of the row's visits from visit `first` on, in ns, into a new array; *count of them. */
double *ts_row_visit_medians(const struct ts_row *row, size_t first, size_t *count);

/* Of one visit, in ns; it has samples. */
double ts_visit_median(const struct ts_visit *visit);

/* Why the row of a run that is over has no times yet ("budget", in words): it was not proven, or
 * not timed; NULL: it was. Not to be freed. */
const char *ts_row_unreached(const struct ts_row *row);

/* Same benchmark, size, problem and side: rows of one case. */
bool ts_row_same_case(const struct ts_row *a, const struct ts_row *b);

/* Appends "laplacian POINTS=5 W=4096 H=4096 local TX=32 TY=8", of `ab` with " (side a)": the row's
 * key for people. */
void ts_row_key(const struct ts_row *row, struct ts_text *out);
/* Appends "-DPOINTS=9 -DTX=32 -DTY=8 -DVARIANT_local": what a build of the row's kernel elsewhere
 * needs beside the spec's own options. */
void ts_row_defines(const struct ts_row *row, struct ts_text *out);
/* The same for looking rows up: names sorted, so that the order of JSON keys does not matter. */
void ts_row_map_key(const struct ts_row *row, struct ts_text *out);

#endif
