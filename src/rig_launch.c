/* rig_launch.c: setting arguments, launching, timing. */
#include <string.h>

#include "rig_private.h"

/* Longer batches bring nothing: the shortest launch is about a microsecond. */
#define MAX_BATCH 2048

static int set_scalar(struct ts_ocl_kernel *kernel, unsigned index, const struct ts_job_arg *arg,
                      struct ts_fault *fault)
{
    unsigned char bytes[8];

    ts_job_scalar_store(arg, bytes);
    return ts_ocl_arg_value(kernel, index, bytes, ts_elem_table[arg->type].bytes, fault);
}

static int set_args(struct ts_rig *rig, size_t launch_index, size_t set, struct ts_fault *fault)
{
    const struct ts_job_launch *launch = &rig->instance->launches[launch_index];
    struct ts_ocl_kernel *kernel = rig->kernels[launch_index];

    for (size_t i = 0; i < launch->arg_count; i++) {
        const struct ts_job_arg *arg = &rig->instance->args[launch->args[i]];
        unsigned at = (unsigned)i;
        int result;

        if (arg->kind == TS_ARG_LOCAL)
            result = ts_ocl_arg_value(kernel, at, NULL, (size_t)arg->local_bytes, fault);
        else if (arg->kind == TS_ARG_SCALAR)
            result = set_scalar(kernel, at, arg, fault);
        else
            result = ts_ocl_arg_buffer(
                kernel, at, ts_rig_buffer(rig, set, rig->bound[launch->args[i]])->buffer, fault);
        if (result < 0)
            return -1;
    }
    return 0;
}

static int queue_launches(struct ts_rig *rig, int slot, struct ts_fault *fault)
{
    const struct ts_instance *instance = rig->instance;

    for (size_t i = 0; i < instance->launch_count; i++) {
        const struct ts_job_launch *launch = &instance->launches[i];
        if (ts_ocl_launch(rig->bench->ocl, rig->kernels[i], launch->dims, launch->global,
                          launch->local, slot < 0 ? -1 : slot + (int)i, fault) < 0)
            return -1;
    }
    return 0;
}

static int set_all_args(struct ts_rig *rig, size_t set, struct ts_fault *fault)
{
    for (size_t i = 0; i < rig->instance->launch_count; i++) {
        if (set_args(rig, i, set, fault) < 0)
            return -1;
    }
    return 0;
}

int ts_rig_launch(struct ts_rig *rig, struct ts_fault *fault)
{
    if (set_all_args(rig, 0, fault) < 0)
        return -1;
    return queue_launches(rig, 0, fault);
}

int ts_rig_finish(struct ts_rig *rig, struct ts_fault *fault)
{
    return ts_ocl_finish(rig->bench->ocl, fault);
}

/* ---- timing ---- */

static int restore(struct ts_rig *rig, size_t set, struct ts_fault *fault)
{
    for (size_t i = 0; i < rig->instance->arg_count; i++) {
        if (rig->start[i] && ts_ocl_buffer_copy(ts_rig_buffer(rig, set, rig->bound[i])->buffer,
                                                rig->start[i], fault) < 0)
            return -1;
    }
    return 0;
}

/* A pass begins in the start state. Rotating sets are brought back into it after their pass, long
 * before their next: just before, that would warm what is to be cold. */
static int begin_pass(struct ts_rig *rig, struct ts_fault *fault)
{
    if (rig->set_count == 1)
        return restore(rig, 0, fault);
    rig->set = (size_t)(rig->bench->turn++ % rig->set_count);
    return set_all_args(rig, rig->set, fault);
}

static int end_pass(struct ts_rig *rig, struct ts_fault *fault)
{
    return rig->set_count > 1 ? restore(rig, rig->set, fault) : 0;
}

int64_t ts_rig_max_batch(const struct ts_rig *rig)
{
    int64_t slots = TS_OCL_SLOTS / (int64_t)rig->instance->launch_count;

    return slots < MAX_BATCH ? (slots < 1 ? 1 : slots) : MAX_BATCH;
}

/* A clock may lie long after its audit: it is asked at every stamp. */
static bool is_usable(const struct ts_stamp *from, const struct ts_stamp *to)
{
    return from->have && to->have && from->start != 0 && to->end >= from->start &&
           to->end - from->start <= INT64_MAX / MAX_BATCH;
}

