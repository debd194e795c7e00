/* rig_rotate.c: cold caches: timed passes go over several sets of the arguments in turn, so many
 * that a set was pushed out of every cache before its turn comes again. */
#include <stdlib.h>
#include <string.h>

#include "rig_private.h"

/* More sets cost more to keep than they tell. */
#define MOST_SETS 1024
/* The sets may take this part of the device's memory. */
#define MEMORY_SHARE 2
/* What an output holds that the device has written once: its pages are there. */
#define TOUCHED "touched"

struct ts_pool_buffer *ts_rig_buffer(const struct ts_rig *rig, size_t set, size_t arg)
{
    return set == 0 ? rig->buffers[arg] : rig->more[(set - 1) * rig->instance->arg_count + arg];
}

static void hold(struct ts_pool_buffer *buffer, const char *what)
{
    free(buffer->holds);
    buffer->holds = ts_strdup(what);
}

/* Inputs as they stood at the start; outputs are written once, or the first launch would pay for
 * their pages. A set kept from an earlier rig has all that already. */
static int fill(struct ts_rig *rig, size_t arg, struct ts_pool_buffer *buffer,
                struct ts_fault *fault)
{
    static const unsigned char zero[8];
    const char *wanted = rig->inputs->data[arg] ? rig->inputs->key : TOUCHED;
    struct ts_ocl_buffer *from = rig->start[arg] ? rig->start[arg] : rig->buffers[arg]->buffer;
    int result;

    if (buffer->holds && strcmp(buffer->holds, wanted) == 0)
        return 0;
    if (rig->inputs->data[arg])
        result = ts_ocl_buffer_copy(buffer->buffer, from, fault);
    else
        result = ts_ocl_buffer_fill(buffer->buffer, zero, ts_elem_table[buffer->type].bytes, fault);
    if (result == 0)
        hold(buffer, wanted);
    return result;
}

/* One more set, all or nothing. 1: there is no room. */
static int add_set(struct ts_rig *rig, struct ts_fault *fault)
{
    const struct ts_instance *instance = rig->instance;
    struct ts_pool_buffer **set = &rig->more[(rig->set_count - 1) * instance->arg_count];
    struct ts_fault full = {0};
    int result = 0;

    for (size_t i = 0; i < instance->arg_count && result == 0; i++) {
        if (!rig->buffers[i])
            continue;
        set[i] = ts_bench_take(rig->bench, &instance->args[i], &full);
        result = set[i] ? fill(rig, i, set[i], fault) : 1;
    }
    if (result == 0) {
        rig->set_count++;
        return 0;
    }
    for (size_t i = 0; i < instance->arg_count; i++) {
        ts_bench_give(rig->bench, set[i]);
        set[i] = NULL;
    }
    return result;
}

static int64_t set_bytes(const struct ts_instance *instance, size_t *buffers)
{
    int64_t bytes = 0;

    *buffers = 0;
    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i];
        if (arg->kind == TS_ARG_SCALAR || arg->kind == TS_ARG_LOCAL)
            continue;
        bytes += ts_job_arg_bytes(arg);
        ++*buffers;
    }
    return bytes;
}

int ts_rig_rotate(struct ts_rig *rig, int64_t bytes, bool *whole, struct ts_fault *fault)
{
    const struct ts_device *device = ts_ocl_device(rig->bench->ocl);
    int64_t memory = device->number[TS_DEVICE_GLOBAL_MEM_SIZE];
    size_t buffers;
    int64_t each = set_bytes(rig->instance, &buffers), wanted, most = MOST_SETS;
    int result = 0;

    *whole = false;
    if (each == 0)
        return 0;
    wanted = 1 + (bytes + each - 1) / each;
    if (memory > 0 && memory / MEMORY_SHARE / each < most)
        most = memory / MEMORY_SHARE / each;
    if (wanted < most)
        most = wanted;
    if (most > 1) {
        rig->more = ts_alloc((size_t)(most - 1) * rig->instance->arg_count, sizeof(*rig->more));
        ts_bench_keep(rig->bench, (size_t)most * buffers);
    }
    while (result == 0 && (int64_t)rig->set_count < most)
        result = add_set(rig, fault);
    *whole = (int64_t)rig->set_count >= wanted;
    return result < 0 ? -1 : 0;
}

void ts_rig_end_rotation(struct ts_rig *rig)
{
    for (size_t i = 0; i < (rig->set_count - 1) * rig->instance->arg_count; i++)
        ts_bench_give(rig->bench, rig->more[i]);
    free(rig->more);
    rig->more = NULL;
    rig->set_count = 1;
}
