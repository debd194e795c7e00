/* worker_probe.c: the clock audit and the ceilings, by the kernels of kernels/probe.cl (its header
 * comment gives each kernel's geometry and the formulas for bytes and flops). */
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "metric.h"
#include "worker_private.h"

#define EMPTY_LAUNCHES 30
#define BUSY_LAUNCHES 15
#define BUSY_NS 2000000
#define PROBE_ITEMS 256
#define PEAK_SAMPLES 7
#define PEAK_NS 3000000

void ts_worker_probe_close(struct ts_worker_probe *probe)
{
    ts_ocl_kernel_close(probe->kernel);
    memset(probe, 0, sizeof(*probe));
}

/* All the probes, with vectors of `width`. */
static struct ts_ocl_program *build(struct ts_worker *worker, const struct ts_code *code, int width,
                                    struct ts_fault *fault)
{
    const char *text = ts_bench_source(worker->bench, code->source);
    struct ts_ocl_program *program;
    int64_t build_ns;
    char *options, *log = NULL;

    if (!text) {
        ts_fault_set(fault, TS_BUILD_FAILED, "compiler", "source %s was never sent", code->source);
        return NULL;
    }
    options = ts_printf("%s -DFMA_WIDTH=%d -DLOCAL_WIDTH=%d -DPROBE_FMA_ROUNDS=%d", code->options,
                        width, width, TS_PROBE_FMA_ROUNDS);
    program = ts_ocl_build(worker->ocl, text, options, &build_ns, &log, fault);
    free(options);
    free(log);
    return program;
}

static int open_of(struct ts_worker *worker, struct ts_worker_probe *probe,
                   struct ts_ocl_program *program, const char *name, struct ts_fault *fault)
{
    struct ts_ocl_kernel_info info;

    probe->ocl = worker->ocl;
    probe->kernel = ts_ocl_kernel_open(program, name, &info, fault);
    return probe->kernel ? 0 : -1;
}

/* To read the source takes a compiler longer than most probes take. What failed is tried again. */
static struct ts_ocl_program *kept_program(struct ts_worker *worker, const struct ts_code *code,
                                           struct ts_fault *fault)
{
    struct ts_worker_probes *kept = &worker->probes;

    if (kept->program && (strcmp(kept->code.source, code->source) != 0 ||
                          strcmp(kept->code.options, code->options) != 0)) {
        ts_ocl_program_close(kept->program);
        free(kept->code.source);
        free(kept->code.options);
        memset(kept, 0, sizeof(*kept));
    }
    if (!kept->program) {
        kept->program = build(worker, code, TS_PROBE_WIDTH, fault);
        if (kept->program)
            kept->code = (struct ts_code){ts_strdup(code->source), ts_strdup(code->options)};
    }
    return kept->program;
}

int ts_worker_probe_open(struct ts_worker *worker, struct ts_worker_probe *probe,
                         const struct ts_code *code, const char *name, struct ts_fault *fault)
{
    struct ts_ocl_program *program = kept_program(worker, code, fault);

    memset(probe, 0, sizeof(*probe));
    return program ? open_of(worker, probe, program, name, fault) : -1;
}

int ts_worker_probe_launch(struct ts_worker_probe *probe, struct ts_stamp *stamp, int64_t *host_ns,
                           struct ts_fault *fault)
{
    int64_t begin = ts_now_ns();

    if (ts_ocl_launch(probe->ocl, probe->kernel, 1, &probe->global, &probe->local, 0, fault) < 0 ||
        ts_ocl_finish(probe->ocl, fault) < 0)
        return -1;
    *host_ns = ts_now_ns() - begin;
    *stamp = ts_ocl_stamp(probe->ocl, 0);
    return 0;
}

void ts_worker_copy_close(struct ts_worker_copy *copy)
{
    ts_worker_probe_close(&copy->probe);
    ts_ocl_buffer_close(copy->src);
    ts_ocl_buffer_close(copy->dst);
    memset(copy, 0, sizeof(*copy));
}

