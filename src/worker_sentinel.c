/* worker_sentinel.c: two fixed kernels whose times show what the device is doing now: one bound by
 * memory, one by arithmetic. Their sizes depend on the device alone, so that all workers of a run
 * time the same. */
#include <stdlib.h>

#include "measure.h"
#include "stats.h"
#include "worker_private.h"

#define LAUNCHES 5
#define COPY_BYTES_CPU ((int64_t)16 << 20)
#define COPY_BYTES_GPU ((int64_t)256 << 20)
#define FMA_ITEMS_CPU 256 /* a compute unit, TS_PROBE_FMA_ROUNDS each */
#define FMA_ITEMS_GPU 4096

struct ts_sentinel {
    struct ts_worker_copy copy;
    struct ts_ocl_buffer *out;
    struct ts_worker_probe fma;
};

static void sentinel_close(struct ts_sentinel *sentinel)
{
    ts_worker_copy_close(&sentinel->copy);
    ts_worker_probe_close(&sentinel->fma);
    ts_ocl_buffer_close(sentinel->out);
    free(sentinel);
}

static int64_t copy_bytes(const struct ts_worker *worker)
{
    int64_t bytes = ts_worker_is_cpu(worker) ? COPY_BYTES_CPU : COPY_BYTES_GPU;
    int64_t memory = ts_ocl_device(worker->ocl)->number[TS_DEVICE_GLOBAL_MEM_SIZE];

    while (memory > 0 && bytes > memory / 32)
        bytes /= 2;
    return bytes;
}

static int open_fma(struct ts_worker *worker, struct ts_sentinel *sentinel,
                    const struct ts_code *code, struct ts_fault *fault)
{
    struct ts_worker_probe *probe = &sentinel->fma;
    float a = 0.5f, b = 0.25f;

    if (ts_worker_probe_open(worker, probe, code, "probe_fma", fault) < 0)
        return -1;
    probe->global =
        ts_worker_units(worker) * (ts_worker_is_cpu(worker) ? FMA_ITEMS_CPU : FMA_ITEMS_GPU);
    probe->local = 64;
    sentinel->out = ts_ocl_buffer_open(worker->ocl, probe->global * 4, true, fault);
    return !sentinel->out || ts_ocl_arg_buffer(probe->kernel, 0, sentinel->out, fault) < 0 ||
                   ts_ocl_arg_value(probe->kernel, 1, &a, sizeof(a), fault) < 0 ||
                   ts_ocl_arg_value(probe->kernel, 2, &b, sizeof(b), fault) < 0
               ? -1
               : 0;
}

/* The first launch of all also compiles, or meets pages that are not there yet; it is thrown away
 * each time, as a warm-up. */
static int median_ns(struct ts_worker_probe *probe, const struct ts_clock *clock,
                     int64_t *result_ns, struct ts_fault *fault)
{
    double ns[LAUNCHES];

    for (int i = -1; i < LAUNCHES; i++) {
        struct ts_stamp stamp;
        int64_t host_ns;

        if (ts_worker_probe_launch(probe, &stamp, &host_ns, fault) < 0)
            return -1;
        if (i >= 0)
            ns[i] = clock->event && stamp.have && stamp.end > stamp.start
                        ? (double)(stamp.end - stamp.start)
                        : (double)host_ns;
    }
    *result_ns = (int64_t)(ts_median(ns, LAUNCHES) + 0.5);
    if (*result_ns < 1)
        *result_ns = 1;
    return 0;
}

int ts_worker_sentinel(struct ts_worker *worker, const struct ts_code *code,
                       const struct ts_clock *clock, struct ts_sentinel_point *point,
                       struct ts_fault *fault)
{
    if (!worker->sentinel) {
        struct ts_sentinel *made = ts_alloc(1, sizeof(*made));
        if (ts_worker_copy_open(worker, &made->copy, code, copy_bytes(worker), fault) < 0 ||
            open_fma(worker, made, code, fault) < 0) {
            sentinel_close(made);
            return -1;
        }
        worker->sentinel = made;
    }
    return median_ns(&worker->sentinel->copy.probe, clock, &point->copy_ns, fault) < 0 ||
                   median_ns(&worker->sentinel->fma, clock, &point->fma_ns, fault) < 0
               ? -1
               : 0;
}
