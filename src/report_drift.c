/* report_drift.c: the figure of the sentinel: what the device did while the run was timed. */
#include "report_parts.h"

/* A line between two looks says nothing. */
#define LOOKS_SHOWN 3

/* One figure a run: with its first benchmark. */
static bool is_drawn(const struct ts_report_figures *figures, const struct ts_report_kind *kind,
                     const struct ts_run *run)
{
    for (size_t i = 0; i < figures->count; i++)
        if (figures->items[i].kind == kind && figures->items[i].group->run == run)
            return true;
    return false;
}

/* One look a line: seconds since the run began, the two times over their medians, excursion or not.
 */
static size_t add_looks(struct ts_text *data, const struct ts_sentinel_series *series)
{
    struct ts_sentinel_pair level = ts_sentinel_level(series);
    size_t excursions = 0;
    for (size_t i = 0; i < series->count; i++) {
        const struct ts_sentinel_point *point = &series->points[i];
        excursions += point->excursion;
        /* The noise is below one percent: three digits would draw steps. */
        ts_text_printf(data, "%.3f\t%.6g\t%.6g\t%d\n", (double)point->at_ms / 1000.0,
                       (double)point->copy_ns / level.copy, (double)point->fma_ns / level.fma,
                       point->excursion);
    }
    return excursions;
}

void ts_report_plan_drift(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                          const struct ts_report_group *group)
{
    const struct ts_sentinel_series *series = &group->run->sentinel;
    if (series->count < LOOKS_SHOWN || is_drawn(figures, kind, group->run))
        return;
    struct ts_report_figure *figure = ts_report_figure_add(figures, kind, group, NULL, NULL);
    size_t excursions = add_looks(&figure->data, series);
    struct ts_sentinel_pair drift = ts_sentinel_drift(series);
    ts_report_label(&figure->labels, "title", "The device while it was timed");
    ts_report_label(&figure->labels, "xlabel", "time since the run began [s]");
    ts_report_label(&figure->labels, "ylabel", "time of the sentinel over its median");
    ts_report_label(&figure->labels, "measure", "median");
    figure->caption = ts_printf(
        "Two fixed kernels, timed between the visits: a copy and a chain of multiply-adds. %zu of "
        "%zu looks are excursions (crossed): more than 5 %% and more than four times their recent "
        "noise off the looks before them; what was measured before them was measured again. From "
        "the first to the last third of the run the copy took %+.1f %%, the multiply-adds "
        "%+.1f %%.",
        excursions, series->count, 100.0 * (drift.copy - 1.0), 100.0 * (drift.fma - 1.0));
    figure->alt = ts_printf("Times of the sentinel over the run: %zu looks, %zu excursions.",
                            series->count, excursions);
}
