/* rig_bench.c: what a worker keeps between jobs: sources, programs, buffers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rig_private.h"

/* A whole case's configurations are visited in turn, so their programs are kept; beyond this many
 * the longest unused goes. */
#define KEPT_PROGRAMS 512
#define KEPT_BUFFERS 48

struct ts_bench *ts_bench_open(void)
{
    struct ts_bench *bench = ts_alloc(1, sizeof(*bench));

    bench->kept = KEPT_BUFFERS;
    return bench;
}

void ts_bench_attach(struct ts_bench *bench, struct ts_ocl *ocl)
{
    bench->ocl = ocl;
}

static void free_program(struct ts_kept_program *kept)
{
    ts_ocl_program_close(kept->program);
    free(kept->source);
    free(kept->options);
    free(kept->log);
}

static void free_buffer(struct ts_pool_buffer *buffer)
{
    ts_ocl_buffer_close(buffer->buffer);
    free(buffer->name);
    free(buffer->holds);
    free(buffer);
}

void ts_bench_close(struct ts_bench *bench)
{
    if (!bench)
        return;
    for (size_t i = 0; i < bench->program_count; i++)
        free_program(&bench->programs[i]);
    for (size_t i = 0; i < bench->buffer_count; i++)
        free_buffer(bench->buffers[i]);
    for (size_t i = 0; i < bench->source_count; i++) {
        free(bench->sources[i].digest);
        free(bench->sources[i].text);
    }
    free(bench->programs);
    free(bench->buffers);
    free(bench->sources);
    free(bench);
}

/* ---- sources ---- */

const char *ts_bench_source(const struct ts_bench *bench, const char *digest)
{
    for (size_t i = 0; i < bench->source_count; i++) {
        if (!strcmp(bench->sources[i].digest, digest))
            return bench->sources[i].text;
    }
    return NULL;
}

void ts_bench_add_source(struct ts_bench *bench, const char *digest, const char *text)
{
    if (ts_bench_source(bench, digest))
        return;
    TS_GROW(bench->sources, bench->source_count, bench->source_capacity);
    bench->sources[bench->source_count].digest = ts_strdup(digest);
    bench->sources[bench->source_count++].text = ts_strdup(text);
}

/* ---- programs ---- */

static struct ts_kept_program *find_program(struct ts_bench *bench, const struct ts_code *code)
{
    for (size_t i = 0; i < bench->program_count; i++) {
        struct ts_kept_program *kept = &bench->programs[i];
        if (!strcmp(kept->source, code->source) && !strcmp(kept->options, code->options))
            return kept;
    }
    return NULL;
}

static void drop_oldest_program(struct ts_bench *bench)
{
    size_t oldest = 0;

    for (size_t i = 1; i < bench->program_count; i++) {
        if (bench->programs[i].used < bench->programs[oldest].used)
            oldest = i;
    }
    free_program(&bench->programs[oldest]);
    bench->programs[oldest] = bench->programs[--bench->program_count];
}

static void tell_build(struct ts_build *build, const struct ts_code *code, int64_t build_ns,
                       const char *log)
{
    if (!build)
        return;
    ts_build_free(build);
    build->build_ns = build_ns;
    build->options = ts_strdup(code->options);
    build->log = ts_strdup(log ? log : "");
}

const struct ts_kept_program *ts_bench_program(struct ts_bench *bench, const struct ts_code *code,
                                               struct ts_build *build, struct ts_fault *fault)
{
    struct ts_kept_program *kept = find_program(bench, code);
    const char *text = ts_bench_source(bench, code->source);
    struct ts_kept_program made = {0};

