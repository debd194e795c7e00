/* ocl.c: platforms, devices, context and queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "ocl_private.h"
#include "prove.h"

/* Wide enough that a stencil that runs off an end by a few rows is still caught. */
enum { GUARD_BYTES = 64 * 1024 };

/* ---- queries ---- */

char *ts_ocl_platform_text(cl_platform_id platform, cl_platform_info what)
{
    size_t size = 0;
    char *text;

    if (clGetPlatformInfo(platform, what, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return ts_strdup("");
    text = ts_alloc(size + 1, 1);
    if (clGetPlatformInfo(platform, what, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

char *ts_ocl_device_text(cl_device_id device, cl_device_info what)
{
    size_t size = 0;
    char *text;

    if (clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return ts_strdup("");
    text = ts_alloc(size + 1, 1);
    if (clGetDeviceInfo(device, what, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

/* The query's type decides how many of the eight bytes it writes; little-endian hosts only matter
 * for the union below, so every width is read through its own member. */
static int64_t device_number(cl_device_id device, cl_device_info what, size_t bytes)
{
    union {
        cl_uint u32;
        cl_ulong u64;
    } value;

    memset(&value, 0, sizeof(value));
    if (clGetDeviceInfo(device, what, bytes, &value, NULL) != CL_SUCCESS)
        return -1;
    if (bytes == sizeof(value.u32))
        return (int64_t)value.u32;
    return value.u64 > (cl_ulong)INT64_MAX ? INT64_MAX : (int64_t)value.u64;
}

static const char *device_type(cl_device_id device)
{
    cl_device_type type = 0;

    if (clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL) != CL_SUCCESS)
        return "other";
    if (type & CL_DEVICE_TYPE_GPU)
        return "gpu";
    if (type & CL_DEVICE_TYPE_CPU)
        return "cpu";
    if (type & CL_DEVICE_TYPE_ACCELERATOR)
        return "accelerator";
    return "other";
}

/* CL_DEVICE_COMPUTE_CAPABILITY_{MAJOR,MINOR}_NV of cl_nv_device_attribute_query. */
enum { NV_MAJOR = 0x4000, NV_MINOR = 0x4001 };

static char *device_family(const struct ts_device *device, cl_device_id id)
{
    cl_uint major = 0, minor = 0;

    if (strstr(device->extensions, "cl_nv_device_attribute_query") &&
        clGetDeviceInfo(id, NV_MAJOR, sizeof(major), &major, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(id, NV_MINOR, sizeof(minor), &minor, NULL) == CL_SUCCESS)
        return ts_printf("nvidia:sm_%u%u", major, minor);
    return ts_printf("%s:%s", device->platform_name, device->name);
}

void ts_ocl_device_facts(struct ts_device *device, cl_platform_id platform, int platform_index,
                         cl_device_id id, int device_index)
{
    size_t sizes[8] = {0}, dims;

    memset(device, 0, sizeof(*device));
    device->platform_index = platform_index;
    device->device_index = device_index;
    device->platform_name = ts_ocl_platform_text(platform, CL_PLATFORM_NAME);
    device->platform_version = ts_ocl_platform_text(platform, CL_PLATFORM_VERSION);
    device->name = ts_ocl_device_text(id, CL_DEVICE_NAME);
    if (!device->name[0]) { /* not told, or told to be nothing: it is listed all the same */
        free(device->name);
        device->name = ts_strdup("unnamed device");
    }
    device->vendor = ts_ocl_device_text(id, CL_DEVICE_VENDOR);
    device->driver = ts_ocl_device_text(id, CL_DRIVER_VERSION);
    device->version = ts_ocl_device_text(id, CL_DEVICE_VERSION);
    device->extensions = ts_ocl_device_text(id, CL_DEVICE_EXTENSIONS);
    device->type = ts_strdup(device_type(id));
    device->family = device_family(device, id);
#define X(field, type)                                                                             \
    device->number[TS_DEVICE_##field] = device_number(id, CL_DEVICE_##field, sizeof(type));
    TS_DEVICE_FIELDS(X)
#undef X
    for (dims = 0; dims < 3; dims++)
        device->max_work_item_sizes[dims] = -1;
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL) ==
        CL_SUCCESS) {
        for (dims = 0; dims < 3; dims++)
            device->max_work_item_sizes[dims] = (int64_t)sizes[dims];
    }
}

/* ---- listing ---- */

/* Stable over runs and over the order of platforms; equal devices of a platform are told apart by
 * their order. */
static void name_devices(struct ts_ocl_platform *platform)
{
    for (size_t i = 0; i < platform->device_count; i++) {
        struct ts_device *device = &platform->devices[i];
        int ordinal = 0;
        char *text, *digest;

        for (size_t j = 0; j < i; j++) {
            const struct ts_device *other = &platform->devices[j];
            ordinal += !strcmp(other->name, device->name) && !strcmp(other->driver, device->driver);
        }
        text = ts_printf("%s\n%s\n%s\n%d", device->platform_name, device->name, device->driver,
                         ordinal);
        digest = ts_digest(text, strlen(text));
        device->id = ts_strdup(strchr(digest, ':') ? strchr(digest, ':') + 1 : digest);
        free(digest);
        free(text);
    }
}

static void list_platform(struct ts_ocl_platform *out, cl_platform_id platform, int index)
{
    cl_uint count = 0;
    cl_device_id *ids;
    cl_int code;

    memset(out, 0, sizeof(*out));
    out->index = index;
    out->name = ts_ocl_platform_text(platform, CL_PLATFORM_NAME);
    out->version = ts_ocl_platform_text(platform, CL_PLATFORM_VERSION);
    code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (code == CL_SUCCESS && count == 0)
        code = CL_DEVICE_NOT_FOUND;
    if (code != CL_SUCCESS) {
        out->fault = ts_printf("clGetDeviceIDs: %s (%d)", ts_ocl_error_name(code), code);
        return;
    }
    ids = ts_alloc(count, sizeof(*ids));
    code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL);
    if (code != CL_SUCCESS) {
        out->fault = ts_printf("clGetDeviceIDs: %s (%d)", ts_ocl_error_name(code), code);
    } else {
        out->devices = ts_alloc(count, sizeof(*out->devices));
        out->device_count = count;
        for (cl_uint i = 0; i < count; i++)
            ts_ocl_device_facts(&out->devices[i], platform, index, ids[i], (int)i);
        name_devices(out);
    }
    free(ids);
}

static cl_int all_platforms(cl_platform_id **ids, cl_uint *count)
{
    cl_int code = clGetPlatformIDs(0, NULL, count);

    *ids = NULL;
    if (code == CL_SUCCESS && *count == 0)
        code = -1001;
    if (code != CL_SUCCESS)
        return code;
    *ids = ts_alloc(*count, sizeof(**ids));
    return clGetPlatformIDs(*count, *ids, NULL);
}

void ts_ocl_platforms(struct ts_ocl_platforms *all)
{
    cl_platform_id *ids = NULL;
    cl_uint count = 0;
    cl_int code = all_platforms(&ids, &count);

    memset(all, 0, sizeof(*all));
    if (code != CL_SUCCESS) {
        all->fault = ts_printf("clGetPlatformIDs: %s (%d)", ts_ocl_error_name(code), code);
    } else {
        all->items = ts_alloc(count, sizeof(*all->items));
        all->count = count;
        for (cl_uint i = 0; i < count; i++)
            list_platform(&all->items[i], ids[i], (int)i);
    }
    free(ids);
}

static void free_platform(struct ts_ocl_platform *platform)
{
    for (size_t i = 0; i < platform->device_count; i++)
        ts_device_free(&platform->devices[i]);
    free(platform->devices);
    free(platform->name);
    free(platform->version);
    free(platform->fault);
}

void ts_ocl_platforms_free(struct ts_ocl_platforms *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_platform(&all->items[i]);
    free(all->items);
    free(all->fault);
    memset(all, 0, sizeof(*all));
}

/* ---- opening ---- */

static void choose_guard(struct ts_ocl *ocl)
{
    int64_t align_bits = ocl->device.number[TS_DEVICE_MEM_BASE_ADDR_ALIGN];
    size_t align = align_bits > 8 ? (size_t)align_bits / 8 : 1;

    ocl->guard_bytes = ((size_t)GUARD_BYTES + align - 1) / align * align;
    ocl->guard = ts_alloc(ocl->guard_bytes, 1);
    ocl->guard_seen = ts_alloc(ocl->guard_bytes, 1);
    ts_guard_fill(ocl->guard, ocl->guard_bytes);
}

static int find_device(struct ts_ocl *ocl, int platform_index, int device_index,
                       struct ts_fault *fault)
{
    cl_platform_id *ids = NULL;
    cl_device_id *devices = NULL;
    cl_uint count = 0, device_count = 0;
    cl_int code = all_platforms(&ids, &count);
    int result = -1;

    if (code != CL_SUCCESS) {
        ts_ocl_fault(fault, "clGetPlatformIDs", code);
        goto out;
    }
    if (platform_index < 0 || (cl_uint)platform_index >= count) {
        ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_PLATFORM", "no platform %d",
                     platform_index);
        goto out;
    }
    ocl->platform = ids[platform_index];
    code = clGetDeviceIDs(ocl->platform, CL_DEVICE_TYPE_ALL, 0, NULL, &device_count);
    if (code != CL_SUCCESS) {
        ts_ocl_fault(fault, "clGetDeviceIDs", code);
        goto out;
    }
    if (device_index < 0 || (cl_uint)device_index >= device_count) {
        ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_DEVICE", "no device %d:%d",
                     platform_index, device_index);
        goto out;
    }
    devices = ts_alloc(device_count, sizeof(*devices));
    code = clGetDeviceIDs(ocl->platform, CL_DEVICE_TYPE_ALL, device_count, devices, NULL);
    if (code != CL_SUCCESS) {
        ts_ocl_fault(fault, "clGetDeviceIDs", code);
        goto out;
    }
    ocl->id = devices[device_index];
    result = 0;
out:
    free(devices);
    free(ids);
    return result;
}

static int make_queue(struct ts_ocl *ocl, struct ts_fault *fault)
{
    cl_int code;

    ocl->context = clCreateContext(NULL, 1, &ocl->id, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return ts_ocl_fault(fault, "clCreateContext", code);
    ocl->queue = clCreateCommandQueue(ocl->context, ocl->id, CL_QUEUE_PROFILING_ENABLE, &code);
    ocl->profiling = code == CL_SUCCESS;
    if (!ocl->profiling)
        ocl->queue = clCreateCommandQueue(ocl->context, ocl->id, 0, &code);
    if (code != CL_SUCCESS)
        return ts_ocl_fault(fault, "clCreateCommandQueue", code);
    return 0;
}

struct ts_ocl *ts_ocl_open(int platform_index, int device_index, struct ts_fault *fault)
{
    struct ts_ocl *ocl = ts_alloc(1, sizeof(*ocl));
    struct ts_ocl_platform listed = {0};

    ocl->slots = ts_alloc(TS_OCL_SLOTS, sizeof(*ocl->slots));
    if (find_device(ocl, platform_index, device_index, fault) < 0 || make_queue(ocl, fault) < 0)
        goto fail;
    /* Through the list, so that the id's ordinal is the one that `devices` printed. */
    list_platform(&listed, ocl->platform, platform_index);
    if ((size_t)device_index >= listed.device_count) {
        ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_DEVICE", "device %d:%d went away%s%s",
                     platform_index, device_index, listed.fault ? ": " : "",
                     listed.fault ? listed.fault : "");
        goto fail;
    }
    ocl->device = listed.devices[device_index];
    memset(&listed.devices[device_index], 0, sizeof(listed.devices[device_index]));
    choose_guard(ocl);
    goto out;
fail:
    ts_ocl_close(ocl);
    ocl = NULL;
out:
    free_platform(&listed);
    return ocl;
}

void ts_ocl_close(struct ts_ocl *ocl)
{
    if (!ocl)
        return;
    ts_ocl_forget_events(ocl);
    if (ocl->queue)
        clReleaseCommandQueue(ocl->queue);
    if (ocl->context)
        clReleaseContext(ocl->context);
    ts_device_free(&ocl->device);
    free(ocl->guard);
    free(ocl->guard_seen);
    free(ocl->slots);
    free(ocl);
}

const struct ts_device *ts_ocl_device(const struct ts_ocl *ocl)
{
    return &ocl->device;
}
