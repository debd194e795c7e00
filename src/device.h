/* device.h: what is known of a device, from one field list. Floor 1: the worker's ocl fills it
 * through OpenCL, the parent reads it from the protocol; expressions see every number as
 * DEVICE_<name>.
 *
 * A new fact is one row of TS_DEVICE_FIELDS. */
#ifndef TS_DEVICE_H
#define TS_DEVICE_H

#include "elem.h"
#include "json.h"

/* X(OpenCL name without CL_DEVICE_, C type of the query) */
#define TS_DEVICE_FIELDS(X)                                                                        \
    X(MAX_COMPUTE_UNITS, cl_uint)                                                                  \
    X(MAX_CLOCK_FREQUENCY, cl_uint)                                                                \
    X(MAX_WORK_GROUP_SIZE, size_t)                                                                 \
    X(MAX_WORK_ITEM_DIMENSIONS, cl_uint)                                                           \
    X(LOCAL_MEM_TYPE, cl_uint)                                                                     \
    X(LOCAL_MEM_SIZE, cl_ulong)                                                                    \
    X(GLOBAL_MEM_SIZE, cl_ulong)                                                                   \
    X(GLOBAL_MEM_CACHE_SIZE, cl_ulong)                                                             \
    X(GLOBAL_MEM_CACHELINE_SIZE, cl_uint)                                                          \
    X(MAX_MEM_ALLOC_SIZE, cl_ulong)                                                                \
    X(MAX_CONSTANT_BUFFER_SIZE, cl_ulong)                                                          \
    X(MEM_BASE_ADDR_ALIGN, cl_uint)                                                                \
    X(PROFILING_TIMER_RESOLUTION, size_t)                                                          \
    X(PREFERRED_VECTOR_WIDTH_FLOAT, cl_uint)                                                       \
    X(NATIVE_VECTOR_WIDTH_FLOAT, cl_uint)                                                          \
    X(NATIVE_VECTOR_WIDTH_DOUBLE, cl_uint)                                                         \
    X(ADDRESS_BITS, cl_uint)                                                                       \
    X(HOST_UNIFIED_MEMORY, cl_bool)                                                                \
    X(ERROR_CORRECTION_SUPPORT, cl_bool)

enum ts_device_field {
#define X(name, type) TS_DEVICE_##name,
    TS_DEVICE_FIELDS(X)
#undef X
        TS_DEVICE_FIELD_COUNT
};

/* CL_LOCAL (1): dedicated local memory; CL_GLOBAL (2): local memory is global memory; CL_NONE (0).
 */
enum ts_local_mem_type { TS_LOCAL_MEM_NONE = 0, TS_LOCAL_MEM_LOCAL = 1, TS_LOCAL_MEM_GLOBAL = 2 };

struct ts_device {
    int platform_index, device_index; /* position as `devices` prints it, P:D */
    char *platform_name, *platform_version;
    char *name, *vendor, *driver, *version, *type; /* type: "cpu" "gpu" "accelerator" "other" */
    char *extensions;                              /* separated by single spaces */
    char *family;                          /* "nvidia:sm_90", "pocl:cpu-...", else the name */
    char *id;                              /* stable: xxh3 over platform, name, driver, ordinal */
    int64_t number[TS_DEVICE_FIELD_COUNT]; /* -1: the query failed */
    int64_t max_work_item_sizes[3];        /* -1: the query failed */
};

void ts_device_free(struct ts_device *device); /* its strings, not the struct */

/* What its local memory is, for people: "dedicated", "global memory (...)", "none", "unknown". */
const char *ts_device_local_memory_words(const struct ts_device *device);

/* {"platform": {...}, "device": {..., "limits": {...}}} and back: the same objects as in results.
 * In "limits" the keys are the fields' names, a failed query is null, LOCAL_MEM_TYPE is "local",
 * "global" or "none", and MAX_WORK_ITEM_SIZES is an array of three; numbers beyond 2^53 are written
 * as 2^53.
 *
 * Back: device is overwritten (not freed first); fields that are absent are "" or -1, except the
 * device's name, which must be there. -1 and exit status 2 naming the place otherwise; device is
 * then empty. */
void ts_device_to_json(const struct ts_device *device, cJSON *into);
int ts_device_from_json(struct ts_device *device, const cJSON *from, struct ts_err *err);

/* A name of an expression: DEVICE_LOCAL_MEM_SIZE, DEVICE_MAX_WORK_ITEM_SIZES_0, ...; false when
 * there is no such fact. device may be NULL: then the name's existence is told and *value is 0.
 * *value is -1 when the device did not tell. */
bool ts_device_fact(const struct ts_device *device, const char *name, int64_t *value);

/* Is this a part of the device's or its platform's name, case ignored? */
bool ts_device_is_named(const struct ts_device *device, const char *part);

/* Why a launch geometry cannot run on the device, before anything is built: returns the reason code
 * ("work-group-size", "work-item-size", "local-memory") and appends the text with its numbers, or
 * NULL when it is admitted. dims 1..3; local[] in work-items; local_bytes -1 when unknown. Unknown
 * limits (-1) admit everything. Dimensions are counted from 0, as OpenCL C does. */
const char *ts_device_refuses(const struct ts_device *device, int dims, const int64_t local[3],
                              int64_t local_bytes, struct ts_text *why);
/* The same for an element type that not every device computes with: "feature", or NULL. A device
 * that told no extensions admits everything. */
const char *ts_device_lacks(const struct ts_device *device, enum ts_elem type, struct ts_text *why);
/* And for an extension by its name. */
const char *ts_device_lacks_extension(const struct ts_device *device, const char *name,
                                      struct ts_text *why);

#endif
