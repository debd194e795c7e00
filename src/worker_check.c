/* worker_check.c: launching a configuration for whoever watches the launches: a device that reports
 * races, accesses out of bounds and reads of uninitialised memory in words of its own (Oclgrind).
 *
 * Nothing is compared here, and nothing but the inputs is written: an output or a scratch buffer
 * that was filled would hide that a kernel reads it before it wrote it. */
#include "worker_private.h"

/* The second launch of an iteration reads what the first one wrote. */
#define ITERATED_PASSES 2

static int launch_passes(struct ts_rig *rig, const struct ts_instance *instance,
                         struct ts_fault *fault)
{
    for (int pass = 0; pass < (instance->iterated ? ITERATED_PASSES : 1); pass++) {
        if (pass > 0)
            ts_rig_swap(rig);
        if (ts_rig_launch(rig, fault) < 0 || ts_rig_finish(rig, fault) < 0)
            return -1;
    }
    return 0;
}

static int check_instance(struct ts_worker *worker, const struct ts_job *job,
                          const struct ts_instance *instance, struct ts_outcome *outcome)
{
    const struct ts_inputs *inputs;
    struct ts_rig *rig;
    int result = -1;

    ts_worker_stage(worker, TS_STAGE_BUILD);
    ts_bench_fresh_buffers(worker->bench, true);
    ts_rig_facts_free(&outcome->facts);
    rig = ts_rig_open(worker->bench, &job->code, instance, &outcome->facts, &outcome->fault);
    if (!rig)
        return -1;
    ts_worker_stage(worker, TS_STAGE_PROVE);
    inputs = ts_truth_inputs(worker->truth, instance, job->seed, TS_PATTERN_SPEC, &outcome->fault);
    if (inputs && ts_rig_upload(rig, inputs, &outcome->fault) == 0)
        result = launch_passes(rig, instance, &outcome->fault);
    ts_rig_close(rig);
    return result;
}

void ts_worker_check(struct ts_worker *worker, const struct ts_job *job, struct ts_outcome *outcome)
{
    for (size_t i = 0; i < job->instance_count; i++) {
        if (check_instance(worker, job, &job->instances[i], outcome) < 0)
            break;
    }
    ts_bench_fresh_buffers(worker->bench, false);
}
