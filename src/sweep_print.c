/* sweep_print.c: the answer on the terminal: a verdict per case, what failed, and what was left
 * out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"
#include "table.h"
#include "verdict.h"

/* One kind of rate for all rows of a case, so that they can be compared: bytes, or floating-point
 * operations where these bind, or where launches differ in work: one that fuses several steps moves
 * fewer bytes for the same result. */
static bool shows_flops(const struct ts_verdict *verdict, const struct ts_row *const *rows,
                        size_t count, const struct ts_peaks *peaks)
{
    bool flops = verdict->per_element;

    for (size_t i = 0; i < count; i++) {
        const char *bound = rows[i] ? ts_metric_bound(rows[i], peaks) : NULL;
        flops |= bound && !strcmp(bound, "compute");
        if (rows[i] && rows[i]->work.flops < 0)
            return false;
    }
    return flops;
}

/* What the cells of a case's rows have in common. */
struct style {
    const struct ts_verdict *verdict;
    const struct ts_peaks *peaks;
    bool flops; /* else bytes */
};

static void add_rates(struct ts_table *table, const struct style *style, const struct ts_row *row,
                      double time_ns)
{
    /* Metrics count all visits; the rates beside this time are to be this time's. */
    double faster = ts_metric_time_ns(row).mid / time_ns;
    double rate =
        ts_metric_value(style->flops ? "flops_per_s" : "bytes_per_s", row, style->peaks) * faster;
    double of_peak = ts_metric_value("of_peak", row, style->peaks) * faster;
    const char *bound = ts_metric_bound(row, style->peaks);
    char human[TS_HUMAN_ROOM];

    ts_table_cell(table, "%s",
                  isfinite(rate) ? ts_human_rate(rate, style->flops ? "FLOP/s" : "B/s", human)
                                 : "");
    if (!isfinite(of_peak) || !bound)
        return;
    bool by_memory = strcmp(bound, "memory") == 0; /* no cache explains a multiply-add rate */
    ts_table_cell(table, "%.0f %% of the %s ceiling%s", of_peak * 100,
                  by_memory ? "copy" : "multiply-add",
                  by_memory && of_peak > 1 ? " (in cache)" : "");
}

static void add_row(struct ts_table *table, const char *label, const struct style *style,
                    const struct ts_row *row)
{
    struct ts_text params = {0};
    char human[TS_HUMAN_ROOM];
    double time_ns;

    ts_table_cell(table, "%s", label);
    if (!row) {
        ts_table_cell(table, "none");
        ts_table_end_row(table);
        return;
    }
    ts_text_printf(&params, "%s ", row->variant);
    ts_values_print(&row->params, "", " ", &params);
    ts_table_cell(table, "%s", params.text);
    time_ns = ts_verdict_time_ns(style->verdict, row);
    ts_table_cell(table, "%s", ts_human_time(time_ns, human));
    if (style->verdict->per_element)
        ts_table_cell(table, "%s per element",
                      ts_human_time(time_ns / (double)row->work.elements, human));
    add_rates(table, style, row, time_ns);
    ts_table_end_row(table);
    ts_text_free(&params);
}

static void add_rows(const struct ts_verdict *verdict, const struct ts_peaks *peaks,
                     struct ts_text *out)
{
    const struct ts_row *baseline =
        verdict->baseline != verdict->best_plain ? verdict->baseline : NULL;
    const struct ts_row *rows[] = {baseline, verdict->best_plain, verdict->best_staged};
    const struct style style = {verdict, peaks, shows_flops(verdict, rows, TS_COUNT(rows), peaks)};
    struct ts_table table = {0};

    ts_table_column(&table, NULL, TS_LEFT);
    ts_table_column(&table, NULL, TS_LEFT);
    ts_table_column(&table, NULL, TS_RIGHT);
    if (verdict->per_element)
        ts_table_column(&table, NULL, TS_RIGHT);
    ts_table_column(&table, NULL, TS_RIGHT);
    ts_table_column(&table, NULL, TS_LEFT);
    if (baseline)
        add_row(&table, "baseline", &style, baseline);
    add_row(&table, "best plain", &style, verdict->best_plain);
    add_row(&table, "best staged", &style, verdict->best_staged);
    ts_table_print(&table, "  ", out);
    ts_table_free(&table);
}

static void add_case_title(const struct ts_row *row, struct ts_text *out)
{
    ts_text_puts(out, row->benchmark);
    if (row->problem.count > 0) {
        ts_text_puts(out, " ");
        ts_values_print(&row->problem, "", " ", out);
    }
    ts_text_puts(out, ", ");
    ts_values_print(&row->size, "", " ", out);
    ts_text_puts(out, "\n");
}

