/* ocl_buffer.c: buffers, between guard zones or plain. */
#include <stdlib.h>
#include <string.h>

#include "ocl_private.h"
#include "prove.h"

static int set_guards(struct ts_ocl_buffer *buffer, struct ts_fault *fault)
{
    struct ts_ocl *ocl = buffer->ocl;
    size_t after = ocl->guard_bytes + buffer->bytes;
    cl_int code = clEnqueueWriteBuffer(ocl->queue, buffer->whole, CL_FALSE, 0, ocl->guard_bytes,
                                       ocl->guard, 0, NULL, NULL);

    if (code == CL_SUCCESS)
        code = clEnqueueWriteBuffer(ocl->queue, buffer->whole, CL_TRUE, after, ocl->guard_bytes,
                                    ocl->guard, 0, NULL, NULL);
    return code == CL_SUCCESS ? 0 : ts_ocl_fault(fault, "clEnqueueWriteBuffer", code);
}

/* The part between the guards, and what the guards must hold ever after. */
static int guard(struct ts_ocl_buffer *buffer, struct ts_fault *fault)
{
    cl_buffer_region region = {buffer->ocl->guard_bytes, buffer->bytes};
    cl_int code;

    buffer->data = clCreateSubBuffer(buffer->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                     &region, &code);
    if (code != CL_SUCCESS)
        return ts_ocl_fault(fault, "clCreateSubBuffer", code);
    return set_guards(buffer, fault);
}

struct ts_ocl_buffer *ts_ocl_buffer_open(struct ts_ocl *ocl, int64_t bytes, bool guarded,
                                         struct ts_fault *fault)
{
    struct ts_ocl_buffer *buffer = ts_alloc(1, sizeof(*buffer));
    int64_t limit = ocl->device.number[TS_DEVICE_MAX_MEM_ALLOC_SIZE];
    int64_t whole = bytes + (guarded ? 2 * (int64_t)ocl->guard_bytes : 0);
    cl_int code;

    buffer->ocl = ocl;
    buffer->bytes = (size_t)bytes;
    if (limit >= 0 && whole > limit) {
        ts_fault_set(fault, TS_SKIPPED, "allocation",
                     "needs a buffer of %lld B, device allows %lld B", (long long)whole,
                     (long long)limit);
        goto fail;
    }
    buffer->whole = clCreateBuffer(ocl->context, CL_MEM_READ_WRITE, (size_t)whole, NULL, &code);
    if (code != CL_SUCCESS) {
        ts_ocl_fault(fault, "clCreateBuffer", code);
        goto fail;
    }
    if (!guarded)
        buffer->data = buffer->whole;
    if (!guarded || guard(buffer, fault) == 0)
        return buffer;
fail:
    ts_ocl_buffer_close(buffer);
    return NULL;
}

void ts_ocl_buffer_close(struct ts_ocl_buffer *buffer)
{
    if (!buffer)
        return;
    if (buffer->data && buffer->data != buffer->whole)
        clReleaseMemObject(buffer->data);
    if (buffer->whole)
        clReleaseMemObject(buffer->whole);
    free(buffer);
}

int64_t ts_ocl_buffer_bytes(const struct ts_ocl_buffer *buffer)
{
    return (int64_t)buffer->bytes;
}

int ts_ocl_buffer_write(struct ts_ocl_buffer *buffer, const void *data, struct ts_fault *fault)
{
    cl_int code = clEnqueueWriteBuffer(buffer->ocl->queue, buffer->data, CL_TRUE, 0, buffer->bytes,
                                       data, 0, NULL, NULL);

    return code == CL_SUCCESS ? 0 : ts_ocl_fault(fault, "clEnqueueWriteBuffer", code);
}

int ts_ocl_buffer_read(struct ts_ocl_buffer *buffer, void *data, struct ts_fault *fault)
{
    cl_int code = clEnqueueReadBuffer(buffer->ocl->queue, buffer->data, CL_TRUE, 0, buffer->bytes,
                                      data, 0, NULL, NULL);

    return code == CL_SUCCESS ? 0 : ts_ocl_fault(fault, "clEnqueueReadBuffer", code);
}

