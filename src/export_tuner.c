/* export_tuner.c: for autotuners: Kernel Tuner's cache file, and results by the T4 schema. Both
 * hold one search space: a variant of a case, on one device in one run. Times are milliseconds, and
 * written with a point always: Kernel Tuner passes over a time that is no float. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export_private.h"
#include "row_map.h"

/* ---- what a status is called ---- */

struct fate {
    const char *kernel_tuner; /* its class of errors, NULL: a time */
    const char *t4;           /* the schema's invalidity */
};

static const struct fate fates[TS_STATUS_COUNT] = {
    [TS_OK] = {NULL, "correct"},
    [TS_SKIPPED] = {"InvalidConfig", "constraints"},
    [TS_BUILD_FAILED] = {"CompilationFailedConfig", "compile"},
    [TS_LAUNCH_FAILED] = {"RuntimeFailedConfig", "runtime"},
    [TS_WRONG] = {"RuntimeFailedConfig", "correctness"},
    [TS_TIMEOUT] = {"RuntimeFailedConfig", "timeout"},
    [TS_CRASHED] = {"RuntimeFailedConfig", "runtime"},
};

/* ---- times ---- */

static void add_ms(cJSON *parent, const char *key, double ns)
{
    double whole = round(ns), below = fmod(whole, 1e6); /* all of a batch may pass int64 */
    char *text = ts_printf("%.0f.%06.0f", (whole - below) / 1e6, below);
    cJSON *raw = cJSON_CreateRaw(text);
    if (!raw)
        ts_no_memory();
    ts_json_add_item(parent, key, raw);
    free(text);
}

static void add_samples(cJSON *object, const char *key, const struct ts_row *row)
{
    size_t count;
    double *ns = ts_row_samples(row, &count);
    cJSON *list = ts_json_add_array(object, key);
    for (size_t i = 0; i < count; i++)
        add_ms(list, NULL, ns[i]);
    free(ns);
}

/* Time in the kernel while it was measured. */
static double benchmark_ns(const struct ts_row *row)
{
    size_t count;
    double sum = 0.0, *ns = ts_row_samples(row, &count);
    for (size_t i = 0; i < count; i++)
        sum += ns[i] * (double)row->time.batch;
    free(ns);
    return sum;
}

static double build_ns(const struct ts_row *row)
{
    return row->build.build_ns > 0 ? (double)row->build.build_ns : 0.0;
}

/* ---- where it comes from ---- */

/* Beyond what the forms know, which ignore it: what would be needed to measure it again. */
static void add_origin(cJSON *object, const struct ts_export_row *item)
{
    cJSON *origin = ts_json_add_object(object, "tilesweep");
    ts_json_add_string(origin, "run", item->run->id);
    ts_json_add_string(origin, "benchmark", item->row->benchmark);
    ts_json_add_string(origin, "variant", item->row->variant);
    ts_json_add_item(origin, "size", ts_values_to_json(&item->row->size));
    ts_json_add_item(origin, "problem", ts_values_to_json(&item->row->problem));
    ts_json_add_string(origin, "device", item->run->device.name);
    ts_json_add_string(origin, "driver", item->run->device.driver);
    ts_json_add_string(origin, "clock", item->row->time.host_clock ? "host" : "event");
}

/* ---- Kernel Tuner's cache ---- */

/* Members of an entry beside the parameters. */
static const char *const taken_names[] = {
    "time",          "times",          "compile_time", "verification_time", "benchmark_time",
    "strategy_time", "framework_time", "timestamp",    "__error__",
};

static int check_names(const struct ts_row *row, struct ts_err *err)
{
    for (size_t i = 0; i < row->params.count; i++)
        for (size_t n = 0; n < TS_COUNT(taken_names); n++)
            if (strcmp(row->params.items[i].name, taken_names[n]) == 0)
                return ts_err_set(err, TS_EXIT_USAGE,
                                  "export: Kernel Tuner has a use of its own for the name of the "
                                  "parameter %s",
                                  taken_names[n]);
    return 0;
}

