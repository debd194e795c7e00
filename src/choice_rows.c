/* choice_rows.c: --rows FILE[:best|failed|suspects]: only the configurations that a results file,
 * or a comparison, names. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "place.h"
#include "progress.h"
#include "row_json.h"
#include "row_map.h"
#include "store.h"
#include "verdict.h"

struct ts_row_filter {
    struct ts_results results; /* owns the rows */
    const struct ts_row **rows;
    size_t row_count, row_capacity;
    struct ts_row_map places; /* of equal rows of several runs: one place */
    bool *met;                /* per place: this device's plan has the row */
    char **benchmarks;
    size_t benchmark_count, benchmark_capacity;
};

static void keep(struct ts_row_filter *filter, const struct ts_row *row)
{
    bool is_new;
    size_t *place = ts_row_map_put(&filter->places, row, &is_new);

    if (!is_new)
        return;
    *place = filter->row_count;
    TS_GROW(filter->rows, filter->row_count, filter->row_capacity);
    filter->rows[filter->row_count++] = row;
    for (size_t i = 0; i < filter->benchmark_count; i++) {
        if (!strcmp(filter->benchmarks[i], row->benchmark))
            return;
    }
    TS_GROW(filter->benchmarks, filter->benchmark_count, filter->benchmark_capacity);
    filter->benchmarks[filter->benchmark_count++] = row->benchmark;
}

static void keep_best(struct ts_row_filter *filter, const struct ts_run *run)
{
    for (size_t i = 0; i < run->row_count; i++) {
        struct ts_verdict verdict;

        if (i > 0 && ts_row_same_case(&run->rows[i - 1], &run->rows[i]))
            continue; /* a case's rows stand together */
        ts_verdict_of_case(&verdict, run->rows, run->row_count, &run->rows[i], &run->device);
        /* The recommendation, and both sides: the verdict can be made anew. */
        const struct ts_row *chosen[] = {verdict.best, verdict.best_plain, verdict.best_staged};
        for (size_t c = 0; c < TS_COUNT(chosen); c++) {
            if (chosen[c])
                keep(filter, chosen[c]);
        }
        ts_verdict_free(&verdict);
    }
}

/* asked: what the user wrote, for the message. */
static int choose_rows(struct ts_row_filter *filter, const char *path, const char *which,
                       const char *asked, struct ts_err *err)
{
    for (size_t r = 0; r < filter->results.run_count; r++) {
        const struct ts_run *run = &filter->results.runs[r];

        if (which && !strcmp(which, "best")) {
            keep_best(filter, run);
            continue;
        }
        for (size_t i = 0; i < run->row_count; i++) {
            if (!which || ts_status_is_finding(run->rows[i].status))
                keep(filter, &run->rows[i]);
        }
    }
    if (filter->row_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "--rows %s%s%s: no such row in it", path,
                          asked ? ":" : "", asked ? asked : "");
    return 0;
}

/* ---- a comparison ---- */

#define COMPARE_SCHEMA "tilesweep.compare/"
#define COMPARE_VERSION 1

/* Suspects are measured together with a few rows whose code did not change: by them the comparison
 * of the fresh rows tells what the machine did. */
#define CONTROL_ROWS 10

/* What is looked at below, beside the row itself. */
static const struct ts_field judged_fields[] = {
    {"verdict", TS_FIELD_TEXT, TS_FIELD_NEEDED, 0},
    {"same_code", TS_FIELD_TEXT, TS_FIELD_OR_NULL, 0},
    {"gated", TS_FIELD_TEXTS, TS_FIELD_NEEDED, 0},
    {"suspect", TS_FIELD_BOOL, TS_FIELD_NEEDED, 0},
};

static bool is_control(const cJSON *row)
{
    return ts_json_string(row, "same_code", NULL) && !ts_json_bool(row, "suspect", false) &&
           !strcmp(ts_json_string(row, "verdict", ""), "same");
}

