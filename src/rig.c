/* rig.c: opening a configuration on the device: program, kernels, limits, buffers, arguments. */
#include "rig.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "prove.h"
#include "rig_private.h"

int64_t ts_job_arg_bytes(const struct ts_job_arg *arg)
{
    return arg->count * (int64_t)ts_elem_table[arg->type].bytes;
}

void ts_rig_facts_init(struct ts_rig_facts *facts)
{
    ts_geometry_init(&facts->geometry);
    ts_build_init(&facts->build);
}

void ts_rig_facts_free(struct ts_rig_facts *facts)
{
    ts_geometry_free(&facts->geometry);
    ts_build_free(&facts->build);
}

/* ---- limits ---- */

static int64_t local_arg_bytes(const struct ts_instance *instance,
                               const struct ts_job_launch *launch)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < launch->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[launch->args[i]];
        if (arg->kind == TS_ARG_LOCAL)
            bytes += arg->local_bytes;
    }
    return bytes;
}

/* What the device alone decides, before anything is built. */
static int check_device(struct ts_bench *bench, const struct ts_instance *instance,
                        struct ts_fault *fault)
{
    const struct ts_device *device = ts_ocl_device(bench->ocl);
    struct ts_text why = {0};
    int result = 0;

    for (size_t i = 0; i < instance->launch_count && result == 0; i++) {
        const struct ts_job_launch *launch = &instance->launches[i];
        int64_t dynamic = local_arg_bytes(instance, launch);
        int64_t need = instance->local_bytes > dynamic ? instance->local_bytes : dynamic;
        const char *code = ts_device_refuses(device, launch->dims, launch->local, need, &why);
        if (code)
            result = ts_fault_set(fault, TS_SKIPPED, code, "%s", why.text);
    }
    ts_text_free(&why);
    return result;
}

static int check_required(const struct ts_job_launch *launch, const struct ts_ocl_kernel_info *info,
                          struct ts_fault *fault)
{
    int64_t local[3] = {1, 1, 1};

    if (info->required[0] == 0)
        return 0;
    for (int d = 0; d < launch->dims; d++)
        local[d] = launch->local[d];
    for (int d = 0; d < 3; d++) {
        if (local[d] != info->required[d]) {
            return ts_fault_set(fault, TS_SKIPPED, "kernel-work-group-size",
                                "work-group %" PRId64 "x%" PRId64 "x%" PRId64
                                ", the kernel requires %" PRId64 "x%" PRId64 "x%" PRId64,
                                local[0], local[1], local[2], info->required[0], info->required[1],
                                info->required[2]);
        }
    }
    return 0;
}

/* Does the kernel's word for a type say that it is another one than the spec's? Only what cannot be
 * meant: names of its own, vectors and signs are the kernel's affair. */
static bool is_other_type(const char *type, const struct ts_job_arg *arg)
{
    size_t length = strlen(type);
    bool is_pointer = length > 0 && type[length - 1] == '*';
    const struct ts_elem_info *wanted = &ts_elem_table[arg->type];
    enum ts_elem known;

    if (arg->kind == TS_ARG_SCALAR && is_pointer)
        return true;
    if (!ts_elem_by_name(type, &known))
        return false;
    return arg->kind != TS_ARG_SCALAR || ts_elem_table[known].real != wanted->real ||
           ts_elem_table[known].bytes != wanted->bytes;
}

/* Told before a launch: some drivers take a float for an int, and what all say of an argument too
 * few names neither the kernel nor the number. */
static int check_args(const struct ts_instance *instance, const struct ts_job_launch *launch,
                      struct ts_ocl_kernel *kernel, int64_t arg_count, struct ts_fault *fault)
{
    char type[64];

    if (arg_count >= 0 && arg_count != (int64_t)launch->arg_count)
        return ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_KERNEL_ARGS",
                            "kernel \"%s\" has %" PRId64 " arguments, the spec gives %zu",
                            launch->kernel, arg_count, launch->arg_count);
    for (size_t i = 0; i < launch->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[launch->args[i]];

        ts_ocl_arg_type(kernel, (unsigned)i, type, sizeof(type));
        if (is_other_type(type, arg))
            return ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_KERNEL_ARGS",
                                "argument \"%s\" of kernel \"%s\" is of type %s, the spec gives %s",
                                arg->name, launch->kernel, type,
                                arg->kind == TS_ARG_SCALAR  ? ts_elem_table[arg->type].name
                                : arg->kind == TS_ARG_LOCAL ? "local memory"
                                                            : "an array");
    }
    return 0;
}

