/* sweep_options.c: a run's options in its results, so that it can be repeated and resumed. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <stdlib.h>
#include <string.h>

#include "hide.h"
#include "sweep_private.h"

/* ---- writing ---- */

static void add_strings(cJSON *into, const char *key, char **texts, size_t count)
{
    cJSON *list = ts_json_add_array(into, key);

    for (size_t i = 0; i < count; i++)
        ts_json_add_string(list, NULL, texts[i]);
}

static void add_sets(cJSON *into, const struct ts_selection *selection)
{
    cJSON *sets = ts_json_add_object(into, "set");

    for (size_t i = 0; i < selection->set_count; i++) {
        const struct ts_axis *axis = &selection->sets[i];
        cJSON *values = ts_json_add_array(sets, axis->name);
        for (size_t v = 0; v < axis->count; v++) {
            if (axis->words)
                ts_json_add_string(values, NULL, axis->texts[v]);
            else
                ts_json_add_int(values, NULL, axis->numbers[v]);
        }
    }
}

static void add_sizes(cJSON *into, const struct ts_selection *selection)
{
    cJSON *sizes = ts_json_add_array(into, "size");

    for (size_t i = 0; i < selection->size_count; i++)
        ts_json_add_item(sizes, NULL, ts_values_to_json(&selection->sizes[i]));
}

/* A file's absolute path, so that the run can be gone on with from any folder; a built-in's name as
 * it is. */
static void add_path(cJSON *into, const char *key, const char *path)
{
    char *whole = realpath(path, NULL);

    ts_json_add_string(into, key,
                       whole && (strchr(path, '/') || strstr(path, ".json")) ? whole : path);
    free(whole);
}

/* Names of files stay at home with --anonymous; a resumed run is then given its SPECs again. */
static void add_paths(cJSON *into, const struct ts_sweep_options *o, const struct sweep *s)
{
    cJSON *specs = ts_json_add_array(into, "specs");

    /* `ab` of one SPEC has it twice. */
    size_t count = o->ab && o->spec_count > 0 ? o->spec_count : s->spec_count;

    for (size_t i = 0; i < count; i++)
        add_path(specs, NULL, o->anonymous || i >= o->spec_count ? s->specs[i]->name : o->specs[i]);
    if (o->rows_file && !o->anonymous)
        add_path(into, "rows_file", o->rows_file);
    if (o->rows_which)
        ts_json_add_string(into, "rows_which", o->rows_which);
    if (o->worker && !o->anonymous)
        ts_json_add_string(into, "worker", o->worker);
}

char *ts_sweep_options_b(const struct ts_sweep_options *o)
{
    char *host, *hidden;

    if (!o->options_b || !o->anonymous)
        return o->options_b ? ts_strdup(o->options_b) : NULL;
    host = ts_hide_own_host();
    hidden = ts_hide_text(o->options_b, host);
    free(host);
    return hidden;
}

/* What a resumed `ab` must be given again is told by "sides" of the run. */
static void add_ab(cJSON *into, const struct ts_sweep_options *o)
{
    char *options;

    if (!o->ab)
        return;
    options = ts_sweep_options_b(o);
    ts_json_add_bool(into, "ab", true);
    if (options)
        ts_json_add_string(into, "options_b", options);
    free(options);
    ts_json_add_bool(into, "own_workers_b", o->b.command || o->b.assigned_count > 0);
}

cJSON *ts_sweep_options_to_json(const struct ts_sweep_options *o, const struct sweep *s)
{
    cJSON *into = cJSON_CreateObject();

    add_paths(into, o, s);
    add_ab(into, o);
    add_strings(into, "devices", o->devices, o->device_count);
    add_sets(into, &o->selection);
    add_sizes(into, &o->selection);
    add_strings(into, "variant", o->selection.variants, o->selection.variant_count);
    ts_json_add_bool(into, "quick", o->selection.quick);
    ts_json_add_bool(into, "no_baseline", o->selection.no_baseline);
    ts_json_add_bool(into, "anonymous", o->anonymous);
    ts_json_add_bool(into, "digest", o->digest);
    if (o->cold)
        ts_json_add_string(into, "cache", ts_cache_name(TS_CACHE_COLD));
    ts_json_add_int(into, "visits", s->visits);
    ts_json_add_int(into, "samples", s->samples);
    ts_json_add_real(into, "precision", s->precision);
    ts_json_add_int(into, "timeout_ns", s->timeout_ns);
    ts_json_add_int_or_null(into, "budget_ns", o->budget_ns > 0 ? o->budget_ns : -1);
    return into;
}