/* Whether `which` takes a row of a comparison; control: how many control rows it took so far. */
static bool takes(const char *which, const cJSON *row, enum ts_status status, int *control)
{
    if (!which)
        return true;
    if (!strcmp(which, "failed"))
        return ts_status_is_finding(status);
    if (!strcmp(which, "best"))
        return cJSON_GetArraySize(ts_json_get(row, "gated")) > 0;
    return ts_json_bool(row, "suspect", false) || (is_control(row) && (*control)++ < CONTROL_ROWS);
}

/* Every row of the comparison that `which` takes becomes a row of one run without times. */
static int read_comparison(struct ts_row_filter *filter, const char *path, const char *which,
                           const cJSON *document, struct ts_err *err)
{
    const struct ts_place root = ts_place_root(path), list = ts_place_key(&root, "rows");
    const struct ts_place schema = ts_place_key(&root, "schema");
    const cJSON *item, *rows = ts_json_get(document, "rows");
    struct ts_run *run = ts_results_add(&filter->results);
    size_t count, index = 0;
    int control = 0;

    if (ts_place_schema(&schema, ts_json_get(document, "schema"), COMPARE_SCHEMA, COMPARE_VERSION,
                        err) < 0 ||
        ts_place_list(&list, rows, &count, err) < 0)
        return -1;
    cJSON_ArrayForEach(item, rows)
    {
        const struct ts_place place = ts_place_item(&list, index++);
        struct ts_row row;
        if (ts_row_from_json(&row, &place, item, err) != 0)
            return -1;
        if (ts_place_fields(&place, item, judged_fields, TS_COUNT(judged_fields), err) != 0) {
            ts_row_free(&row);
            return -1;
        }
        if (takes(which, item, row.status, &control)) {
            size_t added = ts_run_add_row(run); /* moves run->rows */
            run->rows[added] = row;
        } else {
            ts_row_free(&row);
        }
    }
    return 0;
}

/* 1: the file is a comparison, and its rows have been read; 0: it is none; -1: err. */
static int try_comparison(struct ts_row_filter *filter, const char *path, const char *which,
                          struct ts_err *err)
{
    cJSON *document = ts_json_load(path, err);
    int result;

    if (!document)
        return -1;
    result =
        !strncmp(ts_json_string(document, "schema", ""), COMPARE_SCHEMA, strlen(COMPARE_SCHEMA));
    if (result == 1 && read_comparison(filter, path, which, document, err) < 0)
        result = -1;
    cJSON_Delete(document);
    return result;
}

static int load_rows(struct ts_row_filter *filter, const char *path, const char *which,
                     struct ts_err *err)
{
    int comparison = try_comparison(filter, path, which, err);

    if (comparison < 0)
        return -1;
    if (comparison == 1)
        return choose_rows(filter, path, NULL, which, err);
    if (which && !strcmp(which, "suspects"))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "--rows %s:suspects: a results file names no suspects (a comparison "
                          "does: compare --format json); \"best\" and \"failed\" can be chosen "
                          "from it",
                          path);
    if (ts_results_load(&filter->results, path, err) < 0 ||
        ts_results_split(&filter->results, err) < 0)
        return -1;
    return choose_rows(filter, path, which, which, err);
}

struct ts_row_filter *ts_row_filter_load(const char *path, const char *which, struct ts_err *err)
{
    struct ts_row_filter *filter = ts_alloc(1, sizeof(*filter));

    if (load_rows(filter, path, which, err) < 0) {
        ts_row_filter_free(filter);
        return NULL;
    }
    filter->met = ts_alloc(filter->row_count, sizeof(*filter->met));
    return filter;
}

void ts_row_filter_free(struct ts_row_filter *filter)
{
    if (!filter)
        return;
    ts_results_free(&filter->results);
    ts_row_map_free(&filter->places);
    free(filter->met);
    free(filter->rows);
    free(filter->benchmarks);
    free(filter);
}

char **ts_row_filter_benchmarks(struct ts_row_filter *filter, size_t *count)
{
    *count = filter->benchmark_count;
    return filter->benchmarks;
}

/* ---- the axes that hold the chosen rows ---- */

