/* faults.c: OpenCL's faults on demand. Preloaded (LD_PRELOAD) it stands between a worker and the
 * OpenCL loader; $TILESWEEP_FAULT says what goes wrong in each process:
 *
 *     fail CALL N CODE      the N-th use of CALL (from 1) returns CODE, or NULL with CODE
 *     hang CALL N ONCE      the N-th use of CALL does not return; ONCE 1: in one process only
 *     stall KERNEL N CALL   after the N-th launch of KERNEL the next use of CALL does not return,
 *                           in one process only
 *     lost N CODE           after the N-th launch everything but releases returns CODE
 *     launch KERNEL CODE    launches of KERNEL return CODE
 *     exit KERNEL STATUS    a launch of KERNEL ends the process
 *     noise KERNEL 0        a launch of KERNEL writes a line into every pipe that is open
 *     events MODE FROM      event times are MODE from the FROM-th reading on: see event_modes
 *     dead KERNEL N CODE    from its N-th launch on KERNEL does nothing; its events' status is CODE
 *     queue                 queues with profiling are refused
 *     name HEX              devices are called by these bytes
 *     log BYTES             compilers say so much, and no text
 *
 * $TILESWEEP_FAULT_SCENE is no fault, but lets a worker come to calls that it makes elsewhere only:
 *
 *     gpu      the device says that it is a GPU: host memory is pinned and mapped
 *     plain    queues with profiling are refused: a second one is made
 *     gone     who has a queue finds no devices any more: queue and context are released
 *
 * Nothing set, or nothing understood: every call goes through, but for one: every device says that
 * it has SMALL_MEMORY at most, so that what measures the memory's speed copies less. The file
 * $TILESWEEP_FAULT_MET is made when a call meets its fault, so that a test knows that it tested
 * something. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define SMALL_MEMORY ((cl_ulong)64 << 20)

static struct {
    char verb[16], word[1024], call[64];
    int at, code;
} fault;
static const char *scene = "";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses, launches, readings;
static bool stalls; /* the next use of fault.call does not return */
static bool queue_made;

__attribute__((constructor)) static void read_fault(void)
{
    const char *text = getenv("TILESWEEP_FAULT");

    if (getenv("TILESWEEP_FAULT_SCENE"))
        scene = getenv("TILESWEEP_FAULT_SCENE");
    if (!text || sscanf(text, "%15s", fault.verb) != 1)
        return;
    if (strcmp(fault.verb, "lost") == 0)
        sscanf(text, "lost %d %d", &fault.at, &fault.code);
    else if (strcmp(fault.verb, "stall") == 0)
        sscanf(text, "stall %1023s %d %63s", fault.word, &fault.at, fault.call);
    else if (strcmp(fault.verb, "launch") == 0 || strcmp(fault.verb, "exit") == 0)
        sscanf(text, "%*s %1023s %d", fault.word, &fault.code);
    else
        sscanf(text, "%*s %1023s %d %d", fault.word, &fault.at, &fault.code);
}

static bool is(const char *verb)
{
    return strcmp(fault.verb, verb) == 0;
}

static bool plays(const char *wanted)
{
    return strcmp(scene, wanted) == 0;
}

/* Returns whether this process is the first. */
static bool tell(void)
{
    const char *path = getenv("TILESWEEP_FAULT_MET");
    int file = path ? open(path, O_CREAT | O_EXCL | O_WRONLY, 0644) : -1;

    if (file >= 0)
        close(file);
    return file >= 0;
}

/* The call's fault, or CL_SUCCESS. */
static cl_int meet(const char *call)
{
    bool mine = (is("fail") || is("hang")) && strcmp(fault.word, call) == 0, now, first = false;
    bool stalled;
    cl_int lost;

    pthread_mutex_lock(&lock);
    now = mine && ++uses == fault.at;
    stalled = stalls && strcmp(fault.call, call) == 0;
    stalls = stalls && !stalled;
    launches += strcmp(call, "clEnqueueNDRangeKernel") == 0;
    lost = is("lost") && launches > fault.at && strncmp(call, "clRelease", 9) != 0 ? fault.code
                                                                                   : CL_SUCCESS;
    pthread_mutex_unlock(&lock);
    if (now || stalled || lost != CL_SUCCESS)
        first = tell();
    while (stalled && first)
        pause();
    if (now && is("hang") && !first && fault.code)
        return CL_SUCCESS;
    while (now && is("hang"))
        pause();
    return now ? fault.code : lost;
}

