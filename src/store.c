/* store.c: runs, and the results document. The journal is in store_journal.c and store_replay.c. */
#define _POSIX_C_SOURCE 200809L
#include "row_json.h"
#include "store_private.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "verdict.h"

/* ---- runs ---- */

/* The parts of a run that are kept as JSON: a row here is read, written and freed. */
static const struct {
    const char *key;
    size_t offset;
    bool list;
} json_parts[] = {
    {"tool", offsetof(struct ts_run, tool), false},
    {"context", offsetof(struct ts_run, context), false},
    {"host", offsetof(struct ts_run, host), false},
    {"environment", offsetof(struct ts_run, environment), false},
    {"specs", offsetof(struct ts_run, specs), true},
    {"options", offsetof(struct ts_run, options), false},
    {"sides", offsetof(struct ts_run, sides), false},
    {"spent", offsetof(struct ts_run, spent), false},
};

static cJSON **json_part(struct ts_run *run, size_t i)
{
    return (cJSON **)(void *)((char *)run + json_parts[i].offset);
}

static const cJSON *json_part_of(const struct ts_run *run, size_t i)
{
    return *(cJSON *const *)(const void *)((const char *)run + json_parts[i].offset);
}

void ts_store_free_header(struct ts_run *run)
{
    free(run->id);
    free(run->started);
    free(run->finished);
    for (size_t i = 0; i < TS_COUNT(json_parts); i++)
        cJSON_Delete(*json_part(run, i));
    ts_device_free(&run->device);
    ts_clock_free(&run->clock);
}

void ts_run_free(struct ts_run *run)
{
    if (!run)
        return;
    ts_store_free_header(run);
    for (size_t i = 0; i < run->row_count; i++)
        ts_row_free(&run->rows[i]);
    free(run->rows);
    ts_sentinel_free(&run->sentinel);
    *run = (struct ts_run){0};
}

size_t ts_run_add_row(struct ts_run *run)
{
    TS_GROW(run->rows, run->row_count, run->row_capacity);
    ts_row_init(&run->rows[run->row_count]);
    return run->row_count++;
}

void ts_results_free(struct ts_results *results)
{
    if (!results)
        return;
    for (size_t i = 0; i < results->run_count; i++)
        ts_run_free(&results->runs[i]);
    free(results->runs);
    *results = (struct ts_results){0};
}

struct ts_run *ts_results_add(struct ts_results *results)
{
    TS_GROW(results->runs, results->run_count, results->run_capacity);
    struct ts_run *run = &results->runs[results->run_count++];
    *run = (struct ts_run){0};
    return run;
}

/* ---- writing a run ---- */

static void add_part(cJSON *object, const struct ts_run *run, const char *key)
{
    for (size_t i = 0; i < TS_COUNT(json_parts); i++) {
        if (strcmp(json_parts[i].key, key) != 0)
            continue;
        const cJSON *part = json_part_of(run, i);
        if (part)
            ts_json_add_item(object, key, cJSON_Duplicate(part, true));
        else if (json_parts[i].list)
            ts_json_add_array(object, key);
        else
            ts_json_add_object(object, key);
    }
}

cJSON *ts_store_header_to_json(const struct ts_run *run, bool whole)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "id", run->id);
    ts_json_add_string(object, "started", run->started);
    if (whole) {
        ts_json_add_string(object, "finished", run->finished);
        ts_json_add_bool(object, "interrupted", run->interrupted);
    }
    add_part(object, run, "tool");
    add_part(object, run, "context");
    add_part(object, run, "host");
    ts_device_to_json(&run->device, object);
    add_part(object, run, "environment");
    ts_json_add_item(object, "clock", ts_clock_to_json(&run->clock));
    ts_json_add_item(object, "peaks", ts_peaks_to_json(&run->peaks));
    add_part(object, run, "specs");
    ts_json_add_unsigned(object, "seed", run->seed);
    add_part(object, run, "options");
    if (run->sides)
        add_part(object, run, "sides");
    if (whole)
        add_part(object, run, "spent");
    return object;
}

static bool ended_regularly(const struct ts_run *run)
{
    return run->finished && !run->interrupted;
}

/* The row as it is written: a borrowed view. False when it is left out. */
static bool final_row(const struct ts_run *run, const struct ts_row *row, struct ts_row *view)
{
    static char code[] = "budget";
    const char *unreached = ts_row_unreached(row);
    *view = *row;
    if (!unreached)
        return true;
    if (!ended_regularly(run))
        return row->status != TS_PENDING;
    view->status = TS_SKIPPED;
    view->reason =
        (struct ts_reason){code, (char *)(uintptr_t)unreached}; /* a view frees nothing */
    return true;
}

static cJSON *counts_to_json(const struct ts_run *run)
{
    int64_t count[TS_STATUS_COUNT] = {0};
    struct ts_row view;
    for (size_t i = 0; i < run->row_count; i++)
        if (final_row(run, &run->rows[i], &view))
            count[view.status]++;
    cJSON *object = cJSON_CreateObject();
    for (int s = 0; s < TS_STATUS_COUNT; s++)
        if (count[s] > 0)
            ts_json_add_int(object, ts_status_name((enum ts_status)s), count[s]);
    ts_json_add_int(object, "excluded", run->excluded);
    return object;
}

