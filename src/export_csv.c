/* export_csv.c: a table by RFC 4180: one line a configuration, a heading, CRLF, UTF-8.
 *
 * Cells are what the results file says, by the paths of the table below; a name of a size, problem
 * axis, parameter or context of its own column. A line stays one line: control characters in texts
 * become spaces, and logs are left out. Spreadsheets run a text that begins like a formula; such
 * text gets an apostrophe before it, as they themselves would write it. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "export_private.h"
#include "row_json.h"
#include "table.h"

/* ---- columns ---- */

struct column {
    const char *name, *path; /* a step is a key, or the index in a list */
};

/* Of the run (see run_to_json). */
static const struct column run_columns[] = {
    {"run", "id"},
    {"started", "started"},
    {"tool_version", "tool.version"},
    {"host", "host.name"},
    {"platform", "platform.name"},
    {"device", "device.name"},
    {"device_type", "device.type"},
    {"driver", "device.driver"},
};

/* Between them stand the columns of the names: problem_POINTS, size_W, param_TX. */
static const struct column row_columns[] = {
    {"baseline", "baseline"},
    {"staged", "staged"},
    {"status", "status"},
    {"reason_code", "reason.code"},
    {"reason_text", "reason.text"},
    {"source", "source"},
    {"global_0", "geometry.global.0"},
    {"global_1", "geometry.global.1"},
    {"global_2", "geometry.global.2"},
    {"local_0", "geometry.local.0"},
    {"local_1", "geometry.local.1"},
    {"local_2", "geometry.local.2"},
    {"local_bytes", "geometry.local_bytes"},
    {"local_bytes_reported", "geometry.local_bytes_reported"},
    {"work_group_limit", "geometry.work_group_limit"},
    {"preferred_multiple", "geometry.preferred_multiple"},
    {"private_bytes", "geometry.private_bytes"},
    {"limit_rule", "geometry.limit_rule"},
    {"build_ns", "build.ns"},
    {"build_options", "build.options"},
    {"binary", "build.binary"},
    {"check_sizes", "check.sizes"},
    {"check_elements", "check.elements"},
    {"check_worst", "check.worst"},
    {"clock", "time.clock"},
    {"cache", "time.cache"},
    {"first_ns", "time.first_ns"},
    {"batch", "time.batch"},
    {"visits", "samples.visits"},
    {"samples", "samples.count"},
    {"min_ns", "samples.min_ns"},
    {"q1_ns", "time.q1_ns"},
    {"median_ns", "time.median_ns"},
    {"q3_ns", "time.q3_ns"},
    {"max_ns", "samples.max_ns"},
    {"low_ns", "time.low_ns"},
    {"high_ns", "time.high_ns"},
    {"flags", "time.flags"},
    {"stop", "time.stop"},
    {"disturbed", "time.disturbed"},
    {"elements", "work.elements"},
    {"flops", "work.flops"},
    {"bytes", "work.bytes"},
    {"requested_bytes", "work.requested_bytes"},
    {"bound", "rate.bound"},
};
/* After them every metric but times, by its own name. */

/* Parts with names of their own: a column for each name that any row has. */
static const struct {
    const char *part, *prefix;
    bool of_run;
} named_parts[] = {
    {"context", "context_", true},
    {"problem", "problem_", false},
    {"size", "size_", false},
    {"params", "param_", false},
};

struct names {
    char **items;
    size_t count, capacity;
};

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    TS_GROW(names->items, names->count, names->capacity);
    names->items[names->count++] = ts_strdup(name);
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* ---- documents of a row ---- */

static cJSON *run_to_json(const struct ts_run *run)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "id", run->id);
    ts_json_add_string(object, "started", run->started);
    ts_json_add_item(object, "tool", cJSON_Duplicate(run->tool, true));
    ts_json_add_item(object, "context", cJSON_Duplicate(run->context, true));
    ts_json_add_item(object, "host", cJSON_Duplicate(run->host, true));
    ts_device_to_json(&run->device, object);
    return object;
}

static cJSON *row_to_json(const struct ts_export_row *row)
{
    cJSON *object = ts_row_to_json(row->row, &row->run->peaks);
    cJSON *samples = ts_json_add_object(object, "samples");
    cJSON *metrics = ts_json_add_object(object, "metrics");
    double low = DBL_MAX, high = 0.0;
    size_t count;
    double *ns = ts_row_samples(row->row, &count);
    for (size_t i = 0; i < count; i++) {
        low = ns[i] < low ? ns[i] : low;
        high = ns[i] > high ? ns[i] : high;
    }
    if (ts_export_is_timed(row->row)) {
        ts_json_add_int(samples, "visits", (int64_t)row->row->time.visit_count);
        ts_json_add_int(samples, "count", (int64_t)count);
        ts_json_add_real(samples, "min_ns", low);
        ts_json_add_real(samples, "max_ns", high);
    }
    free(ns);
    for (size_t i = 0; i < ts_metric_count; i++)
        ts_json_add_real(metrics, ts_metric_table[i].name,
                         ts_metric_table[i].value(row->row, &row->run->peaks));
    return object;
}

static const cJSON *value_at(const cJSON *document, const char *path)
{
    char *steps = ts_strdup(path), *rest = NULL;
    for (char *step = strtok_r(steps, ".", &rest); step && document;
         step = strtok_r(NULL, ".", &rest))
        document = cJSON_IsArray(document) ? cJSON_GetArrayItem(document, atoi(step))
                                           : ts_json_get(document, step);
    free(steps);
    return document;
}

