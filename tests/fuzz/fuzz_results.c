/* fuzz_results.c: a results document. What is accepted is written, with its verdicts, and read
 * again as the same; a report of it is laid out as far as it goes without gnuplot. */
#include "fuzz.h"
#include "report_parts.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"

/* Names of files come from a results file's words: nothing in them may leave the folder. */
static void check_figure(const struct ts_report_figure *figure)
{
    TS_FUZZ_REQUIRE(figure->name[0] && figure->name[0] != '.' && figure->name[0] != '-',
                    "a figure named %s", figure->name);
    TS_FUZZ_REQUIRE(!strpbrk(figure->name, "/\\\"'`$ \n"), "a figure named %s", figure->name);
    for (const char *c = figure->data.text; c && *c; c++)
        TS_FUZZ_REQUIRE((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t',
                        "byte 0x%02X in data", (unsigned)*c);
}

static void check_page(const char *page)
{
    static const char *const never[] = {"<script", "<SCRIPT", "javascript:", "<iframe", " onload="};
    for (size_t i = 0; i < TS_COUNT(never); i++) {
        const char *found = strstr(page, never[i]);
        /* As text, a word may stand there; as markup never: only '<' makes it so. */
        TS_FUZZ_REQUIRE(!found || never[i][0] != '<', "the page holds %s", never[i]);
    }
}

static void lay_out(const struct ts_results *results)
{
    struct ts_report_figures figures = {0};
    struct ts_gnuplot gnuplot = {.has_svg = true};
    struct ts_report_run *runs = ts_alloc(results->run_count + 1, sizeof(*runs));
    for (size_t i = 0; i < results->run_count; i++) {
        runs[i].run = &results->runs[i];
        runs[i].groups = ts_report_groups(runs[i].run, &runs[i].count);
        for (size_t g = 0; g < runs[i].count; g++)
            for (size_t k = 0; k < ts_report_kind_count; k++)
                ts_report_kinds[k].plan(&figures, &ts_report_kinds[k], &runs[i].groups[g]);
    }
    for (size_t i = 0; i < figures.count; i++)
        check_figure(&figures.items[i]);
    char *page = ts_report_page(runs, results->run_count, &figures, &gnuplot);
    check_page(page);
    free(page);
    for (size_t i = 0; i < results->run_count; i++)
        ts_report_groups_free(runs[i].groups, runs[i].count);
    ts_report_figures_free(&figures);
    free(runs);
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    struct ts_results results = {0}, again = {0};
    const char *path = ts_fuzz_file("r.json", text, length);
    if (ts_results_load(&results, path, &err) != 0) {
        ts_fuzz_require_usage(&err, path);
        return;
    }
    char *printed = ts_results_print(&results);
    path = ts_fuzz_file("again.json", printed, strlen(printed));
    TS_FUZZ_REQUIRE(ts_results_load(&again, path, &err) == 0, "%s\n%s", err.text, printed);
    ts_fuzz_require_equal(printed, ts_results_print(&again), "the document");
    lay_out(&results);
    ts_results_free(&results);
    ts_results_free(&again);
}
