/* worker_time.c: one visit at one size. */
#include <stdlib.h>
#include <string.h>

#include "pause.h"
#include "worker_private.h"

/* A set's data are out of the caches when so much of other sets was touched meanwhile: four times
 * what the device says of its cache, and at least this, for some say too little (an H200 tells of
 * 4 MiB, and its L2 has 60). */
#define COLD_BYTES_LEAST (256LL * 1024 * 1024)
#define COLD_CACHES 4

struct timing {
    struct ts_rig *rig;
    const struct ts_clock *clock;
    struct ts_fault *fault;
};

static int launch(void *context, int64_t batch, int64_t *total_ns)
{
    struct timing *timing = context;

    return ts_rig_time(timing->rig, timing->clock, batch, total_ns, timing->fault);
}

static int cool(struct ts_worker *worker, struct ts_rig *rig, struct ts_outcome *outcome)
{
    const struct ts_device *device = ts_ocl_device(worker->ocl);
    int64_t bytes = COLD_CACHES * device->number[TS_DEVICE_GLOBAL_MEM_CACHE_SIZE];
    bool whole;

    if (bytes < COLD_BYTES_LEAST)
        bytes = COLD_BYTES_LEAST;
    if (ts_rig_rotate(rig, bytes, &whole, &outcome->fault) < 0)
        return -1;
    outcome->cache = whole ? TS_CACHE_COLD : TS_CACHE_PART;
    return 0;
}

static int visit(struct ts_worker *worker, const struct ts_job *job, struct ts_rig *rig,
                 struct ts_outcome *outcome)
{
    struct timing timing = {rig, &job->clock, &outcome->fault};
    struct ts_visit_plan plan = {
        .clock = &job->clock,
        .samples = job->samples,
        .batch = job->batch,
        .max_batch = ts_rig_max_batch(rig),
    };
    const struct ts_inputs *inputs = ts_truth_inputs(worker->truth, &job->instances[0], job->seed,
                                                     TS_PATTERN_SPEC, &outcome->fault);
    struct ts_pause pause;
    int result;

    if (!inputs || ts_rig_upload(rig, inputs, &outcome->fault) < 0 ||
        (job->cold && cool(worker, rig, outcome) < 0))
        return -1;
    ts_worker_stage(worker, TS_STAGE_TIME);
    ts_worker_calm_begin(&outcome->calm, worker, &job->clock, job->patience_ns);
    do {
        free(outcome->visit.sample_ns);
        outcome->visit.sample_ns = NULL;
        pause = ts_pause_mark();
        result = ts_measure_visit(&plan, launch, &timing, &outcome->visit);
        outcome->paused = ts_pause_since(&pause);
    } while (result == 0 && !outcome->paused && ts_worker_calm_again(&outcome->calm));
    ts_worker_calm_end(&outcome->calm);
    outcome->has_visit = result == 0;
    return result;
}

void ts_worker_time(struct ts_worker *worker, const struct ts_job *job, struct ts_outcome *outcome)
{
    struct ts_proof_plan proof = {
        .job = job, .instance = 0, .pattern = TS_PATTERN_SPEC, .rounds = 1, .passes = 1};
    struct ts_rig *rig;

    ts_worker_stage(worker, TS_STAGE_BUILD);
    rig = ts_rig_open(worker->bench, &job->code, &job->instances[0], &outcome->facts,
                      &outcome->fault);
    if (!rig)
        return;
    if (job->prove_first && ts_worker_prove_rig(worker, rig, &proof, outcome) == 0)
        outcome->check.sizes = 1;
    if (outcome->fault.status == TS_OK && job->samples > 0)
        visit(worker, job, rig, outcome);
    if (outcome->fault.status == TS_OK && job->prove_last)
        ts_worker_prove_again(worker, rig, &proof, outcome);
    ts_rig_close(rig);
}
