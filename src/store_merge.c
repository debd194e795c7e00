/* store_merge.c: runs of several results files in one document. They are moved as they stand, and
 * not through struct ts_run: what a later program added is kept, and nothing is computed anew. */
#include "store_private.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct merge {
    cJSON *document, *runs; /* runs: of document */
    const char **files;     /* of each run: where it stood */
    size_t run_count, run_capacity;
    struct ts_text *notes;
};

/* Whatever damage a reader of results would find is found now. Read once: it may be a pipe. */
static cJSON *load(const char *path, struct ts_err *err)
{
    struct ts_results results = {0};
    cJSON *document = ts_json_load(path, err);
    if (!document)
        return NULL;
    if (ts_results_read(&results, path, document, err) != 0) {
        cJSON_Delete(document);
        return NULL;
    }
    ts_results_free(&results);
    return document;
}

static bool is_same(const cJSON *a, const cJSON *b)
{
    char *x = ts_json_print(a), *y = ts_json_print(b);
    bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

/* Takes run. */
static int add_run(struct merge *merge, cJSON *run, const char *path, size_t index,
                   struct ts_err *err)
{
    const char *id = ts_json_string(run, "id", "");
    const cJSON *known = merge->runs->child;
    size_t at = 0;
    for (; known && strcmp(ts_json_string(known, "id", ""), id) != 0; known = known->next)
        at++;
    if (!known) {
        TS_GROW(merge->files, merge->run_count, merge->run_capacity);
        merge->files[merge->run_count++] = path;
        ts_json_add_item(merge->runs, NULL, run);
        return 0;
    }
    int result = 0;
    if (is_same(known, run))
        ts_text_printf(merge->notes, "note: run %s is in %s and in %s: kept once\n", id,
                       merge->files[at], path);
    else
        result = ts_err_set(err, TS_EXIT_USAGE,
                            "%s: runs[%zu].id: run %s is in %s, too, with other contents; merge "
                            "only one of the two",
                            path, index, id, merge->files[at]);
    cJSON_Delete(run);
    return result;
}

/* What stands beside the runs is nobody's that this program knows (a run's `context` is its own,
 * and goes with it): each key once. Where two files differ in one, the earlier one's stays, and it
 * is told. */
static void add_rest(struct merge *merge, cJSON *document, const char *path)
{
    cJSON *item;

    while ((item = cJSON_DetachItemFromArray(document, 0))) {
        const cJSON *known = ts_json_get(merge->document, item->string);
        if (!known) {
            char *name = ts_strdup(item->string);
            ts_json_add_item(merge->document, name, item);
            free(name);
            continue;
        }
        char *key = ts_text_printable(item->string); /* a note is a line */
        if (!is_same(known, item))
            ts_text_printf(merge->notes,
                           "note: \"%s\" of %s is not what an earlier file says: left out\n", key,
                           path);
        free(key);
        cJSON_Delete(item);
    }
}

static int add_file(struct merge *merge, const char *path, struct ts_err *err)
{
    cJSON *document = load(path, err);
    size_t index = 0;
    int result = 0;
    if (!document)
        return -1;
    cJSON *run, *runs = cJSON_DetachItemFromObjectCaseSensitive(document, "runs");
    if (!merge->document) {
        merge->document = document;
        merge->runs = ts_json_add_array(document, "runs");
        document = NULL;
    } else {
        add_rest(merge, document, path);
    }
    while (result == 0 && (run = cJSON_DetachItemFromArray(runs, 0)))
        result = add_run(merge, run, path, index++, err);
    cJSON_Delete(runs);
    cJSON_Delete(document);
    return result;
}

int ts_results_merge(char *const *paths, size_t count, struct ts_text *document,
                     struct ts_text *notes, struct ts_err *err)
{
    struct merge merge = {.notes = notes};
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = add_file(&merge, paths[i], err);
    if (result == 0)
        ts_json_add_document(document, merge.document);
    else
        cJSON_Delete(merge.document);
    free(merge.files);
    return result;
}
