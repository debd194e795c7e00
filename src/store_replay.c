/* store_replay.c: reading FILE.part back. */
#define _POSIX_C_SOURCE 200809L
#include "row_json.h"
#include "row_map.h"
#include "store_private.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"

static void index_rebuild(struct ts_row_map *index, const struct ts_run *run)
{
    bool is_new;

    ts_row_map_free(index);
    for (size_t i = 0; i < run->row_count; i++)
        *ts_row_map_put(index, &run->rows[i], &is_new) = i;
}

struct journal_reader {
    struct ts_results *results;
    struct ts_run *run;      /* the current one; NULL before the first */
    struct ts_row_map index; /* of the current run's rows */
};

static int take_opening(struct journal_reader *reader, const struct ts_place *at,
                        const cJSON *value, struct ts_err *err)
{
    (void)reader;
    return ts_store_check_schema(at, value, TS_JOURNAL_SCHEMA, err);
}

static int take_run(struct journal_reader *reader, const struct ts_place *at, const cJSON *value,
                    struct ts_err *err)
{
    struct ts_run fresh = {0};
    if (ts_store_read_header(&fresh, at, value, err) != 0) {
        ts_run_free(&fresh);
        return -1;
    }
    reader->run = NULL;
    for (size_t i = 0; i < reader->results->run_count; i++)
        if (strcmp(reader->results->runs[i].id, fresh.id) == 0)
            reader->run = &reader->results->runs[i];
    if (reader->run) { /* goes on: its rows stay */
        fresh.rows = reader->run->rows;
        fresh.row_count = reader->run->row_count;
        fresh.row_capacity = reader->run->row_capacity;
        fresh.sentinel = reader->run->sentinel;
        ts_store_free_header(reader->run);
    } else {
        reader->run = ts_results_add(reader->results);
    }
    *reader->run = fresh;
    index_rebuild(&reader->index, reader->run);
    return 0;
}

/* A run that goes on after its end was told is under way again. */
static int reopen(struct journal_reader *reader, const struct ts_place *at, struct ts_err *err)
{
    if (!reader->run)
        return ts_place_error(at, err, "stands before any run");
    free(reader->run->finished);
    reader->run->finished = NULL;
    reader->run->interrupted = false;
    return 0;
}

static int take_row(struct journal_reader *reader, const struct ts_place *at, const cJSON *value,
                    struct ts_err *err)
{
    struct ts_row row;
    if (reopen(reader, at, err) != 0)
        return -1;
    if (ts_row_from_json(&row, at, value, err) != 0)
        return -1;
    bool is_new;
    size_t *index = ts_row_map_put(&reader->index, &row, &is_new);
    if (is_new) {
        *index = ts_run_add_row(reader->run);
    } else { /* its visits stay */
        struct ts_row *old = &reader->run->rows[*index];
        struct ts_time none = row.time;
        row.time = old->time;
        old->time = none;
        ts_row_free(old);
    }
    reader->run->rows[*index] = row;
    return 0;
}

/* The row that a visit names. The key is read as a row of its own. */
static struct ts_row *find_row(struct journal_reader *reader, const struct ts_place *at,
                               const cJSON *value, struct ts_err *err)
{
    struct ts_row key, *found = NULL;
    cJSON *named = cJSON_Duplicate(value, true);
    if (!named)
        ts_no_memory();
    cJSON_DeleteItemFromObjectCaseSensitive(named, "status");
    cJSON_DeleteItemFromObjectCaseSensitive(named, "time");
    ts_json_add_string(named, "status", "ok");
    int failed = ts_row_from_json(&key, at, named, err);
    cJSON_Delete(named);
    if (failed)
        return NULL;
    const size_t *index = ts_row_map_find(&reader->index, &key);
    if (index)
        found = &reader->run->rows[*index];
    if (!found) {
        struct ts_text name = {0};
        ts_row_key(&key, &name);
        ts_place_error(at, err, "of a row that no line before it tells: %s", name.text);
        ts_text_free(&name);
    }
    ts_row_free(&key);
    return found;
}