/* What the built kernel adds. A declared size decides where given, because drivers report static
 * local memory doubled (rusticl) or leave `__local` arguments out; a kernel limit on the work-group
 * below the device's is left to the launch (rusticl reports 32 and runs 1024), and who decided is
 * recorded. */
static int check_kernel(struct ts_bench *bench, const struct ts_instance *instance,
                        const struct ts_job_launch *launch, const struct ts_ocl_kernel_info *info,
                        struct ts_geometry *geometry, struct ts_fault *fault)
{
    int64_t limit = ts_ocl_device(bench->ocl)->number[TS_DEVICE_LOCAL_MEM_SIZE];
    int64_t dynamic = local_arg_bytes(instance, launch), reported = info->local_bytes;
    bool declared = instance->local_bytes >= 0 && instance->local_bytes != dynamic;
    int64_t need = declared ? instance->local_bytes : dynamic + (reported > 0 ? reported : 0);
    int64_t items = 1;

    for (int d = 0; d < launch->dims; d++)
        items *= launch->local[d];
    if (need > geometry->local_bytes)
        geometry->local_bytes = need;
    free(geometry->limit_rule);
    geometry->limit_rule = ts_strdup(
        info->work_group_limit >= 0 && items > info->work_group_limit ? "device" : "kernel");
    if (limit >= 0 && need > limit)
        return ts_fault_set(fault, TS_SKIPPED, "local-memory",
                            "needs %" PRId64 " B of local memory, device has %" PRId64 " B", need,
                            limit);
    return check_required(launch, info, fault);
}

static void note_launch(struct ts_geometry *geometry, const struct ts_instance *instance)
{
    const struct ts_job_launch *launch = &instance->launches[0];

    geometry->dims = launch->dims;
    for (int d = 0; d < 3; d++) {
        geometry->global[d] = d < launch->dims ? launch->global[d] : 1;
        geometry->local[d] = d < launch->dims ? launch->local[d] : 1;
    }
    geometry->local_bytes = instance->local_bytes;
}

/* ---- opening ---- */

static int open_kernels(struct ts_rig *rig, const struct ts_kept_program *program,
                        struct ts_geometry *geometry, struct ts_fault *fault)
{
    const struct ts_instance *instance = rig->instance;

    rig->kernels = ts_alloc(instance->launch_count, sizeof(*rig->kernels));
    for (size_t i = 0; i < instance->launch_count; i++) {
        struct ts_ocl_kernel_info info = {0};
        rig->kernels[i] =
            ts_ocl_kernel_open(program->program, instance->launches[i].kernel, &info, fault);
        if (!rig->kernels[i])
            return -1;
        if (i == 0) {
            geometry->local_bytes_reported = info.local_bytes;
            geometry->work_group_limit = info.work_group_limit;
            geometry->preferred_multiple = info.preferred_multiple;
            geometry->private_bytes = info.private_bytes;
        }
        if (check_args(instance, &instance->launches[i], rig->kernels[i], info.arg_count, fault) <
            0)
            return -1;
        if (check_kernel(rig->bench, instance, &instance->launches[i], &info, geometry, fault) < 0)
            return -1;
    }
    return 0;
}

static int open_buffers(struct ts_rig *rig, struct ts_fault *fault)
{
    const struct ts_instance *instance = rig->instance;

    rig->buffers = ts_alloc(instance->arg_count, sizeof(*rig->buffers));
    rig->start = ts_alloc(instance->arg_count, sizeof(*rig->start));
    rig->bound = ts_alloc(instance->arg_count, sizeof(*rig->bound));
    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i];
        rig->bound[i] = i;
        if (arg->kind == TS_ARG_SCALAR || arg->kind == TS_ARG_LOCAL)
            continue;
        rig->buffers[i] = ts_bench_take(rig->bench, arg, fault);
        if (!rig->buffers[i])
            return -1;
        if (arg->kind != TS_ARG_INOUT)
            continue;
        rig->restores = true;
        rig->start[i] =
            ts_ocl_buffer_open(rig->bench->ocl, ts_job_arg_bytes(arg), !rig->bench->plain, fault);
        if (!rig->start[i])
            return -1;
    }
    return 0;
}

