/* job_read.c: a job from its protocol line; see job.h. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "place.h"

#define MAX_BYTES ((int64_t)1 << 62) /* of one array, in bytes */
#define MAX_SAMPLES 1000000
#define MAX_PATIENCE_NS 3600000000000

/* ---- numbers ---- */

/* A whole number, or its text where JSON would round it. */
static int read_whole(const struct ts_place *at, const cJSON *value, int64_t least, int64_t most,
                      int64_t *out, struct ts_err *err)
{
    if (!cJSON_IsString(value))
        return ts_place_whole(at, value, least, most, out, err);
    char *end;
    errno = 0;
    long long number = strtoll(value->valuestring, &end, 10);
    if (errno || end == value->valuestring || *end || number < least || number > most)
        return ts_place_expected(at, value, "a whole number", err);
    *out = number;
    return 0;
}

/* The readers of an object's member: they look it up and know its place. */
static int member_whole(const struct ts_place *at, const cJSON *object, const char *key,
                        int64_t least, int64_t most, int64_t *out, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    return read_whole(&place, ts_json_get(object, key), least, most, out, err);
}

static int member_bool(const struct ts_place *at, const cJSON *object, const char *key, bool *out,
                       struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    return ts_place_bool(&place, ts_json_get(object, key), out, err);
}

static int member_copy(const struct ts_place *at, const cJSON *object, const char *key, char **out,
                       struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const char *text;
    if (ts_place_string(&place, ts_json_get(object, key), &text, err) != 0)
        return -1;
    *out = ts_strdup(text);
    return 0;
}

/* null or absent: -1, not known. */
static int member_fact(const struct ts_place *at, const cJSON *object, const char *key,
                       int64_t *out, struct ts_err *err)
{
    const cJSON *value = ts_json_get(object, key);
    *out = -1;
    if (!value || cJSON_IsNull(value))
        return 0;
    return member_whole(at, object, key, 0, INT64_MAX, out, err);
}

/* A list of 1..room whole numbers >= 1; *count of them. */
static int member_extent(const struct ts_place *at, const cJSON *object, const char *key,
                         int64_t *out, int room, int *count, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *list = ts_json_get(object, key);
    size_t length = 0;
    if (ts_place_filled(&place, list, &length, err) != 0)
        return -1;
    if (length > (size_t)room)
        return ts_place_error(&place, err, "expected at most %d numbers, got %zu", room, length);
    size_t i = 0;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place element = ts_place_item(&place, i);
        if (read_whole(&element, item, 1, INT64_MAX, &out[i], err) != 0)
            return -1;
    }
    *count = (int)length;
    return 0;
}

/* Indices below `bound`; a new array. */
static int read_indices(const struct ts_place *at, const cJSON *list, size_t bound, size_t **out,
                        size_t *count, struct ts_err *err)
{
    size_t length = 0, i = 0;
    if (ts_place_list(at, list, &length, err) != 0)
        return -1;
    *out = ts_alloc(length, sizeof(**out));
    *count = length;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place element = ts_place_item(at, i);
        int64_t index;
        if (ts_place_whole(&element, item, 0, (int64_t)bound - 1, &index, err) != 0)
            return -1;
        (*out)[i] = (size_t)index;
    }
    return 0;
}

/* ---- arguments ---- */

static int read_fill_pair(const struct ts_place *at, const cJSON *pair, struct ts_fill *fill,
                          struct ts_err *err)
{
    if (cJSON_GetArraySize(pair) != 2)
        return ts_place_expected(at, pair, "[low, high]", err);
    const struct ts_place low = ts_place_item(at, 0), high = ts_place_item(at, 1);
    if (ts_place_real(&low, pair->child, &fill->low, err) != 0 ||
        ts_place_real(&high, pair->child->next, &fill->high, err) != 0)
        return -1;
    fill->kind = TS_FILL_RANDOM;
    return 0;
}