static void *find(const char *call)
{
    void *real = dlsym(RTLD_NEXT, call);

    if (!real) {
        fprintf(stderr, "faults: no %s\n", call);
        abort();
    }
    return real;
}

/* A call that returns a code. */
#define CODE(call, parameters, arguments)                                                          \
    cl_int call parameters                                                                         \
    {                                                                                              \
        cl_int(*real) parameters;                                                                  \
        cl_int code = meet(#call);                                                                 \
        *(void **)&real = find(#call);                                                             \
        return code != CL_SUCCESS ? code : real arguments;                                         \
    }

/* A call that returns a handle, and its code by the pointer `told`. */
#define HANDLE(type, call, parameters, arguments)                                                  \
    type call parameters                                                                           \
    {                                                                                              \
        type(*real) parameters;                                                                    \
        cl_int code = meet(#call);                                                                 \
        *(void **)&real = find(#call);                                                             \
        if (code == CL_SUCCESS)                                                                    \
            return real arguments;                                                                 \
        if (told)                                                                                  \
            *told = code;                                                                          \
        return NULL;                                                                               \
    }

CODE(clGetPlatformIDs, (cl_uint room, cl_platform_id *ids, cl_uint *count), (room, ids, count))
CODE(clGetPlatformInfo,
     (cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *used),
     (platform, what, size, value, used))
HANDLE(cl_context, clCreateContext,
       (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
        void (*notify)(const char *, const void *, size_t, void *), void *data, cl_int *told),
       (properties, count, devices, notify, data, told))
HANDLE(cl_mem, clCreateBuffer,
       (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *told),
       (context, flags, size, host, told))
HANDLE(cl_mem, clCreateSubBuffer,
       (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
        cl_int *told),
       (buffer, flags, type, info, told))
HANDLE(cl_program, clCreateProgramWithSource,
       (cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *told),
       (context, count, texts, lengths, told))
CODE(clBuildProgram,
     (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
      void (*notify)(cl_program, void *), void *data),
     (program, count, devices, options, notify, data))
HANDLE(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *told),
       (program, name, told))
CODE(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
     (kernel, index, size, value))
CODE(clGetKernelWorkGroupInfo,
     (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
      void *value, size_t *used),
     (kernel, device, what, size, value, used))
CODE(clEnqueueReadBuffer,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *to,
      cl_uint count, const cl_event *wait, cl_event *event),
     (queue, buffer, blocking, offset, size, to, count, wait, event))
CODE(clEnqueueWriteBuffer,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
      const void *from, cl_uint count, const cl_event *wait, cl_event *event),
     (queue, buffer, blocking, offset, size, from, count, wait, event))
CODE(clEnqueueCopyBuffer,
     (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
      size_t size, cl_uint count, const cl_event *wait, cl_event *event),
     (queue, from, to, from_offset, to_offset, size, count, wait, event))
CODE(clEnqueueFillBuffer,
     (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
      size_t offset, size_t size, cl_uint count, const cl_event *wait, cl_event *event),
     (queue, buffer, pattern, pattern_size, offset, size, count, wait, event))
HANDLE(void *, clEnqueueMapBuffer,
       (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
        size_t size, cl_uint count, const cl_event *wait, cl_event *event, cl_int *told),
       (queue, buffer, blocking, flags, offset, size, count, wait, event, told))
CODE(clEnqueueUnmapMemObject,
     (cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint count, const cl_event *wait,
      cl_event *event),
     (queue, buffer, mapped, count, wait, event))
CODE(clGetProgramInfo,
     (cl_program program, cl_program_info what, size_t size, void *value, size_t *used),
     (program, what, size, value, used))
CODE(clGetKernelInfo,
     (cl_kernel kernel, cl_kernel_info what, size_t size, void *value, size_t *used),
     (kernel, what, size, value, used))
CODE(clGetKernelArgInfo,
     (cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t size, void *value,
      size_t *used),
     (kernel, index, what, size, value, used))
CODE(clFinish, (cl_command_queue queue), (queue))
CODE(clReleaseCommandQueue, (cl_command_queue queue), (queue))
CODE(clReleaseContext, (cl_context context), (context))
CODE(clReleaseKernel, (cl_kernel kernel), (kernel))
CODE(clReleaseMemObject, (cl_mem buffer), (buffer))
CODE(clReleaseProgram, (cl_program program), (program))

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *told)
{
    cl_command_queue (*real)(cl_context, cl_device_id, cl_command_queue_properties, cl_int *);
    cl_int code = meet("clCreateCommandQueue");

    *(void **)&real = find("clCreateCommandQueue");
    if ((is("queue") || plays("plain")) && (properties & CL_QUEUE_PROFILING_ENABLE))
        code = CL_INVALID_QUEUE_PROPERTIES;
    queue_made = code == CL_SUCCESS;
    if (code == CL_SUCCESS)
        return real(context, device, properties, told);
    if (told)
        *told = code;
    return NULL;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *ids,
                      cl_uint *count)
{
    cl_int (*real)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);
    cl_int code = meet("clGetDeviceIDs");

    *(void **)&real = find("clGetDeviceIDs");
    if (code == CL_SUCCESS && queue_made && plays("gone"))
        code = CL_DEVICE_NOT_FOUND;
    return code != CL_SUCCESS ? code : real(platform, type, room, ids, count);
}