static void add_recommendation(const struct ts_verdict *verdict, struct ts_text *out)
{
    if (!verdict->best)
        return;
    ts_text_printf(out, "  use: %s ", verdict->best->variant);
    ts_row_defines(verdict->best, out);
    if (verdict->tie_count > 1)
        ts_text_printf(out, "   (%zu configurations tie; this is the simplest)",
                       verdict->tie_count);
    ts_text_puts(out, "\n");
}

/* rows: those of one case, count of them. Returns the answer. */
static enum ts_pays print_case(const struct ts_run *run, const struct ts_row *rows, size_t count,
                               struct ts_text *out)
{
    struct ts_verdict verdict;

    ts_verdict_of_case(&verdict, rows, count, rows, &run->device);
    add_case_title(rows, out);
    add_rows(&verdict, &run->peaks, out);
    ts_text_printf(out, "  staging pays: %s", ts_pays_name(verdict.pays));
    if (verdict.speedup.known)
        ts_text_printf(out, ", %.3gx%s (95 %%: %.3g to %.3g)", verdict.speedup.mid,
                       verdict.per_element ? " per element" : "", verdict.speedup.low,
                       verdict.speedup.high);
    ts_text_puts(out, "\n");
    if (verdict.pays != TS_PAYS_YES) /* the line above says it all */
        ts_text_printf(out, "  %s\n", verdict.why);
    add_recommendation(&verdict, out);
    ts_text_puts(out, "\n");
    enum ts_pays pays = verdict.pays;
    ts_verdict_free(&verdict);
    return pays;
}

/* "staging pays: 5 yes, 13 no, 9 tie": the last line under many cases. */
static void print_tally(const size_t *pays, struct ts_text *out)
{
    const char *before = "staging pays: ";

    for (size_t i = 0; i < TS_PAYS_COUNT; i++) {
        if (pays[i] == 0)
            continue;
        ts_text_printf(out, "%s%zu %s", before, pays[i], ts_pays_name((enum ts_pays)i));
        before = ", ";
    }
    ts_text_puts(out, "\n");
}

/* ---- what did not work ---- */

static void add_failed_row(const struct ts_row *row, struct ts_text *out)
{
    char *text = ts_text_printable(row->reason.text ? row->reason.text : "");

    ts_text_printf(out, "  %s %s: ", ts_status_name(row->status),
                   row->reason.code ? row->reason.code : "");
    ts_row_key(row, out);
    ts_text_printf(out, ": %s\n", text);
    free(text);
}

/* What drivers and kernels printed, row by row. */
static void print_talk(const struct ts_run *run, struct ts_text *out)
{
    for (size_t i = 0; i < run->row_count; i++) {
        char *line, *rest = NULL, *talk;

        if (!run->rows[i].talk)
            continue;
        talk = ts_strdup(run->rows[i].talk);
        ts_text_puts(out, "  printed by ");
        ts_row_key(&run->rows[i], out);
        ts_text_puts(out, ":\n");
        for (line = strtok_r(talk, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            char *printable = ts_text_printable(line);
            ts_text_printf(out, "    %s\n", printable);
            free(printable);
        }
        free(talk);
    }
}

#define LOG_LINES 12

/* Has an earlier row the same compiler's log? */
static bool is_known_log(const struct ts_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        const struct ts_row *row = &run->rows[i];
        if (row->status == TS_BUILD_FAILED && row->build.log &&
            !strcmp(row->build.log, run->rows[index].build.log))
            return true;
    }
    return false;
}

/* The first lines of what the compiler said, once for all rows that it said it of. */
static void add_log(const struct ts_run *run, size_t index, struct ts_text *out)
{
    const struct ts_row *row = &run->rows[index];
    char *log, *line, *rest = NULL;
    int lines = 0;

    if (row->status != TS_BUILD_FAILED || !row->build.log || is_known_log(run, index))
        return;
    log = ts_strdup(row->build.log);
    for (line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *printable = ts_text_printable(line);
        if (lines++ < LOG_LINES)
            ts_text_printf(out, "    | %s\n", printable);
        free(printable);
    }
    if (lines > LOG_LINES)
        ts_text_printf(out, "    | and %d more lines: build.log of the row in the results\n",
                       lines - LOG_LINES);
    free(log);
}