static bool is_first_of_case(const struct ts_run *run, const size_t *firsts, size_t count,
                             const struct ts_row *row)
{
    for (size_t i = count; i-- > 0;) /* rows of a case mostly stand together */
        if (ts_row_same_case(&run->rows[firsts[i]], row))
            return false;
    return true;
}

static cJSON *verdicts_to_json(const struct ts_run *run)
{
    cJSON *array = cJSON_CreateArray();
    size_t *firsts = ts_alloc(run->row_count, sizeof(*firsts)), count = 0;
    struct ts_row view;
    for (size_t i = 0; i < run->row_count; i++) {
        const struct ts_row *row = &run->rows[i];
        if (!final_row(run, row, &view) || !is_first_of_case(run, firsts, count, row))
            continue;
        firsts[count++] = i;
        struct ts_verdict verdict;
        ts_verdict_of_case(&verdict, run->rows, run->row_count, row, &run->device);
        ts_json_add_item(array, NULL, ts_verdict_to_json(&verdict));
        ts_verdict_free(&verdict);
    }
    free(firsts);
    return array;
}

static void add_sentinel(cJSON *object, const struct ts_run *run)
{
    cJSON *list = ts_json_add_array(object, "sentinel"), *ratios;
    struct ts_sentinel_pair drift = ts_sentinel_drift(&run->sentinel);
    for (size_t i = 0; i < run->sentinel.count; i++)
        ts_json_add_item(list, NULL, ts_sentinel_point_to_json(&run->sentinel.points[i]));
    ratios = ts_json_add_object(object, "drift");
    ts_json_add_real(ratios, "copy", drift.copy);
    ts_json_add_real(ratios, "fma", drift.fma);
}

static cJSON *run_to_json(const struct ts_run *run)
{
    cJSON *object = ts_store_header_to_json(run, true);
    add_sentinel(object, run);
    ts_json_add_item(object, "counts", counts_to_json(run));
    ts_json_add_item(object, "verdicts", verdicts_to_json(run));
    cJSON *rows = ts_json_add_array(object, "rows");
    struct ts_row view;
    for (size_t i = 0; i < run->row_count; i++)
        if (final_row(run, &run->rows[i], &view))
            ts_json_add_item(rows, NULL, ts_row_to_json(&view, &run->peaks));
    return object;
}

char *ts_results_print(const struct ts_results *results)
{
    cJSON *document = cJSON_CreateObject();
    char *schema = ts_printf("%s%d", TS_RESULTS_SCHEMA, TS_STORE_VERSION);
    ts_json_add_string(document, "schema", schema);
    cJSON *runs = ts_json_add_array(document, "runs");
    for (size_t i = 0; i < results->run_count; i++)
        ts_json_add_item(runs, NULL, run_to_json(&results->runs[i]));
    char *text = ts_json_print_pretty(document);
    cJSON_Delete(document);
    free(schema);
    return text;
}

int ts_results_save(const struct ts_results *results, const char *path, struct ts_err *err)
{
    struct ts_text text = {0};
    char *document = ts_results_print(results);
    ts_text_puts(&text, document);
    if (text.text[text.length - 1] != '\n')
        ts_text_puts(&text, "\n");
    int result = ts_file_put(path, text.text, text.length, err);
    free(document);
    ts_text_free(&text);
    return result;
}

/* ---- reading a run ---- */

int ts_store_check_schema(const struct ts_place *at, const cJSON *value, const char *prefix,
                          struct ts_err *err)
{
    return ts_place_schema(at, value, prefix, TS_STORE_VERSION, err);
}

int ts_store_fault(const struct ts_place *at, struct ts_err *err)
{
    static const char bare[] = "expected "; /* of the value itself, not of a key below it */
    const struct ts_err inner = *err;
    const struct ts_place *top = at;
    if (strncmp(inner.text, bare, sizeof(bare) - 1) == 0)
        return ts_place_prepend(at, err);
    while (top->up)
        top = top->up;
    char *place = ts_place_text(at);
    ts_err_clear(err);
    ts_err_set(err, inner.exit_status, "%s: %s%s%s", top->key, place, *place ? "." : "",
               inner.text);
    free(place);
    return -1;
}

static int read_parts(struct ts_run *run, const struct ts_place *at, const cJSON *object,
                      struct ts_err *err)
{
    for (size_t i = 0; i < TS_COUNT(json_parts); i++) {
        const struct ts_place place = ts_place_key(at, json_parts[i].key);
        const cJSON *part = ts_json_get(object, json_parts[i].key);
        if (!part || cJSON_IsNull(part))
            continue;
        if (json_parts[i].list ? !cJSON_IsArray(part) : !cJSON_IsObject(part))
            return ts_place_expected(&place, part, json_parts[i].list ? "a list" : "an object",
                                     err);
        *json_part(run, i) = cJSON_Duplicate(part, true);
        if (!*json_part(run, i))
            ts_no_memory();
    }
    return 0;
}

