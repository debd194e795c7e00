/* worker_expect.c: what a proof compares with: a built-in reference, or what another variant of the
 * spec writes from the same inputs. */
#include <stdlib.h>
#include <string.h>

#include "worker_private.h"

/* Whose outputs are asked for: after so many passes over the launches. */
struct wanted {
    struct ts_worker *worker;
    const struct ts_proof_plan *plan;
    const struct ts_instance *instance;
    const struct ts_inputs *inputs;
    int64_t pass; /* from 1 */
    struct ts_fault *fault;
};

/* What a reference variant wrote, as it is gathered. */
struct gathered {
    size_t *args; /* of the proven instance */
    void **arrays;
    int64_t *bytes;
    size_t count;
};

/* Launches the reference variant from the same inputs to the same step. */
static int launch_reference(const struct wanted *w, struct ts_rig *rig,
                            const struct ts_instance *reference, const struct ts_inputs *inputs)
{
    int64_t passes = w->pass * w->instance->steps / reference->steps;

    if (ts_rig_upload(rig, inputs, w->fault) < 0)
        return -1;
    for (int64_t pass = 1; pass <= passes; pass++) {
        if (pass > 1)
            ts_rig_swap(rig);
        if (ts_rig_poison(rig, 0, w->fault) < 0 || ts_rig_launch(rig, w->fault) < 0 ||
            ts_rig_finish(rig, w->fault) < 0)
            return -1;
    }
    return 0;
}

static int gather_output(const struct wanted *w, struct ts_rig *rig,
                         const struct ts_instance *reference, size_t arg, struct gathered *to)
{
    const struct ts_job_arg *wanted = &w->instance->args[arg];
    int64_t bytes = ts_job_arg_bytes(wanted);
    size_t source = 0;
    void *array;

    while (source < reference->arg_count &&
           (strcmp(reference->args[source].name, wanted->name) != 0 ||
            reference->args[source].count != wanted->count))
        source++;
    if (source == reference->arg_count)
        return ts_fault_set(w->fault, TS_LAUNCH_FAILED, "CL_INVALID_KERNEL_ARGS",
                            "the reference variant has no output \"%s\" of this size",
                            wanted->name);
    array = malloc((size_t)bytes);
    if (!array)
        return ts_fault_set(w->fault, TS_SKIPPED, "allocation",
                            "the host has no memory for the proof");
    to->args[to->count] = arg;
    to->bytes[to->count] = bytes;
    to->arrays[to->count++] = array;
    return ts_rig_read(rig, source, array, w->fault);
}

static int gather_outputs(const struct wanted *w, struct ts_rig *rig,
                          const struct ts_instance *reference, struct gathered *to)
{
    for (size_t i = 0; i < w->instance->arg_count; i++) {
        if (ts_worker_is_output(&w->instance->args[i]) &&
            gather_output(w, rig, reference, i, to) < 0)
            return -1;
    }
    return 0;
}

/* By a variant: its kernels run on the same inputs, and what they wrote is kept. */
static const struct ts_expected *run_reference(const struct wanted *w)
{
    const struct ts_job *job = w->plan->job;
    const struct ts_instance *reference = &job->reference_instances[w->plan->instance];
    const struct ts_inputs *inputs =
        ts_truth_inputs(w->worker->truth, reference, job->seed, w->plan->pattern, w->fault);
    struct ts_rig *rig =
        inputs ? ts_rig_open(w->worker->bench, &job->reference_code, reference, NULL, w->fault)
               : NULL;
    struct gathered to = {
        .args = ts_alloc(w->instance->arg_count, sizeof(*to.args)),
        .arrays = ts_alloc(w->instance->arg_count, sizeof(*to.arrays)),
        .bytes = ts_alloc(w->instance->arg_count, sizeof(*to.bytes)),
    };
    const struct ts_expected *expected = NULL;

    if (rig && launch_reference(w, rig, reference, inputs) == 0 &&
        gather_outputs(w, rig, reference, &to) == 0)
        expected =
            ts_truth_store(w->worker->truth, &job->reference_code, &w->instance->size, w->inputs,
                           w->pass * w->instance->steps, to.args, to.arrays, to.bytes, to.count);
    for (size_t i = 0; i < to.count && !expected; i++)
        free(to.arrays[i]);
    ts_rig_close(rig);
    free(to.args);
    free(to.arrays);
    free(to.bytes);
    return expected;
}

const struct ts_expected *ts_worker_expect(struct ts_worker *worker,
                                           const struct ts_proof_plan *plan,
                                           const struct ts_inputs *inputs, int64_t pass,
                                           struct ts_fault *fault)
{
    const struct ts_job *job = plan->job;
    struct wanted w = {worker, plan, &job->instances[plan->instance], inputs, pass, fault};
    const struct ts_expected *expected = NULL;

    if (job->reference) {
        expected = ts_truth_expected(worker->truth, job->reference, w.instance, inputs, pass,
                                     plan->whole, job->seed, fault);
    } else if (job->reference_code.source) {
        expected = ts_truth_stored(worker->truth, &job->reference_code, &w.instance->size, inputs,
                                   pass * w.instance->steps);
        if (!expected)
            expected = run_reference(&w);
    }
    return expected;
}
