/* fuzz_spec.c: a spec with its sources and their includes. The input holds several files: the spec
 * first; a line `=== NAME` begins another, where NAME is one of source_names. What is accepted is
 * swept on paper: all its configurations, without a device and on a made-up one. */
#define _GNU_SOURCE /* memmem */
#include "fuzz.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

static const char *const source_names[] = {"a.cl", "b.cl", "c.h", "d.h"};

/* A sweep on paper takes a microsecond for each: more only takes longer. */
enum { MOST_PAIRS = 2000 };

static const char *write_files(const char *text, size_t length)
{
    static const char mark[] = "\n=== ";
    const char *end = text + length, *name = "spec.json", *path = NULL;
    for (size_t i = 0; i < TS_COUNT(source_names); i++)
        ts_fuzz_file(source_names[i], "", 0);
    for (;;) {
        const char *next = memmem(text, (size_t)(end - text), mark, sizeof(mark) - 1);
        const char *stop = next ? next + 1 : end;
        if (name)
            path = path ? (ts_fuzz_file(name, text, (size_t)(stop - text)), path)
                        : ts_fuzz_file(name, text, (size_t)(stop - text));
        if (!next)
            return path;
        text = next + sizeof(mark) - 1;
        name = NULL;
        for (size_t i = 0; i < TS_COUNT(source_names); i++) {
            size_t used = strlen(source_names[i]);
            if ((size_t)(end - text) > used && !strncmp(text, source_names[i], used) &&
                text[used] == '\n')
                name = source_names[i];
        }
        text += name ? strlen(name) + 1 : 0;
    }
}

static int64_t pairs_of(const struct ts_spec *spec, bool quick)
{
    int64_t pairs = 0, most = (int64_t)1 << 40;
    for (size_t v = 0; v < spec->variant_count; v++) {
        int64_t product =
            (int64_t)(ts_spec_timed(spec, quick, NULL)->count + spec->check_sizes.count);
        for (size_t i = 0; i < spec->problem_count && product < most; i++)
            product *= (int64_t)spec->problem[i].count;
        for (size_t i = 0; i < spec->variants[v].param_count && product < most; i++)
            product *=
                (int64_t)(quick ? spec->quick_params : spec->params)[spec->variants[v].params[i]]
                    .count;
        pairs += product;
    }
    return pairs;
}

/* Every instance is what the worker would be sent. */
static void check_config(const struct ts_space *space, const struct ts_config *config)
{
    for (size_t i = 0; i < space->size_count; i++) {
        struct ts_instance instance;
        struct ts_err err = {0};
        if (!config->admitted[i])
            continue;
        if (ts_space_instance(space, config, &space->sizes[i], space->device, &instance, &err)) {
            TS_FUZZ_REQUIRE(!space->device, "it was checked before: %s", err.text);
            continue;
        }
        for (size_t k = 0; k < instance.launch_count; k++)
            for (int d = 0; d < instance.launches[k].dims; d++)
                TS_FUZZ_REQUIRE(
                    instance.launches[k].local[d] >= 1 &&
                        instance.launches[k].global[d] % instance.launches[k].local[d] == 0,
                    "a launch that cannot be made");
        ts_space_staged(space, config, &instance);
        ts_instance_free(&instance);
    }
}

static void sweep(const struct ts_spec *spec, const struct ts_device *device, bool quick)
{
    struct ts_err err = {0};
    const struct ts_selection selection = {.quick = quick};
    struct ts_space *space = ts_space_open(spec, &selection, device, false, &err);
    if (!space) {
        ts_fuzz_require_usage(&err, spec->path);
        return;
    }
    for (size_t i = 0; i < space->config_count; i++)
        check_config(space, &space->configs[i]);
    for (size_t i = 0; i < space->problem_count && spec->check_sizes.count; i++) {
        struct ts_config *config =
            ts_space_reference_config(space, i, &spec->check_sizes.items[0], device, &err);
        ts_config_free(config);
        ts_err_clear(&err);
    }
    ts_space_close(space);
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_device device = {.number = {[TS_DEVICE_MAX_WORK_GROUP_SIZE] = 1024,
                                          [TS_DEVICE_LOCAL_MEM_SIZE] = 49152,
                                          [TS_DEVICE_MAX_COMPUTE_UNITS] = -1}};
    struct ts_err err = {0};
    const char *path = write_files(text, length);
    struct ts_spec *spec = ts_spec_load(path, &err);
    if (!spec) {
        ts_fuzz_require_usage(&err, path);
        return;
    }
    for (int quick = 0; quick < 2; quick++) {
        if (pairs_of(spec, quick) > MOST_PAIRS)
            continue;
        sweep(spec, NULL, quick);
        sweep(spec, &device, quick);
    }
    ts_spec_free(spec);
}
