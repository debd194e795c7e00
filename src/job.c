/* job.c: a job's memory and its line; job_read.c is the way back. */
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *ts_job_verb_name(enum ts_job_verb verb)
{
    static const char *const names[TS_JOB_VERB_COUNT] = {
        [TS_JOB_DEVICES] = "devices", [TS_JOB_OPEN] = "open",   [TS_JOB_PEAKS] = "peaks",
        [TS_JOB_PROVE] = "prove",     [TS_JOB_TIME] = "time",   [TS_JOB_SENTINEL] = "sentinel",
        [TS_JOB_DIGEST] = "digest",   [TS_JOB_CHECK] = "check",
    };
    return names[verb];
}

void ts_job_scalar_store(const struct ts_job_arg *arg, void *out)
{
    const struct ts_elem_info *type = &ts_elem_table[arg->type];
    uint64_t value = 0; /* aligned for every type */
    if (type->real)
        ts_elem_write(arg->type, &value, 0, arg->real_value);
    else
        memcpy(&value, &arg->whole_value, type->bytes);
    memcpy(out, &value, sizeof(value));
}

/* ---- memory ---- */

void ts_instance_free(struct ts_instance *instance)
{
    ts_values_free(&instance->size);
    ts_values_free(&instance->problem);
    for (size_t i = 0; i < instance->arg_count; i++)
        free(instance->args[i].name);
    free(instance->args);
    for (size_t i = 0; i < instance->launch_count; i++) {
        free(instance->launches[i].kernel);
        free(instance->launches[i].args);
    }
    free(instance->launches);
    free(instance->swaps);
    *instance = (struct ts_instance){0};
}

static void free_instances(struct ts_instance *instances, size_t count)
{
    for (size_t i = 0; instances && i < count; i++)
        ts_instance_free(&instances[i]);
    free(instances);
}

static void free_code(struct ts_code *code)
{
    free(code->source);
    free(code->options);
}

void ts_job_free(struct ts_job *job)
{
    free(job->device_id);
    free(job->reference);
    free(job->right);
    ts_clock_free(&job->clock);
    free_code(&job->code);
    free_code(&job->reference_code);
    free_instances(job->instances, job->instance_count);
    free_instances(job->reference_instances, job->instance_count);
    *job = (struct ts_job){0};
}

/* ---- printing ---- */

static void add_whole(cJSON *parent, const char *key, int64_t value)
{
    if (value >= -TS_JSON_EXACT && value <= TS_JSON_EXACT) {
        ts_json_add_int(parent, key, value);
        return;
    }
    char *text = ts_printf("%" PRId64, value);
    ts_json_add_string(parent, key, text);
    free(text);
}

static void add_wholes(cJSON *parent, const char *key, const int64_t *numbers, int count)
{
    cJSON *list = ts_json_add_array(parent, key);
    for (int i = 0; i < count; i++)
        add_whole(list, NULL, numbers[i]);
}

static void add_indices(cJSON *parent, const char *key, const size_t *indices, size_t count)
{
    cJSON *list = ts_json_add_array(parent, key);
    for (size_t i = 0; i < count; i++)
        ts_json_add_int(list, NULL, (int64_t)indices[i]);
}

static void add_fill(cJSON *parent, const struct ts_fill *fill)
{
    cJSON *inner;
    switch (fill->kind) {
    case TS_FILL_ZERO:
        ts_json_add_string(parent, "fill", "zero");
        break;
    case TS_FILL_INDEX:
        ts_json_add_string(parent, "fill", "index");
        break;
    case TS_FILL_NUMBER:
        ts_json_add_real(parent, "fill", fill->low);
        break;
    case TS_FILL_RANDOM:
        if (!(fill->low < 0 || fill->low > 0) && !(fill->high < 1 || fill->high > 1)) {
            ts_json_add_string(parent, "fill", "random");
            break;
        }
        inner = ts_json_add_array(ts_json_add_object(parent, "fill"), "random");
        ts_json_add_real(inner, NULL, fill->low);
        ts_json_add_real(inner, NULL, fill->high);
        break;
    }
}

static void add_arg(cJSON *list, const struct ts_job_arg *arg)
{
    cJSON *into = ts_json_add_object(list, NULL);
    ts_json_add_string(into, "name", arg->name);
    ts_json_add_string(into, "kind", ts_arg_kind_name(arg->kind));
    if (arg->kind == TS_ARG_LOCAL) {
        add_whole(into, "bytes", arg->local_bytes);
        return;
    }
    ts_json_add_string(into, "type", ts_elem_table[arg->type].name);
    if (arg->kind != TS_ARG_SCALAR)
        add_wholes(into, "shape", arg->shape, arg->dims);
    else if (ts_elem_table[arg->type].real)
        ts_json_add_real(into, "value", arg->real_value);
    else
        add_whole(into, "value", arg->whole_value);
    if (arg->kind == TS_ARG_IN || arg->kind == TS_ARG_INOUT)
        add_fill(into, &arg->fill);
}

