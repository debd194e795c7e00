/* report_figures.c: the table of figures, and the data of each. */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum {
    BARS_CASES = 12,        /* cases in one picture of bars */
    MOST_SERIES = 8,        /* colours that can be told apart */
    CASE_NAME_COLUMNS = 16, /* under the bars: "W=16384 H=16384" */
    CASE_NAME_LINES = 5,
    SERIES_COLUMNS = 60
};

/* ---- figures ---- */

struct ts_report_figure *ts_report_figure_add(struct ts_report_figures *figures,
                                              const struct ts_report_kind *kind,
                                              const struct ts_report_group *group,
                                              const struct ts_report_case *of, const char *variant)
{
    struct ts_text what = {0};
    ts_text_puts(&what, group->benchmark);
    if (variant)
        ts_text_printf(&what, "-%s", variant);
    if (of) {
        ts_text_puts(&what, "-");
        ts_report_case_name(of->rows[0], &what);
    }
    char *slug = ts_path_slug(what.text);
    TS_GROW(figures->items, figures->count, figures->capacity);
    struct ts_report_figure *figure = &figures->items[figures->count++];
    *figure = (struct ts_report_figure){.kind = kind, .group = group, .of = of};
    figure->name = ts_printf("%03zu-%s-%s", figures->count, kind->name, slug);
    free(slug);
    ts_text_free(&what);
    return figure;
}

void ts_report_figures_free(struct ts_report_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        struct ts_report_figure *figure = &figures->items[i];
        free(figure->name);
        free(figure->caption);
        free(figure->alt);
        free(figure->why_not);
        ts_text_free(&figure->data);
        ts_text_free(&figure->labels);
        ts_text_free(&figure->png);
        ts_text_free(&figure->svg);
    }
    free(figures->items);
    *figures = (struct ts_report_figures){0};
}

/* A field of the data file that holds a configuration or "-". */
static void add_configuration(struct ts_text *out, const struct ts_row *row)
{
    struct ts_text text = {0};
    ts_report_configuration(row, &text);
    ts_report_field(out, text.text);
    ts_text_free(&text);
}

/* ---- bars: plain against staged ---- */

/* Bars of cases first..last-1 of a group. */
struct bars {
    const struct ts_report_group *group;
    size_t first, last;
    struct ts_report_unit unit;
    size_t count[2]; /* bars written: plain, staged */
};

/* Cases of different sizes side by side are compared per element, where all state their elements.
 */
static bool bars_per_element(const struct ts_report_group *group)
{
    bool wanted = false;
    for (size_t i = 0; i < group->count; i++) {
        const struct ts_report_case *of = &group->cases[i];
        const struct ts_row *sides[] = {of->verdict.best_plain, of->verdict.best_staged};
        for (size_t s = 0; s < TS_COUNT(sides); s++)
            if (sides[s] && sides[s]->work.elements <= 0)
                return false;
        wanted = wanted || of->per_element ||
                 !ts_values_equal(&of->rows[0]->size, &group->cases[0].rows[0]->size);
    }
    return wanted;
}

static double bars_largest_ns(const struct bars *bars, bool per_element)
{
    double largest = 0.0;
    for (size_t i = bars->first; i < bars->last; i++) {
        const struct ts_report_case *of = &bars->group->cases[i];
        const struct ts_verdict *v = &of->verdict;
        if (v->best_plain)
            largest = fmax(largest, ts_report_compared(of, v->best_plain, per_element).mid);
        if (v->best_staged)
            largest = fmax(largest, ts_report_compared(of, v->best_staged, per_element).mid);
    }
    return largest;
}

static void add_bar(struct ts_report_figure *figure, struct bars *bars, size_t position, int side,
                    const struct ts_row *row)
{
    if (!row)
        return;
    const struct ts_report_case *of = &bars->group->cases[bars->first + position];
    struct ts_interval time = ts_report_compared(of, row, bars->unit.per_element);
    struct ts_text name = {0}, wrapped = {0}, number = {0};
    ts_values_print(&row->problem, "", " ", &name);
    ts_text_puts(&name, row->problem.count ? "\n" : "");
    ts_values_print(&row->size, "", " ", &name);
    ts_report_wrap(&wrapped, name.text, CASE_NAME_COLUMNS, CASE_NAME_LINES);
    ts_report_number(time.mid / bars->unit.ns, &number);
    ts_text_printf(&figure->data, "%zu\t%d\t", position, side);
    ts_report_field(&figure->data, wrapped.text);
    ts_text_puts(&figure->data, "\t");
    ts_report_interval_fields(&figure->data, &time, bars->unit.ns);
    ts_text_printf(&figure->data, "\t%s\t", number.text);
    add_configuration(&figure->data, row);
    ts_text_puts(&figure->data, "\n");
    bars->count[side]++;
    ts_text_free(&name);
    ts_text_free(&wrapped);
    ts_text_free(&number);
}

