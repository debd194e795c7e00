/* row_json.c: a row to JSON and back. */
#include "row_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- to JSON ---- */

static void add_work_items(cJSON *object, const char *key, const int64_t *items, int dims)
{
    if (dims <= 0) {
        ts_json_add_null(object, key);
        return;
    }
    cJSON *array = ts_json_add_array(object, key);
    for (int d = 0; d < dims && d < 3; d++)
        ts_json_add_int(array, NULL, items[d]);
}

cJSON *ts_geometry_to_json(const struct ts_geometry *geometry)
{
    cJSON *object = cJSON_CreateObject();
    add_work_items(object, "global", geometry->global, geometry->dims);
    add_work_items(object, "local", geometry->local, geometry->dims);
    ts_json_add_int_or_null(object, "local_bytes", geometry->local_bytes);
    ts_json_add_int_or_null(object, "local_bytes_reported", geometry->local_bytes_reported);
    ts_json_add_int_or_null(object, "work_group_limit", geometry->work_group_limit);
    ts_json_add_int_or_null(object, "preferred_multiple", geometry->preferred_multiple);
    ts_json_add_int_or_null(object, "private_bytes", geometry->private_bytes);
    ts_json_add_string(object, "limit_rule", geometry->limit_rule);
    return object;
}

cJSON *ts_build_to_json(const struct ts_build *build)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_int_or_null(object, "ns", build->build_ns);
    ts_json_add_string(object, "options", build->options);
    ts_json_add_string(object, "log", build->log ? build->log : "");
    ts_json_add_string(object, "binary", build->binary);
    return object;
}

cJSON *ts_check_to_json(const struct ts_check *check)
{
    if (check->sizes <= 0 && check->elements <= 0 && check->worst < 0.0)
        return cJSON_CreateNull(); /* never proven */
    cJSON *object = cJSON_CreateObject();
    ts_json_add_int(object, "sizes", check->sizes);
    ts_json_add_int(object, "elements", check->elements);
    if (check->worst < 0.0)
        ts_json_add_null(object, "worst");
    else
        ts_json_add_real(object, "worst", check->worst);
    if (check->at_count <= 0) {
        ts_json_add_null(object, "at");
        ts_json_add_null(object, "at_size");
        return object;
    }
    cJSON *at = ts_json_add_array(object, "at");
    for (int d = 0; d < check->at_count && d < (int)TS_COUNT(check->at); d++)
        ts_json_add_int(at, NULL, check->at[d]);
    ts_json_add_item(object, "at_size", ts_values_to_json(&check->at_size));
    return object;
}

/* Quartiles over all samples of all visits, in ns. */
static void add_quartiles(cJSON *object, const struct ts_row *row)
{
    size_t count;
    double *samples = ts_row_samples(row, &count);
    bool any = count > 0;
    ts_json_add_int_or_null(object, "q1_ns",
                            any ? (int64_t)llround(ts_quantile(samples, count, 0.25)) : -1);
    ts_json_add_int_or_null(object, "q3_ns",
                            any ? (int64_t)llround(ts_quantile(samples, count, 0.75)) : -1);
    free(samples);
}

static void add_summary(cJSON *object, const struct ts_row *row)
{
    struct ts_interval interval = ts_metric_time_ns(row);
    bool any = isfinite(interval.mid);
    ts_json_add_int_or_null(object, "median_ns", any ? (int64_t)llround(interval.mid) : -1);
    /* Two visits far apart give bounds below a nanosecond: no time is shorter than one. */
    ts_json_add_int_or_null(object, "low_ns",
                            interval.known ? (int64_t)llround(fmax(interval.low, 1.0)) : -1);
    ts_json_add_int_or_null(object, "high_ns",
                            interval.known ? (int64_t)llround(fmin(interval.high, 0x1p53)) : -1);
    add_quartiles(object, row);
}

