/* check_print.c: the rows of a check in words and as JSON (docs/check.schema.json). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_private.h"
#include "table.h"
#include "version.h"

static const struct ts_config *config_of(const struct ts_checking *c,
                                         const struct ts_check_row *row)
{
    return &c->spaces[row->space]->configs[row->config];
}

static void count_rows(const struct ts_checking *c, int64_t counts[TS_CHECK_STATUS_COUNT])
{
    memset(counts, 0, TS_CHECK_STATUS_COUNT * sizeof(*counts));
    for (size_t i = 0; i < c->row_count; i++)
        counts[ts_check_row_status(&c->rows[i])]++;
}

/* ---- words ---- */

/* "laplacian POINTS=5 local TX=32 TY=8" */
static void add_name(const struct ts_checking *c, const struct ts_check_row *row,
                     struct ts_text *out)
{
    const struct ts_space *space = c->spaces[row->space];
    const struct ts_config *config = config_of(c, row);
    const struct ts_values *problem = &space->problems[config->problem];

    ts_text_puts(out, space->spec->name);
    if (problem->count > 0)
        ts_text_puts(out, " ");
    ts_values_print(problem, "", " ", out);
    ts_text_printf(out, " %s", space->spec->variants[config->variant].name);
    if (config->params.count > 0)
        ts_text_puts(out, " ");
    ts_values_print(&config->params, "", " ", out);
}

/* text, its further lines indented. */
static void add_indented(struct ts_text *out, const char *text)
{
    const char *end;

    for (; (end = strchr(text, '\n')) != NULL && end[1]; text = end + 1) {
        char *line = ts_strndup(text, (size_t)(end - text)), *shown = ts_text_printable(line);
        ts_text_printf(out, "%s\n      ", shown);
        free(shown);
        free(line);
    }
    char *line = ts_strndup(text, strcspn(text, "\n")), *shown = ts_text_printable(line);
    ts_text_printf(out, "%s\n", shown);
    free(shown);
    free(line);
}

static void add_findings(const struct ts_check_row *row, struct ts_text *out)
{
    for (size_t i = 0; i < row->findings.count; i++) {
        struct ts_text words = {0};
        ts_finding_print(&row->findings.items[i], &words);
        ts_text_puts(out, "    ");
        add_indented(out, words.text);
        ts_text_free(&words);
    }
    if (row->findings.cut)
        ts_text_puts(out, "    and more: Oclgrind stopped telling\n");
}

static void add_unchecked(const struct ts_check_row *row, struct ts_text *out)
{
    static const char *const what[TS_PASS_COUNT] = {
        [TS_PASS_RACES] = "races and bounds",
        [TS_PASS_UNINITIALISED] = "uninitialised memory",
    };

    for (int p = 0; p < TS_PASS_COUNT; p++) {
        const struct ts_pass_result *pass = &row->passes[p];
        if (pass->done)
            continue;
        ts_text_printf(out, "    %s not checked: %s%s", what[p], pass->failed ? pass->failed : "",
                       pass->failed ? ": " : "");
        add_indented(out, pass->why);
    }
}

static void print_row(const struct ts_checking *c, const struct ts_check_row *row,
                      struct ts_text *out)
{
    static const char *const words[TS_CHECK_STATUS_COUNT] = {
        [TS_CHECK_CLEAN] = "clean",
        [TS_CHECK_FINDING] = "FINDING",
        [TS_CHECK_NOT_CHECKED] = "not checked",
    };
    enum ts_check_status status = ts_check_row_status(row);

    if (status == TS_CHECK_CLEAN && c->options->quiet)
        return;
    ts_text_printf(out, "%-11s  ", words[status]);
    add_name(c, row, out);
    ts_text_puts(out, "\n");
    add_findings(row, out);
    add_unchecked(row, out);
    if (row->talk && c->options->verbose > 0) {
        ts_text_puts(out, "    printed: ");
        add_indented(out, row->talk);
    }
}

void ts_check_print_text(const struct ts_checking *c, struct ts_text *out)
{
    int64_t counts[TS_CHECK_STATUS_COUNT], failed = 0;

    for (size_t i = 0; i < c->row_count; i++) {
        print_row(c, &c->rows[i], out);
        failed += ts_check_row_failed(&c->rows[i]);
    }
    count_rows(c, counts);
    ts_text_printf(out,
                   "%zu configurations by %s: %" PRId64 " clean, %" PRId64
                   " with findings, %" PRId64 " not checked",
                   c->row_count, c->checker, counts[TS_CHECK_CLEAN], counts[TS_CHECK_FINDING],
                   counts[TS_CHECK_NOT_CHECKED]);
    if (failed > 0)
        ts_text_printf(out, "; %" PRId64 " with a kernel that does not build or launch", failed);
    ts_text_puts(out, "\n");
}

/* ---- JSON ---- */

static void add_ids(cJSON *parent, const char *key, const int64_t ids[3])
{
    cJSON *list = ts_json_add_array(parent, key);

    for (int d = 0; d < 3; d++)
        ts_json_add_int(list, NULL, ids[d]);
}

