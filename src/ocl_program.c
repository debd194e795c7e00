/* ocl_program.c: building, and what a kernel tells of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "ocl_private.h"

static char *build_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    char *log, *clean;

    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size == 0)
        return ts_strdup("");
    log = ts_alloc(size + 1, 1);
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    clean = ts_utf8_clean(log, strlen(log), TS_LOG_BYTES);
    free(log);
    return clean;
}

/* A driver that is asked for an option it does not know answers one of these, or fails the build.
 */
static int build_fault(cl_int code, const char *options, struct ts_fault *fault)
{
    switch (code) {
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_COMPILER_OPTIONS:
    case CL_INVALID_LINKER_OPTIONS:
        return ts_fault_set(fault, TS_BUILD_FAILED, "options",
                            "the compiler refuses the options \"%s\"", options);
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
        return ts_fault_set(fault, TS_BUILD_FAILED, "compiler", "the source does not compile");
    default:
        fault->retire = true;
        return ts_fault_set(fault, TS_BUILD_FAILED, "compiler", "clBuildProgram: %s",
                            ts_ocl_error_name(code));
    }
}

struct ts_ocl_program *ts_ocl_build(struct ts_ocl *ocl, const char *text, const char *options,
                                    int64_t *build_ns, char **log, struct ts_fault *fault)
{
    size_t length = strlen(text);
    struct ts_ocl_program *program = NULL;
    cl_program made;
    cl_int code;
    int64_t begin = ts_now_ns();

    *build_ns = -1;
    *log = NULL;
    made = clCreateProgramWithSource(ocl->context, 1, &text, &length, &code);
    if (code != CL_SUCCESS) {
        *log = ts_strdup("");
        ts_ocl_fault(fault, "clCreateProgramWithSource", code);
        return NULL;
    }
    code = clBuildProgram(made, 1, &ocl->id, options, NULL, NULL);
    *build_ns = ts_now_ns() - begin;
    *log = build_log(made, ocl->id);
    if (code != CL_SUCCESS) {
        build_fault(code, options, fault);
        clReleaseProgram(made);
        return NULL;
    }
    program = ts_alloc(1, sizeof(*program));
    program->ocl = ocl;
    program->program = made;
    return program;
}

char *ts_ocl_binary_digest(struct ts_ocl *ocl, const char *text, const char *options,
                           struct ts_fault *fault)
{
    int64_t build_ns;
    size_t size = 0;
    char *log = NULL, *digest = NULL;
    unsigned char *binary = NULL;
    struct ts_ocl_program *program = ts_ocl_build(ocl, text, options, &build_ns, &log, fault);
    cl_int code;

    free(log);
    if (!program)
        return NULL;
    /* One device in the context, so one size and one binary. */
    code = clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
    if (code == CL_SUCCESS && size > 0) {
        binary = ts_alloc(size, 1);
        code =
            clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL);
    }
    if (code != CL_SUCCESS)
        ts_ocl_fault(fault, "clGetProgramInfo", code);
    else if (size == 0)
        ts_fault_set(fault, TS_SKIPPED, "feature", "the driver gives no binary of a program");
    else
        digest = ts_digest(binary, size);
    free(binary);
    ts_ocl_program_close(program);
    return digest;
}

void ts_ocl_program_close(struct ts_ocl_program *program)
{
    if (!program)
        return;
    clReleaseProgram(program->program);
    free(program);
}

static int64_t kernel_size(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what)
{
    size_t value = 0;

    if (clGetKernelWorkGroupInfo(kernel, device, what, sizeof(value), &value, NULL) != CL_SUCCESS)
        return -1;
    return (int64_t)value;
}

static int64_t kernel_ulong(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what)
{
    cl_ulong value = 0;

    if (clGetKernelWorkGroupInfo(kernel, device, what, sizeof(value), &value, NULL) != CL_SUCCESS)
        return -1;
    return (int64_t)value;
}

static void kernel_info(cl_kernel kernel, cl_device_id device, struct ts_ocl_kernel_info *info)
{
    size_t required[3] = {0, 0, 0};
    cl_uint args = 0;

    info->work_group_limit = kernel_size(kernel, device, CL_KERNEL_WORK_GROUP_SIZE);
    info->preferred_multiple =
        kernel_size(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    info->local_bytes = kernel_ulong(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE);
    info->private_bytes = kernel_ulong(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE);
    if (clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                 sizeof(required), required, NULL) != CL_SUCCESS)
        memset(required, 0, sizeof(required));
    for (int i = 0; i < 3; i++)
        info->required[i] = (int64_t)required[i];
    info->arg_count = -1;
    if (clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(args), &args, NULL) == CL_SUCCESS)
        info->arg_count = (int64_t)args;
}

struct ts_ocl_kernel *ts_ocl_kernel_open(struct ts_ocl_program *program, const char *name,
                                         struct ts_ocl_kernel_info *info, struct ts_fault *fault)
{
    struct ts_ocl_kernel *kernel;
    cl_int code;
    cl_kernel made = clCreateKernel(program->program, name, &code);

    if (code == CL_INVALID_KERNEL_NAME || code == CL_INVALID_PROGRAM_EXECUTABLE ||
        (code == CL_SUCCESS && !made)) {
        ts_fault_set(fault, TS_BUILD_FAILED, "no-kernel", "the source has no kernel \"%s\"", name);
        return NULL;
    }
    if (code != CL_SUCCESS) {
        ts_ocl_fault(fault, "clCreateKernel", code);
        return NULL;
    }
    kernel = ts_alloc(1, sizeof(*kernel));
    kernel->ocl = program->ocl;
    kernel->kernel = made;
    kernel->name = ts_strdup(name);
    kernel_info(made, program->ocl->id, info);
    kernel->work_group_limit = info->work_group_limit;
    return kernel;
}

void ts_ocl_arg_type(struct ts_ocl_kernel *kernel, unsigned index, char *type, size_t room)
{
    memset(type, 0, room);
    if (clGetKernelArgInfo(kernel->kernel, index, CL_KERNEL_ARG_TYPE_NAME, room - 1, type, NULL) !=
        CL_SUCCESS)
        type[0] = '\0';
}

void ts_ocl_kernel_close(struct ts_ocl_kernel *kernel)
{
    if (!kernel)
        return;
    clReleaseKernel(kernel->kernel);
    free(kernel->name);
    free(kernel);
}