static int read_samples(int64_t *ns, size_t *count, const struct ts_place *at, const cJSON *samples,
                        struct ts_err *err)
{
    const cJSON *item;
    *count = 0;
    cJSON_ArrayForEach(item, samples)
    {
        const struct ts_place place = ts_place_item(at, *count);
        if (ts_place_whole(&place, item, 1, INT64_MAX, &ns[*count], err) != 0)
            return -1;
        (*count)++;
    }
    return 0;
}

/* A whole number at value.key; fallback where it is absent or null. */
static int read_known(int64_t *out, const struct ts_place *at, const cJSON *value, const char *key,
                      int64_t least, int64_t most, int64_t fallback, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *item = ts_json_get(value, key);
    *out = fallback;
    if (!item || cJSON_IsNull(item))
        return 0;
    return ts_place_whole(&place, item, least, most, out, err);
}

static const struct ts_field visit_fields[] = {
    {"fresh", TS_FIELD_BOOL, 0, 0},
    {"disturbed", TS_FIELD_BOOL, 0, 0},
    {"clock", TS_FIELD_TEXT, 0, 0},
};

static int add_visit(struct ts_row *row, const struct ts_place *at, const cJSON *value,
                     struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "sample_ns");
    const cJSON *samples = ts_json_get(value, "sample_ns");
    size_t count;
    int64_t worker, batch, first_ns, pair;
    if (ts_place_filled(&place, samples, &count, err) != 0 ||
        read_known(&worker, at, value, "worker", 0, INT32_MAX, 0, err) != 0 ||
        read_known(&batch, at, value, "batch", 1, INT64_MAX, 1, err) != 0 ||
        read_known(&first_ns, at, value, "first_ns", 0, INT64_MAX, -1, err) != 0 ||
        read_known(&pair, at, value, "pair", 0, INT32_MAX, -1, err) != 0)
        return -1;
    int64_t *ns = ts_alloc(count, sizeof(*ns));
    int result = read_samples(ns, &count, &place, samples, err);
    if (result == 0 && ts_json_bool(value, "fresh", false))
        ts_row_add_fresh_visit(row, ns, count, (int)worker);
    else if (result == 0)
        ts_row_add_visit(row, ns, count, (int)worker);
    if (result == 0)
        row->time.visits[row->time.visit_count - 1].pair = (int)pair;
    if (result == 0 && ts_json_bool(value, "disturbed", false))
        ts_row_mark_disturbed(row, 1);
    free(ns);
    row->time.batch = batch;
    if (row->time.first_ns < 0)
        row->time.first_ns = first_ns;
    return result;
}

static void set_flag(struct ts_time *time, enum ts_time_flag flag, bool on)
{
    time->flags = on ? time->flags | flag : time->flags & ~(unsigned)flag;
}

static int take_visit(struct journal_reader *reader, const struct ts_place *at, const cJSON *value,
                      struct ts_err *err)
{
    if (ts_place_fields(at, value, visit_fields, TS_COUNT(visit_fields), err) != 0 ||
        reopen(reader, at, err) != 0)
        return -1;
    struct ts_row *row = find_row(reader, at, value, err);
    if (!row || add_visit(row, at, value, err) != 0)
        return -1;
    row->time.host_clock = strcmp(ts_json_string(value, "clock", "event"), "host") == 0;
    row->time.cache = ts_cache_by_name(ts_json_string(value, "cache", NULL));
    set_flag(&row->time, TS_FLAG_HOST_CLOCK, row->time.host_clock);
    set_flag(&row->time, TS_FLAG_BATCHED, row->time.batch > 1);
    return 0;
}

/* The row whose last visits a line tells of, and how many; NULL on a fault. */
static struct ts_row *find_last(struct journal_reader *reader, const struct ts_place *at,
                                const cJSON *value, int64_t *visits, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "visits");
    struct ts_row *row;
    if (ts_place_object(at, value, err) != 0 || reopen(reader, at, err) != 0 ||
        !(row = find_row(reader, at, value, err)) ||
        ts_place_whole(&place, ts_json_get(value, "visits"), 1, INT32_MAX, visits, err) != 0)
        return NULL;
    return row;
}

