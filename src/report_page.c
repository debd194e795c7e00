/* report_page.c: index.html. Plain HTML without script, read from a folder or a server alike; all
 * text from outside is escaped. */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric.h"
#include "table.h"

enum {
    FAILED_SHOWN = 50, /* failed configurations told one by one, per run */
    LOGS_SHOWN = 20,   /* distinct logs of the compiler, per run */
    LOG_LINES = 40     /* of each */
};

/* Appends <tag>text</tag>, or nothing but the tags when text is NULL. */
static void add_element(struct ts_text *out, const char *tag, const char *text)
{
    ts_text_printf(out, "<%s>", tag);
    ts_text_add_markup(out, text);
    ts_text_printf(out, "</%s>", tag);
}

/* A row of a table of facts; nothing when the value is not known. */
static void add_fact(struct ts_text *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    ts_text_puts(out, "<tr>");
    add_element(out, "th", name);
    add_element(out, "td", value);
    ts_text_puts(out, "</tr>\n");
}

/* ---- facts of a run ---- */

static void add_number_fact(struct ts_text *out, const char *name, int64_t value, const char *unit)
{
    if (value < 0)
        return;
    char *text = ts_printf("%lld%s", (long long)value, unit);
    add_fact(out, name, text);
    free(text);
}

static void add_rate_fact(struct ts_text *out, const char *name, double value, const char *unit)
{
    char buffer[TS_HUMAN_ROOM];
    if (value > 0.0)
        add_fact(out, name, ts_human_rate(value, unit, buffer));
}

static void add_bytes_fact(struct ts_text *out, const char *name, int64_t bytes)
{
    char buffer[TS_HUMAN_ROOM];
    if (bytes >= 0)
        add_fact(out, name, ts_human_bytes(bytes, buffer));
}

static void add_device_facts(struct ts_text *out, const struct ts_device *device)
{
    add_fact(out, "Vendor", device->vendor);
    add_fact(out, "Type", device->type);
    add_fact(out, "Driver", device->driver);
    add_fact(out, "Device version", device->version);
    add_fact(out, "Platform", device->platform_name);
    add_fact(out, "Platform version", device->platform_version);
    add_number_fact(out, "Compute units", device->number[TS_DEVICE_MAX_COMPUTE_UNITS], "");
    add_number_fact(out, "Clock, highest", device->number[TS_DEVICE_MAX_CLOCK_FREQUENCY], " MHz");
    add_number_fact(out, "Work-group size, largest", device->number[TS_DEVICE_MAX_WORK_GROUP_SIZE],
                    " work-items");
    add_bytes_fact(out, "Local memory", device->number[TS_DEVICE_LOCAL_MEM_SIZE]);
    add_fact(out, "Kind of local memory", ts_device_local_memory_words(device));
    add_bytes_fact(out, "Global memory", device->number[TS_DEVICE_GLOBAL_MEM_SIZE]);
    add_bytes_fact(out, "Cache of global memory", device->number[TS_DEVICE_GLOBAL_MEM_CACHE_SIZE]);
}

static void add_clock_facts(struct ts_text *out, const struct ts_clock *clock)
{
    struct ts_text text = {0};
    ts_text_puts(&text, clock->event ? "profiling events" : "the host's clock");
    if (clock->tick_ns > 0)
        ts_text_printf(&text, "; smallest step %lld ns; an empty kernel takes %lld ns",
                       (long long)clock->tick_ns, (long long)clock->floor_ns);
    add_fact(out, "Timed by", text.text);
    ts_text_free(&text);
    for (size_t i = 0; i < clock->warning_count; i++)
        add_fact(out, "Warning", clock->warnings[i]);
}

static void add_context_facts(struct ts_text *out, const cJSON *context)
{
    for (const cJSON *item = context ? context->child : NULL; item; item = item->next)
        if (cJSON_IsString(item))
            add_fact(out, item->string, item->valuestring);
}

static void add_counts(struct ts_text *out, const struct ts_run *run)
{
    size_t counts[TS_STATUS_COUNT] = {0};
    struct ts_text text = {0};
    for (size_t i = 0; i < run->row_count; i++)
        if (run->rows[i].status >= 0 && run->rows[i].status < TS_STATUS_COUNT)
            counts[run->rows[i].status]++;
    for (int status = 0; status < TS_STATUS_COUNT; status++)
        if (counts[status] > 0)
            ts_text_printf(&text, "%s%zu %s", text.length ? ", " : "", counts[status],
                           ts_status_name((enum ts_status)status));
    if (run->excluded > 0)
        ts_text_printf(&text, "%s%lld excluded", text.length ? ", " : "", (long long)run->excluded);
    add_fact(out, "Configurations", text.text);
    ts_text_free(&text);
}