static void alt_side(struct ts_text *alt, const char *side, const struct ts_report_case *of,
                     const struct ts_row *row, const struct ts_report_unit *unit)
{
    ts_text_printf(alt, "%s ", side);
    if (!row) {
        ts_text_puts(alt, "none ok");
        return;
    }
    ts_report_number(ts_report_compared(of, row, unit->per_element).mid / unit->ns, alt);
    ts_text_printf(alt, " %s", unit->name);
}

static void bars_alt(struct ts_report_figure *figure, const struct bars *bars)
{
    struct ts_text alt = {0};
    ts_text_printf(&alt, "Bars of the best plain and the best staged %s of %s: ",
                   bars->unit.per_element ? "time per element" : "time per launch",
                   bars->group->benchmark);
    for (size_t i = bars->first; i < bars->last; i++) {
        const struct ts_report_case *of = &bars->group->cases[i];
        ts_text_puts(&alt, i > bars->first ? "; " : "");
        ts_report_case_name(of->rows[0], &alt);
        ts_text_puts(&alt, ": ");
        alt_side(&alt, "plain", of, of->verdict.best_plain, &bars->unit);
        ts_text_puts(&alt, ", ");
        alt_side(&alt, "staged", of, of->verdict.best_staged, &bars->unit);
    }
    ts_text_puts(&alt, ".");
    figure->alt = alt.text;
}

/* Which sides the picture has. */
static const char *bars_words(const struct bars *bars)
{
    if (bars->count[0] == 0)
        return "best staged configuration";
    if (bars->count[1] == 0)
        return "best plain configuration";
    return "best plain and best staged configuration";
}

static void plan_bars_of(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                         struct bars *bars, bool per_element)
{
    const struct ts_report_group *group = bars->group;
    struct ts_report_figure *figure = ts_report_figure_add(figures, kind, group, NULL, NULL);
    bars->unit = ts_report_unit_for(bars_largest_ns(bars, per_element), per_element);
    for (size_t i = bars->first; i < bars->last; i++) {
        const struct ts_verdict *v = &group->cases[i].verdict;
        add_bar(figure, bars, i - bars->first, 0, v->best_plain);
        add_bar(figure, bars, i - bars->first, 1, v->best_staged);
    }
    figure->caption = ts_printf("The %s of each case of %s; the lines are 95 %% intervals.",
                                bars_words(bars), group->benchmark);
    bars_alt(figure, bars);
    if (bars->count[0] + bars->count[1] == 0) {
        figure->why_not = ts_strdup("no configuration is ok in any of these cases");
        return;
    }
    struct ts_text unit = {0}, title = {0};
    ts_report_unit_print(&bars->unit, &unit);
    ts_text_printf(&title, "%s: %s of each case", group->benchmark, bars_words(bars));
    ts_report_title(&figure->labels, group->run, title.text);
    ts_report_label(&figure->labels, "ylabel", "%s", unit.text);
    ts_text_free(&unit);
    ts_text_free(&title);
}

static void plan_bars(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                      const struct ts_report_group *group)
{
    bool per_element = bars_per_element(group);
    for (size_t first = 0; first < group->count; first += BARS_CASES) {
        size_t last = first + BARS_CASES < group->count ? first + BARS_CASES : group->count;
        struct bars bars = {.group = group, .first = first, .last = last};
        plan_bars_of(figures, kind, &bars, per_element);
    }
}

/* ---- speed-up over a problem axis ---- */

/* The speed-ups of a benchmark over one axis. */
struct speedups {
    const struct ts_report_group *group;
    const char *axis;
    const struct ts_report_case **begins; /* the first case of each series shown */
    size_t series, left_out;
    struct ts_report_axis ticks; /* the values that series shown have */
};

/* Cases that differ in the axis alone belong to one series. */
static bool same_series(const struct ts_row *a, const struct ts_row *b, const char *axis)
{
    return ts_values_equal(&a->size, &b->size) &&
           ts_values_equal_but(&a->problem, &b->problem, axis);
}