/* "14 skipped (12 budget, 2 local-memory)" */
static void add_skipped(const struct ts_run *run, size_t skipped, struct ts_text *out)
{
    struct {
        const char *code;
        size_t count;
    } *codes = NULL;
    size_t code_count = 0, capacity = 0;

    for (size_t i = 0; i < run->row_count; i++) {
        const char *code = run->rows[i].reason.code;
        size_t at = 0;

        if (run->rows[i].status != TS_SKIPPED || !code)
            continue;
        while (at < code_count && strcmp(codes[at].code, code) != 0)
            at++;
        if (at == code_count) {
            TS_GROW(codes, code_count, capacity);
            codes[code_count].code = code;
            codes[code_count++].count = 0;
        }
        codes[at].count++;
    }
    ts_text_printf(out, ", %zu skipped (", skipped);
    for (size_t i = 0; i < code_count; i++)
        ts_text_printf(out, "%s%zu %s", i > 0 ? ", " : "", codes[i].count, codes[i].code);
    ts_text_puts(out, ")");
    free(codes);
}

/* Is it the kind of fault of which `check` may show the place? */
static bool may_be_checked(const struct ts_row *row)
{
    static const char *const codes[] = {"mismatch", "not-finite", "out-of-bounds", "input-changed",
                                        "unstable-result"};

    for (size_t i = 0; i < TS_COUNT(codes); i++) {
        if (row->status == TS_WRONG && row->reason.code && !strcmp(row->reason.code, codes[i]))
            return true;
    }
    return false;
}

/* Findings first, ten at most unless the user wants more; skipped ones only counted. */
static void print_failures(const struct ts_run *run, bool verbose, struct ts_text *out)
{
    size_t shown = 0, findings = 0, skipped = 0, untimed = 0, limit = verbose ? SIZE_MAX : 10;
    bool checkable = false;

    for (size_t i = 0; i < run->row_count; i++) {
        const struct ts_row *row = &run->rows[i];
        skipped += row->status == TS_SKIPPED;
        untimed +=
            row->status == TS_PENDING || (row->status == TS_OK && row->time.visit_count == 0);
        if (!ts_status_is_finding(row->status) && !(verbose && row->status == TS_SKIPPED))
            continue;
        findings += ts_status_is_finding(row->status);
        checkable |= may_be_checked(row);
        if (shown++ < limit) {
            add_failed_row(row, out);
            add_log(run, i, out);
        }
    }
    if (shown > limit)
        ts_text_printf(out, "  and %zu more (-v shows all)\n", shown - limit);
    if (checkable)
        ts_text_puts(out, "  hint: `tilesweep check SPEC` may tell where\n");
    ts_text_printf(out, "%zu configurations: %zu ok", run->row_count,
                   run->row_count - findings - skipped - untimed);
    if (untimed > 0)
        ts_text_printf(out, ", %zu not timed yet", untimed);
    if (skipped > 0)
        add_skipped(run, skipped, out);
    if (findings > 0)
        ts_text_printf(out, ", %zu failed", findings);
    if (run->excluded > 0)
        ts_text_printf(out, "; %lld more excluded by the specs", (long long)run->excluded);
    ts_text_puts(out, "\n");
}

void ts_sweep_print_verdicts(const struct ts_run *run, int verbose, struct ts_text *out)
{
    char *name = ts_text_printable(run->device.name);
    char *platform = ts_text_printable(run->device.platform_name);
    size_t pays[TS_PAYS_COUNT] = {0}, cases = 0;
    char copy[TS_HUMAN_ROOM], fma[TS_HUMAN_ROOM], local[TS_HUMAN_ROOM];

    ts_text_printf(out, "%s (%s)\n", name, platform);
    ts_text_printf(out, "  ceilings: copy %s, multiply-add %s, local memory %s; %s clock\n\n",
                   ts_human_rate(run->peaks.copy_bytes_per_s, "B/s", copy),
                   ts_human_rate(run->peaks.fma_flops_per_s, "FLOP/s", fma),
                   ts_human_rate(run->peaks.local_bytes_per_s, "B/s", local),
                   run->clock.event ? "event" : "host");
    for (size_t first = 0, end; first < run->row_count; first = end, cases++) {
        end = first + 1; /* a case's rows stand together */
        while (end < run->row_count && ts_row_same_case(&run->rows[first], &run->rows[end]))
            end++;
        pays[print_case(run, &run->rows[first], end - first, out)]++;
    }
    if (verbose > 1)
        print_talk(run, out);
    print_failures(run, verbose > 0, out);
    if (cases > 1)
        print_tally(pays, out);
    free(name);
    free(platform);
}
