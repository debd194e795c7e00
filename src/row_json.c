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
    ts_json_add_int_or_null(object, "first_ns", time->first_ns > 0 ? time->first_ns : -1);
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

/* Reads up to room whole numbers, each at least `least`, of an array; returns how many, 0 when it
 * is none. */
static int read_whole(const cJSON *array, int64_t least, int64_t *out, int room)
{
    int used = 0;
    const cJSON *item;
    if (!cJSON_IsArray(array))
        return 0;
    cJSON_ArrayForEach(item, array)
    {
        if (used == room || !ts_json_whole(item, &out[used]) || out[used] < least)
            break;
        used++;
    }
    return used;
}

void ts_geometry_from_json(struct ts_geometry *geometry, const cJSON *object)
{
    ts_geometry_free(geometry);
    int dims = read_whole(ts_json_get(object, "local"), 1, geometry->local, 3);
    if (read_whole(ts_json_get(object, "global"), 1, geometry->global, 3) == dims)
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

static int64_t count_of(const cJSON *object, const char *key)
{
    int64_t count = ts_json_int(object, key, 0);
    return count > 0 ? count : 0;
}

void ts_check_from_json(struct ts_check *check, const cJSON *object)
{
    ts_values_free(&check->at_size);
    *check = (struct ts_check){
        .sizes = count_of(object, "sizes"),
        .elements = count_of(object, "elements"),
        .worst = ts_json_number(object, "worst", -1.0),
    };
    check->at_count = read_whole(ts_json_get(object, "at"), 0, check->at, (int)TS_COUNT(check->at));
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

static int visit_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *samples,
                           int worker, struct ts_err *err)
{
    const cJSON *item;
    size_t count, used = 0;
    if (ts_place_filled(at, samples, &count, err) != 0)
        return -1;
    int64_t *ns = ts_alloc(count, sizeof(*ns));
    cJSON_ArrayForEach(item, samples)
    {
        const struct ts_place place = ts_place_item(at, used);
        if (ts_place_whole(&place, item, 1, INT64_MAX, &ns[used], err) != 0) {
            free(ns);
            return -1;
        }
        used++;
    }
    ts_row_add_visit(row, ns, count, worker);
    free(ns);
    return 0;
}

static int visits_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                            struct ts_err *err)
{
    const struct ts_place list = ts_place_key(at, "visits");
    const cJSON *visit, *visits = ts_json_get(object, "visits");
    const cJSON *workers = ts_json_get(object, "workers"),
                *worker = workers ? workers->child : NULL;
    size_t count, index = 0;
    if (ts_place_filled(&list, visits, &count, err) != 0)
        return -1;
    cJSON_ArrayForEach(visit, visits)
    {
        const struct ts_place place = ts_place_item(&list, index++);
        int64_t ordinal = 0;
        if (worker && ts_json_whole(worker, &ordinal) && ordinal > INT32_MAX)
            ordinal = INT32_MAX;
        if (visit_from_json(row, &place, visit, (int)ordinal, err) != 0)
            return -1;
        worker = worker ? worker->next : NULL;
    }
    return 0;
}

static int fresh_from_json(struct ts_time *time, const struct ts_place *at, const cJSON *object,
                           struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "fresh_from");
    const cJSON *value = ts_json_get(object, "fresh_from");
    int64_t fresh = (int64_t)time->visit_count;
    if (value && ts_place_whole(&place, value, 0, fresh, &fresh, err) != 0)
        return -1;
    time->fresh_from = (size_t)fresh;
    return 0;
}

/* One of a few words, or null. */
static int word_from_json(const struct ts_place *at, const cJSON *object, const char *key,
                          bool known, const char *words, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *value = ts_json_get(object, key);
    return known || !value || cJSON_IsNull(value) ? 0
                                                  : ts_place_expected(&place, value, words, err);
}

/* A visit without a number, or with null, has no pair. */
static int pairs_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                           struct ts_err *err)
{
    const struct ts_place list = ts_place_key(at, "pairs");
    const cJSON *item, *pairs = ts_json_get(object, "pairs");
    size_t index = 0;
    cJSON_ArrayForEach(item, pairs)
    {
        const struct ts_place place = ts_place_item(&list, index);
        int64_t pair = -1;
        if (index == row->time.visit_count)
            return ts_place_error(&list, err, "expected one of each visit, %zu",
                                  row->time.visit_count);
        if (!cJSON_IsNull(item) && ts_place_whole(&place, item, 0, INT32_MAX, &pair, err) != 0)
            return -1;
        row->time.visits[index++].pair = (int)pair;
    }
    return 0;
}

