/* report_padding.c: what padding does: the time of each padded configuration over the time of the
 * otherwise equal one without padding, per case and variant. */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PAIRS = 40, /* comparisons in one picture */
    CONFIGURATION_COLUMNS = 80
};

/* One configuration with padding against the same without. */
struct padded {
    const struct ts_row *row;
    size_t series;
    struct ts_interval ratio;
    size_t order; /* position in the sweep */
};

struct padding {
    const struct ts_report_case *of;
    const char *variant, *parameter;
    struct ts_report_axis values;
    struct padded *pairs;
    size_t count, capacity;
};

static bool is_padding(const char *name)
{
    return strncmp(name, "PAD", 3) == 0;
}

/* The ok row that differs from `row` only in having no padding; NULL when there is none. */
static const struct ts_row *unpadded(const struct padding *padding, const struct ts_row *row)
{
    for (size_t i = 0; i < padding->of->count; i++) {
        const struct ts_row *other = padding->of->rows[i];
        const struct ts_value *value = ts_values_find(&other->params, padding->parameter);
        if (other->status == TS_OK && other->time.visit_count > 0 && value && !value->word &&
            value->number == 0 && strcmp(other->variant, row->variant) == 0 &&
            ts_values_equal_but(&other->params, &row->params, padding->parameter))
            return other;
    }
    return NULL;
}

static void add_pair(struct padding *padding, const struct ts_row *row)
{
    const struct ts_value *value = ts_values_find(&row->params, padding->parameter);
    const struct ts_row *plain = unpadded(padding, row);
    if (!plain || row->time.visit_count == 0)
        return;
    size_t with_count, without_count;
    double *with = ts_report_swept_medians(row, &with_count);
    double *without = ts_report_swept_medians(plain, &without_count);
    if (with_count > 0 && without_count > 0) {
        TS_GROW(padding->pairs, padding->count, padding->capacity);
        padding->pairs[padding->count] = (struct padded){
            row, ts_report_axis_find(&padding->values, value),
            ts_interval_of_ratio(with, with_count, without, without_count), padding->count};
        padding->count++;
    }
    free(with);
    free(without);
}

static void find_pairs(struct padding *padding)
{
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < padding->of->count; i++) {
            const struct ts_row *row = padding->of->rows[i];
            const struct ts_value *value = ts_values_find(&row->params, padding->parameter);
            if (strcmp(row->variant, padding->variant) != 0 || !value || value->word ||
                value->number == 0)
                continue;
            if (pass == 0)
                ts_report_axis_add(&padding->values, value);
            else if (row->status == TS_OK)
                add_pair(padding, row);
        }
}