static int take_drop(struct journal_reader *reader, const struct ts_place *at, const cJSON *value,
                     struct ts_err *err)
{
    int64_t visits;
    struct ts_row *row = find_last(reader, at, value, &visits, err);
    if (!row)
        return -1;
    ts_row_drop_visits(row, (size_t)visits);
    return 0;
}

static int take_disturb(struct journal_reader *reader, const struct ts_place *at,
                        const cJSON *value, struct ts_err *err)
{
    int64_t visits;
    struct ts_row *row = find_last(reader, at, value, &visits, err);
    if (!row)
        return -1;
    ts_row_mark_disturbed(row, (size_t)visits);
    return 0;
}

static int take_sentinel(struct journal_reader *reader, const struct ts_place *at,
                         const cJSON *value, struct ts_err *err)
{
    struct ts_sentinel_point point;
    if (reopen(reader, at, err) != 0)
        return -1;
    if (ts_sentinel_point_from_json(&point, value, err) != 0)
        return ts_store_fault(at, err);
    ts_sentinel_keep(&reader->run->sentinel, &point);
    return 0;
}

static int take_end(struct journal_reader *reader, const struct ts_place *at, const cJSON *value,
                    struct ts_err *err)
{
    if (ts_store_check_end(at, value, err) != 0 || reopen(reader, at, err) != 0 ||
        ts_store_read_text(&reader->run->finished, at, value, "finished", true, err) != 0)
        return -1;
    reader->run->interrupted = ts_json_bool(value, "interrupted", false);
    if (ts_json_get(value, "peaks"))
        ts_peaks_from_json(&reader->run->peaks, ts_json_get(value, "peaks"));
    return 0;
}

static const struct line_kind {
    const char *key;
    int (*take)(struct journal_reader *reader, const struct ts_place *at, const cJSON *value,
                struct ts_err *err);
} line_kinds[] = {
    {"journal", take_opening},   {"run", take_run},   {"row", take_row},
    {"visit", take_visit},       {"drop", take_drop}, {"disturb", take_disturb},
    {"sentinel", take_sentinel}, {"end", take_end},
};

/* Lines of an unknown kind are passed over: a later program may write more. */
static int take_line(struct journal_reader *reader, const char *path, int number, const char *text,
                     size_t length, struct ts_err *err)
{
    cJSON *line = ts_json_parse(text, length, path, number, err);
    if (!line)
        return -1;
    char *name = ts_printf("%s:%d", path, number);
    const struct ts_place root = ts_place_root(name);
    int result = ts_place_object(&root, line, err);
    if (result == 0 && number == 1 && !ts_json_get(line, "journal"))
        result = ts_place_error(&root, err, "expected {\"journal\": \"%s%d\"}: not a journal",
                                TS_JOURNAL_SCHEMA, TS_STORE_VERSION);
    for (size_t i = 0; i < TS_COUNT(line_kinds) && result == 0; i++) {
        const cJSON *value = ts_json_get(line, line_kinds[i].key);
        const struct ts_place place = ts_place_key(&root, line_kinds[i].key);
        if (!value)
            continue;
        result = line_kinds[i].take(reader, &place, value, err);
        break;
    }
    free(name);
    cJSON_Delete(line);
    return result;
}

int ts_journal_load(struct ts_results *results, const char *part_path, struct ts_err *err)
{
    struct ts_results loaded = {0};
    struct journal_reader reader = {.results = &loaded};
    size_t length = 0;
    char *text = ts_file_read(part_path, &length, err), *line = text, *end;
    int result = 0, number = 0;
    if (!text)
        return -1;
    while (result == 0 && (end = memchr(line, '\n', length - (size_t)(line - text)))) {
        result = take_line(&reader, part_path, ++number, line, (size_t)(end - line), err);
        line = end + 1;
    }
    for (size_t i = 0; i < loaded.run_count && result == 0; i++)
        *ts_results_add(results) = loaded.runs[i];
    if (result == 0)
        free(loaded.runs);
    else
        ts_results_free(&loaded);
    ts_row_map_free(&reader.index);
    free(text);
    return result;
}