static int bad_stamp(struct ts_fault *fault)
{
    fault->retire = true;
    return ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_PROFILING_INFO_NOT_AVAILABLE",
                        "the device gave no usable event times for a launch");
}

/* A single kernel without state is launched back to back, from the first START to the last END: the
 * gaps between launches belong to it, and one tick's error is shared by the batch. */
static int time_span(struct ts_rig *rig, int64_t batch, int64_t *total_ns, struct ts_fault *fault)
{
    struct ts_stamp first, last;

    for (int64_t i = 0; i < batch; i++) {
        int slot = i == 0 ? 0 : i == batch - 1 ? 1 : -1;
        if (begin_pass(rig, fault) < 0 || queue_launches(rig, slot, fault) < 0)
            return -1;
    }
    if (ts_rig_finish(rig, fault) < 0)
        return -1;
    first = ts_ocl_stamp(rig->bench->ocl, 0);
    last = batch > 1 ? ts_ocl_stamp(rig->bench->ocl, 1) : first;
    if (!is_usable(&first, &last))
        return bad_stamp(fault);
    *total_ns = (int64_t)(last.end - first.start);
    return 0;
}

/* Chains and kernels with state: the sum over the launches, without what lies between them. */
static int time_sum(struct ts_rig *rig, int64_t batch, int64_t *total_ns, struct ts_fault *fault)
{
    size_t launches = rig->instance->launch_count;
    int64_t sum = 0;

    for (int64_t i = 0; i < batch; i++) {
        if (begin_pass(rig, fault) < 0 ||
            queue_launches(rig, (int)(i * (int64_t)launches), fault) < 0 ||
            end_pass(rig, fault) < 0)
            return -1;
    }
    if (ts_rig_finish(rig, fault) < 0)
        return -1;
    for (int64_t i = 0; i < batch * (int64_t)launches; i++) {
        struct ts_stamp stamp = ts_ocl_stamp(rig->bench->ocl, (int)i);
        if (!is_usable(&stamp, &stamp))
            return bad_stamp(fault);
        sum += (int64_t)(stamp.end - stamp.start);
    }
    *total_ns = sum;
    return 0;
}

static int time_by_host(struct ts_rig *rig, int64_t batch, int64_t *total_ns,
                        struct ts_fault *fault)
{
    int64_t sum = 0, each = rig->restores ? 1 : batch;
    bool rotates = rig->set_count > 1;

    for (int64_t done = 0; done < batch; done += each) {
        int64_t begin;

        if (begin_pass(rig, fault) < 0 || ts_rig_finish(rig, fault) < 0)
            return -1;
        begin = ts_now_ns();
        for (int64_t i = 0; i < each; i++) {
            if (rotates && i > 0 && begin_pass(rig, fault) < 0)
                return -1;
            /* The last pass's events tell whether the device still runs what it is given. */
            if (queue_launches(rig, i == each - 1 ? 0 : -1, fault) < 0)
                return -1;
        }
        if (ts_rig_finish(rig, fault) < 0)
            return -1;
        sum += ts_now_ns() - begin;
        if (end_pass(rig, fault) < 0)
            return -1;
    }
    *total_ns = sum;
    return 0;
}

static int time_by_events(struct ts_rig *rig, const struct ts_clock *clock, int64_t batch,
                          int64_t *total_ns, struct ts_fault *fault)
{
    const int64_t launches = batch * (int64_t)rig->instance->launch_count, begin = ts_now_ns();
    int result = rig->restores || rig->instance->launch_count > 1
                     ? time_sum(rig, batch, total_ns, fault)
                     : time_span(rig, batch, total_ns, fault);

    if (result == 0 && !ts_clock_believes(clock, launches, *total_ns, ts_now_ns() - begin))
        return bad_stamp(fault);
    return result;
}

int ts_rig_time(struct ts_rig *rig, const struct ts_clock *clock, int64_t batch, int64_t *total_ns,
                struct ts_fault *fault)
{
    int result;

    if (set_all_args(rig, 0, fault) < 0)
        return -1;
    result = clock->event ? time_by_events(rig, clock, batch, total_ns, fault)
                          : time_by_host(rig, batch, total_ns, fault);
    if (result == 0 && *total_ns < 1)
        *total_ns = 1;
    return result;
}