static int read_fill(const struct ts_place *at, const cJSON *value, struct ts_fill *fill,
                     struct ts_err *err)
{
    static const struct {
        const char *word;
        struct ts_fill fill;
    } words[] = {
        {"zero", {TS_FILL_ZERO, 0, 0}},
        {"index", {TS_FILL_INDEX, 0, 0}},
        {"random", {TS_FILL_RANDOM, 0, 1}},
    };
    for (size_t i = 0; cJSON_IsString(value) && i < TS_COUNT(words); i++) {
        if (strcmp(value->valuestring, words[i].word) == 0) {
            *fill = words[i].fill;
            return 0;
        }
    }
    fill->kind = TS_FILL_NUMBER;
    if (cJSON_IsNumber(value))
        return ts_place_real(at, value, &fill->low, err);
    const cJSON *pair = ts_json_get(value, "random");
    const struct ts_place in_pair = ts_place_key(at, "random");
    if (pair)
        return read_fill_pair(&in_pair, pair, fill, err);
    return ts_place_expected(at, value, "a fill", err);
}

/* count, and that its bytes can be counted. */
static int read_shape(const struct ts_place *at, const cJSON *object, struct ts_job_arg *arg,
                      struct ts_err *err)
{
    if (member_extent(at, object, "shape", arg->shape, 4, &arg->dims, err) != 0)
        return -1;
    int64_t most = MAX_BYTES / (int64_t)ts_elem_table[arg->type].bytes;
    arg->count = 1;
    for (int d = 0; d < arg->dims; d++) {
        if (arg->shape[d] > most / arg->count)
            return ts_place_error(at, err, "an array of over 2^62 bytes");
        arg->count *= arg->shape[d];
    }
    return 0;
}

static int read_scalar(const struct ts_place *at, const cJSON *object, struct ts_job_arg *arg,
                       struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "value");
    const cJSON *value = ts_json_get(object, "value");
    if (ts_elem_table[arg->type].real)
        return ts_place_real(&place, value, &arg->real_value, err);
    return read_whole(&place, value, INT64_MIN, INT64_MAX, &arg->whole_value, err);
}

static int read_arg(const struct ts_place *at, const cJSON *object, struct ts_job_arg *arg,
                    struct ts_err *err)
{
    const struct ts_place kind_place = ts_place_key(at, "kind"),
                          type_place = ts_place_key(at, "type"),
                          fill_place = ts_place_key(at, "fill");
    const char *word;
    if (ts_place_object(at, object, err) != 0 ||
        member_copy(at, object, "name", &arg->name, err) != 0 ||
        ts_place_string(&kind_place, ts_json_get(object, "kind"), &word, err) != 0)
        return -1;
    if (!ts_arg_kind_by_name(word, &arg->kind))
        return ts_place_error(&kind_place, err, "unknown kind \"%s\"", word);
    if (arg->kind == TS_ARG_LOCAL)
        return member_whole(at, object, "bytes", 1, MAX_BYTES, &arg->local_bytes, err);
    if (ts_place_string(&type_place, ts_json_get(object, "type"), &word, err) != 0)
        return -1;
    if (!ts_elem_by_name(word, &arg->type))
        return ts_place_error(&type_place, err, "unknown type \"%s\"", word);
    if (arg->kind == TS_ARG_SCALAR)
        return read_scalar(at, object, arg, err);
    if (read_shape(at, object, arg, err) != 0)
        return -1;
    if (arg->kind == TS_ARG_OUT || arg->kind == TS_ARG_SCRATCH)
        return 0;
    return read_fill(&fill_place, ts_json_get(object, "fill"), &arg->fill, err);
}

/* ---- launches, instances ---- */

static int read_launch(const struct ts_place *at, const cJSON *object, size_t arg_count,
                       struct ts_job_launch *launch, struct ts_err *err)
{
    const struct ts_place args = ts_place_key(at, "args");
    int local_dims = 0;
    if (ts_place_object(at, object, err) != 0 ||
        member_copy(at, object, "kernel", &launch->kernel, err) != 0 ||
        member_extent(at, object, "global", launch->global, 3, &launch->dims, err) != 0 ||
        member_extent(at, object, "local", launch->local, 3, &local_dims, err) != 0)
        return -1;
    if (local_dims != launch->dims)
        return ts_place_error(at, err, "global has %d dimensions, local %d", launch->dims,
                              local_dims);
    return read_indices(&args, ts_json_get(object, "args"), arg_count, &launch->args,
                        &launch->arg_count, err);
}

