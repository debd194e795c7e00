/* compare_history.c: dated runs: pairs rows as a comparison of the earlier half with the later one
 * does, and looks for the run where a row changed for good. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "table.h"
#include "trend.h"
#include "version.h"

struct series {
    const struct ts_compare_row *row;
    double *log_ns;
    const struct ts_compare_run **runs; /* where each value comes from */
    size_t count;
};

struct ts_history {
    char **files; /* sorted by date; the texts are borrowed */
    struct ts_compare *compare;
    struct series *series;
    struct ts_trend *trends; /* one a series */
    size_t count;
    size_t changed, failing;
};

/* ---- files by date ---- */

struct dated {
    char *file, *started; /* started owned */
    size_t index;
};

static int by_date(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    int order = strcmp(x->started, y->started);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int date_of(struct dated *dated, struct ts_err *err)
{
    struct ts_results results = {0};
    if (ts_results_load(&results, dated->file, err) != 0)
        return -1;
    dated->started = ts_strdup(results.run_count > 0 ? results.runs[0].started : "");
    ts_results_free(&results);
    return 0;
}

static int sort_files(struct ts_history *history, const struct ts_compare_options *o,
                      struct ts_err *err)
{
    size_t count = o->file_count[TS_BASE];
    struct dated *dated = ts_alloc(count + 1, sizeof(*dated));
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        dated[i] = (struct dated){.file = o->files[TS_BASE][i], .index = i};
        result = date_of(&dated[i], err);
    }
    if (result == 0)
        qsort(dated, count, sizeof(*dated), by_date);
    history->files = ts_alloc(count + 1, sizeof(*history->files));
    for (size_t i = 0; i < count; i++) {
        history->files[i] = dated[i].file;
        free(dated[i].started);
    }
    free(dated);
    return result;
}

/* ---- series ---- */

static const struct ts_compare_run *run_of(const struct ts_compare *compare, size_t device,
                                           size_t in_group)
{
    for (size_t i = 0; i < compare->run_count; i++)
        if (compare->runs[i].device == device && compare->runs[i].in_group == in_group)
            return &compare->runs[i];
    return NULL;
}

struct point {
    double log_ns;
    const struct ts_compare_run *run;
};

static int by_start(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int order = strcmp(x->run->run->started, y->run->run->started);
    return order ? order
                 : (x->run->in_group > y->run->in_group) - (x->run->in_group < y->run->in_group);
}

/* The row's run medians, what the machine did in each run taken out. */
static void make_series(struct series *series, const struct ts_compare *compare,
                        const struct ts_compare_row *row, const double *offset)
{
    const struct ts_judge_pair *pair = row->judged;
    size_t room = pair->side[TS_BASE].count + pair->side[TS_NEW].count;
    struct point *points = ts_alloc(room, sizeof(*points));
    *series = (struct series){.row = row,
                              .log_ns = ts_alloc(room, sizeof(*series->log_ns)),
                              .runs = ts_alloc(room, sizeof(*series->runs))};
    for (int s = TS_BASE; s <= TS_NEW; s++)
        for (size_t c = 0; c < pair->side[s].count; c++) {
            const struct ts_cluster *cluster = &pair->side[s].clusters[c];
            points[series->count++] = (struct point){cluster->log_ns - offset[cluster->run],
                                                     run_of(compare, row->device, cluster->run)};
        }
    qsort(points, series->count, sizeof(*points), by_start);
    for (size_t i = 0; i < series->count; i++) {
        series->log_ns[i] = points[i].log_ns;
        series->runs[i] = points[i].run;
    }
    free(points);
}

static void make_all_series(struct ts_history *history)
{
    const struct ts_compare *compare = history->compare;
    history->series = ts_alloc(compare->row_count + 1, sizeof(*history->series));
    history->trends = ts_alloc(compare->row_count + 1, sizeof(*history->trends));
    for (size_t d = 0; d < compare->device_count; d++) {
        const struct ts_judge_group *group = &compare->devices[d].group;
        double *offset = ts_alloc(group->run_count + 1, sizeof(*offset));
        ts_judge_offsets(group, offset);
        for (size_t i = 0; i < compare->row_count; i++) {
            const struct ts_compare_row *row = &compare->rows[i];
            if (row->device != d || !row->judged || row->judged->unlike != TS_WHY_NONE)
                continue;
            struct series *series = &history->series[history->count];
            make_series(series, compare, row, offset);
            history->trends[history->count++] =
                (struct ts_trend){.log_ns = series->log_ns, .count = series->count};
        }
        free(offset);
    }
}