    if (!kept) {
        if (!text) {
            ts_fault_set(fault, TS_BUILD_FAILED, "compiler", "source %s was never sent",
                         code->source);
            return NULL;
        }
        made.program =
            ts_ocl_build(bench->ocl, text, code->options, &made.build_ns, &made.log, fault);
        tell_build(build, code, made.build_ns, made.log);
        if (!made.program) {
            free(made.log);
            return NULL;
        }
        if (bench->program_count == KEPT_PROGRAMS)
            drop_oldest_program(bench);
        made.source = ts_strdup(code->source);
        made.options = ts_strdup(code->options);
        TS_GROW(bench->programs, bench->program_count, bench->program_capacity);
        kept = &bench->programs[bench->program_count++];
        *kept = made;
    } else {
        tell_build(build, code, kept->build_ns, kept->log);
    }
    kept->used = ++bench->tick;
    return kept;
}

/* ---- buffers ---- */

static bool drop_oldest_buffer(struct ts_bench *bench)
{
    size_t oldest = bench->buffer_count;

    for (size_t i = 0; i < bench->buffer_count; i++) {
        struct ts_pool_buffer *buffer = bench->buffers[i];
        if (!buffer->taken &&
            (oldest == bench->buffer_count || buffer->used < bench->buffers[oldest]->used))
            oldest = i;
    }
    if (oldest == bench->buffer_count)
        return false;
    free_buffer(bench->buffers[oldest]);
    bench->buffers[oldest] = bench->buffers[--bench->buffer_count];
    return true;
}

static int64_t held_bytes(const struct ts_bench *bench)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < bench->buffer_count; i++)
        bytes += ts_ocl_buffer_bytes(bench->buffers[i]->buffer);
    return bytes;
}

/* Keeps the sum within the device's memory, because drivers grant more and then fail at launch. */
static int make_room(struct ts_bench *bench, int64_t bytes, struct ts_fault *fault)
{
    int64_t limit = ts_ocl_device(bench->ocl)->number[TS_DEVICE_GLOBAL_MEM_SIZE];

    while (bench->buffer_count >= bench->kept && drop_oldest_buffer(bench))
        continue;
    while (limit > 0 && held_bytes(bench) > limit - bytes) {
        if (!drop_oldest_buffer(bench))
            return ts_fault_set(fault, TS_SKIPPED, "allocation",
                                "needs %" PRId64 " B of device memory, device has %" PRId64 " B",
                                held_bytes(bench) + bytes, limit);
    }
    return 0;
}

void ts_bench_fresh_buffers(struct ts_bench *bench, bool plain)
{
    while (drop_oldest_buffer(bench))
        continue;
    bench->plain = plain;
}

struct ts_pool_buffer *ts_bench_take(struct ts_bench *bench, const struct ts_job_arg *arg,
                                     struct ts_fault *fault)
{
    int64_t bytes = ts_job_arg_bytes(arg);
    struct ts_pool_buffer *made;

    for (size_t i = 0; i < bench->buffer_count; i++) {
        struct ts_pool_buffer *buffer = bench->buffers[i];
        if (!buffer->taken && buffer->type == arg->type && buffer->count == arg->count &&
            !strcmp(buffer->name, arg->name)) {
            buffer->taken = true;
            buffer->used = ++bench->tick;
            return buffer;
        }
    }
    if (make_room(bench, bytes, fault) < 0)
        return NULL;
    made = ts_alloc(1, sizeof(*made));
    made->buffer = ts_ocl_buffer_open(bench->ocl, bytes, !bench->plain, fault);
    if (!made->buffer) {
        free(made);
        return NULL;
    }
    made->name = ts_strdup(arg->name);
    made->type = arg->type;
    made->count = arg->count;
    made->taken = true;
    made->used = ++bench->tick;
    TS_GROW(bench->buffers, bench->buffer_count, bench->buffer_capacity);
    bench->buffers[bench->buffer_count++] = made;
    return made;
}

void ts_bench_keep(struct ts_bench *bench, size_t buffers)
{
    if (bench->kept < KEPT_BUFFERS + buffers)
        bench->kept = KEPT_BUFFERS + buffers;
}

void ts_bench_give(struct ts_bench *bench, struct ts_pool_buffer *buffer)
{
    (void)bench;
    if (buffer)
        buffer->taken = false;
}