static int read_args(const struct ts_place *up, const cJSON *object, struct ts_instance *instance,
                     struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "args");
    const cJSON *list = ts_json_get(object, "args");
    size_t count = 0, i = 0;
    if (ts_place_list(&at, list, &count, err) != 0)
        return -1;
    instance->args = ts_alloc(count, sizeof(*instance->args));
    instance->arg_count = count;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_arg(&place, item, &instance->args[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_launches(const struct ts_place *up, const cJSON *object,
                         struct ts_instance *instance, struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "launches");
    const cJSON *list = ts_json_get(object, "launches");
    size_t count = 0, i = 0;
    if (ts_place_filled(&at, list, &count, err) != 0)
        return -1;
    if (count > TS_LAUNCHES_MOST)
        return ts_place_error(&at, err, "expected at most %d launches, got %zu", TS_LAUNCHES_MOST,
                              count);
    instance->launches = ts_alloc(count, sizeof(*instance->launches));
    instance->launch_count = count;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_launch(&place, item, instance->arg_count, &instance->launches[i], err) != 0)
            return -1;
    }
    return 0;
}

/* Both sides of a swap must be arrays of the same type and size, or a launch would leave its
 * buffer. */
static int read_swap(const struct ts_place *at, const cJSON *pair, struct ts_instance *instance,
                     struct ts_job_swap *swap, struct ts_err *err)
{
    size_t *indices = NULL, count = 0;
    int result = read_indices(at, pair, instance->arg_count, &indices, &count, err);
    if (result == 0 && count != 2)
        result = ts_place_expected(at, pair, "a pair", err);
    if (result == 0) {
        *swap = (struct ts_job_swap){indices[0], indices[1]};
        const struct ts_job_arg *a = &instance->args[swap->a], *b = &instance->args[swap->b];
        if (!a->dims || a->type != b->type || a->count != b->count)
            result = ts_place_error(at, err, "expected two arrays of one type and size");
    }
    free(indices);
    return result;
}

static int read_swaps(const struct ts_place *up, const cJSON *object, struct ts_instance *instance,
                      struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "swaps");
    const cJSON *list = ts_json_get(object, "swaps");
    size_t count = 0, i = 0;
    if (!list)
        return 0;
    if (ts_place_list(&at, list, &count, err) != 0)
        return -1;
    instance->swaps = ts_alloc(count, sizeof(*instance->swaps));
    instance->swap_count = count;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_swap(&place, item, instance, &instance->swaps[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_work(const struct ts_place *up, const cJSON *object, struct ts_work *work,
                     struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "work");
    const cJSON *from = ts_json_get(object, "work");
    *work = (struct ts_work){-1, -1, -1, -1};
    if (!from)
        return 0;
    if (ts_place_object(&at, from, err) != 0 ||
        member_fact(&at, from, "elements", &work->elements, err) != 0 ||
        member_fact(&at, from, "flops", &work->flops, err) != 0 ||
        member_fact(&at, from, "bytes", &work->bytes, err) != 0)
        return -1;
    return member_fact(&at, from, "requested_bytes", &work->requested_bytes, err);
}

static int read_values(const struct ts_place *up, const cJSON *object, const char *key,
                       struct ts_values *values, struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, key);
    const cJSON *from = ts_json_get(object, key);
    if (!from)
        return 0;
    if (ts_place_object(&at, from, err) != 0)
        return -1;
    return ts_values_from_json(values, from, err) == 0 ? 0 : ts_place_prepend(&at, err);
}

static int read_steps(const struct ts_place *at, const cJSON *object, struct ts_instance *instance,
                      struct ts_err *err)
{
    instance->steps = 1;
    if (ts_json_get(object, "steps") &&
        member_whole(at, object, "steps", 1, INT64_MAX, &instance->steps, err) != 0)
        return -1;
    if (ts_json_get(object, "iterated"))
        return member_bool(at, object, "iterated", &instance->iterated, err);
    return 0;
}