/* Each flag that a row has, with what it means. */
static void add_flags(struct ts_text *out, const struct ts_run *run)
{
    for (size_t f = 0; f < ts_flag_count; f++) {
        size_t rows = 0;
        for (size_t i = 0; i < run->row_count; i++)
            rows += (run->rows[i].time.flags & ts_flag_table[f].flag) != 0;
        if (rows == 0)
            continue;
        char *text =
            ts_printf("%zu row%s: %s", rows, rows == 1 ? "" : "s", ts_flag_table[f].meaning);
        add_fact(out, ts_flag_table[f].name, text);
        free(text);
    }
}

static void add_run_facts(struct ts_text *out, const struct ts_run *run)
{
    ts_text_puts(out, "<table class=\"facts\">\n");
    add_device_facts(out, &run->device);
    add_clock_facts(out, &run->clock);
    add_rate_fact(out, "Copy, measured", run->peaks.copy_bytes_per_s, "B/s");
    add_rate_fact(out, "Multiply-add, measured", run->peaks.fma_flops_per_s, "FLOP/s");
    add_rate_fact(out, "Local memory, measured", run->peaks.local_bytes_per_s, "B/s");
    add_fact(out, "Host", ts_json_string(run->host, "name", NULL));
    add_fact(out, "Processor of the host", ts_json_string(run->host, "cpu", NULL));
    add_fact(out, "Started", run->started);
    add_fact(out, "Finished", run->finished);
    add_fact(out, "Interrupted", run->interrupted ? "yes: what is missing was not measured" : NULL);
    add_fact(out, "tilesweep", ts_json_string(run->tool, "version", NULL));
    add_context_facts(out, run->context);
    add_counts(out, run);
    add_flags(out, run);
    ts_text_puts(out, "</table>\n");
}

/* ---- verdicts ---- */

static void add_side(struct ts_text *out, const struct ts_report_case *of, const struct ts_row *row)
{
    bool per_element = of->per_element;
    ts_text_puts(out, "<td>");
    if (!row) {
        ts_text_puts(out, "none ok</td>");
        return;
    }
    struct ts_text text = {0};
    double ns = ts_report_compared(of, row, per_element).mid;
    struct ts_report_unit unit = ts_report_unit_for(ns, per_element);
    ts_report_number(ns / unit.ns, &text);
    ts_text_printf(&text, " %s%s", unit.name, per_element ? " per element" : "");
    add_element(out, "b", text.text);
    ts_text_puts(out, "<br>");
    text.length = 0;
    ts_report_configuration(row, &text);
    ts_text_add_markup(out, text.text);
    ts_text_puts(out, "</td>");
    ts_text_free(&text);
}

/* How often the best of each side asks for each byte that must move. */
static void add_requested(struct ts_text *out, const struct ts_verdict *verdict)
{
    const struct {
        const char *name;
        const struct ts_row *row;
    } sides[] = {{"plain", verdict->best_plain}, {"staged", verdict->best_staged}};
    ts_text_puts(out, "<td>");
    for (size_t i = 0; i < TS_COUNT(sides); i++) {
        const struct ts_row *row = sides[i].row;
        ts_text_printf(out, "%s%s ", i > 0 ? "<br>" : "", sides[i].name);
        ts_report_number(row ? ts_metric_value("requested_over_compulsory", row, NULL) : NAN, out);
    }
    ts_text_puts(out, "</td>");
}

static void add_speedup(struct ts_text *out, const struct ts_interval *speedup)
{
    ts_text_puts(out, "<td>");
    if (!isfinite(speedup->mid))
        ts_text_puts(out, "not known");
    else
        ts_text_printf(out, "%.2f", speedup->mid);
    if (isfinite(speedup->mid) && speedup->known)
        ts_text_printf(out, "<br>(%.2f to %.2f)", speedup->low, speedup->high);
    ts_text_puts(out, "</td>");
}

static const char *pays_words(enum ts_pays pays)
{
    static const char *const words[] = {
        [TS_PAYS_YES] = "yes",
        [TS_PAYS_NO] = "no",
        [TS_PAYS_TIE] = "no difference",
        [TS_PAYS_UNKNOWN] = "not known",
    };
    return words[pays];
}