/* Whether case i is the first of its series. */
static bool begins_series(const struct ts_report_group *group, size_t i, const char *axis)
{
    for (size_t j = 0; j < i; j++)
        if (same_series(group->cases[j].rows[0], group->cases[i].rows[0], axis))
            return false;
    return true;
}

/* The series' case that has the value and a speed-up; NULL when there is none. */
static const struct ts_report_case *point_at(const struct speedups *all, const struct ts_row *of,
                                             const struct ts_value *value)
{
    for (size_t i = 0; i < all->group->count; i++) {
        const struct ts_report_case *candidate = &all->group->cases[i];
        const struct ts_row *row = candidate->rows[0];
        const struct ts_value *has = ts_values_find(&row->problem, all->axis);
        if (has && ts_value_equal(has, value) && same_series(row, of, all->axis) &&
            isfinite(candidate->verdict.speedup.mid))
            return candidate;
    }
    return NULL;
}

/* A line needs two points: a series with fewer says nothing about the axis and is not shown. */
static void find_series(struct speedups *all, const struct ts_report_axis *values)
{
    const struct ts_report_group *group = all->group;
    all->begins = ts_alloc(group->count, sizeof(*all->begins));
    for (size_t i = 0; i < group->count; i++) {
        const struct ts_row *of = group->cases[i].rows[0];
        size_t points = 0;
        for (size_t v = 0; v < values->count && begins_series(group, i, all->axis); v++)
            points += point_at(all, of, values->values[v]) != NULL;
        if (points < 2)
            continue;
        if (all->series == MOST_SERIES) {
            all->left_out++;
            continue;
        }
        all->begins[all->series++] = &group->cases[i];
        for (size_t v = 0; v < values->count; v++)
            if (point_at(all, of, values->values[v]))
                ts_report_axis_add(&all->ticks, values->values[v]);
    }
}

/* Series with a point at the value, of the first `series` ones. */
static size_t points_at(const struct speedups *all, const struct ts_value *value, size_t series)
{
    size_t points = 0;
    for (size_t s = 0; s < series; s++)
        points += point_at(all, all->begins[s]->rows[0], value) != NULL;
    return points;
}

/* "DIM=2, W=4096 H=4096": the case without the axis. */
static void series_name(const struct ts_row *row, const char *axis, struct ts_text *out)
{
    struct ts_row shown = {.size = row->size};
    for (size_t i = 0; i < row->problem.count; i++) {
        const struct ts_value *value = &row->problem.items[i];
        if (strcmp(value->name, axis) == 0)
            continue;
        if (value->word)
            ts_values_add_word(&shown.problem, value->name, value->word);
        else
            ts_values_add(&shown.problem, value->name, value->number);
    }
    if (shown.problem.count + shown.size.count > 0)
        ts_report_case_name(&shown, out);
    else
        ts_text_puts(out, "best staged");
    ts_values_free(&shown.problem);
}

static void add_speedup(struct ts_report_figure *figure, const struct speedups *all, size_t series,
                        size_t tick, struct ts_text *alt)
{
    const struct ts_value *value = all->ticks.values[tick];
    const struct ts_report_case *of = point_at(all, all->begins[series]->rows[0], value);
    if (!of)
        return;
    const struct ts_interval *speedup = &of->verdict.speedup;
    struct ts_text name = {0}, text = {0}, compared = {0};
    series_name(of->rows[0], all->axis, &name);
    ts_value_print(value, &text);
    ts_report_configuration(of->verdict.best_plain, &compared);
    ts_text_puts(&compared, " / ");
    ts_report_configuration(of->verdict.best_staged, &compared);
    ts_text_printf(&figure->data, "%zu\t%zu\t", tick, series);
    ts_report_field_cut(&figure->data, text.text, SERIES_COLUMNS);
    ts_text_puts(&figure->data, "\t");
    ts_report_field_cut(&figure->data, name.text, SERIES_COLUMNS);
    ts_text_puts(&figure->data, "\t");
    ts_report_interval_fields(&figure->data, speedup, 1.0);
    ts_text_printf(&figure->data, "\t%zu\t%zu\t", points_at(all, value, series),
                   points_at(all, value, all->series));
    ts_report_field(&figure->data, compared.text);
    ts_text_puts(&figure->data, "\n");
    ts_text_printf(alt, "; %s=%s, %s: %.2f", all->axis, text.text, name.text, speedup->mid);
    if (speedup->known)
        ts_text_printf(alt, " (%.2f to %.2f)", speedup->low, speedup->high);
    ts_text_free(&name);
    ts_text_free(&text);
    ts_text_free(&compared);
}

