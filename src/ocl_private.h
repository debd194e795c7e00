/* ocl_private.h: what the ocl*.c files share. Included by them alone. */
#ifndef TS_OCL_PRIVATE_H
#define TS_OCL_PRIVATE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "ocl.h"

struct ts_ocl {
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    bool profiling;
    struct ts_device device;
    size_t guard_bytes;        /* a multiple of the device's sub-buffer alignment */
    unsigned char *guard;      /* guard_bytes as ts_guard_fill wrote them */
    unsigned char *guard_seen; /* room to read one guard */
    cl_event *slots;           /* TS_OCL_SLOTS; NULL where empty */
};

struct ts_ocl_program {
    struct ts_ocl *ocl;
    cl_program program;
};

struct ts_ocl_kernel {
    struct ts_ocl *ocl;
    cl_kernel kernel;
    char *name;
    int64_t work_group_limit; /* -1 unknown */
};

struct ts_ocl_buffer {
    struct ts_ocl *ocl;
    cl_mem whole, data; /* the same one when there are no guards */
    size_t bytes;
};

/* A device query as a new string, "" on failure. */
char *ts_ocl_platform_text(cl_platform_id platform, cl_platform_info what);
char *ts_ocl_device_text(cl_device_id device, cl_device_info what);
/* Fills facts of one device. ordinal: how many devices of the same platform, name and driver
 * precede. */
void ts_ocl_device_facts(struct ts_device *device, cl_platform_id platform, int platform_index,
                         cl_device_id id, int device_index);

/* Releases the events of all slots. */
void ts_ocl_forget_events(struct ts_ocl *ocl);

/* Turns an OpenCL error of `call` into a fault; returns -1. */
int ts_ocl_fault(struct ts_fault *fault, const char *call, cl_int code);

#endif