static bool is_slower(const struct ts_trend *trend)
{
    return trend->shown && trend->log_change > 0.0;
}

static bool fails(const struct ts_history *history, size_t i)
{
    return is_slower(&history->trends[i]) && history->series[i].row->gated &&
           (history->compare->options.fail_on & TS_FAIL_SLOWER);
}

/* ---- doors ---- */

static int check_enough(const struct ts_history *history, struct ts_err *err)
{
    size_t most = 0;
    for (size_t d = 0; d < history->compare->device_count; d++) {
        size_t runs = history->compare->devices[d].group.run_count;
        most = runs > most ? runs : most;
    }
    if (most >= TS_TREND_LEAST)
        return 0;
    return ts_err_set(err, TS_EXIT_USAGE,
                      "--history: expected at least %d runs of one device, the files have %zu",
                      (int)TS_TREND_LEAST, most);
}

static int fill(struct ts_history *history, const struct ts_compare_options *options,
                struct ts_err *err)
{
    struct ts_compare_options halves = *options;
    size_t count = options->file_count[TS_BASE];
    if (sort_files(history, options, err) != 0)
        return -1;
    halves.files[TS_BASE] = history->files;
    halves.file_count[TS_BASE] = count / 2;
    halves.files[TS_NEW] = history->files + count / 2;
    halves.file_count[TS_NEW] = count - count / 2;
    history->compare = ts_compare_open(&halves, err);
    if (!history->compare || check_enough(history, err) != 0)
        return -1;
    make_all_series(history);
    ts_trends_find(history->trends, history->count, options->threshold, options->fdr);
    for (size_t i = 0; i < history->count; i++) {
        history->changed += history->trends[i].shown;
        history->failing += fails(history, i);
    }
    return 0;
}

struct ts_history *ts_history_open(const struct ts_compare_options *options, struct ts_err *err)
{
    struct ts_history *history = ts_alloc(1, sizeof(*history));
    if (options->file_count[TS_BASE] < 2)
        ts_err_set(err, TS_EXIT_USAGE, "--history: expected at least two results files");
    else if (fill(history, options, err) == 0)
        return history;
    ts_history_free(history);
    return NULL;
}

void ts_history_free(struct ts_history *history)
{
    if (!history)
        return;
    for (size_t i = 0; i < history->count; i++) {
        free(history->series[i].log_ns);
        free(history->series[i].runs);
    }
    free(history->series);
    free(history->trends);
    ts_compare_free(history->compare);
    free(history->files);
    free(history);
}

int ts_history_exit_status(const struct ts_history *history)
{
    return history->failing > 0 ? TS_EXIT_FINDING : TS_EXIT_OK;
}

/* ---- text ---- */

/* The first run that shows it. */
static const struct ts_compare_run *began(const struct series *series, const struct ts_trend *trend)
{
    return series->runs[trend->kind == TS_TREND_CREEP ? trend->first + 1 : trend->first];
}

static void add_run(const struct ts_compare_run *run, struct ts_text *out)
{
    const cJSON *item;
    ts_text_printf(out, "%s (", run->run->started);
    cJSON_ArrayForEach(item, run->run->context) ts_text_printf(
        out, "%s=%s, ", item->string, cJSON_IsString(item) ? item->valuestring : "?");
    ts_text_printf(out, "%s)", run->file);
}

static void add_change(const struct ts_history *history, size_t i, struct ts_text *out)
{
    const struct ts_trend *trend = &history->trends[i];
    const struct series *series = &history->series[i];
    double limit = 1.0 + history->compare->options.threshold;
    if (trend->kind == TS_TREND_CREEP)
        ts_text_printf(out, "creeps by %+.2f %% a run, to ",
                       100.0 *
                           expm1(trend->log_change / (double)(trend->count - 1 - trend->first)));
    else
        ts_text_puts(out, "a step to ");
    ts_text_printf(out,
                   "%.3f times as long (95 %%: %.3f to %.3f; threshold %.3g; p %s%.2g, corrected "
                   "for %zu) from the run of ",
                   trend->change.mid, trend->change.low, trend->change.high, limit,
                   trend->p_adjusted < 1e-6 ? "< " : "", fmax(trend->p_adjusted, 1e-6),
                   history->count);
    add_run(began(series, trend), out);
    if (fails(history, i))
        ts_text_printf(out, "; counts: %s", ts_gated_words(series->row->gated, false));
    else if (is_slower(trend))
        ts_text_puts(out, "; told only: not in the gate");
}