static int copy_from_to(struct ts_worker_copy *copy, struct ts_ocl_buffer *from,
                        struct ts_ocl_buffer *to, struct ts_fault *fault)
{
    return ts_ocl_arg_buffer(copy->probe.kernel, 0, from, fault) < 0 ||
                   ts_ocl_arg_buffer(copy->probe.kernel, 1, to, fault) < 0
               ? -1
               : 0;
}

/* The first launch goes the other way and so writes src: on Linux all pages that were only ever
 * read are one page of zeros, which every cache holds. The device's own threads do it, each in its
 * own memory, and sooner than PoCL's clEnqueueFillBuffer, which is one thread. */
int ts_worker_copy_open(struct ts_worker *worker, struct ts_worker_copy *copy,
                        const struct ts_code *code, int64_t bytes, struct ts_fault *fault)
{
    uint64_t n4 = (uint64_t)bytes / 16;
    struct ts_stamp stamp;
    int64_t host_ns;

    memset(copy, 0, sizeof(*copy));
    copy->src = ts_ocl_buffer_open(worker->ocl, bytes, true, fault);
    copy->dst = copy->src ? ts_ocl_buffer_open(worker->ocl, bytes, true, fault) : NULL;
    if (!copy->dst || ts_worker_probe_open(worker, &copy->probe, code, "probe_copy", fault) < 0)
        return -1;
    copy->probe.local = 256;
    copy->probe.global = ((int64_t)n4 + 255) / 256 * 256;
    return ts_ocl_arg_value(copy->probe.kernel, 2, &n4, sizeof(n4), fault) < 0 ||
                   copy_from_to(copy, copy->dst, copy->src, fault) < 0 ||
                   ts_worker_probe_launch(&copy->probe, &stamp, &host_ns, fault) < 0 ||
                   copy_from_to(copy, copy->src, copy->dst, fault) < 0
               ? -1
               : 0;
}

/* ---- clock ---- */

static int sample_empty(struct ts_worker *worker, const struct ts_code *code,
                        struct ts_ocl_buffer *out, struct ts_stamp *stamps, int64_t *host_ns,
                        struct ts_fault *fault)
{
    struct ts_worker_probe probe;
    int result = -1;

    if (ts_worker_probe_open(worker, &probe, code, "probe_empty", fault) < 0)
        return -1;
    probe.global = probe.local = 64;
    if (ts_ocl_arg_buffer(probe.kernel, 0, out, fault) < 0)
        goto out;
    /* The first launches finish the compiling. */
    for (int i = -3; i < EMPTY_LAUNCHES; i++) {
        int at = i < 0 ? 0 : i;
        if (ts_worker_probe_launch(&probe, &stamps[at], &host_ns[at], fault) < 0)
            goto out;
    }
    result = 0;
out:
    ts_worker_probe_close(&probe);
    return result;
}

static int sample_busy(struct ts_worker *worker, const struct ts_code *code,
                       struct ts_ocl_buffer *out, struct ts_stamp *stamps, int64_t *host_ns,
                       struct ts_fault *fault)
{
    uint32_t rounds = 4096;
    struct ts_worker_probe probe;
    int result = -1;

    if (ts_worker_probe_open(worker, &probe, code, "probe_busy", fault) < 0)
        return -1;
    probe.global = PROBE_ITEMS;
    probe.local = 64;
    if (ts_ocl_arg_buffer(probe.kernel, 0, out, fault) < 0 ||
        ts_ocl_arg_value(probe.kernel, 1, &rounds, sizeof(rounds), fault) < 0 ||
        ts_worker_probe_launch(&probe, &stamps[0], &host_ns[0], fault) < 0)
        goto out;
    do {
        rounds *= 2;
        if (ts_ocl_arg_value(probe.kernel, 1, &rounds, sizeof(rounds), fault) < 0 ||
            ts_worker_probe_launch(&probe, &stamps[0], &host_ns[0], fault) < 0)
            goto out;
    } while (host_ns[0] < BUSY_NS && rounds < (1u << 28));
    for (int i = 0; i < BUSY_LAUNCHES; i++) {
        if (ts_worker_probe_launch(&probe, &stamps[i], &host_ns[i], fault) < 0)
            goto out;
    }
    result = 0;
out:
    ts_worker_probe_close(&probe);
    return result;
}