static void add_access(cJSON *list, const struct ts_access *access)
{
    cJSON *into = ts_json_add_object(list, NULL);

    ts_json_add_string(into, "action", access->action);
    ts_json_add_string(into, "file", access->file);
    ts_json_add_int_or_null(into, "line", access->file ? access->line : -1);
    ts_json_add_int_or_null(into, "column", access->file ? access->column : -1);
    if (access->has_item) {
        cJSON *item = ts_json_add_object(into, "work_item");
        add_ids(item, "global", access->global);
        add_ids(item, "local", access->local);
    } else {
        ts_json_add_null(into, "work_item");
    }
    if (access->has_group)
        add_ids(into, "work_group", access->group);
    else
        ts_json_add_null(into, "work_group");
}

static void add_finding(cJSON *list, const struct ts_finding *finding)
{
    cJSON *into = ts_json_add_object(list, NULL), *accesses;
    struct ts_text text = {0};

    ts_finding_print(finding, &text);
    ts_json_add_string(into, "kind", ts_finding_kind_name(finding->kind));
    ts_json_add_string(into, "text", text.text);
    ts_json_add_string(into, "message", finding->message);
    ts_json_add_string(into, "kernel", finding->kernel);
    ts_json_add_string(into, "address_space", finding->space);
    ts_json_add_int_or_null(into, "bytes", finding->bytes);
    ts_json_add_item(into, "size", ts_values_to_json(&finding->size));
    ts_json_add_int(into, "times", finding->times);
    accesses = ts_json_add_array(into, "accesses");
    for (int i = 0; i < finding->access_count; i++)
        add_access(accesses, &finding->access[i]);
    ts_text_free(&text);
}

static void add_pass(cJSON *parent, const char *name, const struct ts_pass_result *pass)
{
    cJSON *into = ts_json_add_object(parent, name), *reason;

    ts_json_add_bool(into, "done", pass->done);
    ts_json_add_int(into, "sizes", (int64_t)pass->sizes);
    if (pass->done) {
        ts_json_add_null(into, "reason");
        return;
    }
    reason = ts_json_add_object(into, "reason");
    ts_json_add_string(reason, "code", pass->code);
    ts_json_add_string(reason, "text", pass->why);
    ts_json_add_string(reason, "status", pass->failed);
}

static void add_row(cJSON *list, const struct ts_checking *c, const struct ts_check_row *row)
{
    const struct ts_space *space = c->spaces[row->space];
    const struct ts_config *config = config_of(c, row);
    const struct ts_variant *variant = &space->spec->variants[config->variant];
    cJSON *into = ts_json_add_object(list, NULL), *sub;

    ts_json_add_string(into, "benchmark", space->spec->name);
    ts_json_add_item(into, "problem", ts_values_to_json(&space->problems[config->problem]));
    ts_json_add_string(into, "variant", variant->name);
    ts_json_add_item(into, "params", ts_values_to_json(&config->params));
    ts_json_add_string(into, "source", variant->source.digest);
    ts_json_add_string(into, "status", ts_check_status_name(ts_check_row_status(row)));
    sub = ts_json_add_object(into, "passes");
    for (int p = 0; p < TS_PASS_COUNT; p++)
        add_pass(sub, ts_check_pass_name((enum ts_check_pass)p), &row->passes[p]);
    sub = ts_json_add_array(into, "findings");
    for (size_t i = 0; i < row->findings.count; i++)
        add_finding(sub, &row->findings.items[i]);
    ts_json_add_bool(into, "more", row->findings.cut);
    ts_json_add_string(into, "talk", row->talk);
}

cJSON *ts_check_to_document(const struct ts_checking *c)
{
    cJSON *document = cJSON_CreateObject(), *sub;
    int64_t counts[TS_CHECK_STATUS_COUNT];
    char stamp[32];

    ts_utc_now(stamp);
    count_rows(c, counts);
    ts_json_add_string(document, "schema", "tilesweep.check/1");
    sub = ts_json_add_object(document, "tool");
    ts_json_add_string(sub, "version", ts_version());
    ts_json_add_string(sub, "revision", ts_revision());
    ts_json_add_string(document, "checker", c->checker);
    ts_json_add_string(document, "started", c->started);
    ts_json_add_string(document, "finished", stamp);
    ts_json_add_bool(document, "interrupted", c->interrupted);
    sub = ts_json_add_array(document, "specs");
    for (size_t i = 0; i < c->spec_count; i++) {
        cJSON *spec = ts_json_add_object(sub, NULL);
        ts_json_add_string(spec, "name", c->specs[i]->name);
        ts_json_add_string(spec, "digest", c->specs[i]->digest);
    }
    ts_json_add_unsigned(document, "seed", c->options->seed ? c->options->seed : 1);
    sub = ts_json_add_object(document, "counts");
    for (int status = 0; status < TS_CHECK_STATUS_COUNT; status++)
        ts_json_add_int(sub, ts_check_status_name((enum ts_check_status)status), counts[status]);
    sub = ts_json_add_array(document, "rows");
    for (size_t i = 0; i < c->row_count; i++)
        add_row(sub, c, &c->rows[i]);
    return document;
}