static int read_instance(const struct ts_place *at, const cJSON *object,
                         struct ts_instance *instance, struct ts_err *err)
{
    if (ts_place_object(at, object, err) != 0 ||
        read_values(at, object, "size", &instance->size, err) != 0 ||
        read_values(at, object, "problem", &instance->problem, err) != 0 ||
        read_args(at, object, instance, err) != 0 ||
        read_launches(at, object, instance, err) != 0 ||
        member_fact(at, object, "local_bytes", &instance->local_bytes, err) != 0 ||
        read_steps(at, object, instance, err) != 0 || read_swaps(at, object, instance, err) != 0)
        return -1;
    return read_work(at, object, &instance->work, err);
}

static int read_instances(const struct ts_place *up, const cJSON *object,
                          struct ts_instance **instances, size_t *count, struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "instances");
    const cJSON *list = ts_json_get(object, "instances");
    size_t i = 0;
    if (ts_place_filled(&at, list, count, err) != 0)
        return -1;
    *instances = ts_alloc(*count, sizeof(**instances));
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_instance(&place, item, &(*instances)[i], err) != 0)
            return -1;
    }
    return 0;
}

/* ---- the job ---- */

static int read_code(const struct ts_place *up, const cJSON *object, struct ts_code *code,
                     struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "code");
    const cJSON *from = ts_json_get(object, "code");
    if (ts_place_object(&at, from, err) != 0 ||
        member_copy(&at, from, "source", &code->source, err) != 0)
        return -1;
    return member_copy(&at, from, "options", &code->options, err);
}

/* After the instances: a reference by variant has one instance for each of them. */
static int read_reference(const struct ts_place *up, const cJSON *line, struct ts_job *job,
                          struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "reference");
    const cJSON *from = ts_json_get(line, "reference");
    if (!from || cJSON_IsNull(from))
        return 0;
    if (cJSON_IsString(from)) {
        job->reference = ts_strdup(from->valuestring);
        return 0;
    }
    if (ts_place_object(&at, from, err) != 0 ||
        read_code(&at, from, &job->reference_code, err) != 0)
        return -1;
    const struct ts_place instances = ts_place_key(&at, "instances");
    size_t count = 0;
    if (ts_place_list(&instances, ts_json_get(from, "instances"), &count, err) != 0)
        return -1;
    if (count != job->instance_count)
        return ts_place_error(&instances, err, "expected %zu, as many as the job's, got %zu",
                              job->instance_count, count);
    return read_instances(&at, from, &job->reference_instances, &count, err);
}

static int read_configuration(const struct ts_place *at, const cJSON *line, struct ts_job *job,
                              struct ts_err *err)
{
    const struct ts_place seed = ts_place_key(at, "seed"),
                          tolerance = ts_place_key(at, "tolerance");
    if (ts_place_unsigned(&seed, ts_json_get(line, "seed"), &job->seed, err) != 0 ||
        ts_place_real(&tolerance, ts_json_get(line, "tolerance"), &job->tolerance, err) != 0)
        return -1;
    if (job->tolerance < 0)
        return ts_place_error(&tolerance, err, "expected at least 0");
    if (read_instances(at, line, &job->instances, &job->instance_count, err) != 0)
        return -1;
    return read_reference(at, line, job, err);
}

static int read_check(const struct ts_place *at, const cJSON *line, struct ts_job *job,
                      struct ts_err *err)
{
    const struct ts_place seed = ts_place_key(at, "seed");
    if (read_code(at, line, &job->code, err) != 0 ||
        ts_place_unsigned(&seed, ts_json_get(line, "seed"), &job->seed, err) != 0)
        return -1;
    return read_instances(at, line, &job->instances, &job->instance_count, err);
}

/* Which clock, and how long for calm; a parent of before does not say the latter. */
static int read_timing(const struct ts_place *at, const cJSON *line, struct ts_job *job,
                       struct ts_err *err)
{
    const struct ts_place clock = ts_place_key(at, "clock");

    if (ts_place_object(&clock, ts_json_get(line, "clock"), err) != 0)
        return -1;
    ts_clock_from_json(&job->clock, ts_json_get(line, "clock"));
    return !ts_json_get(line, "patience_ns")
               ? 0
               : member_whole(at, line, "patience_ns", 0, MAX_PATIENCE_NS, &job->patience_ns, err);
}