/* ---- launches ---- */

static bool is_called(cl_kernel kernel, const char *wanted)
{
    char name[256] = "";

    return clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL) ==
               CL_SUCCESS &&
           strcmp(name, wanted) == 0;
}

/* What befalls launches of one kernel. */
static cl_int strike(void)
{
    static const char line[] = "{\"driver\": \"talks where it must not\"}\n";

    tell();
    if (is("exit"))
        _exit(fault.code);
    for (int fd = 3; is("noise") && fd < 64; fd++) {
        struct stat about;
        if (fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode))
            (void)!write(fd, line, sizeof(line) - 1);
    }
    return fault.code;
}

/* ---- launches that the device drops ---- */

static cl_event dead[8192];
static int dead_count, struck;

static bool is_dead(cl_event event, bool forget)
{
    for (int i = 0; i < dead_count; i++) {
        if (dead[i] == event) {
            if (forget)
                dead[i] = dead[--dead_count];
            return true;
        }
    }
    return false;
}

/* Nothing is run, and only the event tells. */
static cl_int drop(cl_command_queue queue, cl_event *event)
{
    tell();
    if (!event)
        return CL_SUCCESS;
    cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, event);
    if (code == CL_SUCCESS && dead_count < (int)(sizeof(dead) / sizeof(dead[0])))
        dead[dead_count++] = *event;
    return code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *used)
{
    cl_int (*real)(cl_event, cl_event_info, size_t, void *, size_t *);
    cl_int code = meet("clGetEventInfo");

    *(void **)&real = find("clGetEventInfo");
    if (code == CL_SUCCESS)
        code = real(event, what, size, value, used);
    if (code == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS && is_dead(event, false))
        *(cl_int *)value = fault.code;
    return code;
}

cl_int clReleaseEvent(cl_event event)
{
    cl_int (*real)(cl_event);
    cl_int code = meet("clReleaseEvent");

    *(void **)&real = find("clReleaseEvent");
    is_dead(event, true);
    return code != CL_SUCCESS ? code : real(event);
}

/* Counts the launches that `stall` is about. */
static void count_stall(void)
{
    static int counted;

    pthread_mutex_lock(&lock);
    stalls = stalls || ++counted == fault.at;
    pthread_mutex_unlock(&lock);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *wait, cl_event *event)
{
    cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    cl_int code = meet("clEnqueueNDRangeKernel");

    *(void **)&real = find("clEnqueueNDRangeKernel");
    if (code == CL_SUCCESS && (is("launch") || is("exit") || is("noise")) &&
        is_called(kernel, fault.word))
        code = strike();
    if (code == CL_SUCCESS && is("stall") && is_called(kernel, fault.word))
        count_stall();
    if (code == CL_SUCCESS && is("dead") && is_called(kernel, fault.word) && ++struck >= fault.at)
        return drop(queue, event);
    return code != CL_SUCCESS
               ? code
               : real(queue, kernel, dims, offset, global, local, count, wait, event);
}

/* ---- build logs ---- */

static cl_int told_log(size_t size, void *value, size_t *used)
{
    static const char piece[] =
        "warning: \xff\xfe caf\xe9 \x1b[31m\x01\n{\"job\":1,\"done\":\"prove\"}\n";
    size_t length = (size_t)atoi(fault.word);
    char *to = value;

    tell();
    if (used)
        *used = length + 1;
    if (to && size < length + 1)
        return CL_INVALID_VALUE;
    for (size_t i = 0; to && i < length; i++)
        to[i] = piece[i % (sizeof(piece) - 1)];
    if (to)
        to[length] = '\0';
    return CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t size, void *value, size_t *used)
{
    cl_int (*real)(cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *);
    cl_int code = meet("clGetProgramBuildInfo");

    *(void **)&real = find("clGetProgramBuildInfo");
    if (code != CL_SUCCESS)
        return code;
    if (is("log") && what == CL_PROGRAM_BUILD_LOG)
        return told_log(size, value, used);
    return real(program, device, what, size, value, used);
}

