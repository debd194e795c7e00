/* report.c: the way of a report: cases, figures, data files, pictures, page. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "report_parts.h"
#include "signals.h"

static void plan(struct ts_report_figures *figures, const struct ts_report_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; k < ts_report_kind_count; k++)
            ts_report_kinds[k].plan(figures, &ts_report_kinds[k], &run->groups[i]);
}

static int write_page(const struct ts_report_run *runs, size_t count,
                      const struct ts_report_figures *figures, const struct ts_gnuplot *gnuplot,
                      const char *dir, struct ts_err *err)
{
    char *page = ts_report_page(runs, count, figures, gnuplot);
    char *path = ts_path_join(dir, "index.html");
    int result = ts_file_write(path, page, strlen(page), err);
    free(path);
    free(page);
    return result;
}

int ts_report_write(const struct ts_results *results, const char *dir, struct ts_err *err)
{
    struct ts_gnuplot gnuplot = {0};
    struct ts_report_figures figures = {0};
    struct ts_report_run *runs = ts_alloc(results->run_count + 1, sizeof(*runs));
    char *figure_dir = ts_path_join(dir, "figures");
    char *data_dir = ts_path_join(figure_dir, "data");
    int result = -1;
    ts_signals_install();
    if (ts_gnuplot_open(&gnuplot, err) < 0 || ts_dir_make(data_dir, err) < 0)
        goto out;
    for (size_t i = 0; i < results->run_count; i++) {
        runs[i].run = &results->runs[i];
        runs[i].groups = ts_report_groups(runs[i].run, &runs[i].count);
        plan(&figures, &runs[i]);
    }
    if (ts_report_write_figures(&figures, TS_REPORT_DATA, figure_dir, err) < 0 ||
        ts_gnuplot_draw(&gnuplot, &figures, figure_dir, err) < 0 ||
        ts_report_write_figures(&figures, TS_REPORT_PICTURES, figure_dir, err) < 0)
        goto out;
    result = write_page(runs, results->run_count, &figures, &gnuplot, dir, err);
    if (result == 0)
        result = ts_report_clear_figures(&figures, figure_dir, err);
out:
    for (size_t i = 0; i < results->run_count; i++)
        ts_report_groups_free(runs[i].groups, runs[i].count);
    ts_report_figures_free(&figures);
    ts_gnuplot_close(&gnuplot);
    free(data_dir);
    free(figure_dir);
    free(runs);
    return result;
}