int ts_worker_audit(struct ts_worker *worker, const struct ts_code *code, struct ts_clock *clock,
                    struct ts_fault *fault)
{
    struct ts_stamp empty[EMPTY_LAUNCHES], busy[BUSY_LAUNCHES];
    int64_t empty_host_ns[EMPTY_LAUNCHES], busy_host_ns[BUSY_LAUNCHES];
    struct ts_clock_samples samples = {empty, empty_host_ns, EMPTY_LAUNCHES,
                                       busy,  busy_host_ns,  BUSY_LAUNCHES};
    struct ts_ocl_buffer *out =
        ts_ocl_buffer_open(worker->ocl, PROBE_ITEMS * (int64_t)sizeof(uint32_t), true, fault);
    int result = -1;

    if (out && sample_empty(worker, code, out, empty, empty_host_ns, fault) == 0 &&
        sample_busy(worker, code, out, busy, busy_host_ns, fault) == 0) {
        ts_clock_audit(clock, &samples);
        ts_worker_calm_audit(worker, clock);
        result = 0;
    }
    ts_ocl_buffer_close(out);
    return result;
}

/* ---- ceilings ---- */

/* The fastest of several launches by the host's clock, launches back to back until they last long
 * enough that the host's part does not matter. */
static int fastest_ns(struct ts_worker_probe *probe, double *best_ns, struct ts_fault *fault)
{
    int64_t batch = 1, elapsed_ns = 0;

    *best_ns = 0;
    for (int sample = -1; sample < PEAK_SAMPLES; sample++) {
        int64_t begin = ts_now_ns();
        for (int64_t i = 0; i < batch; i++) {
            if (ts_ocl_launch(probe->ocl, probe->kernel, 1, &probe->global, &probe->local, -1,
                              fault) < 0)
                return -1;
        }
        if (ts_ocl_finish(probe->ocl, fault) < 0)
            return -1;
        elapsed_ns = ts_now_ns() - begin;
        if (elapsed_ns < 1)
            elapsed_ns = 1;
        if (sample <
            0) { /* the first launch also compiles: it only scales the batch, if it is short */
            batch = elapsed_ns < PEAK_NS ? PEAK_NS / elapsed_ns + 1 : 1;
            continue;
        }
        double each = (double)elapsed_ns / (double)batch;
        if (*best_ns == 0 || each < *best_ns)
            *best_ns = each;
        if (elapsed_ns < PEAK_NS && batch < 4096)
            batch = batch * PEAK_NS / elapsed_ns + 1;
    }
    return 0;
}

int64_t ts_worker_units(const struct ts_worker *worker)
{
    int64_t count = ts_ocl_device(worker->ocl)->number[TS_DEVICE_MAX_COMPUTE_UNITS];

    return count > 0 ? count : 1;
}

bool ts_worker_is_cpu(const struct ts_worker *worker)
{
    return !strcmp(ts_ocl_device(worker->ocl)->type, "cpu");
}

/* Far beyond a cache, within a sixteenth of the memory. */
static int64_t copy_bytes(struct ts_worker *worker)
{
    const struct ts_device *device = ts_ocl_device(worker->ocl);
    int64_t bytes = ts_worker_is_cpu(worker) ? (int64_t)128 << 20 : (int64_t)1 << 30;
    int64_t memory = device->number[TS_DEVICE_GLOBAL_MEM_SIZE];
    int64_t allocation = device->number[TS_DEVICE_MAX_MEM_ALLOC_SIZE];

    if (memory > 0 && bytes > memory / 16)
        bytes = memory / 16;
    if (allocation > 0 && bytes > allocation / 2)
        bytes = allocation / 2;
    return bytes / 16384 * 16384;
}

static int peak_copy(struct ts_worker *worker, const struct ts_code *code, double *bytes_per_s,
                     struct ts_fault *fault)
{
    int64_t bytes = copy_bytes(worker);
    struct ts_worker_copy copy;
    double ns;
    int result = -1;