static void add_recommended(struct ts_text *out, const struct ts_verdict *verdict)
{
    ts_text_puts(out, "<td>");
    if (verdict->best) {
        struct ts_text options = {0};
        ts_text_add_markup(out, verdict->best->variant);
        ts_row_defines(verdict->best, &options);
        ts_text_puts(out, "<br>");
        add_element(out, "code", options.text);
        if (verdict->tie_count > 1)
            ts_text_printf(out, "<br>the simplest of %zu that are equally fast",
                           verdict->tie_count);
        ts_text_free(&options);
    } else {
        ts_text_puts(out, "none");
    }
    ts_text_puts(out, "</td>");
}

static void add_verdict(struct ts_text *out, const struct ts_report_group *group,
                        const struct ts_report_case *of)
{
    struct ts_text name = {0};
    ts_report_case_name(of->rows[0], &name);
    ts_text_puts(out, "<tr><th>");
    ts_text_add_markup(out, group->benchmark);
    ts_text_puts(out, "<br>");
    ts_text_add_markup(out, name.text);
    ts_text_puts(out, "</th>");
    add_side(out, of, of->verdict.best_plain);
    add_side(out, of, of->verdict.best_staged);
    add_requested(out, &of->verdict);
    add_speedup(out, &of->verdict.speedup);
    ts_text_printf(out, "<td class=\"%s\"><b>%s</b></td>", ts_pays_name(of->verdict.pays),
                   pays_words(of->verdict.pays));
    add_recommended(out, &of->verdict);
    add_element(out, "td", of->verdict.why);
    ts_text_puts(out, "</tr>\n");
    ts_text_free(&name);
}

static void add_verdicts(struct ts_text *out, const struct ts_report_run *run)
{
    if (run->run->device.number[TS_DEVICE_LOCAL_MEM_TYPE] == TS_LOCAL_MEM_GLOBAL)
        ts_text_puts(out, "<p>On this device local memory is global memory "
                          "(CL_DEVICE_LOCAL_MEM_TYPE): a tile staged there is copied within the "
                          "same memory.</p>\n");
    ts_text_puts(out, "<div class=\"wide\"><table>\n<tr><th>Case</th><th>Best plain</th>"
                      "<th>Best staged</th><th>Requested over<br>compulsory bytes</th>"
                      "<th>Speed-up of staging<br>(95 % interval)</th>"
                      "<th>Staging pays</th><th>Recommended</th><th>In words</th></tr>\n");
    for (size_t i = 0; i < run->count; i++)
        for (size_t j = 0; j < run->groups[i].count; j++)
            add_verdict(out, &run->groups[i], &run->groups[i].cases[j]);
    ts_text_puts(out, "</table></div>\n");
}

/* ---- failed configurations ---- */

static void add_failed_row(struct ts_text *out, const struct ts_row *row)
{
    struct ts_text key = {0};
    ts_row_key(row, &key);
    ts_text_puts(out, "<tr>");
    add_element(out, "td", ts_status_name(row->status));
    add_element(out, "td", row->reason.code);
    add_element(out, "td", key.text);
    add_element(out, "td", row->reason.text);
    ts_text_puts(out, "</tr>\n");
    ts_text_free(&key);
}

/* The text's first lines, with a last one that tells how many more there are. */
static void add_log_text(struct ts_text *out, const char *log)
{
    const char *end = log;
    size_t lines = 0, more = 0;
    while (*end && lines < LOG_LINES)
        lines += *end++ == '\n';
    for (const char *at = end; *at; at++)
        more += *at == '\n' || !at[1];
    char *first = ts_strndup(log, (size_t)(end - log));
    ts_text_puts(out, "<pre>");
    ts_text_add_markup(out, first);
    if (more > 0)
        ts_text_printf(out, "... and %zu more lines", more);
    ts_text_puts(out, "</pre>\n");
    free(first);
}

static const char *failed_log(const struct ts_row *row)
{
    bool has = row->status == TS_BUILD_FAILED && row->build.log && row->build.log[0];
    return has ? row->build.log : NULL;
}

/* A log that no row before said: under its first configuration, with the number of those that say
 * the same. False when the row has none or it was told before. */
static bool add_log(struct ts_text *out, const struct ts_run *run, size_t at, bool show)
{
    const char *log = failed_log(&run->rows[at]);
    size_t others = 0;
    for (size_t i = 0; log && i < run->row_count; i++) {
        const char *other = failed_log(&run->rows[i]);
        if (i == at || !other || strcmp(other, log) != 0)
            continue;
        if (i < at)
            return false;
        others++;
    }
    if (!log || !show)
        return log != NULL;
    struct ts_text key = {0};
    ts_row_key(&run->rows[at], &key);
    if (others > 0)
        ts_text_printf(&key, " and %zu more configuration%s", others, others == 1 ? "" : "s");
    add_element(out, "p", key.text);
    add_log_text(out, log);
    ts_text_free(&key);
    return true;
}