static cJSON *time_to_json(const struct ts_row *row)
{
    const struct ts_time *time = &row->time;
    if (row->status != TS_OK || time->visit_count == 0)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "clock", time->host_clock ? "host" : "event");
    ts_json_add_string(object, "cache", ts_cache_name(time->cache));
    ts_json_add_int_or_null(object, "first_ns", time->first_ns);
    ts_json_add_int(object, "batch", time->batch);
    cJSON *visits = ts_json_add_array(object, "visits");
    cJSON *workers = ts_json_add_array(object, "workers");
    for (size_t i = 0; i < time->visit_count; i++) {
        cJSON *samples = ts_json_add_array(visits, NULL);
        for (size_t j = 0; j < time->visits[i].count; j++)
            ts_json_add_int(samples, NULL, time->visits[i].sample_ns[j]);
        ts_json_add_int(workers, NULL, time->visits[i].worker);
    }
    if (row->side != TS_AB_NONE) {
        cJSON *pairs = ts_json_add_array(object, "pairs");
        for (size_t i = 0; i < time->visit_count; i++)
            ts_json_add_int_or_null(pairs, NULL, time->visits[i].pair);
    }
    ts_json_add_int(object, "fresh_from", (int64_t)time->fresh_from);
    add_summary(object, row);
    cJSON *flags = ts_json_add_array(object, "flags");
    for (size_t i = 0; i < ts_flag_count; i++)
        if (time->flags & ts_flag_table[i].flag)
            ts_json_add_string(flags, NULL, ts_flag_table[i].name);
    ts_json_add_string(object, "stop", ts_stop_name(time->stop));
    ts_json_add_int(object, "disturbed", time->disturbed);
    return object;
}

static cJSON *work_to_json(const struct ts_work *work)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_int_or_null(object, "elements", work->elements);
    ts_json_add_int_or_null(object, "flops", work->flops);
    ts_json_add_int_or_null(object, "bytes", work->bytes);
    ts_json_add_int_or_null(object, "requested_bytes", work->requested_bytes);
    return object;
}

cJSON *ts_row_to_json(const struct ts_row *row, const struct ts_peaks *peaks)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "benchmark", row->benchmark);
    ts_json_add_item(object, "size", ts_values_to_json(&row->size));
    ts_json_add_item(object, "problem", ts_values_to_json(&row->problem));
    ts_json_add_string(object, "variant", row->variant);
    if (row->side != TS_AB_NONE)
        ts_json_add_string(object, "side", ts_ab_name(row->side));
    ts_json_add_bool(object, "baseline", row->baseline);
    ts_json_add_bool(object, "staged", row->staged);
    ts_json_add_item(object, "params", ts_values_to_json(&row->params));
    ts_json_add_string(object, "status", ts_status_name(row->status));
    if (row->status == TS_OK || !row->reason.code) {
        ts_json_add_null(object, "reason");
    } else {
        cJSON *reason = ts_json_add_object(object, "reason");
        ts_json_add_string(reason, "code", row->reason.code);
        ts_json_add_string(reason, "text", row->reason.text ? row->reason.text : "");
    }
    ts_json_add_string(object, "source", row->source);
    ts_json_add_item(object, "geometry", ts_geometry_to_json(&row->geometry));
    ts_json_add_item(object, "build", ts_build_to_json(&row->build));
    ts_json_add_item(object, "check", ts_check_to_json(&row->check));
    ts_json_add_item(object, "time", time_to_json(row));
    ts_json_add_item(object, "work", work_to_json(&row->work));
    ts_json_add_item(object, "rate", ts_rate_to_json(row, peaks));
    ts_json_add_string(object, "talk", row->talk);
    return object;
}

/* ---- from JSON ---- */

static char *copy_string(const cJSON *object, const char *key)
{
    const char *text = ts_json_string(object, key, NULL);
    return text ? ts_strdup(text) : NULL;
}

/* Reads up to room whole numbers of an array; returns how many, 0 when it is none. */
static int read_whole(const cJSON *array, int64_t *out, int room)
{
    int used = 0;
    const cJSON *item;
    if (!cJSON_IsArray(array))
        return 0;
    cJSON_ArrayForEach(item, array)
    {
        if (used == room || !ts_json_whole(item, &out[used]))
            break;
        used++;
    }
    return used;
}

void ts_geometry_from_json(struct ts_geometry *geometry, const cJSON *object)
{
    ts_geometry_free(geometry);
    int dims = read_whole(ts_json_get(object, "local"), geometry->local, 3);
    if (read_whole(ts_json_get(object, "global"), geometry->global, 3) == dims)
        geometry->dims = dims;
    geometry->local_bytes = ts_json_int(object, "local_bytes", -1);
    geometry->local_bytes_reported = ts_json_int(object, "local_bytes_reported", -1);
    geometry->work_group_limit = ts_json_int(object, "work_group_limit", -1);
    geometry->preferred_multiple = ts_json_int(object, "preferred_multiple", -1);
    geometry->private_bytes = ts_json_int(object, "private_bytes", -1);
    geometry->limit_rule = copy_string(object, "limit_rule");
}

void ts_build_from_json(struct ts_build *build, const cJSON *object)
{
    ts_build_free(build);
    build->build_ns = ts_json_int(object, "ns", -1);
    build->options = copy_string(object, "options");
    build->log = copy_string(object, "log");
    build->binary = copy_string(object, "binary");
}