int ts_ocl_buffer_fill(struct ts_ocl_buffer *buffer, const void *pattern, size_t pattern_bytes,
                       struct ts_fault *fault)
{
    cl_int code = clEnqueueFillBuffer(buffer->ocl->queue, buffer->data, pattern, pattern_bytes, 0,
                                      buffer->bytes, 0, NULL, NULL);

    return code == CL_SUCCESS ? 0 : ts_ocl_fault(fault, "clEnqueueFillBuffer", code);
}

int ts_ocl_buffer_copy(struct ts_ocl_buffer *to, struct ts_ocl_buffer *from, struct ts_fault *fault)
{
    cl_int code =
        clEnqueueCopyBuffer(to->ocl->queue, from->data, to->data, 0, 0, to->bytes, 0, NULL, NULL);

    return code == CL_SUCCESS ? 0 : ts_ocl_fault(fault, "clEnqueueCopyBuffer", code);
}

/* ---- host memory ---- */

struct ts_ocl_room {
    struct ts_ocl *ocl;
    cl_mem pinned; /* NULL: data is plain memory */
    void *data;
    size_t bytes;
};

/* A driver that cannot is no fault: plain memory serves as well. */
static void pin(struct ts_ocl_room *room)
{
    cl_int code;

    if (strcmp(room->ocl->device.type, "gpu") != 0)
        return;
    room->pinned = clCreateBuffer(room->ocl->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                  room->bytes, NULL, &code);
    if (code != CL_SUCCESS) {
        room->pinned = NULL;
        return;
    }
    room->data =
        clEnqueueMapBuffer(room->ocl->queue, room->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                           room->bytes, 0, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        return;
    room->data = NULL;
    clReleaseMemObject(room->pinned);
    room->pinned = NULL;
}

struct ts_ocl_room *ts_ocl_room_open(struct ts_ocl *ocl, size_t bytes)
{
    struct ts_ocl_room *room = ts_alloc(1, sizeof(*room));

    room->ocl = ocl;
    room->bytes = bytes;
    pin(room);
    if (!room->pinned)
        room->data = malloc(bytes);
    if (room->data)
        return room;
    free(room);
    return NULL;
}

void *ts_ocl_room_data(struct ts_ocl_room *room)
{
    return room->data;
}

size_t ts_ocl_room_bytes(const struct ts_ocl_room *room)
{
    return room->bytes;
}

void ts_ocl_room_close(struct ts_ocl_room *room)
{
    if (!room)
        return;
    if (room->pinned) {
        clEnqueueUnmapMemObject(room->ocl->queue, room->pinned, room->data, 0, NULL, NULL);
        clFinish(room->ocl->queue);
        clReleaseMemObject(room->pinned);
    } else {
        free(room->data);
    }
    free(room);
}

/* ---- guards ---- */

static int read_guard(struct ts_ocl_buffer *buffer, size_t offset, struct ts_fault *fault)
{
    struct ts_ocl *ocl = buffer->ocl;
    cl_int code = clEnqueueReadBuffer(ocl->queue, buffer->whole, CL_TRUE, offset, ocl->guard_bytes,
                                      ocl->guard_seen, 0, NULL, NULL);

    return code == CL_SUCCESS ? 0 : ts_ocl_fault(fault, "clEnqueueReadBuffer", code);
}

int ts_ocl_guard_check(struct ts_ocl_buffer *buffer, const char *name, struct ts_fault *fault)
{
    struct ts_ocl *ocl = buffer->ocl;
    int64_t at;

    if (buffer->data == buffer->whole)
        return 0;
    if (read_guard(buffer, 0, fault) < 0)
        return -1;
    at = ts_guard_find_last(ocl->guard_seen, ocl->guard_bytes);
    if (at >= 0) {
        fault->retire = true;
        return ts_fault_set(fault, TS_WRONG, "out-of-bounds",
                            "writes before \"%s\": nearest at offset %lld B from its begin", name,
                            (long long)at - (long long)ocl->guard_bytes);
    }
    if (read_guard(buffer, ocl->guard_bytes + buffer->bytes, fault) < 0)
        return -1;
    at = ts_guard_find(ocl->guard_seen, ocl->guard_bytes);
    if (at >= 0) {
        fault->retire = true;
        return ts_fault_set(fault, TS_WRONG, "out-of-bounds",
                            "writes after \"%s\": nearest at offset %lld B from its end", name,
                            (long long)at);
    }
    return 0;
}