static void add_logs(struct ts_text *out, const struct ts_run *run)
{
    size_t found = 0;
    for (size_t i = 0; i < run->row_count; i++) {
        if (!failed_log(&run->rows[i]))
            continue;
        if (found == 0)
            ts_text_puts(out, "<h4>What the compiler said</h4>\n");
        found += add_log(out, run, i, found < LOGS_SHOWN);
    }
    if (found > LOGS_SHOWN)
        ts_text_printf(out, "<p>and %zu more logs</p>\n", found - LOGS_SHOWN);
}

static void add_failed(struct ts_text *out, const struct ts_run *run)
{
    size_t found = 0;
    for (size_t i = 0; i < run->row_count; i++) {
        if (!ts_status_is_finding(run->rows[i].status))
            continue;
        if (found == 0)
            ts_text_puts(out, "<h3>Configurations that failed</h3>\n<div class=\"wide\"><table>\n"
                              "<tr><th>Status</th><th>Reason</th><th>Configuration</th>"
                              "<th>Details</th></tr>\n");
        if (found++ < FAILED_SHOWN)
            add_failed_row(out, &run->rows[i]);
    }
    if (found == 0)
        return;
    ts_text_puts(out, "</table></div>\n");
    if (found > FAILED_SHOWN)
        ts_text_printf(out, "<p>and %zu more</p>\n", found - FAILED_SHOWN);
    add_logs(out, run);
}

/* ---- figures ---- */

static void add_figure(struct ts_text *out, const struct ts_report_figure *figure)
{
    if (figure->why_not) {
        ts_text_puts(out, "<p class=\"none\">");
        ts_text_add_markup(out, figure->caption);
        ts_text_puts(out, " No picture: ");
        ts_text_add_markup(out, figure->why_not);
        ts_text_puts(out, ".</p>\n");
        return;
    }
    /* Names are slugs: they need no escaping in an address. */
    const char *name = figure->name;
    ts_text_printf(out, "<figure id=\"%s\">\n<img src=\"figures/%s.%s\" alt=\"", name, name,
                   figure->svg.text ? "svg" : "png");
    ts_text_add_markup(out, figure->alt);
    ts_text_puts(out, "\">\n<figcaption>");
    ts_text_add_markup(out, figure->caption);
    ts_text_puts(out, "<br>");
    if (figure->png.text)
        ts_text_printf(out, "<a href=\"figures/%s.png\">PNG</a> ", name);
    if (figure->svg.text)
        ts_text_printf(out, "<a href=\"figures/%s.svg\">SVG</a> ", name);
    ts_text_printf(out,
                   "<a href=\"figures/data/%s.tsv\">data</a> "
                   "<a href=\"figures/data/%s.labels.tsv\">labels</a> "
                   "(drawn by scripts/plot/%s)</figcaption>\n</figure>\n",
                   name, name, figure->kind->script);
}

static void add_figures(struct ts_text *out, const struct ts_report_figures *figures,
                        const struct ts_report_group *group)
{
    ts_text_puts(out, "<h3>");
    ts_text_add_markup(out, group->benchmark);
    ts_text_puts(out, "</h3>\n");
    for (size_t k = 0; k < ts_report_kind_count; k++) {
        const struct ts_report_kind *kind = &ts_report_kinds[k];
        bool headed = false;
        for (size_t i = 0; i < figures->count; i++) {
            const struct ts_report_figure *figure = &figures->items[i];
            if (figure->group != group || figure->kind != kind)
                continue;
            if (!headed) {
                add_element(out, "h4", kind->heading);
                add_element(out, "p", kind->note);
            }
            headed = true;
            add_figure(out, figure);
        }
    }
}

