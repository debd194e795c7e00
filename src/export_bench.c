/* export_bench.c: for programs that know a benchmark by its name: google-benchmark's JSON, and
 * github-action-benchmark's list. A configuration's name is that of google-benchmark's named
 * arguments, laplacian/naive/POINTS:5/W:4096/H:4096/TX:32/TY:8, and the device's where there are
 * several. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export_private.h"
#include "progress.h"

/* ---- configurations by name ---- */

/* All rows of one name (several runs of one device), in the order of the files. */
struct config {
    char *name;
    const struct ts_export_row **rows;
    size_t count;
};

struct configs {
    struct config *items; /* in the order of their first rows */
    const struct ts_export_row **rows;
    size_t count;
};

static void add_values(const struct ts_values *values, struct ts_text *out)
{
    for (size_t i = 0; i < values->count; i++) {
        ts_text_printf(out, "/%s:", values->items[i].name);
        ts_value_print(&values->items[i], out);
    }
}

static char *name_of(const struct ts_export_row *item, bool device)
{
    struct ts_text name = {0};
    ts_text_printf(&name, "%s/%s", item->row->benchmark, item->row->variant);
    add_values(&item->row->problem, &name);
    add_values(&item->row->size, &name);
    add_values(&item->row->params, &name);
    if (device)
        ts_text_printf(&name, "/device:%s", item->run->device.name);
    return name.text;
}

