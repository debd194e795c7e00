/* worker_private.h: shared by worker*.c alone. */
#ifndef TS_WORKER_PRIVATE_H
#define TS_WORKER_PRIVATE_H

#include "job.h"
#include "ocl.h"
#include "rig.h"
#include "runqueue.h"
#include "sentinel.h"
#include "truth.h"
#include "worker.h"

/* What probe.cl is built with where nothing says otherwise. The sentinel's times depend on both:
 * with others they can no longer be held against those of recorded runs. */
enum { TS_PROBE_WIDTH = 4, TS_PROBE_FMA_ROUNDS = 512 };

/* What a job is doing. */
enum ts_stage {
    TS_STAGE_NONE,
    TS_STAGE_BUILD,
    TS_STAGE_REFERENCE,
    TS_STAGE_PROVE,
    TS_STAGE_TIME,
    TS_STAGE_COUNT
};

struct ts_worker {
    int out;        /* protocol lines go here; descriptor 1 is standard error */
    int64_t job_id; /* in hand */
    enum ts_stage stage;
    int64_t stage_began_ns;
    int64_t spent_ns[TS_STAGE_COUNT]; /* of the job in hand, by stage */
    struct ts_ocl *ocl;
    struct ts_bench *bench;
    struct ts_truth *truth;
    struct ts_ocl_room *room;     /* what a proof reads back, kept: fresh memory costs more than the
                                   * reading; NULL: none yet */
    struct ts_sentinel *sentinel; /* NULL before its first use */
    struct ts_worker_probes {
        struct ts_ocl_program *program; /* NULL before its first use */
        struct ts_code code;
    } probes; /* of TS_PROBE_WIDTH, kept */
};

/* The job in hand enters a stage: tells the parent, and books the time of the stage before. */
void ts_worker_stage(struct ts_worker *worker, enum ts_stage stage);

/* Measuring on processors that others may want, too: where the device's threads, or the thread that
 * reads the clock, had to wait for one, what was measured is not the kernel's, and it is measured
 * again. On a device with processors of its own and an event clock nothing of this happens.
 *
 *     ts_worker_calm_begin(&calm, worker, clock, patience_ns);
 *     do
 *         measure();
 *     while (ts_worker_calm_again(&calm));
 *     ts_worker_calm_end(&calm);
 */
struct ts_calm {
    bool concerned;
    int64_t patience_ns; /* it may take so long until all is calm */
    int64_t began_ns, marked_ns, nap_ns;
    int tries;
    struct ts_runqueue mark;
    bool starved;      /* the last was no calm one either */
    int64_t waited_ns; /* what was not kept, and sleep between */
};
/* Warns where that cannot be known, and matters. */
void ts_worker_calm_audit(const struct ts_worker *worker, struct ts_clock *clock);
void ts_worker_calm_begin(struct ts_calm *calm, const struct ts_worker *worker,
                          const struct ts_clock *clock, int64_t patience_ns);
bool ts_worker_calm_again(struct ts_calm *calm);
void ts_worker_calm_end(struct ts_calm *calm);
/* Into the protocol's object for what was measured. */
void ts_worker_calm_tell(const struct ts_calm *calm, cJSON *object);

/* What a prove, time or check job found, for its `done` line. */
struct ts_outcome {
    struct ts_fault fault; /* status TS_OK: right */
    struct ts_rig_facts facts;
    struct ts_check check;
    char *right; /* time: the digest of what a proof found right; NULL: no proof but the last */
    bool has_visit;
    bool paused;      /* the worker was stopped, or the machine slept, during the visit */
    int64_t first_ns; /* host time of the first launch at this size in this job */
    struct ts_visit_result visit;
    struct ts_calm calm; /* of the visit */
    enum ts_cache cache; /* of the visit */
};

/* One proof: passes over the launches from the start state. */
struct ts_proof_plan {
    const struct ts_job *job;
    size_t instance; /* index into job->instances */
    enum ts_pattern pattern;
    int rounds; /* 1 or 2: how often, with other poison */
    int64_t passes;
    bool whole; /* compare everything, never a sample */
};
/* What the plan's outputs must be after so many passes over its launches (from 1). NULL where the
 * job names no reference, or with the fault told. A reference by variant borrows the device's
 * buffers: not between a launch and the look at its outputs. */
