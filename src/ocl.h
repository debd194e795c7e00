/* ocl.h: everything that touches OpenCL. Floor 2, worker's side only; no OpenCL type is in this
 * header, and no file outside ocl*.c includes <CL/cl.h>.
 *
 * Calling order: ts_ocl_open, then programs, kernels and buffers of it, closed before ts_ocl_close.
 * A fault is told in the words of a row (contract.md section 4), so that callers pass it on as it
 * is. */
#ifndef TS_OCL_H
#define TS_OCL_H

#include "device.h"
#include "elem.h"
#include "measure.h"
#include "row.h"

/* Build logs and talk are cut at this size. */
#define TS_LOG_BYTES (64 * 1024)

/* Why a configuration cannot go on. status TS_OK: no fault. */
struct ts_fault {
    enum ts_status status;
    char code[64];
    char text[512];
    bool retire; /* the device or this process may be stained: start a new worker */
};
/* Returns -1, so that `return ts_fault_set(...)` reads well. The first fault wins. */
int ts_fault_set(struct ts_fault *fault, enum ts_status status, const char *code,
                 const char *format, ...) TS_PRINTF(4, 5);

/* "CL_INVALID_VALUE", or "CL_UNKNOWN_ERROR_-9999". Buffer is static per code; never NULL. */
const char *ts_ocl_error_name(int code);

/* ---- platforms and devices ---- */

struct ts_ocl_platform {
    int index;
    char *name, *version; /* "" when they cannot be asked */
    char *fault;          /* NULL, or why it has no usable device */
    struct ts_device *devices;
    size_t device_count;
};
struct ts_ocl_platforms {
    struct ts_ocl_platform *items;
    size_t count;
    char *fault; /* NULL, or why there is no platform at all */
};
/* Never fails: what goes wrong is told in the faults. Free with ts_ocl_platforms_free. */
void ts_ocl_platforms(struct ts_ocl_platforms *all);
void ts_ocl_platforms_free(struct ts_ocl_platforms *all);

struct ts_ocl;
/* Context and queue (with profiling when the device grants it). NULL with the fault told. */
struct ts_ocl *ts_ocl_open(int platform_index, int device_index, struct ts_fault *fault);
void ts_ocl_close(struct ts_ocl *ocl);
const struct ts_device *ts_ocl_device(const struct ts_ocl *ocl);

/* ---- programs and kernels ---- */

struct ts_ocl_program;
/* build: ns of compiling; log: new string, maybe "" (also on failure). NULL with the fault told
 * (build-failed: compiler, options). */
struct ts_ocl_program *ts_ocl_build(struct ts_ocl *ocl, const char *text, const char *options,
                                    int64_t *build_ns, char **log, struct ts_fault *fault);
/* "xxh3:..." of the device's binary of a program built anew for this, because asking an old PoCL
 * for a program's binary changes the code it runs from then on. NULL with the fault told. */
char *ts_ocl_binary_digest(struct ts_ocl *ocl, const char *text, const char *options,
                           struct ts_fault *fault);
void ts_ocl_program_close(struct ts_ocl_program *program);

struct ts_ocl_kernel_info {
    int64_t work_group_limit, local_bytes, private_bytes, preferred_multiple; /* -1 unknown */
    int64_t required[3]; /* reqd_work_group_size; zeros when there is none */
    int64_t arg_count;   /* -1 unknown */
};
struct ts_ocl_kernel;
/* NULL with the fault told (build-failed: no-kernel). info is asked before arguments are set. */
struct ts_ocl_kernel *ts_ocl_kernel_open(struct ts_ocl_program *program, const char *name,
                                         struct ts_ocl_kernel_info *info, struct ts_fault *fault);
/* The type of an argument in the kernel's own words ("float", "int*"); "" where the driver does not
 * keep them. */
void ts_ocl_arg_type(struct ts_ocl_kernel *kernel, unsigned index, char *type, size_t room);
void ts_ocl_kernel_close(struct ts_ocl_kernel *kernel);

/* ---- buffers ---- */

/* guarded: between two guard zones, the data being a sub-buffer of a larger one, so a write before
 * or after it lands in a guard and not in another buffer. Else plain: the buffer and nothing around
 * it, for devices that watch bounds by themselves (Oclgrind, for which all of a sub-buffer is
 * uninitialised). */
struct ts_ocl_buffer;
struct ts_ocl_buffer *ts_ocl_buffer_open(struct ts_ocl *ocl, int64_t bytes, bool guarded,
                                         struct ts_fault *fault);
void ts_ocl_buffer_close(struct ts_ocl_buffer *buffer);
int64_t ts_ocl_buffer_bytes(const struct ts_ocl_buffer *buffer);
int ts_ocl_buffer_write(struct ts_ocl_buffer *buffer, const void *data, struct ts_fault *fault);
int ts_ocl_buffer_read(struct ts_ocl_buffer *buffer, void *data, struct ts_fault *fault);
/* Host memory to read into. Beside a GPU it is memory that the driver has pinned, where the driver
 * does that: reading into any other is several times slower. NULL when memory is short. */
struct ts_ocl_room;
struct ts_ocl_room *ts_ocl_room_open(struct ts_ocl *ocl, size_t bytes);
void *ts_ocl_room_data(struct ts_ocl_room *room);
size_t ts_ocl_room_bytes(const struct ts_ocl_room *room);
void ts_ocl_room_close(struct ts_ocl_room *room);
/* Repeats a pattern of 1, 2, 4 or 8 bytes over the data. */
int ts_ocl_buffer_fill(struct ts_ocl_buffer *buffer, const void *pattern, size_t pattern_bytes,
                       struct ts_fault *fault);
/* Queues a copy of the whole data (device to device); both of the same size. */
int ts_ocl_buffer_copy(struct ts_ocl_buffer *to, struct ts_ocl_buffer *from,
                       struct ts_fault *fault);
/* 0: intact, or without guards. -1 with `wrong: out-of-bounds` (side, offset in bytes, name) or a
 * device fault. */
int ts_ocl_guard_check(struct ts_ocl_buffer *buffer, const char *name, struct ts_fault *fault);

/* ---- launches ---- */

int ts_ocl_arg_buffer(struct ts_ocl_kernel *kernel, unsigned index, struct ts_ocl_buffer *buffer,
                      struct ts_fault *fault);
/* local memory: data NULL. */
int ts_ocl_arg_value(struct ts_ocl_kernel *kernel, unsigned index, const void *data, size_t bytes,
                     struct ts_fault *fault);
/* Queues a launch; slot >= 0 keeps its event for ts_ocl_finish and ts_ocl_stamp (slots
 * 0..TS_OCL_SLOTS-1, used from 0 on without gaps). local NULL: the driver chooses. */
#define TS_OCL_SLOTS 8192
int ts_ocl_launch(struct ts_ocl *ocl, struct ts_ocl_kernel *kernel, int dims, const int64_t *global,
                  const int64_t *local, int slot, struct ts_fault *fault);
/* Waits for all that is queued; a launch that failed on the device is told here if it has a slot:
 * without its event nobody is told. */
int ts_ocl_finish(struct ts_ocl *ocl, struct ts_fault *fault);
/* Event times of the launch kept in slot, after ts_ocl_finish; forgets the event. */
struct ts_stamp ts_ocl_stamp(struct ts_ocl *ocl, int slot);

#endif