/* ---- reading back ---- */

static void read_strings(const cJSON *list, char ***out, size_t *count)
{
    const cJSON *item;

    *out = ts_alloc((size_t)cJSON_GetArraySize(list), sizeof(**out));
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item))
            (*out)[(*count)++] = ts_strdup(item->valuestring);
    }
}

static void read_set(struct ts_axis *axis, const cJSON *values)
{
    size_t room = (size_t)cJSON_GetArraySize(values);
    const cJSON *item;

    memset(axis, 0, sizeof(*axis));
    axis->name = ts_strdup(values->string);
    axis->words = cJSON_IsString(cJSON_GetArrayItem(values, 0));
    axis->numbers = axis->words ? NULL : ts_alloc(room, sizeof(*axis->numbers));
    axis->texts = axis->words ? ts_alloc(room, sizeof(*axis->texts)) : NULL;
    cJSON_ArrayForEach(item, values)
    {
        if (axis->words && cJSON_IsString(item))
            axis->texts[axis->count++] = ts_strdup(item->valuestring);
        else if (!axis->words && ts_json_whole(item, &axis->numbers[axis->count]))
            axis->count++;
    }
}

static int read_sets(struct ts_selection *selection, const cJSON *sets, struct ts_err *err)
{
    const cJSON *values;

    selection->sets = ts_alloc((size_t)cJSON_GetArraySize(sets), sizeof(*selection->sets));
    cJSON_ArrayForEach(values, sets)
    {
        struct ts_axis *axis = &selection->sets[selection->set_count++];
        read_set(axis, values);
        if (axis->count == 0 || axis->count != (size_t)cJSON_GetArraySize(values))
            return ts_err_set(err, TS_EXIT_USAGE,
                              "options.set.%s: expected whole numbers or words, not empty",
                              axis->name);
    }
    return 0;
}

static int read_sizes(struct ts_selection *selection, const cJSON *sizes, struct ts_err *err)
{
    const cJSON *item;

    selection->sizes = ts_alloc((size_t)cJSON_GetArraySize(sizes), sizeof(*selection->sizes));
    cJSON_ArrayForEach(item, sizes)
    {
        if (ts_values_from_json(&selection->sizes[selection->size_count++], item, err) < 0)
            return -1;
    }
    return 0;
}

static char *read_text(const cJSON *from, const char *key)
{
    const char *text = ts_json_string(from, key, NULL);

    return text ? ts_strdup(text) : NULL;
}

/* The stored options by themselves; also on failure to be freed. */
static int read_options(struct ts_sweep_options *o, const cJSON *from, struct ts_err *err)
{
    read_strings(ts_json_get(from, "specs"), &o->specs, &o->spec_count);
    read_strings(ts_json_get(from, "devices"), &o->devices, &o->device_count);
    read_strings(ts_json_get(from, "variant"), &o->selection.variants, &o->selection.variant_count);
    o->worker = read_text(from, "worker");
    o->options_b = read_text(from, "options_b");
    o->ab = ts_json_bool(from, "ab", false);
    o->rows_file = read_text(from, "rows_file");
    o->rows_which = read_text(from, "rows_which");
    if (read_sets(&o->selection, ts_json_get(from, "set"), err) < 0 ||
        read_sizes(&o->selection, ts_json_get(from, "size"), err) < 0)
        return -1;
    o->selection.quick = ts_json_bool(from, "quick", false);
    o->selection.no_baseline = ts_json_bool(from, "no_baseline", false);
    o->anonymous = ts_json_bool(from, "anonymous", false);
    o->digest = ts_json_bool(from, "digest", false);
    o->cold = ts_cache_by_name(ts_json_string(from, "cache", NULL)) == TS_CACHE_COLD;
    o->visits = (int)ts_json_int(from, "visits", 0);
    o->samples = (int)ts_json_int(from, "samples", 0);
    o->precision = ts_json_number(from, "precision", 0);
    o->timeout_ns = ts_json_int(from, "timeout_ns", 0);
    if (o->visits < 0 || o->visits > 1000000 || o->samples < 0 || o->samples > 1000000 ||
        o->timeout_ns < 0 || !(o->precision >= 0))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "options: expected visits and samples from 0 to 1000000, precision and "
                          "timeout_ns from 0");
    return 0;
}