static int read_time(const struct ts_place *at, const cJSON *line, struct ts_job *job,
                     struct ts_err *err)
{
    int64_t samples = 0;
    if (member_whole(at, line, "samples", 0, MAX_SAMPLES, &samples, err) != 0 ||
        member_whole(at, line, "batch", 0, INT64_MAX, &job->batch, err) != 0 ||
        (ts_json_get(line, "cold") && member_bool(at, line, "cold", &job->cold, err) != 0) ||
        member_bool(at, line, "prove_first", &job->prove_first, err) != 0 ||
        member_bool(at, line, "prove_last", &job->prove_last, err) != 0 ||
        (ts_json_get(line, "right") && member_copy(at, line, "right", &job->right, err) != 0))
        return -1;
    job->samples = (int)samples;
    if (read_timing(at, line, job, err) != 0)
        return -1;
    const struct ts_place place = ts_place_key(at, "instances");
    if (job->instance_count != 1)
        return ts_place_error(&place, err, "expected exactly one, got %zu", job->instance_count);
    return 0;
}

static int read_open(const struct ts_place *at, const cJSON *line, struct ts_job *job,
                     struct ts_err *err)
{
    int64_t platform = 0, device = 0;
    if (member_whole(at, line, "platform", 0, INT_MAX, &platform, err) != 0 ||
        member_whole(at, line, "device", 0, INT_MAX, &device, err) != 0 ||
        member_bool(at, line, "audit", &job->audit, err) != 0)
        return -1;
    job->platform_index = (int)platform;
    job->device_index = (int)device;
    const cJSON *id = ts_json_get(line, "device_id");
    if (id && !cJSON_IsNull(id) && member_copy(at, line, "device_id", &job->device_id, err) != 0)
        return -1;
    return job->audit ? read_code(at, line, &job->code, err) : 0;
}

static int read_verb(const struct ts_place *up, const cJSON *line, struct ts_job *job,
                     struct ts_err *err)
{
    const struct ts_place at = ts_place_key(up, "do");
    const char *word;
    if (ts_place_string(&at, ts_json_get(line, "do"), &word, err) != 0)
        return -1;
    for (int verb = 0; verb < TS_JOB_VERB_COUNT; verb++) {
        if (strcmp(word, ts_job_verb_name((enum ts_job_verb)verb)) == 0) {
            job->verb = (enum ts_job_verb)verb;
            return 0;
        }
    }
    return ts_place_error(&at, err, "unknown job \"%s\"", word);
}

static int read_job(const struct ts_place *at, const cJSON *line, struct ts_job *job,
                    struct ts_err *err)
{
    if (ts_place_object(at, line, err) != 0 ||
        member_whole(at, line, "job", 0, INT64_MAX, &job->id, err) != 0 ||
        read_verb(at, line, job, err) != 0)
        return -1;
    switch (job->verb) {
    case TS_JOB_OPEN:
        return read_open(at, line, job, err);
    case TS_JOB_PEAKS:
    case TS_JOB_DIGEST:
        return read_code(at, line, &job->code, err);
    case TS_JOB_SENTINEL:
        return read_code(at, line, &job->code, err) != 0 ? -1 : read_timing(at, line, job, err);
    case TS_JOB_PROVE:
    case TS_JOB_TIME:
        if (read_code(at, line, &job->code, err) != 0 ||
            read_configuration(at, line, job, err) != 0)
            return -1;
        return job->verb == TS_JOB_TIME ? read_time(at, line, job, err) : 0;
    case TS_JOB_CHECK:
        return read_check(at, line, job, err);
    case TS_JOB_DEVICES:
    case TS_JOB_VERB_COUNT:
        break;
    }
    return 0;
}

int ts_job_read(struct ts_job *job, const cJSON *line, struct ts_err *err)
{
    const struct ts_place root = ts_place_root("job");
    *job = (struct ts_job){0};
    if (read_job(&root, line, job, err) == 0)
        return 0;
    ts_job_free(job);
    return -1;
}