/* ---- the page ---- */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>tilesweep report</title>\n<style>\n"
    "body { font: 16px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; "
    "color: #222; background: #fff; }\n"
    "table { border-collapse: collapse; }\n"
    "th, td { border: 1px solid #ccc; padding: 0.3em 0.6em; text-align: left; "
    "vertical-align: top; }\n"
    ".facts th { font-weight: normal; color: #555; }\n"
    ".wide, pre { overflow-x: auto; }\n"
    "pre { background: #f5f5f5; padding: 0.5em; font-size: 0.85em; }\n"
    "figure { margin: 1.5em 0; }\n"
    "img { max-width: 100%; height: auto; border: 1px solid #eee; }\n"
    "figcaption { color: #444; }\n"
    ".yes { background: #dcefe6; }\n.no { background: #fbe3d6; }\n"
    ".none { color: #444; background: #f5f5f5; padding: 0.5em; }\n"
    "</style>\n</head>\n<body>\n<h1>tilesweep report</h1>\n"
    "<p>Does staging a tile in local memory pay? Each case below compares the fastest "
    "configuration that reads global memory directly (plain) with the fastest that stages a tile "
    "in local memory (staged). A speed-up above 1 means that staging is faster; where its "
    "95&nbsp;% "
    "interval includes 1, these measurements show no difference. Configurations that are not "
    "distinguishable from the fastest count as equal, and the simplest of them is recommended. "
    "The fastest of each side are chosen by the times of the sweep and then measured again; the "
    "verdicts rest on that confirmation, the heat maps and the effect of padding show the sweep. "
    "Never compare times across cases: they compute different things.</p>\n"
    "<p>Requested over compulsory bytes: all that the loads and stores of global memory in one "
    "launch ask for, over the least that must move, each input read once and each output written "
    "once. At 1 nothing is read again, at 3 every byte is asked for three times. That is what "
    "staging saves; caches may serve it as well, so it tells what could be saved, not the time."
    "</p>\n";

/* "laplacian W=4096 H=4096, W=8192 H=8192; matmul M=512": what a run measured. */
static void add_measured(struct ts_text *out, const struct ts_report_run *run)
{
    for (size_t g = 0; g < run->count; g++) {
        const struct ts_report_group *group = &run->groups[g];
        size_t told = 0;
        ts_text_puts(out, g ? "; " : "");
        ts_text_puts(out, group->benchmark);
        for (size_t i = 0; i < group->count; i++) {
            const struct ts_values *size = &group->cases[i].rows[0]->size;
            bool before = size->count == 0;
            for (size_t j = 0; j < i && !before; j++)
                before = ts_values_equal(&group->cases[j].rows[0]->size, size);
            if (before)
                continue;
            ts_text_puts(out, told++ ? ", " : " ");
            ts_values_print(size, "", " ", out);
        }
    }
}

static void add_contents(struct ts_text *out, const struct ts_report_run *runs, size_t count)
{
    if (count < 2)
        return;
    ts_text_puts(out, "<ol>\n");
    for (size_t i = 0; i < count; i++) {
        struct ts_text text = {0};
        ts_text_printf(&text, "%s: ", runs[i].run->device.name);
        add_measured(&text, &runs[i]);
        if (runs[i].run->started)
            ts_text_printf(&text, " (%s)", runs[i].run->started);
        ts_text_printf(out, "<li><a href=\"#run%zu\">", i + 1);
        ts_text_add_markup(out, text.text);
        ts_text_puts(out, "</a></li>\n");
        ts_text_free(&text);
    }
    ts_text_puts(out, "</ol>\n");
}

/* A run's heading, which tells it apart from others as its link does. */
static void add_heading(struct ts_text *out, const struct ts_report_run *run)
{
    struct ts_text text = {0};
    add_measured(&text, run);
    if (run->run->started)
        ts_text_printf(&text, " (%s)", run->run->started);
    add_element(out, "h2", run->run->device.name);
    ts_text_puts(out, "\n");
    add_element(out, "p", text.text);
    ts_text_puts(out, "\n");
    ts_text_free(&text);
}

char *ts_report_page(const struct ts_report_run *runs, size_t count,
                     const struct ts_report_figures *figures, const struct ts_gnuplot *gnuplot)
{
    struct ts_text out = {0};
    ts_text_puts(&out, page_head);
    add_contents(&out, runs, count);
    for (size_t i = 0; i < count; i++) {
        ts_text_printf(&out, "<section id=\"run%zu\">\n", i + 1);
        add_heading(&out, &runs[i]);
        add_verdicts(&out, &runs[i]);
        add_element(&out, "h3", "The device and the run");
        add_run_facts(&out, runs[i].run);
        for (size_t j = 0; j < runs[i].count; j++)
            add_figures(&out, figures, &runs[i].groups[j]);
        add_failed(&out, runs[i].run);
        ts_text_puts(&out, "</section>\n");
    }
    ts_text_puts(&out, "<footer><p>Pictures by gnuplot ");
    ts_text_add_markup(&out, gnuplot->version);
    ts_text_puts(&out, "; draw one again, changed to your taste: <code>gnuplot -d -c "
                       "SCRIPT figures/data/NAME.tsv figures/data/NAME.labels.tsv "
                       "OUT.png</code>.</p></footer>\n</body>\n</html>\n");
    return out.text;
}
