/* ocl_launch.c: arguments, launches, events. */
#include <string.h>

#include "ocl_private.h"

int ts_ocl_arg_buffer(struct ts_ocl_kernel *kernel, unsigned index, struct ts_ocl_buffer *buffer,
                      struct ts_fault *fault)
{
    return ts_ocl_arg_value(kernel, index, &buffer->data, sizeof(buffer->data), fault);
}

/* A kernel that takes other arguments than the spec says is the spec's fault, not the device's. */
static int arg_fault(struct ts_ocl_kernel *kernel, unsigned index, cl_int code,
                     struct ts_fault *fault)
{
    switch (code) {
    case CL_INVALID_ARG_INDEX:
        return ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_ARG_INDEX",
                            "kernel \"%s\" takes no argument %u", kernel->name, index);
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_ARG_VALUE:
        return ts_fault_set(fault, TS_LAUNCH_FAILED, ts_ocl_error_name(code),
                            "argument %u of kernel \"%s\" has another type or size", index,
                            kernel->name);
    default:
        return ts_ocl_fault(fault, "clSetKernelArg", code);
    }
}

int ts_ocl_arg_value(struct ts_ocl_kernel *kernel, unsigned index, const void *data, size_t bytes,
                     struct ts_fault *fault)
{
    cl_int code = clSetKernelArg(kernel->kernel, index, bytes, data);

    return code == CL_SUCCESS ? 0 : arg_fault(kernel, index, code, fault);
}

/* Reads one legal geometry refused at launch as what it is: a limit of this kernel on this device,
 * or of its resources; only the rest is a failure. */
static int launch_fault(struct ts_ocl_kernel *kernel, int64_t work_items, cl_int code,
                        struct ts_fault *fault)
{
    bool beyond = kernel->work_group_limit >= 0 && work_items > kernel->work_group_limit;

    if ((code == CL_INVALID_WORK_GROUP_SIZE || code == CL_OUT_OF_RESOURCES) && beyond) {
        return ts_fault_set(fault, TS_SKIPPED, "kernel-work-group-size",
                            "work-group of %lld work-items, the kernel allows %lld on this device",
                            (long long)work_items, (long long)kernel->work_group_limit);
    }
    if (code == CL_OUT_OF_RESOURCES) {
        fault->retire = true;
        return ts_fault_set(fault, TS_SKIPPED, "resources",
                            "the device has not the resources for work-groups of %lld work-items "
                            "(CL_OUT_OF_RESOURCES)",
                            (long long)work_items);
    }
    return ts_ocl_fault(fault, "clEnqueueNDRangeKernel", code);
}

int ts_ocl_launch(struct ts_ocl *ocl, struct ts_ocl_kernel *kernel, int dims, const int64_t *global,
                  const int64_t *local, int slot, struct ts_fault *fault)
{
    size_t g[3] = {1, 1, 1}, l[3] = {1, 1, 1};
    int64_t work_items = 1;
    cl_event *event = NULL;
    cl_int code;

    for (int i = 0; i < dims; i++) {
        g[i] = (size_t)global[i];
        l[i] = (size_t)local[i];
        work_items *= local[i];
    }
    if (slot >= 0) {
        event = &ocl->slots[slot];
        if (*event)
            clReleaseEvent(*event);
        *event = NULL;
    }
    code = clEnqueueNDRangeKernel(ocl->queue, kernel->kernel, (cl_uint)dims, NULL, g, l, 0, NULL,
                                  event);
    if (code != CL_SUCCESS) {
        if (event)
            *event = NULL;
        return launch_fault(kernel, work_items, code, fault);
    }
    return 0;
}

/* What became of a launch that clFinish has waited for: a command that failed on the device has a
 * negative status, and clFinish need not tell. */
static int check_event(cl_event event, struct ts_fault *fault)
{
    cl_int status = CL_COMPLETE;
    cl_int code =
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);

    if (code != CL_SUCCESS)
        return ts_ocl_fault(fault, "clGetEventInfo", code);
    return status < 0 ? ts_ocl_fault(fault, "kernel execution", status) : 0;
}

void ts_ocl_forget_events(struct ts_ocl *ocl)
{
    for (int i = 0; i < TS_OCL_SLOTS; i++) {
        if (ocl->slots[i])
            clReleaseEvent(ocl->slots[i]);
        ocl->slots[i] = NULL;
    }
}

int ts_ocl_finish(struct ts_ocl *ocl, struct ts_fault *fault)
{
    cl_int code = clFinish(ocl->queue);

    if (code != CL_SUCCESS)
        return ts_ocl_fault(fault, "clFinish", code);
    for (int i = 0; i < TS_OCL_SLOTS && ocl->slots[i]; i++) {
        if (check_event(ocl->slots[i], fault) < 0) {
            ts_ocl_forget_events(ocl); /* else the next kernel's finish would find it again */
            return -1;
        }
    }
    return 0;
}

static bool read_stamp(cl_event event, cl_profiling_info what, uint64_t *out)
{
    /* A driver that answers success and writes nothing leaves this value. */
    const cl_ulong untouched = 0xdeadbeefcafef00du;
    cl_ulong value = untouched;

    if (clGetEventProfilingInfo(event, what, sizeof(value), &value, NULL) != CL_SUCCESS)
        return false;
    *out = value;
    return value != untouched;
}

struct ts_stamp ts_ocl_stamp(struct ts_ocl *ocl, int slot)
{
    struct ts_stamp stamp = {0};
    cl_event event = ocl->slots[slot];

    if (!event)
        return stamp;
    if (ocl->profiling) {
        stamp.have = read_stamp(event, CL_PROFILING_COMMAND_QUEUED, &stamp.queued) &&
                     read_stamp(event, CL_PROFILING_COMMAND_SUBMIT, &stamp.submit) &&
                     read_stamp(event, CL_PROFILING_COMMAND_START, &stamp.start) &&
                     read_stamp(event, CL_PROFILING_COMMAND_END, &stamp.end);
    }
    clReleaseEvent(event);
    ocl->slots[slot] = NULL;
    return stamp;
}