/* Whether a point shown compares work instead of launches. */
static bool speedups_per_element(const struct speedups *all)
{
    for (size_t series = 0; series < all->series; series++)
        for (size_t tick = 0; tick < all->ticks.count; tick++) {
            const struct ts_report_case *of =
                point_at(all, all->begins[series]->rows[0], all->ticks.values[tick]);
            if (of && of->per_element)
                return true;
        }
    return false;
}

static void speedup_labels(struct ts_report_figure *figure, const struct speedups *all)
{
    const struct ts_report_group *group = all->group;
    struct ts_text title = {0};
    ts_text_printf(&title, "%s: what staging brings, by %s", group->benchmark, all->axis);
    if (all->left_out > 0)
        ts_text_printf(&title, " (%zu further series not shown)", all->left_out);
    ts_report_title(&figure->labels, group->run, title.text);
    ts_report_axis_label(&figure->labels, "xlabel", all->axis);
    ts_report_label(&figure->labels, "ylabel", "speed-up of staging\n(best plain / best staged %s)",
                    speedups_per_element(all) ? "time per element" : "time");
    ts_report_label(&figure->labels, "measure", "no difference");
    ts_text_free(&title);
}

static void plan_speedup_over(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                              const struct ts_report_group *group,
                              const struct ts_report_axis *axis)
{
    struct speedups all = {.group = group, .axis = axis->name, .ticks = {.name = axis->name}};
    find_series(&all, axis);
    if (all.series > 0) {
        struct ts_report_figure *figure =
            ts_report_figure_add(figures, kind, group, NULL, axis->name);
        struct ts_text alt = {0};
        ts_text_printf(&alt, "Speed-up of staging in %s over %s", group->benchmark, axis->name);
        for (size_t series = 0; series < all.series; series++)
            for (size_t tick = 0; tick < all.ticks.count; tick++)
                add_speedup(figure, &all, series, tick, &alt);
        ts_text_puts(&alt, ".");
        figure->alt = alt.text;
        figure->caption = ts_printf("What staging brings in %s as %s grows: each point compares "
                                    "the best plain with the best staged configuration of the same "
                                    "case; above 1 staging pays.",
                                    group->benchmark, axis->name);
        speedup_labels(figure, &all);
    }
    free(all.begins);
    ts_report_axis_free(&all.ticks);
}

/* Each problem axis of numbers with two values or more: RADIUS, POINTS. */
static void plan_speedup(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                         const struct ts_report_group *group)
{
    const struct ts_values *problem = &group->cases[0].rows[0]->problem;
    for (size_t i = 0; i < problem->count; i++) {
        struct ts_report_axis axis = {.name = problem->items[i].name};
        bool numbers = true;
        for (size_t j = 0; j < group->count; j++) {
            const struct ts_value *value =
                ts_values_find(&group->cases[j].rows[0]->problem, axis.name);
            ts_report_axis_add(&axis, value);
            numbers = numbers && value && !value->word;
        }
        if (numbers && axis.count >= 2)
            plan_speedup_over(figures, kind, group, &axis);
        ts_report_axis_free(&axis);
    }
}

/* ---- the table ---- */

const struct ts_report_kind ts_report_kinds[] = {
    {"bars", "Plain against staged", "bars.gnuplot",
     "Times are those that the verdict compares: from the confirmation, in which the fastest "
     "configurations are measured again, or from the sweep where there was none.",
     plan_bars},
    {"speedup", "What staging brings, by problem axis", "speedup.gnuplot",
     "Points are the verdicts' speed-ups.", plan_speedup},
    {"heatmap", "Heat maps", "heatmap.gnuplot",
     "Times are from the sweep, in which all configurations are measured alike; the verdicts' "
     "times are from the confirmation and may differ.",
     ts_report_plan_heatmaps},
    {"padding", "Effect of padding", "padding.gnuplot", "Times are from the sweep.",
     ts_report_plan_padding},
    {"drift", "The device during the run", "drift.gnuplot",
     "Of the run as a whole; docs/measuring.md tells how it is used.", ts_report_plan_drift},
};
const size_t ts_report_kind_count = TS_COUNT(ts_report_kinds);