static void add_value(cJSON *parent, const char *key, const struct ts_value *value)
{
    if (value->word)
        ts_json_add_string(parent, key, value->word);
    else
        ts_json_add_int(parent, key, value->number);
}

static bool has_value(const struct ts_export_rows *rows, size_t before,
                      const struct ts_value *value)
{
    for (size_t i = before; i-- > 0;) {
        const struct ts_value *other = ts_values_find(&rows->items[i].row->params, value->name);
        if (other && ts_value_equal(other, value))
            return true;
    }
    return false;
}

/* The parameters and the values that occur. */
static void add_params(cJSON *document, const struct ts_export_rows *rows)
{
    const struct ts_values *names = &rows->items[0].row->params;
    cJSON *keys = ts_json_add_array(document, "tune_params_keys");
    cJSON *params = ts_json_add_object(document, "tune_params");
    for (size_t p = 0; p < names->count; p++) {
        const char *name = names->items[p].name;
        ts_json_add_string(keys, NULL, name);
        cJSON *list = ts_json_add_array(params, name);
        for (size_t i = 0; i < rows->count; i++) {
            const struct ts_value *value = ts_values_find(&rows->items[i].row->params, name);
            if (!has_value(rows, i, value))
                add_value(list, NULL, value);
        }
    }
}

/* "32,8": the values in the order of the names. */
static void add_key(const struct ts_values *names, const struct ts_values *params,
                    struct ts_text *out)
{
    ts_text_puts(out, "");
    for (size_t i = 0; i < names->count; i++) {
        ts_text_puts(out, i ? "," : "");
        ts_value_print(ts_values_find(params, names->items[i].name), out);
    }
}

static void add_entry(cJSON *cache, const struct ts_values *names, const struct ts_export_row *item)
{
    const struct ts_row *row = item->row;
    const char *error = fates[row->status].kernel_tuner;
    struct ts_text key = {0};
    add_key(names, &row->params, &key);
    cJSON *entry = ts_json_add_object(cache, key.text);
    for (size_t i = 0; i < names->count; i++)
        add_value(entry, names->items[i].name, ts_values_find(&row->params, names->items[i].name));
    if (error) {
        ts_json_add_string(entry, "time", error);
        ts_json_add_string(entry, "__error__", error);
    } else {
        add_ms(entry, "time", ts_metric_time_ns(row).mid);
    }
    add_samples(entry, "times", row);
    add_ms(entry, "compile_time", build_ns(row));
    add_ms(entry, "verification_time", 0.0); /* not kept */
    add_ms(entry, "benchmark_time", benchmark_ns(row));
    add_ms(entry, "strategy_time", 0.0);
    add_ms(entry, "framework_time", 0.0);
    ts_export_add_date(entry, "timestamp", item->run->started);
    ts_text_free(&key);
}

/* The rows of a space have the same parameters, each once: a file that was not written by `run` may
 * be otherwise. */
static int check_rows(const struct ts_export_rows *rows, struct ts_err *err)
{
    struct ts_row_map map = {0};
    const struct ts_values *names = &rows->items[0].row->params;
    int result = check_names(rows->items[0].row, err);
    for (size_t i = 0; i < rows->count && result == 0; i++) {
        const struct ts_row *row = rows->items[i].row;
        bool fresh, same = row->params.count == names->count;
        for (size_t p = 0; p < names->count && same; p++)
            same = ts_values_find(&row->params, names->items[p].name) != NULL;
        ts_row_map_put(&map, row, &fresh);
        if (same && fresh)
            continue;
        struct ts_text key = {0};
        ts_row_key(row, &key);
        result = ts_err_set(err, TS_EXIT_USAGE, "export: %s: %s", key.text,
                            same ? "twice in one run" : "its variant has other parameters, too");
        ts_text_free(&key);
    }
    ts_row_map_free(&map);
    return result;
}