const struct ts_expected *ts_worker_expect(struct ts_worker *worker,
                                           const struct ts_proof_plan *plan,
                                           const struct ts_inputs *inputs, int64_t pass,
                                           struct ts_fault *fault);
static inline bool ts_worker_is_output(const struct ts_job_arg *arg)
{
    return arg->kind == TS_ARG_OUT || arg->kind == TS_ARG_INOUT;
}

/* Does it: outputs poisoned before each pass, everything compared; adds to outcome->check. 0, or -1
 * with outcome->fault. */
int ts_worker_prove_rig(struct ts_worker *worker, struct ts_rig *rig,
                        const struct ts_proof_plan *plan, struct ts_outcome *outcome);
/* After timing: one launch over outputs left as they are must still be right. Where they are byte
 * for byte what a proof of another process found right (job->right), no reference is computed. */
int ts_worker_prove_again(struct ts_worker *worker, struct ts_rig *rig,
                          const struct ts_proof_plan *plan, struct ts_outcome *outcome);

/* The verbs. The outcome is initialised; they set its fault. */
void ts_worker_prove(struct ts_worker *worker, const struct ts_job *job,
                     struct ts_outcome *outcome);
void ts_worker_time(struct ts_worker *worker, const struct ts_job *job, struct ts_outcome *outcome);
void ts_worker_check(struct ts_worker *worker, const struct ts_job *job,
                     struct ts_outcome *outcome);

/* Probe kernels: the clock audit and the ceilings. -1 with the fault. */
int ts_worker_audit(struct ts_worker *worker, const struct ts_code *code, struct ts_clock *clock,
                    struct ts_fault *fault);
struct ts_peaks;
int ts_worker_peaks(struct ts_worker *worker, const struct ts_code *code, struct ts_peaks *peaks,
                    struct ts_fault *fault);

/* A probe kernel, set up by hand: probes are no configurations of a spec. The caller sets arguments
 * and geometry (one dimension). */
struct ts_worker_probe {
    struct ts_ocl *ocl;
    struct ts_ocl_kernel *kernel;
    int64_t global, local;
};
int ts_worker_probe_open(struct ts_worker *worker, struct ts_worker_probe *probe,
                         const struct ts_code *code, const char *name, struct ts_fault *fault);
/* One launch; its stamps and the host's time around it. */
int ts_worker_probe_launch(struct ts_worker_probe *probe, struct ts_stamp *stamp, int64_t *host_ns,
                           struct ts_fault *fault);
void ts_worker_probe_close(struct ts_worker_probe *probe);

/* probe_copy from src to dst, `bytes` each: a multiple of 16. src holds anything, in pages of its
 * own; the first launch still makes those of dst, so its time is no copy's. Close it also after a
 * failure. */
struct ts_worker_copy {
    struct ts_ocl_buffer *src, *dst;
    struct ts_worker_probe probe;
};
int ts_worker_copy_open(struct ts_worker *worker, struct ts_worker_copy *copy,
                        const struct ts_code *code, int64_t bytes, struct ts_fault *fault);
void ts_worker_copy_close(struct ts_worker_copy *copy);
int64_t ts_worker_units(const struct ts_worker *worker); /* compute units, >= 1 */
bool ts_worker_is_cpu(const struct ts_worker *worker);

/* Medians of a few launches of a copy and of a multiply-add kernel of fixed sizes, by the clock;
 * what they need is made at the first call and kept. -1 with the fault. */
int ts_worker_sentinel(struct ts_worker *worker, const struct ts_code *code,
                       const struct ts_clock *clock, struct ts_sentinel_point *point,
                       struct ts_fault *fault);

/* What the results tell of the host that the worker runs on, and the variables that steer drivers.
 */
cJSON *ts_worker_host(void);
cJSON *ts_worker_environment(void);
/* Call before OpenCL is used. PoCL's threads, one a processor, are kept on a processor each, unless
 * the user's POCL_AFFINITY says otherwise: the scheduler now and then puts two short-lived ones on
 * the same, and then a launch takes twice its time. Not in a process that may not run on every
 * processor, where PoCL would fail. */
void ts_worker_pin_threads(void);

#endif
