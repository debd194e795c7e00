/* report_case.c: rows grouped into cases; axes, times and numbers for people. */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

static struct ts_report_group *group_of(struct ts_report_group **groups, size_t *count,
                                        size_t *capacity, const struct ts_run *run,
                                        const char *benchmark)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*groups)[i].benchmark, benchmark) == 0)
            return &(*groups)[i];
    TS_GROW(*groups, *count, *capacity);
    struct ts_report_group *group = &(*groups)[(*count)++];
    *group = (struct ts_report_group){.run = run, .benchmark = benchmark};
    return group;
}

static bool has_case(const struct ts_report_group *group, const struct ts_row *row)
{
    for (size_t i = 0; i < group->count; i++)
        if (ts_row_same_case(group->cases[i].rows[0], row))
            return true;
    return false;
}

/* Time per launch compares rows that do the same work; time per element needs every row's count. */
static bool needs_per_element(const struct ts_report_case *of)
{
    int64_t first = -1;
    bool differs = false;
    for (size_t i = 0; i < of->count; i++) {
        const struct ts_row *row = of->rows[i];
        if (row->status != TS_OK)
            continue;
        if (row->work.elements <= 0)
            return false;
        differs = differs || (first >= 0 && row->work.elements != first);
        first = row->work.elements;
    }
    return differs;
}

static void add_case(struct ts_report_group *group, const struct ts_row *of)
{
    const struct ts_run *run = group->run;
    TS_GROW(group->cases, group->count, group->capacity);
    struct ts_report_case *added = &group->cases[group->count++];
    *added = (struct ts_report_case){.rows = ts_alloc(run->row_count, sizeof(*added->rows))};
    for (size_t i = 0; i < run->row_count; i++)
        if (ts_row_same_case(&run->rows[i], of))
            added->rows[added->count++] = &run->rows[i];
    added->rows = ts_realloc(added->rows, added->count, sizeof(*added->rows));
    /* Without the device: the page says once what its local memory is, not in every sentence. */
    ts_verdict_of_case(&added->verdict, run->rows, run->row_count, of, NULL);
    added->per_element = needs_per_element(added);
}

struct ts_report_group *ts_report_groups(const struct ts_run *run, size_t *count)
{
    struct ts_report_group *groups = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < run->row_count; i++) {
        const struct ts_row *row = &run->rows[i];
        struct ts_report_group *group = group_of(&groups, count, &capacity, run, row->benchmark);
        if (!has_case(group, row))
            add_case(group, row);
    }
    return groups;
}

void ts_report_groups_free(struct ts_report_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < groups[i].count; j++) {
            free(groups[i].cases[j].rows);
            ts_verdict_free(&groups[i].cases[j].verdict);
        }
        free(groups[i].cases);
    }
    free(groups);
}

void ts_report_case_name(const struct ts_row *row, struct ts_text *out)
{
    ts_values_print(&row->problem, "", " ", out);
    if (row->problem.count > 0 && row->size.count > 0)
        ts_text_puts(out, ", ");
    ts_values_print(&row->size, "", " ", out);
    if (row->problem.count + row->size.count == 0)
        ts_text_puts(out, "only case");
}

void ts_report_configuration(const struct ts_row *row, struct ts_text *out)
{
    ts_text_puts(out, row->variant);
    if (row->params.count > 0)
        ts_text_puts(out, " ");
    ts_values_print(&row->params, "", " ", out);
}

const char **ts_report_variants(const struct ts_report_case *of, size_t *count)
{
    const char **names = ts_alloc(of->count, sizeof(*names));
    *count = 0;
    for (size_t i = 0; i < of->count; i++) {
        bool known = false;
        for (size_t j = 0; j < *count && !known; j++)
            known = strcmp(names[j], of->rows[i]->variant) == 0;
        if (!known)
            names[(*count)++] = of->rows[i]->variant;
    }
    return names;
}

/* ---- axes ---- */

size_t ts_report_axis_find(const struct ts_report_axis *axis, const struct ts_value *value)
{
    for (size_t i = 0; value && i < axis->count; i++)
        if (ts_value_equal(axis->values[i], value))
            return i;
    return SIZE_MAX;
}

void ts_report_axis_add(struct ts_report_axis *axis, const struct ts_value *value)
{
    if (!value || ts_report_axis_find(axis, value) != SIZE_MAX)
        return;
    TS_GROW(axis->values, axis->count, axis->capacity);
    size_t at = axis->count++;
    for (; at > 0 && !value->word; at--) {
        const struct ts_value *before = axis->values[at - 1];
        if (!before->word && before->number < value->number)
            break;
        axis->values[at] = before;
    }
    axis->values[at] = value;
}

void ts_report_axis_free(struct ts_report_axis *axis)
{
    free(axis->values);
    *axis = (struct ts_report_axis){0};
}

/* ---- times and numbers ---- */

double *ts_report_swept_medians(const struct ts_row *row, size_t *count)
{
    double *medians = ts_row_visit_medians(row, 0, count);
    size_t swept = row->time.fresh_from;
    if (swept > 0 && swept < *count)
        *count = swept;
    return medians;
}

static struct ts_interval scaled(struct ts_interval time, const struct ts_row *row,
                                 bool per_element)
{
    if (per_element) {
        double elements = (double)row->work.elements;
        time.low /= elements;
        time.mid /= elements;
        time.high /= elements;
    }
    return time;
}

struct ts_interval ts_report_swept(const struct ts_row *row, bool per_element)
{
    struct ts_interval time = {NAN, NAN, NAN, false};
    if (row->status != TS_OK || row->time.visit_count == 0)
        return time;
    size_t count;
    double *medians = ts_report_swept_medians(row, &count);
    if (count > 0)
        time = ts_interval_of_visits(medians, count);
    free(medians);
    return scaled(time, row, per_element);
}

struct ts_interval ts_report_compared(const struct ts_report_case *of, const struct ts_row *row,
                                      bool per_element)
{
    return scaled(ts_verdict_interval_ns(&of->verdict, row), row, per_element);
}

static const struct {
    const char *name;
    double ns;
} unit_table[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1.0}, {"ps", 1e-3}, {"fs", 1e-6}};

struct ts_report_unit ts_report_unit_for(double largest_ns, bool per_element)
{
    size_t i = 0;
    while (i + 1 < TS_COUNT(unit_table) && !(largest_ns >= unit_table[i].ns))
        i++;
    return (struct ts_report_unit){unit_table[i].name, unit_table[i].ns, per_element};
}

void ts_report_unit_print(const struct ts_report_unit *unit, struct ts_text *out)
{
    ts_text_printf(out, "time per %s [%s]", unit->per_element ? "element" : "launch", unit->name);
}

void ts_report_number(double value, struct ts_text *out)
{
    if (!isfinite(value)) {
        ts_text_puts(out, "-");
        return;
    }
    double size = fabs(value);
    int before_point = size > 0.0 ? (int)floor(log10(size)) + 1 : 1;
    int after_point = 3 - before_point;
    if (after_point < 0)
        after_point = 0;
    if (after_point > 12)
        after_point = 12;
    ts_text_printf(out, "%.*f", after_point, value);
}