int ts_export_kernel_tuner(const struct ts_export_rows *rows, struct ts_text *out,
                           struct ts_err *err)
{
    const struct ts_export_row *first = &rows->items[0];
    if (check_rows(rows, err) != 0)
        return -1;
    cJSON *document = cJSON_CreateObject();
    char *kernel = ts_printf("%s_%s", first->row->benchmark, first->row->variant);
    ts_json_add_string(document, "schema_version", "1.1.0");
    ts_json_add_string(document, "device_name", first->run->device.name);
    ts_json_add_string(document, "kernel_name", kernel);
    cJSON *size = ts_json_add_array(document, "problem_size");
    for (size_t i = 0; i < first->row->size.count; i++)
        add_value(size, NULL, &first->row->size.items[i]);
    add_params(document, rows);
    ts_json_add_string(document, "objective", "time");
    add_origin(document, first);
    /* Last: Kernel Tuner opens a file for more entries by cutting the two brackets at its end. */
    cJSON *cache = ts_json_add_object(document, "cache");
    for (size_t i = 0; i < rows->count; i++)
        if (ts_export_is_tried(rows->items[i].row))
            add_entry(cache, &first->row->params, &rows->items[i]);
    ts_json_add_document(out, document);
    free(kernel);
    return 0;
}

/* ---- T4 ---- */

/* Of these five its readers want every one; the schema's name of the first is another. */
static void add_t4_times(cJSON *result, const struct ts_row *row)
{
    cJSON *times = ts_json_add_object(result, "times");
    add_ms(times, "compilation_time", build_ns(row));
    add_ms(times, "compilation", build_ns(row));
    add_ms(times, "benchmark", benchmark_ns(row));
    add_ms(times, "framework", 0.0);
    add_ms(times, "search_algorithm", 0.0);
    add_ms(times, "validation", 0.0);
    add_samples(times, "runtimes", row);
}

static cJSON *add_measurement(cJSON *list, const char *name, const char *unit)
{
    cJSON *item = ts_json_add_object(list, NULL);
    ts_json_add_string(item, "name", name);
    ts_json_add_string(item, "unit", unit);
    return item;
}

/* Exactly one is the objective, also of a failed configuration, whose value is "". */
static void add_measurements(cJSON *result, const struct ts_export_row *item)
{
    bool timed = ts_export_is_timed(item->row);
    cJSON *list = ts_json_add_array(result, "measurements");
    cJSON *time = add_measurement(list, "time", "ms");
    if (timed)
        add_ms(time, "value", ts_metric_time_ns(item->row).mid);
    else
        ts_json_add_string(time, "value", "");
    for (size_t i = 0; i < ts_metric_count && timed; i++) {
        const struct ts_metric *metric = &ts_metric_table[i];
        double value = metric->value(item->row, &item->run->peaks);
        if (metric->kind != TS_METRIC_TIME && isfinite(value))
            ts_json_add_real(add_measurement(list, metric->name, ""), "value", value);
    }
}

static void add_result(cJSON *list, const struct ts_export_row *item)
{
    const struct ts_row *row = item->row;
    cJSON *result = ts_json_add_object(list, NULL);
    ts_export_add_date(result, "timestamp", item->run->started);
    ts_json_add_item(result, "configuration", ts_values_to_json(&row->params));
    ts_json_add_string(ts_json_add_array(result, "objectives"), NULL, "time");
    add_t4_times(result, row);
    ts_json_add_string(result, "invalidity", fates[row->status].t4);
    ts_json_add_int(result, "correctness", row->status == TS_OK);
    add_measurements(result, item);
}

int ts_export_t4(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err)
{
    (void)err;
    cJSON *document = cJSON_CreateObject();
    ts_json_add_string(document, "schema_version", "1.0.0");
    cJSON *metadata = ts_json_add_object(document, "metadata");
    ts_json_add_string(metadata, "timeunit", "milliseconds");
    add_origin(metadata, &rows->items[0]);
    cJSON *results = ts_json_add_array(document, "results");
    for (size_t i = 0; i < rows->count; i++)
        if (ts_export_is_tried(rows->items[i].row))
            add_result(results, &rows->items[i]);
    ts_json_add_document(out, document);
    return 0;
}