static void add_launch(cJSON *list, const struct ts_job_launch *launch)
{
    cJSON *into = ts_json_add_object(list, NULL);
    ts_json_add_string(into, "kernel", launch->kernel);
    add_wholes(into, "global", launch->global, launch->dims);
    add_wholes(into, "local", launch->local, launch->dims);
    add_indices(into, "args", launch->args, launch->arg_count);
}

static void add_work(cJSON *parent, const struct ts_work *work)
{
    cJSON *into = ts_json_add_object(parent, "work");
    ts_json_add_int_or_null(into, "elements", work->elements);
    ts_json_add_int_or_null(into, "flops", work->flops);
    ts_json_add_int_or_null(into, "bytes", work->bytes);
    ts_json_add_int_or_null(into, "requested_bytes", work->requested_bytes);
}

static void add_instance(cJSON *list, const struct ts_instance *instance)
{
    cJSON *into = ts_json_add_object(list, NULL);
    ts_json_add_item(into, "size", ts_values_to_json(&instance->size));
    ts_json_add_item(into, "problem", ts_values_to_json(&instance->problem));
    cJSON *args = ts_json_add_array(into, "args");
    for (size_t i = 0; i < instance->arg_count; i++)
        add_arg(args, &instance->args[i]);
    cJSON *launches = ts_json_add_array(into, "launches");
    for (size_t i = 0; i < instance->launch_count; i++)
        add_launch(launches, &instance->launches[i]);
    ts_json_add_int_or_null(into, "local_bytes", instance->local_bytes);
    add_whole(into, "steps", instance->steps);
    ts_json_add_bool(into, "iterated", instance->iterated);
    cJSON *swaps = ts_json_add_array(into, "swaps");
    for (size_t i = 0; i < instance->swap_count; i++) {
        const size_t pair[2] = {instance->swaps[i].a, instance->swaps[i].b};
        add_indices(swaps, NULL, pair, 2);
    }
    add_work(into, &instance->work);
}

static void add_instances(cJSON *parent, const struct ts_instance *instances, size_t count)
{
    cJSON *list = ts_json_add_array(parent, "instances");
    for (size_t i = 0; i < count; i++)
        add_instance(list, &instances[i]);
}

static void add_code(cJSON *parent, const struct ts_code *code)
{
    if (!code->source)
        return;
    cJSON *into = ts_json_add_object(parent, "code");
    ts_json_add_string(into, "source", code->source);
    ts_json_add_string(into, "options", code->options ? code->options : "");
}

static void add_configuration(cJSON *line, const struct ts_job *job)
{
    ts_json_add_unsigned(line, "seed", job->seed);
    ts_json_add_real(line, "tolerance", job->tolerance);
    if (job->reference) {
        ts_json_add_string(line, "reference", job->reference);
    } else if (job->reference_code.source) {
        cJSON *reference = ts_json_add_object(line, "reference");
        add_code(reference, &job->reference_code);
        add_instances(reference, job->reference_instances, job->instance_count);
    }
    add_instances(line, job->instances, job->instance_count);
}

char *ts_job_print(const struct ts_job *job)
{
    cJSON *line = cJSON_CreateObject();
    add_whole(line, "job", job->id);
    ts_json_add_string(line, "do", ts_job_verb_name(job->verb));
    if (job->verb == TS_JOB_OPEN) {
        ts_json_add_int(line, "platform", job->platform_index);
        ts_json_add_int(line, "device", job->device_index);
        if (job->device_id)
            ts_json_add_string(line, "device_id", job->device_id);
        ts_json_add_bool(line, "audit", job->audit);
    }
    add_code(line, &job->code);
    if (job->verb == TS_JOB_SENTINEL || job->verb == TS_JOB_TIME) {
        ts_json_add_item(line, "clock", ts_clock_to_json(&job->clock));
        if (job->patience_ns > 0)
            ts_json_add_int(line, "patience_ns", job->patience_ns);
    }
    if (job->verb == TS_JOB_TIME) {
        ts_json_add_int(line, "samples", job->samples);
        add_whole(line, "batch", job->batch);
        if (job->cold)
            ts_json_add_bool(line, "cold", true);
        ts_json_add_bool(line, "prove_first", job->prove_first);
        ts_json_add_bool(line, "prove_last", job->prove_last);
        if (job->right)
            ts_json_add_string(line, "right", job->right);
    }
    if (job->verb == TS_JOB_PROVE || job->verb == TS_JOB_TIME)
        add_configuration(line, job);
    if (job->verb == TS_JOB_CHECK) {
        ts_json_add_unsigned(line, "seed", job->seed);
        add_instances(line, job->instances, job->instance_count);
    }
    char *text = ts_json_print(line);
    cJSON_Delete(line);
    return text;
}