struct ts_rig *ts_rig_open(struct ts_bench *bench, const struct ts_code *code,
                           const struct ts_instance *instance, struct ts_rig_facts *facts,
                           struct ts_fault *fault)
{
    struct ts_rig *rig = ts_alloc(1, sizeof(*rig));
    const struct ts_kept_program *program;
    struct ts_rig_facts unused;
    struct ts_rig_facts *to = facts ? facts : &unused;

    ts_rig_facts_init(&unused);
    rig->bench = bench;
    rig->instance = instance;
    rig->set_count = 1;
    note_launch(&to->geometry, instance);
    if (check_device(bench, instance, fault) < 0)
        goto fail;
    program = ts_bench_program(bench, code, &to->build, fault);
    if (!program || open_kernels(rig, program, &to->geometry, fault) < 0 ||
        open_buffers(rig, fault) < 0)
        goto fail;
    ts_rig_facts_free(&unused);
    return rig;
fail:
    ts_rig_facts_free(&unused);
    ts_rig_close(rig);
    return NULL;
}

void ts_rig_close(struct ts_rig *rig)
{
    if (!rig)
        return;
    ts_rig_end_rotation(rig);
    for (size_t i = 0; i < rig->instance->launch_count && rig->kernels; i++)
        ts_ocl_kernel_close(rig->kernels[i]);
    for (size_t i = 0; i < rig->instance->arg_count && rig->buffers; i++) {
        ts_bench_give(rig->bench, rig->buffers[i]);
        ts_ocl_buffer_close(rig->start[i]);
    }
    free(rig->kernels);
    free(rig->buffers);
    free(rig->start);
    free(rig->bound);
    free(rig);
}

/* ---- state ---- */

static int upload_arg(struct ts_rig *rig, size_t i, struct ts_fault *fault)
{
    struct ts_pool_buffer *home = rig->buffers[i];
    const char *key = rig->inputs->key;

    if (!rig->inputs->data[i]) {
        free(home->holds);
        home->holds = NULL;
        return 0;
    }
    if (!home->holds || strcmp(home->holds, key) != 0) {
        if (ts_ocl_buffer_write(home->buffer, rig->inputs->data[i], fault) < 0)
            return -1;
        free(home->holds);
        home->holds = ts_strdup(key);
    }
    if (!rig->start[i])
        return 0;
    free(home->holds); /* the kernel changes it */
    home->holds = NULL;
    return ts_ocl_buffer_write(rig->start[i], rig->inputs->data[i], fault);
}

int ts_rig_upload(struct ts_rig *rig, const struct ts_inputs *inputs, struct ts_fault *fault)
{
    rig->inputs = inputs;
    for (size_t i = 0; i < rig->instance->arg_count; i++) {
        rig->bound[i] = i;
        if (rig->buffers[i] && upload_arg(rig, i, fault) < 0)
            return -1;
    }
    return 0;
}

int ts_rig_poison(struct ts_rig *rig, int round, struct ts_fault *fault)
{
    for (size_t i = 0; i < rig->instance->arg_count; i++) {
        const struct ts_job_arg *arg = &rig->instance->args[i];
        struct ts_pool_buffer *home = rig->buffers[i] ? rig->buffers[rig->bound[i]] : NULL;
        unsigned char pattern[8];

        if (!home || (arg->kind != TS_ARG_OUT && arg->kind != TS_ARG_SCRATCH))
            continue;
        ts_poison_fill(arg->type, pattern, 1, round);
        free(home->holds);
        home->holds = NULL;
        if (ts_ocl_buffer_fill(home->buffer, pattern, ts_elem_table[arg->type].bytes, fault) < 0)
            return -1;
    }
    return 0;
}

void ts_rig_swap(struct ts_rig *rig)
{
    for (size_t i = 0; i < rig->instance->swap_count; i++) {
        size_t a = rig->instance->swaps[i].a, b = rig->instance->swaps[i].b, home = rig->bound[a];
        rig->bound[a] = rig->bound[b];
        rig->bound[b] = home;
    }
}

int ts_rig_read(struct ts_rig *rig, size_t arg, void *data, struct ts_fault *fault)
{
    return ts_ocl_buffer_read(rig->buffers[rig->bound[arg]]->buffer, data, fault);
}

int ts_rig_check_guards(struct ts_rig *rig, struct ts_fault *fault)
{
    for (size_t i = 0; i < rig->instance->arg_count; i++) {
        if (rig->buffers[i] && ts_ocl_guard_check(rig->buffers[rig->bound[i]]->buffer,
                                                  rig->instance->args[i].name, fault) < 0)
            return -1;
    }
    return 0;
}