static void add_value(struct ts_axis *axis, const struct ts_value *value)
{
    for (size_t i = 0; i < axis->count; i++) {
        if (axis->words ? !strcmp(axis->texts[i], value->word) : axis->numbers[i] == value->number)
            return;
    }
    if (axis->words) {
        axis->texts = ts_realloc(axis->texts, axis->count + 1, sizeof(*axis->texts));
        axis->texts[axis->count++] = ts_strdup(value->word);
    } else {
        axis->numbers = ts_realloc(axis->numbers, axis->count + 1, sizeof(*axis->numbers));
        axis->numbers[axis->count++] = value->number;
    }
}

static void add_values(struct ts_selection *selection, const struct ts_values *values)
{
    for (size_t v = 0; v < values->count; v++) {
        const struct ts_value *value = &values->items[v];
        struct ts_axis *axis = NULL;

        for (size_t i = 0; i < selection->set_count; i++) {
            if (!strcmp(selection->sets[i].name, value->name))
                axis = &selection->sets[i];
        }
        if (!axis) {
            selection->sets =
                ts_realloc(selection->sets, selection->set_count + 1, sizeof(*selection->sets));
            axis = &selection->sets[selection->set_count++];
            memset(axis, 0, sizeof(*axis));
            axis->name = ts_strdup(value->name);
            axis->words = value->word != NULL;
        }
        if (axis->words == (value->word != NULL))
            add_value(axis, value);
    }
}

static void add_size(struct ts_selection *selection, const struct ts_values *size)
{
    for (size_t i = 0; i < selection->size_count; i++) {
        if (ts_values_equal(&selection->sizes[i], size))
            return;
    }
    selection->sizes =
        ts_realloc(selection->sizes, selection->size_count + 1, sizeof(*selection->sizes));
    memset(&selection->sizes[selection->size_count], 0, sizeof(*selection->sizes));
    ts_values_copy(&selection->sizes[selection->size_count++], size);
}

void ts_row_filter_select(const struct ts_row_filter *filter, const char *benchmark,
                          struct ts_selection *selection)
{
    for (size_t i = 0; i < filter->row_count; i++) {
        const struct ts_row *row = filter->rows[i];
        if (strcmp(row->benchmark, benchmark) != 0)
            continue;
        add_size(selection, &row->size);
        add_values(selection, &row->problem);
        add_values(selection, &row->params);
    }
}

void ts_selection_clear(struct ts_selection *selection)
{
    for (size_t i = 0; i < selection->set_count; i++)
        ts_axis_free(&selection->sets[i]);
    for (size_t i = 0; i < selection->size_count; i++)
        ts_values_free(&selection->sizes[i]);
    free(selection->sets);
    free(selection->sizes);
    memset(selection, 0, sizeof(*selection));
}

bool ts_row_filter_admits(struct ts_row_filter *filter, const struct ts_row *row)
{
    const size_t *place = ts_row_map_find(&filter->places, row);

    if (place)
        filter->met[*place] = true;
    return place != NULL;
}

#define LEFTOVERS_NAMED 3

static bool has_spec(struct ts_spec *const *specs, size_t count, const char *benchmark)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(specs[i]->name, benchmark))
            return true;
    }
    return false;
}

void ts_row_filter_tell_leftovers(struct ts_row_filter *filter, struct ts_spec *const *specs,
                                  size_t count, const char *rows_file, struct ts_progress *progress)
{
    struct ts_text named = {0};
    size_t left = 0;

    for (size_t i = 0; i < filter->row_count; i++) {
        if (filter->met[i] || !has_spec(specs, count, filter->rows[i]->benchmark))
            continue;
        if (left++ < LEFTOVERS_NAMED) {
            ts_text_puts(&named, "\n  ");
            ts_row_key(filter->rows[i], &named);
        }
    }
    if (left > LEFTOVERS_NAMED)
        ts_text_printf(&named, "\n  and %zu more", left - LEFTOVERS_NAMED);
    memset(filter->met, 0, filter->row_count * sizeof(*filter->met)); /* the next device's plan */
    if (left > 0)
        ts_progress_say(progress,
                        "warning: --rows %s: %zu of its rows are no configuration here:%s",
                        rows_file, left, named.text);
    ts_text_free(&named);
}