/* B's build options are those of the run: what the command line says is left out, unless the file
 * hides a part of them (--anonymous); then they are given again, and must be the same. */
static int merge_options_b(struct ts_sweep_options *o, const struct ts_sweep_options *read,
                           struct ts_err *err)
{
    bool hidden = read->anonymous && read->options_b && ts_hide_is_hidden(read->options_b);
    struct ts_sweep_options given = {.options_b = o->options_b, .anonymous = true};
    char *shown = ts_sweep_options_b(&given);
    int result = 0;

    if (!hidden && o->options_b)
        result = ts_err_set(err, TS_EXIT_USAGE,
                            "--resume goes on with the run as it was asked for; leave out "
                            "--options-b");
    else if (hidden && (!shown || strcmp(shown, read->options_b) != 0))
        result = ts_err_set(err, TS_EXIT_USAGE,
                            "%s: --options-b of its run, whose paths it does not tell "
                            "(--anonymous), must be given again: %s; got: %s",
                            o->resume, read->options_b, shown ? shown : "none");
    else if (!hidden)
        o->options_b = read->options_b;
    free(shown);
    return result;
}

int ts_sweep_options_from_json(struct merged_options *merged, const cJSON *from, struct ts_err *err)
{
    struct ts_sweep_options *o = &merged->options, *read = &merged->read;

    if (read_options(read, from, err) < 0)
        return -1;
    /* A results file is data, whoever wrote it: a command that stands there is told, never run. */
    if (read->worker && !o->worker)
        return ts_err_set(
            err, TS_EXIT_USAGE,
            "%s: options.worker: the run's workers were started by a command, and none "
            "that stands in a file is run; if you trust it, give it again: --worker '%s'",
            o->resume, read->worker);
    if (read->ab != o->ab)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "%s: its run was made by `tilesweep %s`: go on with it by "
                          "tilesweep %s --resume %s",
                          o->resume, read->ab ? "ab" : "run", read->ab ? "ab" : "run", o->resume);
    if (ts_json_bool(from, "own_workers_b", false) && !o->b.command && o->b.assigned_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "%s: the workers of its side b were started by a command or in an "
                          "environment of their own (sides.b tells), and nothing that stands in a "
                          "file is run: give --worker-b or --env-b again",
                          o->resume);
    /* The command line's go first. */
    if (o->spec_count == 0) {
        o->specs = read->specs;
        o->spec_count = read->spec_count;
    }
    if (o->device_count == 0) {
        o->devices = read->devices;
        o->device_count = read->device_count;
    }
    o->selection = read->selection; /* the command line has none: see check_options */
    o->anonymous |= read->anonymous;
    o->digest |= read->digest;
    o->cold = read->cold; /* the command line has none: see check_options */
    o->visits = o->visits ? o->visits : read->visits;
    o->samples = o->samples ? o->samples : read->samples;
    o->precision = o->precision > 0 ? o->precision : read->precision;
    o->timeout_ns = o->timeout_ns ? o->timeout_ns : read->timeout_ns;
    o->rows_file = read->rows_file;
    o->rows_which = read->rows_which;
    return merge_options_b(o, read, err);
}

static void free_strings(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void ts_sweep_options_free_read(struct merged_options *merged)
{
    struct ts_sweep_options *o = &merged->read;

    free_strings(o->specs, o->spec_count);
    free_strings(o->devices, o->device_count);
    free_strings(o->selection.variants, o->selection.variant_count);
    ts_selection_clear(&o->selection);
    free((char *)(uintptr_t)o->worker);
    free((char *)(uintptr_t)o->options_b);
    free((char *)(uintptr_t)o->rows_file);
    free((char *)(uintptr_t)o->rows_which);
}