static int time_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                          struct ts_err *err)
{
    struct ts_time *time = &row->time;
    if (!object || cJSON_IsNull(object))
        return 0;
    const char *clock = ts_json_string(object, "clock", "");
    time->host_clock = strcmp(clock, "host") == 0;
    time->cache = ts_cache_by_name(ts_json_string(object, "cache", NULL));
    time->first_ns = ts_json_int(object, "first_ns", -1);
    time->batch = ts_json_int(object, "batch", 1);
    time->stop = ts_stop_by_name(ts_json_string(object, "stop", NULL));
    if (word_from_json(at, object, "clock", time->host_clock || strcmp(clock, "event") == 0,
                       "\"event\" or \"host\"", err) != 0 ||
        word_from_json(at, object, "stop", time->stop != TS_STOP_NONE,
                       "precision, plateau, time, visits or null", err) != 0 ||
        visits_from_json(row, at, object, err) != 0 || pairs_from_json(row, at, object, err) != 0 ||
        fresh_from_json(time, at, object, err) != 0)
        return -1;
    const cJSON *flag, *flags = ts_json_get(object, "flags");
    cJSON_ArrayForEach(flag, flags)
    {
        for (size_t i = 0; i < ts_flag_count; i++)
            if (strcmp(flag->valuestring, ts_flag_table[i].name) == 0)
                time->flags |= ts_flag_table[i].flag;
    }
    /* No more than there are, though some earlier programs counted a visit twice. */
    ts_row_mark_disturbed(row, (size_t)ts_json_int(object, "disturbed", 0));
    return 0;
}

/* A name that is not empty; its type is known to be right. */
static int name_from_json(char **out, const struct ts_place *at, const cJSON *object,
                          const char *key, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    *out = copy_string(object, key);
    return **out ? 0 : ts_place_expected(&place, ts_json_get(object, key), "a name", err);
}

static int values_from_json(struct ts_values *out, const struct ts_place *at, const cJSON *object,
                            const char *key, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    if (ts_values_from_json(out, ts_json_get(object, key), err) != 0)
        return ts_place_prepend(&place, err);
    return 0;
}

static int status_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                            struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "status"), why = ts_place_key(at, "reason");
    const cJSON *status = ts_json_get(object, "status"), *reason = ts_json_get(object, "reason");
    if (!ts_status_by_name(status->valuestring, &row->status))
        return ts_place_expected(&place, status,
                                 "ok, skipped, build-failed, launch-failed, wrong, timeout or "
                                 "crashed",
                                 err);
    if (row->status == TS_OK)
        return 0;
    if (!cJSON_IsObject(reason))
        return ts_place_expected(&why, reason, "{\"code\": ..., \"text\": ...}", err);
    ts_row_set_status(row, row->status, ts_json_string(reason, "code", ""), "%s",
                      ts_json_string(reason, "text", ""));
    return 0;
}

static int side_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                          struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "side");
    const cJSON *side = ts_json_get(object, "side");
    return !side || ts_ab_by_name(side->valuestring, &row->side)
               ? 0
               : ts_place_expected(&place, side, "\"a\" or \"b\"", err);
}

int ts_row_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                     struct ts_err *err)
{
    const struct ts_place time = ts_place_key(at, "time");
    ts_row_init(row);
    if (ts_row_check_fields(at, object, err) != 0)
        return -1;
    if (name_from_json(&row->benchmark, at, object, "benchmark", err) != 0 ||
        values_from_json(&row->size, at, object, "size", err) != 0 ||
        values_from_json(&row->problem, at, object, "problem", err) != 0 ||
        name_from_json(&row->variant, at, object, "variant", err) != 0 ||
        values_from_json(&row->params, at, object, "params", err) != 0 ||
        side_from_json(row, at, object, err) != 0 || status_from_json(row, at, object, err) != 0 ||
        time_from_json(row, &time, ts_json_get(object, "time"), err) != 0) {
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