/* ---- cells ---- */

/* A text may hold anything. */
static void add_text(struct ts_text *line, const char *text)
{
    char *clean =
        ts_text_printable_lines(text); /* control characters, but for line ends and tabs */
    bool formula = *clean && strchr("=+-@\t\n", *clean);
    bool quoted = strpbrk(clean, ",\"") || formula;
    ts_text_puts(line, quoted ? "\"" : "");
    ts_text_puts(line, formula ? "'" : "");
    for (const char *c = clean; *c; c++) {
        if (*c == '"')
            ts_text_puts(line, "\"\"");
        else
            ts_text_add(line, *c == '\n' || *c == '\t' ? " " : c, 1);
    }
    ts_text_puts(line, quoted ? "\"" : "");
    free(clean);
}

/* Words joined by blanks. */
static void add_list(struct ts_text *line, const cJSON *list)
{
    struct ts_text words = {0};
    const cJSON *item;
    ts_text_puts(&words, "");
    cJSON_ArrayForEach(item, list) ts_text_printf(&words, "%s%s", words.length ? " " : "",
                                                  cJSON_IsString(item) ? item->valuestring : "?");
    add_text(line, words.text);
    ts_text_free(&words);
}

/* Not known: an empty cell. */
static void add_cell(struct ts_text *line, const cJSON *value)
{
    ts_text_puts(line, line->text ? "," : "");
    if (cJSON_IsString(value)) {
        add_text(line, value->valuestring);
    } else if (cJSON_IsArray(value)) {
        add_list(line, value);
    } else if (cJSON_IsNumber(value) || cJSON_IsBool(value)) {
        char *text = ts_json_print(value);
        ts_text_puts(line, text);
        free(text);
    }
}

static void end_line(struct ts_text *line, struct ts_text *out)
{
    ts_text_printf(out, "%s\r\n", line->text);
    ts_text_free(line);
}

static void add_title(struct ts_text *line, const char *prefix, const char *name)
{
    char *title = ts_printf("%s%s", prefix, name);
    ts_text_puts(line, line->text ? "," : "");
    add_text(line, title);
    free(title);
}

/* ---- lines ---- */

static void add_heading(const struct names *names, struct ts_text *out)
{
    struct ts_text line = {0};
    for (size_t i = 0; i < TS_COUNT(run_columns); i++)
        add_title(&line, "", run_columns[i].name);
    for (size_t p = 0; p < TS_COUNT(named_parts); p++) {
        if (p == 1) /* the run's names are over, the row begins */
            ts_text_puts(&line, ",benchmark,variant");
        for (size_t i = 0; i < names[p].count; i++)
            add_title(&line, named_parts[p].prefix, names[p].items[i]);
    }
    for (size_t i = 0; i < TS_COUNT(row_columns); i++)
        add_title(&line, "", row_columns[i].name);
    for (size_t i = 0; i < ts_metric_count; i++)
        if (ts_metric_table[i].kind != TS_METRIC_TIME)
            add_title(&line, "", ts_metric_table[i].name);
    end_line(&line, out);
}

static void add_row(const cJSON *run, const cJSON *row, const struct names *names,
                    struct ts_text *out)
{
    struct ts_text line = {0};
    for (size_t i = 0; i < TS_COUNT(run_columns); i++)
        add_cell(&line, value_at(run, run_columns[i].path));
    for (size_t p = 0; p < TS_COUNT(named_parts); p++) {
        const cJSON *part = ts_json_get(named_parts[p].of_run ? run : row, named_parts[p].part);
        if (p == 1) {
            add_cell(&line, ts_json_get(row, "benchmark"));
            add_cell(&line, ts_json_get(row, "variant"));
        }
        for (size_t i = 0; i < names[p].count; i++)
            add_cell(&line, ts_json_get(part, names[p].items[i]));
    }
    for (size_t i = 0; i < TS_COUNT(row_columns); i++)
        add_cell(&line, value_at(row, row_columns[i].path));
    for (size_t i = 0; i < ts_metric_count; i++)
        if (ts_metric_table[i].kind != TS_METRIC_TIME)
            add_cell(&line, ts_json_get(ts_json_get(row, "metrics"), ts_metric_table[i].name));
    end_line(&line, out);
}

static void find_names(const cJSON *run, const cJSON *row, struct names *names)
{
    const cJSON *item;
    for (size_t p = 0; p < TS_COUNT(named_parts); p++)
        cJSON_ArrayForEach(item,
                           ts_json_get(named_parts[p].of_run ? run : row, named_parts[p].part))
            add_name(&names[p], item->string);
}

int ts_export_csv(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err)
{
    struct names names[TS_COUNT(named_parts)] = {{0}};
    cJSON *run = NULL;
    (void)err;
    for (int pass = 0; pass < 2; pass++) { /* the names of all rows, then the rows */
        for (size_t i = 0; i < rows->count; i++) {
            if (i == 0 || rows->items[i].run != rows->items[i - 1].run) {
                cJSON_Delete(run);
                run = run_to_json(rows->items[i].run);
            }
            cJSON *row = row_to_json(&rows->items[i]);
            if (pass == 0)
                find_names(run, row, names);
            else
                add_row(run, row, names, out);
            cJSON_Delete(row);
        }
        if (pass == 0)
            add_heading(names, out);
    }
    cJSON_Delete(run);
    for (size_t p = 0; p < TS_COUNT(named_parts); p++)
        free_names(&names[p]);
    return 0;
}