static void add_rows(const struct ts_history *history, bool slower, struct ts_text *out)
{
    for (size_t i = 0; i < history->count; i++) {
        struct ts_text words = {0};
        if (!history->trends[i].shown || is_slower(&history->trends[i]) != slower)
            continue;
        ts_compare_row_name(history->compare, history->series[i].row, &words);
        ts_text_puts(&words, ": ");
        add_change(history, i, &words);
        char *clean = ts_text_printable(words.text);
        ts_text_printf(out, "%s  %s\n", slower ? "slower" : "faster", clean);
        free(clean);
        ts_text_free(&words);
    }
}

void ts_history_text(const struct ts_history *history, struct ts_text *out)
{
    const struct ts_compare *compare = history->compare;
    for (size_t d = 0; d < compare->device_count; d++) {
        const struct ts_compare_device *device = &compare->devices[d];
        const struct ts_run *run =
            device->example[TS_NEW] ? device->example[TS_NEW] : device->example[TS_BASE];
        char *name = ts_text_printable(run->device.name);
        ts_text_printf(out, "history   %s: %zu runs, %zu configurations", name,
                       device->group.run_count, device->group.count);
        free(name);
        if (device->group.shift_taken_out)
            ts_text_printf(out, "; what %zu of the same code did in each run is taken out",
                           device->group.control_count);
        ts_text_puts(out, device->group.run_count < TS_TREND_LEAST
                              ? "; too few runs to say anything\n"
                              : "\n");
    }
    add_rows(history, true, out);
    add_rows(history, false, out);
    if (history->failing > 0)
        ts_text_printf(out, "FAIL: %zu finding%s", history->failing,
                       history->failing == 1 ? "" : "s");
    else
        ts_text_puts(out, "PASS: nothing worse is shown");
    ts_text_printf(out, " among %zu configurations of --gate %s; %zu of all changed for good\n",
                   compare->gated_count, ts_gate_names[compare->options.gate], history->changed);
}

/* ---- JSON ---- */

static int64_t index_of(const struct ts_compare *compare, const struct ts_compare_run *run)
{
    return (int64_t)(run - compare->runs);
}

static void add_row(cJSON *rows, const struct ts_history *history, size_t i)
{
    const struct ts_trend *trend = &history->trends[i];
    const struct series *series = &history->series[i];
    const struct ts_compare_row *row = series->row;
    cJSON *object = ts_json_add_object(rows, NULL);
    ts_compare_add_names(object, row->names);
    ts_json_add_string(object, "variant", row->names->variant);
    ts_json_add_item(object, "params", ts_values_to_json(&row->names->params));
    ts_json_add_int(object, "runs", (int64_t)series->count);
    ts_json_add_string(object, "verdict",
                       !trend->shown             ? "unchanged"
                       : trend->log_change > 0.0 ? "slower"
                                                 : "faster");
    ts_json_add_string(object, "kind", ts_trend_name(trend->kind));
    cJSON *ratio = ts_json_add_object(object, "ratio");
    ts_json_add_real(ratio, "low", trend->change.known ? trend->change.low : NAN);
    ts_json_add_real(ratio, "mid", trend->change.mid);
    ts_json_add_real(ratio, "high", trend->change.known ? trend->change.high : NAN);
    ts_json_add_real(object, "p_adjusted", trend->p_adjusted);
    if (trend->shown)
        ts_json_add_int(object, "began", index_of(history->compare, began(series, trend)));
    else
        ts_json_add_null(object, "began");
    ts_json_add_bool(object, "fails", fails(history, i));
}

cJSON *ts_history_json(const struct ts_history *history)
{
    cJSON *document = cJSON_CreateObject();
    ts_json_add_string(document, "schema", "tilesweep.history/1");
    cJSON *tool = ts_json_add_object(document, "tool");
    ts_json_add_string(tool, "version", ts_version());
    ts_json_add_string(tool, "revision", ts_revision());
    cJSON *runs = ts_json_add_array(document, "runs");
    for (size_t i = 0; i < history->compare->run_count; i++)
        ts_compare_add_run(runs, &history->compare->runs[i]);
    cJSON *rows = ts_json_add_array(document, "rows");
    for (size_t i = 0; i < history->count; i++)
        add_row(rows, history, i);
    ts_json_add_int(document, "exit_status", ts_history_exit_status(history));
    return document;
}
