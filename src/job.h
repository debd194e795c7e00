/* job.h: one job of a worker as plain data, and its protocol line (docs/protocol.md). Floor 1,
 * shared by both wings: the parent builds jobs (space.h evaluates every expression) and writes
 * lines, the worker reads lines. A job is self-contained but for its source text, which is sent
 * once, by digest.
 *
 * ts_job_free releases what a job owns, not the struct. */
#ifndef TS_JOB_H
#define TS_JOB_H

#include "digest.h"
#include "measure.h"
#include "row.h"
#include "spec.h"

/* One argument with all numbers known. */
struct ts_job_arg {
    char *name;
    enum ts_arg_kind kind;
    enum ts_elem type;
    int64_t shape[4]; /* elements, slowest dimension first */
    int dims;         /* 1..4 for arrays, else 0 */
    int64_t count;    /* product of shape; arrays */
    struct ts_fill fill;
    int64_t whole_value; /* scalar of a whole type */
    double real_value;   /* scalar of a real type */
    int64_t local_bytes; /* local */
};

/* The value of a scalar in the bytes of its type, as clSetKernelArg wants them; a whole value's low
 * bytes (little-endian hosts). out: 8 bytes, any alignment; those beyond the type become 0. */
void ts_job_scalar_store(const struct ts_job_arg *arg, void *out);

struct ts_job_launch {
    char *kernel;
    int dims;
    int64_t global[3], local[3];
    size_t *args; /* indices into the instance's args */
    size_t arg_count;
};

/* A configuration at one size. */
struct ts_instance {
    struct ts_values size, problem;
    struct ts_job_arg *args;
    size_t arg_count;
    struct ts_job_launch *launches;
    size_t launch_count;
    int64_t
        local_bytes; /* declared, plus `local` arguments where local_bytes is not declared; -1 */
    int64_t steps;   /* steps one pass over the launches advances; >= 1 */
    bool iterated;
    struct ts_job_swap {
        size_t a, b; /* indices into args */
    } * swaps;
    size_t swap_count;
    struct ts_work work;
};
void ts_instance_free(struct ts_instance *instance);

/* Code to build: a source already sent, by digest, and options. */
struct ts_code {
    char *source; /* digest */
    char *options;
};

enum ts_job_verb {
    TS_JOB_DEVICES,  /* list every platform and device */
    TS_JOB_OPEN,     /* take device P:D: facts, clock audit; must precede those below */
    TS_JOB_PEAKS,    /* measure the ceilings */
    TS_JOB_PROVE,    /* build, then prove on every instance */
    TS_JOB_TIME,     /* one visit at one instance */
    TS_JOB_SENTINEL, /* time two fixed kernels, which show what the device is doing now */
    TS_JOB_DIGEST,   /* the digest of the device's binary of a code */
    TS_JOB_CHECK, /* build, then launch every instance once on plain buffers, for whoever watches */
    TS_JOB_VERB_COUNT
};
const char *
ts_job_verb_name(enum ts_job_verb verb); /* the protocol's word: "devices", "open", ... */

struct ts_job {
    int64_t id;
    enum ts_job_verb verb;
    /* open */
    int platform_index, device_index;
    char *device_id; /* NULL: not checked */
    bool audit;      /* take the clock samples */
    /* open (audit), peaks: the probe kernels; prove, time, check: the configuration */
    struct ts_code code;
    uint64_t seed;
    double tolerance;
    char *reference; /* built-in's name, or NULL */
    /* reference by variant: its code and, per instance, how it is launched; else NULL / 0 */
    struct ts_code reference_code;
    struct ts_instance *reference_instances;
    struct ts_instance *instances; /* prove, check: one a check size; time: exactly one */
    size_t instance_count;         /* of both */
    /* time */
    struct ts_clock clock; /* what the run's audit found: which clock, tick and floor */
    int samples;
    int64_t batch;       /* 0: decide */
    bool cold;           /* each timed launch is to find its data in no cache */
    int64_t patience_ns; /* sentinel, too: so long it may take until no thread has to wait for a
                            processor */
    bool prove_first;    /* prove at this size before the first sample */
    char *right;     /* what a proof of these at this size told of its outputs; NULL: not known */
    bool prove_last; /* after the samples, one launch over outputs left as they are must be right */
};

void ts_job_free(struct ts_job *job);
/* The line without newline; free() it. */
char *ts_job_print(const struct ts_job *job);
/* From a parsed line; exit status 2 with the place on a fault. Unknown keys are passed over, so
 * that an older worker serves a newer parent. All counts, indices and byte sizes are checked:
 * whatever is read is safe to act on. job is zeroed first and empty after a failure. Whole numbers
 * beyond 2^53, which JSON would round, travel as text ("seed": "18446744073709551615"). */
int ts_job_read(struct ts_job *job, const cJSON *line, struct ts_err *err);

#endif