static int read_seed(struct ts_run *run, const struct ts_place *at, const cJSON *object,
                     struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "seed");
    const cJSON *value = ts_json_get(object, "seed");
    if (!value || cJSON_IsNull(value))
        return 0;
    return ts_place_unsigned(&place, value, &run->seed, err);
}

int ts_store_read_text(char **out, const struct ts_place *at, const cJSON *object, const char *key,
                       bool required, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *value = ts_json_get(object, key);
    const char *text;
    if (!required && (!value || cJSON_IsNull(value)))
        return 0;
    if (ts_place_string(&place, value, &text, err) != 0)
        return -1;
    *out = ts_strdup(text);
    return 0;
}

int ts_store_read_header(struct ts_run *run, const struct ts_place *at, const cJSON *object,
                         struct ts_err *err)
{
    if (ts_store_check_header(at, object, err) != 0 ||
        ts_store_read_text(&run->id, at, object, "id", true, err) != 0 ||
        ts_store_read_text(&run->started, at, object, "started", true, err) != 0 ||
        ts_store_read_text(&run->finished, at, object, "finished", false, err) != 0 ||
        read_parts(run, at, object, err) != 0 || read_seed(run, at, object, err) != 0)
        return -1;
    run->interrupted = ts_json_bool(object, "interrupted", false);
    if (ts_device_from_json(&run->device, object, err) != 0)
        return ts_store_fault(at, err);
    ts_clock_from_json(&run->clock, ts_json_get(object, "clock"));
    ts_peaks_from_json(&run->peaks, ts_json_get(object, "peaks"));
    run->excluded = ts_json_int(ts_json_get(object, "counts"), "excluded", 0);
    return ts_store_check_sides(run, at, err);
}

static int read_rows(struct ts_run *run, const struct ts_place *at, const cJSON *object,
                     struct ts_err *err)
{
    const struct ts_place list = ts_place_key(at, "rows");
    const cJSON *item, *rows = ts_json_get(object, "rows");
    size_t count, index = 0;
    if (ts_place_list(&list, rows, &count, err) != 0)
        return -1;
    cJSON_ArrayForEach(item, rows)
    {
        const struct ts_place place = ts_place_item(&list, index++);
        struct ts_row row;
        if (ts_row_from_json(&row, &place, item, err) != 0)
            return -1;
        size_t added = ts_run_add_row(run); /* moves run->rows */
        run->rows[added] = row;
    }
    return 0;
}

/* As it was judged then: a look is not judged again. */
static int read_sentinel(struct ts_run *run, const struct ts_place *at, const cJSON *object,
                         struct ts_err *err)
{
    const struct ts_place list = ts_place_key(at, "sentinel");
    const cJSON *item, *looks = ts_json_get(object, "sentinel");
    size_t count, index = 0;
    if (!looks)
        return 0; /* of an older program */
    if (ts_place_list(&list, looks, &count, err) != 0)
        return -1;
    cJSON_ArrayForEach(item, looks)
    {
        const struct ts_place place = ts_place_item(&list, index++);
        struct ts_sentinel_point point;
        if (ts_sentinel_point_from_json(&point, item, err) != 0)
            return ts_store_fault(&place, err);
        ts_sentinel_keep(&run->sentinel, &point);
    }
    return 0;
}

static int read_runs(struct ts_results *results, const struct ts_place *root, const cJSON *document,
                     struct ts_err *err)
{
    const struct ts_place list = ts_place_key(root, "runs");
    const cJSON *item, *runs = ts_json_get(document, "runs");
    size_t count, index = 0;
    if (ts_place_list(&list, runs, &count, err) != 0)
        return -1;
    cJSON_ArrayForEach(item, runs)
    {
        const struct ts_place place = ts_place_item(&list, index++);
        struct ts_run *run = ts_results_add(results);
        if (ts_store_read_header(run, &place, item, err) != 0 ||
            read_sentinel(run, &place, item, err) != 0 || read_rows(run, &place, item, err) != 0)
            return -1;
    }
    return 0;
}

int ts_results_read(struct ts_results *results, const char *path, const cJSON *document,
                    struct ts_err *err)
{
    struct ts_results loaded = {0};
    const struct ts_place root = ts_place_root(path), schema = ts_place_key(&root, "schema");
    if (ts_place_object(&root, document, err) != 0 ||
        ts_store_check_schema(&schema, ts_json_get(document, "schema"), TS_RESULTS_SCHEMA, err) !=
            0 ||
        read_runs(&loaded, &root, document, err) != 0) {
        ts_results_free(&loaded);
        return -1;
    }
    for (size_t i = 0; i < loaded.run_count; i++)
        *ts_results_add(results) = loaded.runs[i];
    free(loaded.runs);
    return 0;
}

int ts_results_load(struct ts_results *results, const char *path, struct ts_err *err)
{
    cJSON *document = ts_json_load(path, err);
    if (!document)
        return -1;
    int result = ts_results_read(results, path, document, err);
    cJSON_Delete(document);
    return result;
}