void ts_check_from_json(struct ts_check *check, const cJSON *object)
{
    ts_values_free(&check->at_size);
    *check = (struct ts_check){
        .sizes = ts_json_int(object, "sizes", 0),
        .elements = ts_json_int(object, "elements", 0),
        .worst = ts_json_number(object, "worst", -1.0),
    };
    check->at_count = read_whole(ts_json_get(object, "at"), check->at, (int)TS_COUNT(check->at));
    struct ts_err ignored = {0};
    const cJSON *at_size = ts_json_get(object, "at_size");
    if (cJSON_IsObject(at_size) && ts_values_from_json(&check->at_size, at_size, &ignored) != 0)
        ts_values_free(&check->at_size);
}

static void work_from_json(struct ts_work *work, const cJSON *object)
{
    work->elements = ts_json_int(object, "elements", -1);
    work->flops = ts_json_int(object, "flops", -1);
    work->bytes = ts_json_int(object, "bytes", -1);
    work->requested_bytes = ts_json_int(object, "requested_bytes", -1);
}

static int visit_from_json(struct ts_row *row, const cJSON *samples, size_t index, int worker,
                           struct ts_err *err)
{
    if (!cJSON_IsArray(samples))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "time.visits[%zu]: expected an array of samples in ns", index);
    size_t count = 0;
    int64_t *ns = ts_alloc((size_t)cJSON_GetArraySize(samples) + 1, sizeof(*ns));
    const cJSON *item;
    cJSON_ArrayForEach(item, samples)
    {
        if (!ts_json_whole(item, &ns[count]) || ns[count] < 1) {
            ts_err_set(err, TS_EXIT_USAGE,
                       "time.visits[%zu][%zu]: expected a whole number of ns above 0", index,
                       count);
            free(ns);
            return -1;
        }
        count++;
    }
    ts_row_add_visit(row, ns, count, worker);
    free(ns);
    return 0;
}

static int visits_from_json(struct ts_row *row, const cJSON *object, struct ts_err *err)
{
    const cJSON *visits = ts_json_get(object, "visits");
    if (!cJSON_IsArray(visits))
        return ts_err_set(err, TS_EXIT_USAGE, "time.visits: expected an array");
    const cJSON *workers = ts_json_get(object, "workers");
    const cJSON *worker = cJSON_IsArray(workers) ? workers->child : NULL;
    const cJSON *visit;
    size_t index = 0;
    cJSON_ArrayForEach(visit, visits)
    {
        int64_t ordinal = 0;
        if (worker && (!ts_json_whole(worker, &ordinal) || ordinal < 0 || ordinal > INT32_MAX))
            return ts_err_set(err, TS_EXIT_USAGE, "time.workers[%zu]: expected a worker's ordinal",
                              index);
        if (visit_from_json(row, visit, index++, (int)ordinal, err) != 0)
            return -1;
        worker = worker ? worker->next : NULL;
    }
    return 0;
}

/* A visit without a number, or with null, has no pair. */
static int pairs_from_json(struct ts_row *row, const cJSON *object, struct ts_err *err)
{
    const cJSON *item, *pairs = ts_json_get(object, "pairs");
    size_t index = 0;
    if (pairs && !cJSON_IsArray(pairs))
        return ts_err_set(err, TS_EXIT_USAGE, "time.pairs: expected an array");
    cJSON_ArrayForEach(item, pairs)
    {
        int64_t pair = -1;
        if (index == row->time.visit_count)
            return ts_err_set(err, TS_EXIT_USAGE, "time.pairs: expected one of each visit, %zu",
                              row->time.visit_count);
        if (!cJSON_IsNull(item) && (!ts_json_whole(item, &pair) || pair < 0 || pair > INT32_MAX))
            return ts_err_set(err, TS_EXIT_USAGE,
                              "time.pairs[%zu]: expected the number of a pair of visits, or null",
                              index);
        row->time.visits[index++].pair = (int)pair;
    }
    return 0;
}