struct named {
    char *name;
    size_t index, first; /* of the row, and of the first of its name */
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_first(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = (x->first > y->first) - (x->first < y->first);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void find_configs(struct configs *configs, const struct ts_export_rows *rows)
{
    struct named *named = ts_alloc(rows->count, sizeof(*named));
    for (size_t i = 0; i < rows->count; i++)
        named[i] = (struct named){name_of(&rows->items[i], rows->several_devices), i, i};
    qsort(named, rows->count, sizeof(*named), by_name);
    for (size_t i = 1; i < rows->count; i++)
        if (strcmp(named[i].name, named[i - 1].name) == 0)
            named[i].first = named[i - 1].first;
    qsort(named, rows->count, sizeof(*named), by_first);
    *configs = (struct configs){.items = ts_alloc(rows->count, sizeof(*configs->items)),
                                .rows = ts_alloc(rows->count, sizeof(*configs->rows))};
    for (size_t i = 0; i < rows->count; i++) {
        configs->rows[i] = &rows->items[named[i].index];
        if (i == 0 || named[i].first != named[i - 1].first)
            configs->items[configs->count++] = (struct config){named[i].name, &configs->rows[i], 0};
        else
            free(named[i].name);
        configs->items[configs->count - 1].count++;
    }
    free(named);
}

static void free_configs(struct configs *configs)
{
    for (size_t i = 0; i < configs->count; i++)
        free(configs->items[i].name);
    free(configs->items);
    free(configs->rows);
}

/* ---- google-benchmark: context ---- */

static void add_context(cJSON *document, const struct ts_export_rows *rows)
{
    const struct ts_run *run = rows->items[0].run;
    const cJSON *item, *load = ts_json_get(run->host, "load");
    cJSON *context = ts_json_add_object(document, "context");
    ts_export_add_date(context, "date", run->started);
    ts_json_add_string(context, "host_name", ts_json_string(run->host, "name", ""));
    ts_json_add_string(context, "executable", "tilesweep");
    ts_json_add_int(context, "num_cpus", ts_json_int(run->host, "cores", 0));
    ts_json_add_int(context, "mhz_per_cpu", 0); /* not known */
    ts_json_add_array(context, "caches");
    cJSON *loads = ts_json_add_array(context, "load_avg");
    if (cJSON_IsNumber(load))
        ts_json_add_real(loads, NULL, load->valuedouble);
    ts_json_add_string(context, "library_version", ts_json_string(run->tool, "version", ""));
    ts_json_add_string(context, "library_build_type", "release");
    ts_json_add_int(context, "json_schema_version", 1); /* compare.py takes no other */
    ts_json_add_string(context, "device",
                       rows->several_devices ? "several, see the names" : run->device.name);
    ts_json_add_string(context, "driver", rows->several_devices ? "" : run->device.driver);
    ts_json_add_string(context, "platform", rows->several_devices ? "" : run->device.platform_name);
    ts_json_add_string(context, "clock", run->clock.event ? "event" : "host");
    cJSON_ArrayForEach(item, run->context)
    {
        char *key = ts_printf("context_%s", item->string);
        if (cJSON_IsString(item))
            ts_json_add_string(context, key, item->valuestring);
        free(key);
    }
}

/* ---- google-benchmark: rows ---- */

struct family {
    size_t index, instance;
};

static cJSON *add_entry(cJSON *list, const struct config *config, const struct family *family,
                        const char *aggregate, size_t repetitions)
{
    cJSON *entry = ts_json_add_object(list, NULL);
    char *name =
        ts_printf("%s%s%s", config->name, aggregate ? "_" : "", aggregate ? aggregate : "");
    ts_json_add_string(entry, "name", name);
    ts_json_add_int(entry, "family_index", (int64_t)family->index);
    ts_json_add_int(entry, "per_family_instance_index", (int64_t)family->instance);
    ts_json_add_string(entry, "run_name", config->name);
    ts_json_add_string(entry, "run_type", aggregate ? "aggregate" : "iteration");
    ts_json_add_int(entry, "repetitions", (int64_t)repetitions);
    free(name);
    return entry;
}

/* There is no CPU time of a kernel, but its readers need the key: the device's time again. */
static void add_times(cJSON *entry, int64_t iterations, double time, const char *unit)
{
    ts_json_add_int(entry, "iterations", iterations);
    ts_json_add_real(entry, "real_time", time);
    ts_json_add_real(entry, "cpu_time", time);
    ts_json_add_string(entry, "time_unit", unit);
}

static void add_rate(cJSON *entry, const char *key, int64_t amount, double ns)
{
    if (amount >= 0)
        ts_json_add_real(entry, key, (double)amount * 1e9 / ns);
}

/* Every sample is a repetition. */
static size_t add_samples(cJSON *list, const struct config *config, const struct family *family,
                          const double *ns, const struct ts_export_row *const *of, size_t count,
                          size_t repetitions)
{
    for (size_t i = 0; i < count; i++) {
        const struct ts_row *row = of[i]->row;
        cJSON *entry = add_entry(list, config, family, NULL, repetitions);
        ts_json_add_int(entry, "repetition_index", (int64_t)i);
        ts_json_add_int(entry, "threads", 1);
        add_times(entry, row->time.batch, ns[i], "ns");
        add_rate(entry, "bytes_per_second", row->work.bytes, ns[i]);
        add_rate(entry, "items_per_second", row->work.elements, ns[i]);
        add_rate(entry, "flops_per_second", row->work.flops, ns[i]);
    }
    return count;
}

static double sd_of(const double *x, size_t count)
{
    return count < 2 ? 0.0 : sqrt(ts_variance(x, count));
}

static double cv_of(const double *x, size_t count)
{
    return sd_of(x, count) / ts_mean(x, count);
}

/* Over the samples, as google-benchmark's own; our median over visits is in `action` and `csv`. */
static const struct {
    const char *name, *unit;
    double (*value)(const double *x, size_t count);
} aggregates[] = {
    {"mean", "time", ts_mean},
    {"median", "time", ts_median},
    {"stddev", "time", sd_of},
    {"cv", "percentage", cv_of},
};

static void add_aggregates(cJSON *list, const struct config *config, const struct family *family,
                           const double *ns, size_t count, size_t repetitions)
{
    for (size_t i = 0; i < TS_COUNT(aggregates) && count > 0; i++) {
        cJSON *entry = add_entry(list, config, family, aggregates[i].name, repetitions);
        ts_json_add_int(entry, "threads", 1);
        ts_json_add_string(entry, "aggregate_name", aggregates[i].name);
        ts_json_add_string(entry, "aggregate_unit", aggregates[i].unit);
        add_times(entry, (int64_t)count, aggregates[i].value(ns, count), "ns");
    }
}

/* compare.py does not look at errors: a time of 0 ns would be the greatest speed-up of all. It
 * compares equal units only, so a row without a time has another one. */
static void add_failure(cJSON *list, const struct config *config, const struct family *family,
                        const struct ts_row *row, size_t index, size_t repetitions)
{
    bool error = ts_status_is_finding(row->status);
    cJSON *entry = add_entry(list, config, family, NULL, repetitions);
    char *message = row->status == TS_OK ? ts_strdup("not timed")
                                         : ts_printf("%s (%s): %s", ts_status_name(row->status),
                                                     row->reason.code, row->reason.text);
    ts_json_add_int(entry, "repetition_index", (int64_t)index);
    ts_json_add_int(entry, "threads", 1);
    ts_json_add_bool(entry, error ? "error_occurred" : "skipped", true);
    ts_json_add_string(entry, error ? "error_message" : "skip_message", message);
    add_times(entry, 0, 0.0, "s");
    free(message);
}

/* Returns how many samples there are. */
static size_t add_config(cJSON *list, const struct config *config, const struct family *family)
{
    double *ns = NULL;
    const struct ts_export_row **of = NULL; /* of each sample */
    size_t count = 0, failures = 0;
    for (size_t r = 0; r < config->count; r++) {
        size_t more;
        double *samples = ts_row_samples(config->rows[r]->row, &more);
        if (!ts_export_is_timed(config->rows[r]->row)) {
            free(samples);
            failures++;
            continue;
        }
        ns = ts_realloc(ns, count + more, sizeof(*ns));
        of = ts_realloc(of, count + more, sizeof(*of));
        memcpy(ns + count, samples, more * sizeof(*ns));
        for (size_t i = 0; i < more; i++)
            of[count + i] = config->rows[r];
        count += more;
        free(samples);
    }
    size_t index = add_samples(list, config, family, ns, of, count, count + failures);
    for (size_t r = 0; r < config->count; r++)
        if (!ts_export_is_timed(config->rows[r]->row))
            add_failure(list, config, family, config->rows[r]->row, index++, count + failures);
    add_aggregates(list, config, family, ns, count, count + failures);
    free(ns);
    free(of);
    return count;
}

enum { RELIABLE = 9 }; /* samples a side, for compare.py's U test */

int ts_export_google_benchmark(const struct ts_export_rows *rows, struct ts_text *out,
                               struct ts_err *err)
{
    struct configs configs;
    cJSON *document = cJSON_CreateObject();
    size_t few = 0, previous = 0;
    struct family family = {0, 0};
    (void)err;
    find_configs(&configs, rows);
    add_context(document, rows);
    cJSON *list = ts_json_add_array(document, "benchmarks");
    for (size_t i = 0; i < configs.count; i++) {
        size_t space = configs.items[i].rows[0]->space;
        if (i > 0 && space != previous)
            family = (struct family){family.index + 1, 0};
        size_t samples = add_config(list, &configs.items[i], &family);
        few += samples > 0 && samples < RELIABLE;
        family.instance++;
        previous = space;
    }
    if (few > 0)
        ts_say("note: %zu of %zu configurations have fewer than %d samples: compare.py calls its U "
               "test unreliable there; measure with more --visits or --samples",
               few, configs.count, RELIABLE);
    ts_json_add_document(out, document);
    free_configs(&configs);
    return 0;
}

/* ---- github-action-benchmark ---- */

/* Of several runs the newest that timed it; NULL: none did. */
static const struct ts_export_row *newest_of(const struct config *config)
{
    const struct ts_export_row *newest = NULL;
    for (size_t i = 0; i < config->count; i++)
        if (ts_export_is_timed(config->rows[i]->row) &&
            (!newest || strcmp(config->rows[i]->run->started, newest->run->started) >= 0))
            newest = config->rows[i];
    return newest;
}

static void add_value(cJSON *list, const struct config *config, const struct ts_export_row *of)
{
    struct ts_interval time = ts_metric_time_ns(of->row);
    struct ts_text extra = {0};
    cJSON *entry = ts_json_add_object(list, NULL);
    ts_json_add_string(entry, "name", config->name);
    ts_json_add_int(entry, "value", (int64_t)llround(time.mid));
    ts_json_add_string(entry, "unit", "ns");
    if (time.known) {
        char *range = ts_printf("± %.0f", fmax(time.high - time.mid, time.mid - time.low));
        ts_json_add_string(entry, "range", range);
        ts_text_printf(&extra, "95 %%: %.0f to %.0f ns\n", time.low, time.high);
        free(range);
    }
    ts_text_printf(&extra, "%zu visits\n%s, driver %s\n%s", of->row->time.visit_count,
                   of->run->device.name, of->run->device.driver, of->run->started);
    ts_json_add_string(entry, "extra", extra.text);
    ts_text_free(&extra);
}

int ts_export_action(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err)
{
    struct configs configs;
    cJSON *list = cJSON_CreateArray();
    size_t left = 0;
    int result = 0;
    find_configs(&configs, rows);
    for (size_t i = 0; i < configs.count; i++) {
        const struct ts_export_row *newest = newest_of(&configs.items[i]);
        if (newest)
            add_value(list, &configs.items[i], newest);
        else
            left++;
    }
    if (left == configs.count)
        result = ts_err_set(err, TS_EXIT_USAGE,
                            "export: action holds times, and none of the %zu configurations was "
                            "timed; the action fails on an empty list",
                            configs.count);
    else if (left > 0)
        ts_say("note: %zu of %zu configurations are left out: they failed or were not timed", left,
               configs.count);
    ts_json_add_document(out, list);
    free_configs(&configs);
    return result;
}