static int by_effect(const void *a, const void *b)
{
    const struct padded *x = a, *y = b;
    double dx = fabs(log(x->ratio.mid)), dy = fabs(log(y->ratio.mid));
    return dx != dy ? (dx < dy) - (dx > dy) : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b)
{
    const struct padded *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Whether the pairs shown differ in the parameter. */
static bool varies(const struct padding *padding, const char *name)
{
    const struct ts_value *first = ts_values_find(&padding->pairs[0].row->params, name);
    for (size_t i = 1; i < padding->count; i++)
        if (!ts_value_equal(first, ts_values_find(&padding->pairs[i].row->params, name)))
            return true;
    return false;
}

/* "TX=32 TY=8": the row's parameters other than padding, those that vary over the picture or those
 * that do not. A name that all rows share would hide what tells them apart. */
static void add_rest(const struct padding *padding, const struct ts_row *row, bool varying,
                     struct ts_text *out)
{
    size_t told = 0;
    for (size_t i = 0; i < row->params.count; i++) {
        const struct ts_value *value = &row->params.items[i];
        if (strcmp(value->name, padding->parameter) == 0 || varies(padding, value->name) != varying)
            continue;
        ts_text_printf(out, "%s%s=", told++ ? " " : "", value->name);
        ts_value_print(value, out);
    }
}

/* Rows of the picture: configurations that differ in padding alone share one. */
static size_t row_of_pair(const struct padding *padding, size_t pair)
{
    size_t row = 0;
    for (size_t i = 0; i <= pair; i++) {
        size_t j = 0;
        while (!ts_values_equal_but(&padding->pairs[i].row->params, &padding->pairs[j].row->params,
                                    padding->parameter))
            j++;
        if (i == pair && j < i)
            return row_of_pair(padding, j);
        row += j == i && i < pair;
    }
    return row;
}

static void write_padding(struct ts_report_figure *figure, const struct padding *padding)
{
    for (size_t series = 0; series < padding->values.count; series++)
        for (size_t i = 0; i < padding->count; i++) {
            const struct padded *pair = &padding->pairs[i];
            if (pair->series != series)
                continue;
            struct ts_text whole = {0}, name = {0};
            add_rest(padding, pair->row, true, &whole);
            if (whole.length == 0)
                ts_text_puts(&whole, padding->variant);
            ts_text_printf(&name, "%s=", padding->parameter);
            ts_value_print(padding->values.values[series], &name);
            ts_text_printf(&figure->data, "%zu\t%zu\t", row_of_pair(padding, i), series);
            ts_report_field_cut(&figure->data, whole.text, CONFIGURATION_COLUMNS);
            ts_text_puts(&figure->data, "\t");
            ts_report_field_cut(&figure->data, name.text, CONFIGURATION_COLUMNS);
            ts_text_puts(&figure->data, "\t");
            ts_report_interval_fields(&figure->data, &pair->ratio, 1.0);
            ts_text_puts(&figure->data, "\n");
            ts_text_free(&whole);
            ts_text_free(&name);
        }
}

static void padding_words(struct ts_report_figure *figure, const struct padding *padding,
                          size_t found)
{
    const struct ts_report_group *group = figure->group;
    struct ts_text name = {0}, title = {0}, shared = {0};
    ts_report_case_name(padding->of->rows[0], &name);
    ts_text_printf(&title, "%s, %s: effect of %s\n%s", group->benchmark, padding->variant,
                   padding->parameter, name.text);
    if (padding->count > 0)
        add_rest(padding, padding->pairs[0].row, false, &shared);
    if (shared.length > 0)
        ts_text_printf(&title, "\nall with %s", shared.text);
    if (found > padding->count)
        ts_text_printf(&title, "\nthe %zu of %zu comparisons with the largest effect",
                       padding->count, found);
    ts_report_title(&figure->labels, group->run, title.text);
    ts_report_label(&figure->labels, "xlabel", "time with padding / time without");
    ts_report_label(&figure->labels, "measure", "no difference");
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < padding->count; i++) {
        low = fmin(low, padding->pairs[i].ratio.mid);
        high = fmax(high, padding->pairs[i].ratio.mid);
    }
    if (padding->count == 0)
        figure->why_not = ts_printf("no configuration of %s is ok both with and without padding",
                                    padding->variant);
    figure->caption = ts_printf("%s, %s: time with %s over the time of the otherwise equal "
                                "configuration without it; left of 1 padding pays.",
                                name.text, padding->variant, padding->parameter);
    figure->alt =
        ts_printf("Time with %s over time without in %s %s, %s: %zu points between %.2f "
                  "and %.2f.",
                  padding->parameter, group->benchmark, padding->variant, name.text, padding->count,
                  padding->count ? low : 0.0, padding->count ? high : 0.0);
    ts_text_free(&name);
    ts_text_free(&title);
    ts_text_free(&shared);
}

static void plan_padding_of(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                            const struct ts_report_group *group, struct padding *padding)
{
    find_pairs(padding);
    if (padding->values.count > 0) {
        struct ts_report_figure *figure =
            ts_report_figure_add(figures, kind, group, padding->of, padding->variant);
        size_t found = padding->count;
        if (found > MOST_PAIRS) {
            qsort(padding->pairs, padding->count, sizeof(*padding->pairs), by_effect);
            padding->count = MOST_PAIRS;
            qsort(padding->pairs, padding->count, sizeof(*padding->pairs), by_order);
        }
        write_padding(figure, padding);
        padding_words(figure, padding, found);
    }
    free(padding->pairs);
    ts_report_axis_free(&padding->values);
}

static const struct ts_row *first_of(const struct ts_report_case *of, const char *variant)
{
    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->rows[i]->variant, variant) == 0)
            return of->rows[i];
    return NULL;
}

void ts_report_plan_padding(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                            const struct ts_report_group *group)
{
    for (size_t c = 0; c < group->count; c++) {
        const struct ts_report_case *of = &group->cases[c];
        size_t variants;
        const char **names = ts_report_variants(of, &variants);
        for (size_t v = 0; v < variants; v++) {
            const struct ts_values *params = &first_of(of, names[v])->params;
            for (size_t p = 0; p < params->count; p++) {
                struct padding padding = {
                    .of = of, .variant = names[v], .parameter = params->items[p].name};
                if (is_padding(padding.parameter))
                    plan_padding_of(figures, kind, group, &padding);
            }
        }
        free(names);
    }
}