static int time_from_json(struct ts_row *row, const cJSON *object, struct ts_err *err)
{
    struct ts_time *time = &row->time;
    if (!object || cJSON_IsNull(object))
        return 0;
    if (!cJSON_IsObject(object))
        return ts_err_set(err, TS_EXIT_USAGE, "time: expected an object or null");
    const char *clock = ts_json_string(object, "clock", "");
    if (strcmp(clock, "event") != 0 && strcmp(clock, "host") != 0)
        return ts_err_set(err, TS_EXIT_USAGE, "time.clock: expected \"event\" or \"host\"");
    time->host_clock = strcmp(clock, "host") == 0;
    time->cache = ts_cache_by_name(ts_json_string(object, "cache", NULL));
    time->first_ns = ts_json_int(object, "first_ns", -1);
    time->batch = ts_json_int(object, "batch", 1);
    if (time->batch < 1)
        return ts_err_set(err, TS_EXIT_USAGE, "time.batch: expected a whole number above 0");
    if (visits_from_json(row, object, err) != 0 || pairs_from_json(row, object, err) != 0)
        return -1;
    int64_t fresh = ts_json_int(object, "fresh_from", (int64_t)time->visit_count);
    if (fresh < 0 || fresh > (int64_t)time->visit_count)
        return ts_err_set(err, TS_EXIT_USAGE, "time.fresh_from: expected 0 to %zu",
                          time->visit_count);
    time->fresh_from = (size_t)fresh;
    const cJSON *flag, *flags = ts_json_get(object, "flags");
    cJSON_ArrayForEach(flag, flags)
    {
        for (size_t i = 0; cJSON_IsString(flag) && i < ts_flag_count; i++)
            if (strcmp(flag->valuestring, ts_flag_table[i].name) == 0)
                time->flags |= ts_flag_table[i].flag;
    }
    time->stop = ts_stop_by_name(ts_json_string(object, "stop", NULL));
    int64_t disturbed = ts_json_int(object, "disturbed", 0);
    time->disturbed = disturbed > 0 && disturbed < INT32_MAX ? (int)disturbed : 0;
    return 0;
}

/* A required, non-empty string; -1 with its place. */
static int need_string(char **out, const cJSON *object, const char *key, struct ts_err *err)
{
    *out = copy_string(object, key);
    if (*out && **out)
        return 0;
    return ts_err_set(err, TS_EXIT_USAGE, "%s: expected a name", key);
}

static int need_values(struct ts_values *out, const cJSON *object, const char *key,
                       struct ts_err *err)
{
    if (ts_values_from_json(out, ts_json_get(object, key), err) != 0)
        return ts_err_prepend(err, "%s", key);
    return 0;
}

static int status_from_json(struct ts_row *row, const cJSON *object, struct ts_err *err)
{
    const char *name = ts_json_string(object, "status", "");
    if (!ts_status_by_name(name, &row->status))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "status: expected ok, skipped, build-failed, "
                          "launch-failed, wrong, timeout or crashed");
    const cJSON *reason = ts_json_get(object, "reason");
    if (row->status == TS_OK)
        return 0;
    const char *code = ts_json_string(reason, "code", NULL);
    if (!code)
        return ts_err_set(err, TS_EXIT_USAGE, "reason: expected {\"code\": ..., \"text\": ...}");
    ts_row_set_status(row, row->status, code, "%s", ts_json_string(reason, "text", ""));
    return 0;
}

static int side_from_json(struct ts_row *row, const cJSON *object, struct ts_err *err)
{
    const cJSON *side = ts_json_get(object, "side");
    if (side && (!cJSON_IsString(side) || !ts_ab_by_name(side->valuestring, &row->side)))
        return ts_err_set(err, TS_EXIT_USAGE, "side: expected \"a\" or \"b\"");
    return 0;
}

int ts_row_from_json(struct ts_row *row, const cJSON *object, struct ts_err *err)
{
    ts_row_init(row);
    if (!cJSON_IsObject(object))
        return ts_err_set(err, TS_EXIT_USAGE, "expected a row, an object");
    if (need_string(&row->benchmark, object, "benchmark", err) != 0 ||
        need_values(&row->size, object, "size", err) != 0 ||
        need_values(&row->problem, object, "problem", err) != 0 ||
        need_string(&row->variant, object, "variant", err) != 0 ||
        need_values(&row->params, object, "params", err) != 0 ||
        side_from_json(row, object, err) != 0 || status_from_json(row, object, err) != 0 ||
        time_from_json(row, ts_json_get(object, "time"), err) != 0) {
        ts_row_free(row);
        return -1;
    }
    row->baseline = ts_json_bool(object, "baseline", false);
    row->staged = ts_json_bool(object, "staged", false);
    row->source = copy_string(object, "source");
    ts_geometry_from_json(&row->geometry, ts_json_get(object, "geometry"));
    ts_build_from_json(&row->build, ts_json_get(object, "build"));
    ts_check_from_json(&row->check, ts_json_get(object, "check"));
    work_from_json(&row->work, ts_json_get(object, "work"));
    row->talk = copy_string(object, "talk");
    return 0;
}