/* ---- device names ---- */

static cl_int told_name(size_t size, void *value, size_t *used)
{
    size_t length = strlen(fault.word) / 2;
    char *to = value;

    if (used)
        *used = length + 1;
    if (to && size < length + 1)
        return CL_INVALID_VALUE;
    for (size_t i = 0; to && i < length; i++) {
        unsigned byte = 0;
        sscanf(fault.word + 2 * i, "%2x", &byte);
        to[i] = (char)byte;
    }
    if (to)
        to[length] = '\0';
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                       size_t *used)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    cl_int code = meet("clGetDeviceInfo");

    *(void **)&real = find("clGetDeviceInfo");
    if (code != CL_SUCCESS)
        return code;
    if (is("name") && what == CL_DEVICE_NAME)
        return told_name(size, value, used);
    code = real(device, what, size, value, used);
    if (code == CL_SUCCESS && plays("gpu") && what == CL_DEVICE_TYPE && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (code == CL_SUCCESS && value &&
        (what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE) &&
        *(cl_ulong *)value > SMALL_MEMORY)
        *(cl_ulong *)value = SMALL_MEMORY;
    return code;
}

/* ---- event times ---- */

struct times {
    cl_ulong start, end;
};

static void zero(struct times *t)
{
    t->start = t->end = 0;
}

static void reversed(struct times *t)
{
    cl_ulong start = t->start;

    t->start = t->end;
    t->end = start;
}

static void constant(struct times *t)
{
    t->end = t->start + 1000;
}

static void constant_1(struct times *t)
{
    t->end = t->start + 1;
}

static void forever(struct times *t)
{
    t->end = t->start + (1ull << 62);
}

static void coarse(struct times *t)
{
    t->start = t->start / 1000000 * 1000000;
    t->end = t->end / 1000000 * 1000000;
}

static void off_by_20(struct times *t)
{
    t->end = t->start + (t->end - t->start) * 20;
}

static void bimodal(struct times *t)
{
    t->end = t->start + (t->end - t->start) * (readings / 2 % 2 ? 3 : 1);
}

static const struct {
    const char *name;
    void (*change)(struct times *t); /* NULL: told by the code, or by nothing at all */
} event_modes[] = {
    {"unavailable", NULL},    {"untouched", NULL},    {"zero", zero},
    {"reversed", reversed},   {"constant", constant}, {"coarse", coarse},
    {"off_by_20", off_by_20}, {"bimodal", bimodal},   {"constant_1", constant_1},
    {"forever", forever},
};

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                               size_t *used)
{
    cl_int (*real)(cl_event, cl_profiling_info, size_t, void *, size_t *);
    cl_int code = meet("clGetEventProfilingInfo");
    struct times t = {0};

    *(void **)&real = find("clGetEventProfilingInfo");
    if (code != CL_SUCCESS)
        return code;
    if (!is("events") || size < sizeof(cl_ulong))
        return real(event, what, size, value, used);
    readings += what == CL_PROFILING_COMMAND_START || what == CL_PROFILING_COMMAND_END;
    if (readings < fault.at)
        return real(event, what, size, value, used);
    tell();
    if (strcmp(fault.word, "unavailable") == 0)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (strcmp(fault.word, "untouched") == 0)
        return CL_SUCCESS;
    code = real(event, what, size, value, used);
    if (code != CL_SUCCESS)
        return code;
    real(event, CL_PROFILING_COMMAND_START, sizeof(t.start), &t.start, NULL);
    real(event, CL_PROFILING_COMMAND_END, sizeof(t.end), &t.end, NULL);
    for (size_t i = 0; i < sizeof(event_modes) / sizeof(event_modes[0]); i++) {
        if (event_modes[i].change && strcmp(event_modes[i].name, fault.word) == 0)
            event_modes[i].change(&t);
    }
    if (what == CL_PROFILING_COMMAND_START)
        memcpy(value, &t.start, sizeof(t.start));
    else if (what == CL_PROFILING_COMMAND_END)
        memcpy(value, &t.end, sizeof(t.end));
    else if (strcmp(fault.word, "zero") == 0)
        memset(value, 0, sizeof(cl_ulong));
    return CL_SUCCESS;
}