    if (ts_worker_copy_open(worker, &copy, code, bytes, fault) == 0 &&
        fastest_ns(&copy.probe, &ns, fault) == 0) {
        *bytes_per_s = 2.0 * (double)bytes / ns * 1e9;
        result = 0;
    }
    ts_worker_copy_close(&copy);
    return result;
}

struct width_probe {
    const char *kernel;
    int64_t (*local)(int width);
    double (*amount)(int width); /* flops or bytes a work-item */
    const void *values[2];       /* second and third argument, 4 bytes each */
};

static int64_t fma_local(int width)
{
    (void)width;
    return 64;
}

static double fma_flops(int width)
{
    return 16.0 * width * TS_PROBE_FMA_ROUNDS;
}

static const int32_t local_rounds = 200;

static int64_t local_local(int width)
{
    return 256 / width;
}

static double local_bytes(int width)
{
    return (double)local_rounds * 8 * 4 * width; /* PROBE_LOCAL_READS floats of the width */
}

static int try_width(struct ts_worker *worker, struct ts_ocl_program *program,
                     const struct width_probe *kind, int width, double *per_s,
                     struct ts_fault *fault)
{
    int64_t items = ts_worker_units(worker) * (ts_worker_is_cpu(worker) ? 256 : 8192);
    struct ts_ocl_buffer *out = ts_ocl_buffer_open(worker->ocl, items * 4, true, fault);
    struct ts_worker_probe probe = {0};
    double ns;
    int result = -1;

    if (!out || open_of(worker, &probe, program, kind->kernel, fault) < 0)
        goto out;
    probe.local = kind->local(width);
    probe.global = items / probe.local * probe.local;
    if (ts_ocl_arg_buffer(probe.kernel, 0, out, fault) < 0 ||
        ts_ocl_arg_value(probe.kernel, 1, kind->values[0], 4, fault) < 0 ||
        ts_ocl_arg_value(probe.kernel, 2, kind->values[1], 4, fault) < 0)
        goto out;
    if (fastest_ns(&probe, &ns, fault) < 0)
        goto out;
    *per_s = (double)probe.global * kind->amount(width) / ns * 1e9;
    result = 0;
out:
    ts_worker_probe_close(&probe);
    ts_ocl_buffer_close(out);
    return result;
}

/* What the device refuses to launch is passed over. */
static void better_of_width(struct ts_worker *worker, struct ts_ocl_program *program,
                            const struct width_probe *kind, int width, double *best)
{
    struct ts_fault fault = {0};
    double per_s;

    if (try_width(worker, program, kind, width, &per_s, &fault) == 0 && per_s > *best)
        *best = per_s;
}

int ts_worker_peaks(struct ts_worker *worker, const struct ts_code *code, struct ts_peaks *peaks,
                    struct ts_fault *fault)
{
    static const int widths[] = {1, TS_PROBE_WIDTH, 8, 16};
    static const float a = 0.5f, b = 0.25f;
    static const int32_t mask = 3;
    const struct width_probe fma = {"probe_fma", fma_local, fma_flops, {&a, &b}};
    const struct width_probe local = {
        "probe_local", local_local, local_bytes, {&local_rounds, &mask}};

    memset(peaks, 0, sizeof(*peaks));
    if (peak_copy(worker, code, &peaks->copy_bytes_per_s, fault) < 0)
        return -1;
    /* Vectors as long as its own suit a CPU, one lane a work-item a GPU: the best of a few widths
     * is the ceiling. A width that the compiler refuses for one of the two is passed over for both;
     * 0 when it refuses all. */
    for (size_t i = 0; i < TS_COUNT(widths); i++) {
        struct ts_fault refused = {0};
        struct ts_ocl_program *program = widths[i] == TS_PROBE_WIDTH
                                             ? worker->probes.program
                                             : build(worker, code, widths[i], &refused);
        if (!program)
            continue;
        better_of_width(worker, program, &fma, widths[i], &peaks->fma_flops_per_s);
        better_of_width(worker, program, &local, widths[i], &peaks->local_bytes_per_s);
        if (program != worker->probes.program)
            ts_ocl_program_close(program);
    }
    return 0;
}
