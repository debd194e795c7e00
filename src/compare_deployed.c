/* compare_deployed.c: --deployed FILE: the configurations that the gate watches. */
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "nearest.h"
#include "place.h"
#include "progress.h"
#include "store.h"

#define TUNED_SCHEMA "tilesweep.tuned/"
#define TUNED_VERSION 1

/* ---- reading ---- */

static const struct ts_field fields[] = {
    {"benchmark", TS_FIELD_TEXT, TS_FIELD_NEEDED, 0},
    {"variant", TS_FIELD_TEXT, TS_FIELD_NEEDED, 0},
    {"params", TS_FIELD_VALUES, TS_FIELD_NEEDED, 0},
    {"size", TS_FIELD_SIZES, 0, 0},
    {"problem", TS_FIELD_VALUES, 0, 0},
};

/* Where the key is absent, *any; its type was looked at before. */
static int read_values(struct ts_values *out, bool *any, const struct ts_place *at,
                       const cJSON *object, const char *key, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *values = ts_json_get(object, key);

    *any = values == NULL;
    if (values && ts_values_from_json(out, values, err) != 0)
        return ts_place_prepend(&place, err);
    return 0;
}

/* A key that is nearly an optional one: without it, all sizes or problems would be meant. Others
 * are for whoever else reads the file. */
static int refuse_near_keys(const struct ts_place *at, const cJSON *object, struct ts_err *err)
{
    const char *known[TS_COUNT(fields)];
    const cJSON *item;

    for (size_t i = 0; i < TS_COUNT(fields); i++)
        known[i] = fields[i].key;
    cJSON_ArrayForEach(item, object)
    {
        const char *near = ts_nearest(item->string, known, TS_COUNT(fields));

        if (near && strcmp(near, item->string) != 0)
            return ts_place_error(at, err, "unknown key \"%s\"; did you mean \"%s\"?", item->string,
                                  near);
    }
    return 0;
}

static int read_config(struct ts_deployed *d, const struct ts_place *at, const cJSON *object,
                       struct ts_err *err)
{
    bool no_params;

    if (ts_place_object(at, object, err) != 0 || refuse_near_keys(at, object, err) != 0 ||
        ts_place_fields(at, object, fields, TS_COUNT(fields), err) != 0 ||
        read_values(&d->params, &no_params, at, object, "params", err) != 0 ||
        read_values(&d->size, &d->any_size, at, object, "size", err) != 0 ||
        read_values(&d->problem, &d->any_problem, at, object, "problem", err) != 0)
        return -1;
    d->benchmark = ts_strdup(ts_json_string(object, "benchmark", ""));
    d->variant = ts_strdup(ts_json_string(object, "variant", ""));
    return 0;
}

static int read_tuned(struct ts_deployed **items, size_t *count, const char *path,
                      const cJSON *document, struct ts_err *err)
{
    const struct ts_place root = ts_place_root(path), list = ts_place_key(&root, "best");
    const struct ts_place schema = ts_place_key(&root, "schema");
    const cJSON *item, *best;
    size_t room;

    if (ts_place_object(&root, document, err) != 0 ||
        ts_place_schema(&schema, ts_json_get(document, "schema"), TUNED_SCHEMA, TUNED_VERSION,
                        err) != 0)
        return -1;
    best = ts_json_get(document, "best");
    if (ts_place_filled(&list, best, &room, err) != 0)
        return -1;
    *items = ts_alloc(room, sizeof(**items));
    cJSON_ArrayForEach(item, best)
    {
        const struct ts_place place = ts_place_item(&list, *count);
        if (read_config(&(*items)[(*count)++], &place, item, err) != 0)
            return -1;
    }
    return 0;
}

/* Every row of a results file names a configuration, whatever became of it. */
static int read_results(struct ts_deployed **items, size_t *count, const char *path,
                        const cJSON *document, struct ts_err *err)
{
    struct ts_results results = {0};
    size_t capacity = 0;

    if (ts_results_read(&results, path, document, err) != 0)
        return -1;
    for (size_t r = 0; r < results.run_count; r++) {
        for (size_t i = 0; i < results.runs[r].row_count; i++) {
            const struct ts_row *row = &results.runs[r].rows[i];
            TS_GROW(*items, *count, capacity);
            struct ts_deployed *d = &(*items)[(*count)++];
            *d = (struct ts_deployed){.benchmark = ts_strdup(row->benchmark),
                                      .variant = ts_strdup(row->variant)};
            ts_values_copy(&d->params, &row->params);
            ts_values_copy(&d->size, &row->size);
            ts_values_copy(&d->problem, &row->problem);
        }
    }
    ts_results_free(&results);
    if (*count == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "%s: runs: expected rows, which name configurations",
                          path);
    return 0;
}

int ts_deployed_load(struct ts_deployed **items, size_t *count, const char *path,
                     struct ts_err *err)
{
    cJSON *document = ts_json_load(path, err);
    int result;

    *items = NULL;
    *count = 0;
    if (!document)
        return -1;
    /* A results file is known by its schema; whatever else it is not, it is no tuned file. */
    if (strncmp(ts_json_string(document, "schema", ""), TS_RESULTS_SCHEMA,
                strlen(TS_RESULTS_SCHEMA)) == 0)
        result = read_results(items, count, path, document, err);
    else
        result = read_tuned(items, count, path, document, err);
    cJSON_Delete(document);
    return result;
}

void ts_deployed_free(struct ts_deployed *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(items[i].benchmark);
        free(items[i].variant);
        ts_values_free(&items[i].params);
        ts_values_free(&items[i].size);
        ts_values_free(&items[i].problem);
    }
    free(items);
}

/* ---- the gate ---- */

bool ts_deployed_names(const struct ts_deployed *d, const struct ts_row *row)
{
    return strcmp(d->benchmark, row->benchmark) == 0 && strcmp(d->variant, row->variant) == 0 &&
           ts_values_equal(&d->params, &row->params) &&
           (d->any_size || ts_values_equal(&d->size, &row->size)) &&
           (d->any_problem || ts_values_equal(&d->problem, &row->problem));
}

int ts_compare_gate_deployed(struct ts_compare *compare, const char *path, struct ts_err *err)
{
    struct ts_deployed *items;
    size_t count, gated = 0, met = 0;
    int result = ts_deployed_load(&items, &count, path, err);
    bool *found = ts_alloc(count + 1, sizeof(*found));

    for (size_t i = 0; result == 0 && i < compare->row_count; i++) {
        struct ts_compare_row *row = &compare->rows[i];
        bool named = false;
        for (size_t d = 0; d < count; d++) {
            if (!ts_deployed_names(&items[d], row->names))
                continue;
            named = true;
            met += !found[d];
            found[d] = true;
        }
        if (named)
            row->gated |= TS_GATED_DEPLOYED;
        gated += named;
    }
    if (result == 0 && gated == 0)
        result = ts_err_set(err, TS_EXIT_USAGE,
                            "%s: none of the %zu configurations that it names was measured", path,
                            count);
    else if (result == 0 && met < count)
        ts_say(
            "warning: %s: %zu of the %zu configurations that it names are on neither side, so the "
            "gate does not watch them",
            path, count - met, count);
    free(found);
    ts_deployed_free(items, count);
    return result;
}
