/* fuzz_job.c: a line as the worker gets it. What is accepted is written as the parent writes it and
 * read again as the same. */
#include "fuzz.h"
#include "job.h"

#include <stdlib.h>
#include <string.h>

/* What ts_job_read promises the worker. */
static void check_instance(const struct ts_instance *instance)
{
    for (size_t i = 0; i < instance->launch_count; i++) {
        const struct ts_job_launch *launch = &instance->launches[i];
        TS_FUZZ_REQUIRE(launch->dims >= 1 && launch->dims <= 3 && launch->kernel, "a launch");
        for (size_t k = 0; k < launch->arg_count; k++)
            TS_FUZZ_REQUIRE(launch->args[k] < instance->arg_count, "an index");
        for (int d = 0; d < launch->dims; d++)
            TS_FUZZ_REQUIRE(launch->global[d] >= 1 && launch->local[d] >= 1, "a size");
    }
    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i];
        int64_t bytes;
        unsigned char value[8];
        if (arg->dims)
            TS_FUZZ_REQUIRE(arg->count >= 1 &&
                                !__builtin_mul_overflow(
                                    arg->count, (int64_t)ts_elem_table[arg->type].bytes, &bytes),
                            "%lld elements", (long long)arg->count);
        if (arg->kind == TS_ARG_SCALAR)
            ts_job_scalar_store(arg, value);
    }
    for (size_t i = 0; i < instance->swap_count; i++)
        TS_FUZZ_REQUIRE(instance->swaps[i].a < instance->arg_count &&
                            instance->swaps[i].b < instance->arg_count,
                        "a swap");
    TS_FUZZ_REQUIRE(instance->launch_count >= 1 && instance->steps >= 1, "launches, steps");
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    struct ts_job job, again;
    cJSON *line = ts_json_parse(text, length, "job", 1, &err);
    if (!line || ts_job_read(&job, line, &err) != 0) {
        ts_fuzz_require_usage(&err, "job");
        cJSON_Delete(line);
        return;
    }
    cJSON_Delete(line);
    for (size_t i = 0; i < job.instance_count; i++)
        check_instance(&job.instances[i]);
    char *printed = ts_job_print(&job);
    line = ts_json_parse(printed, strlen(printed), "printed", 1, &err);
    TS_FUZZ_REQUIRE(line && ts_job_read(&again, line, &err) == 0, "%s\n%s", err.text, printed);
    ts_fuzz_require_equal(printed, ts_job_print(&again), "the job");
    cJSON_Delete(line);
    ts_job_free(&job);
    ts_job_free(&again);
}
