/* report_heatmap.c: the heat maps, one per case and variant. A cell is a pair of values of two
 * tuning parameters; its colour is the time of the fastest configuration that has them; a hole says
 * why. */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VALUES = 160,    /* values on an axis; a picture of more shows nothing */
    TILE_PAIR_ROWS = 400, /* rows looked at to find out which parameters shape the work-group */
    HOLE_COLUMNS = 13,
    HOLE_LINES = 2,
    VALUE_COLUMNS = 24
};

/* A row of the variant, its time (NaN: none) and its cell. */
struct heat_row {
    const struct ts_row *row;
    double ns;
    size_t x, y;
};

struct heatmap {
    const struct ts_report_case *of;
    const char *variant;
    struct heat_row *rows;
    size_t count;
    struct ts_report_axis x, y; /* name NULL: the variant has no parameter for it */
    const struct heat_row *best;
    struct ts_report_unit unit;
    double low_ns, high_ns; /* over the whole case, so that its maps share their colours */
    size_t cells[4];        /* by enum cell */
};

/* ---- which parameters ---- */

static bool same_work_group(const struct ts_geometry *a, const struct ts_geometry *b)
{
    for (int d = 0; d < 3; d++)
        if ((d < a->dims ? a->local[d] : 1) != (d < b->dims ? b->local[d] : 1))
            return false;
    return true;
}

/* Whether the parameter's value is the work-group's size in one fixed dimension of every row. */
static bool is_work_group_size(const struct heatmap *map, const char *name)
{
    bool equal[3] = {true, true, true};
    size_t seen = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct ts_geometry *g = &map->rows[i].row->geometry;
        const struct ts_value *value = ts_values_find(&map->rows[i].row->params, name);
        if (g->dims == 0 || !value || value->word)
            continue;
        seen++;
        for (int d = 0; d < 3; d++)
            equal[d] = d < g->dims && equal[d] && g->local[d] == value->number;
    }
    return seen > 0 && (equal[0] || equal[1] || equal[2]);
}

/* Tile-like: the parameter is, or changes, the size of the work-group. */
static bool is_tile_like(const struct heatmap *map, const char *name)
{
    if (is_work_group_size(map, name))
        return true;
    size_t count = map->count < TILE_PAIR_ROWS ? map->count : TILE_PAIR_ROWS;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct ts_row *a = map->rows[i].row, *b = map->rows[j].row;
            if (a->geometry.dims > 0 && b->geometry.dims > 0 &&
                !same_work_group(&a->geometry, &b->geometry) &&
                ts_values_equal_but(&a->params, &b->params, name))
                return true;
        }
    return false;
}

static void collect(const struct heatmap *map, struct ts_report_axis *axis)
{
    for (size_t i = 0; i < map->count; i++)
        ts_report_axis_add(axis, ts_values_find(&map->rows[i].row->params, axis->name));
}

/* The first parameter from `after` on that is tile-like (or else has two values at least, or else
 * is there at all), other than `taken`. */
static const char *choose_axis(const struct heatmap *map, const char *taken)
{
    const struct ts_values *params = &map->rows[0].row->params;
    const char *varying = NULL, *any = NULL;
    for (size_t i = 0; i < params->count; i++) {
        const char *name = params->items[i].name;
        if (taken && strcmp(name, taken) == 0)
            continue;
        if (is_tile_like(map, name))
            return name;
        struct ts_report_axis axis = {.name = name};
        collect(map, &axis);
        if (!varying && axis.count >= 2)
            varying = name;
        if (!any)
            any = name;
        ts_report_axis_free(&axis);
    }
    return varying ? varying : any;
}

static void choose_axes(struct heatmap *map)
{
    map->x.name = choose_axis(map, NULL);
    map->y.name = map->x.name ? choose_axis(map, map->x.name) : NULL;
    if (map->x.name)
        collect(map, &map->x);
    if (map->y.name)
        collect(map, &map->y);
}

/* ---- cells ---- */

static size_t position_on(const struct ts_report_axis *axis, const struct ts_row *row)
{
    return axis->name ? ts_report_axis_find(axis, ts_values_find(&row->params, axis->name)) : 0;
}

static void place_rows(struct heatmap *map)
{
    for (size_t i = 0; i < map->count; i++) {
        struct heat_row *at = &map->rows[i];
        at->x = position_on(&map->x, at->row);
        at->y = position_on(&map->y, at->row);
        if (isfinite(at->ns) && (!map->best || at->ns < map->best->ns))
            map->best = at;
    }
}

/* Kinds of cells, the one that is shown first last; names as in the data file. */
enum cell { CELL_EXCLUDED, CELL_SKIPPED, CELL_FAILED, CELL_OK };
static const char *const cell_names[] = {"excluded", "skipped", "failed", "ok"};

static enum cell cell_of_status(enum ts_status status)
{
    return ts_status_is_finding(status) ? CELL_FAILED : CELL_SKIPPED;
}

static enum cell cell_of(const struct heat_row *at)
{
    if (!at)
        return CELL_EXCLUDED;
    return isfinite(at->ns) ? CELL_OK : cell_of_status(at->row->status);
}

/* What a cell shows: its fastest ok row, else a failed one, else a skipped one; NULL: no row. */
static const struct heat_row *row_of_cell(const struct heatmap *map, size_t x, size_t y)
{
    const struct heat_row *shown = NULL;
    for (size_t i = 0; i < map->count; i++) {
        const struct heat_row *at = &map->rows[i];
        if (at->x != x || at->y != y)
            continue;
        if (cell_of(at) > cell_of(shown) ||
            (cell_of(at) == CELL_OK && cell_of(shown) == CELL_OK && at->ns < shown->ns))
            shown = at;
    }
    return shown;
}

/* Why there is no time, short: "wrong:\nmismatch", or the code alone where both do not fit. */
static void add_hole_text(const struct ts_row *row, struct ts_text *out)
{
    const char *status = ts_status_name(row->status);
    const char *code = row->reason.code ? row->reason.code : status;
    bool both = cell_of_status(row->status) == CELL_FAILED && strlen(status) < HOLE_COLUMNS &&
                strlen(code) <= HOLE_COLUMNS && strcmp(status, code) != 0;
    struct ts_text text = {0};
    ts_text_printf(&text, "%s%s%s", both ? status : "", both ? ":\n" : "", code);
    ts_report_wrap(out, text.text, HOLE_COLUMNS, HOLE_LINES);
    ts_text_free(&text);
}

/* The text in a cell: the time, or why there is none. */
static void add_cell_text(const struct heatmap *map, const struct heat_row *at, struct ts_text *out)
{
    struct ts_text text = {0};
    if (!at)
        return;
    if (isfinite(at->ns))
        ts_report_number(at->ns / map->unit.ns, &text);
    else
        add_hole_text(at->row, &text);
    ts_report_field(out, text.text ? text.text : "");
    ts_text_free(&text);
}

static void add_axis_value(const struct ts_report_axis *axis, size_t at, struct ts_text *out)
{
    struct ts_text text = {0}, cut = {0};
    if (axis->name) {
        ts_value_print(axis->values[at], &text);
        ts_report_wrap(&cut, text.text, VALUE_COLUMNS, 1);
    }
    ts_report_field(out, cut.text ? cut.text : " ");
    ts_text_free(&text);
    ts_text_free(&cut);
}

static void write_cell(struct ts_report_figure *figure, struct heatmap *map, size_t x, size_t y)
{
    struct ts_text *out = &figure->data, said = {0};
    const struct heat_row *at = row_of_cell(map, x, y);
    map->cells[cell_of(at)]++;
    ts_text_printf(out, "%zu\t%zu\t", x, y);
    add_axis_value(&map->x, x, out);
    ts_text_puts(out, "\t");
    add_axis_value(&map->y, y, out);
    if (at && isfinite(at->ns))
        ts_text_printf(out, "\t%.9g", at->ns / map->unit.ns);
    else
        ts_text_puts(out, "\t-");
    ts_text_printf(out, "\t%s\t", cell_names[cell_of(at)]);
    add_cell_text(map, at, out);
    ts_text_printf(out, "\t%d\t", at && at == map->best);
    if (at) {
        ts_report_configuration(at->row, &said);
        if (at->row->reason.text)
            ts_text_printf(&said, ": %s", at->row->reason.text);
    }
    ts_report_field(out, said.text ? said.text : "-");
    ts_text_puts(out, "\n");
    ts_text_free(&said);
}

/* ---- words ---- */

/* Whether a cell stands for several rows, so that the fastest of them was chosen. */
static bool has_choice(const struct heatmap *map)
{
    size_t columns = map->x.name ? map->x.count : 1, rows = map->y.name ? map->y.count : 1;
    bool *taken = ts_alloc(columns * rows, sizeof(*taken)), choice = false;
    for (size_t i = 0; i < map->count && !choice; i++) {
        const struct heat_row *at = &map->rows[i];
        if (at->x >= columns || at->y >= rows)
            continue;
        choice = taken[at->y * columns + at->x];
        taken[at->y * columns + at->x] = true;
    }
    free(taken);
    return choice;
}

/* "each cell: the fastest of PAD=0,1 VEC=1,4" for the parameters that are no axis and have a
 * choice; nothing where nothing was chosen. */
static void add_others(const struct heatmap *map, struct ts_text *out)
{
    const struct ts_values *params = &map->rows[0].row->params;
    size_t told = 0;
    for (size_t i = 0; i < params->count && has_choice(map); i++) {
        struct ts_report_axis axis = {.name = params->items[i].name};
        if ((map->x.name && strcmp(axis.name, map->x.name) == 0) ||
            (map->y.name && strcmp(axis.name, map->y.name) == 0))
            continue;
        collect(map, &axis);
        if (axis.count > 1) {
            ts_text_puts(out, told++ ? " " : "each cell: the fastest of ");
            ts_text_printf(out, "%s=", axis.name);
        }
        for (size_t j = 0; axis.count > 1 && j < axis.count; j++) {
            ts_text_puts(out, j ? "," : "");
            ts_value_print(axis.values[j], out);
        }
        ts_report_axis_free(&axis);
    }
    if (told)
        ts_text_puts(out, "\n");
}

static void add_best(const struct heatmap *map, struct ts_text *out)
{
    ts_values_print(&map->best->row->params, "", " ", out);
    ts_text_puts(out, map->best->row->params.count ? ", " : "");
    ts_report_number(map->best->ns / map->unit.ns, out);
    ts_text_printf(out, " %s%s", map->unit.name, map->unit.per_element ? " per element" : "");
}

static void write_labels(struct ts_report_figure *figure, const struct heatmap *map)
{
    struct ts_text title = {0}, unit = {0};
    ts_text_printf(&title, "%s, %s (%s): ", figure->group->benchmark, map->variant,
                   map->rows[0].row->staged ? "staged" : "plain");
    ts_report_case_name(map->rows[0].row, &title);
    ts_text_puts(&title, "\n");
    add_others(map, &title);
    ts_text_puts(&title, "fastest in the sweep: ");
    add_best(map, &title);
    ts_report_title(&figure->labels, figure->group->run, title.text);
    ts_report_unit_print(&map->unit, &unit);
    ts_report_axis_label(&figure->labels, "xlabel", map->x.name);
    ts_report_axis_label(&figure->labels, "ylabel", map->y.name);
    ts_report_label(&figure->labels, "measure", "%s", unit.text);
    ts_report_label(&figure->labels, "low", "%.9g", map->low_ns / map->unit.ns);
    ts_report_label(&figure->labels, "high", "%.9g", map->high_ns / map->unit.ns);
    ts_text_free(&title);
    ts_text_free(&unit);
}

static void write_alt(struct ts_report_figure *figure, const struct heatmap *map)
{
    struct ts_text alt = {0};
    ts_text_printf(&alt, "Heat map of %s %s, ", figure->group->benchmark, map->variant);
    ts_report_case_name(map->rows[0].row, &alt);
    if (map->x.name)
        ts_text_printf(&alt, ", %s%s%s", map->x.name, map->y.name ? " by " : "",
                       map->y.name ? map->y.name : "");
    ts_text_printf(&alt, ": %zu cells timed, %zu skipped, %zu failed, %zu excluded",
                   map->cells[CELL_OK], map->cells[CELL_SKIPPED], map->cells[CELL_FAILED],
                   map->cells[CELL_EXCLUDED]);
    if (map->best) {
        ts_text_puts(&alt, "; fastest ");
        add_best(map, &alt);
    }
    ts_text_puts(&alt, ".");
    figure->alt = alt.text;
}

/* "no configuration is ok: 3 skipped (local-memory), 1 wrong (mismatch)" */
static char *why_nothing(const struct heatmap *map)
{
    struct ts_text why = {0};
    ts_text_puts(&why, "no configuration is ok: ");
    size_t told = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct ts_row *row = map->rows[i].row;
        const char *code = row->reason.code ? row->reason.code : "no time";
        size_t count = 0;
        bool before = false;
        for (size_t j = 0; j < map->count; j++) {
            const struct ts_row *other = map->rows[j].row;
            const char *other_code = other->reason.code ? other->reason.code : "no time";
            bool same = other->status == row->status && strcmp(other_code, code) == 0;
            before = before || (same && j < i);
            count += same;
        }
        if (!before)
            ts_text_printf(&why, "%s%zu %s (%s)", told++ ? ", " : "", count,
                           ts_status_name(row->status), code);
    }
    return why.text;
}

static char *why_one_tile(const struct heatmap *map)
{
    struct ts_text why = {0};
    ts_text_puts(&why, "one tile only");
    ts_text_puts(&why, map->best->row->params.count ? ": " : ", ");
    add_best(map, &why);
    return why.text;
}

/* ---- planning ---- */

static void find_scale(struct heatmap *map)
{
    map->low_ns = INFINITY;
    map->high_ns = 0.0;
    for (size_t i = 0; i < map->of->count; i++) {
        double ns = ts_report_swept(map->of->rows[i], map->of->per_element).mid;
        if (isfinite(ns)) {
            map->low_ns = fmin(map->low_ns, ns);
            map->high_ns = fmax(map->high_ns, ns);
        }
    }
    map->unit = ts_report_unit_for(map->high_ns, map->of->per_element);
}

static void plan_heatmap(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                         const struct ts_report_group *group, struct heatmap *map)
{
    struct ts_report_figure *figure =
        ts_report_figure_add(figures, kind, group, map->of, map->variant);
    choose_axes(map);
    place_rows(map);
    find_scale(map);
    size_t columns = map->x.name ? map->x.count : 1, rows = map->y.name ? map->y.count : 1;
    if (!map->best)
        figure->why_not = why_nothing(map);
    else if (columns * rows == 1)
        figure->why_not = why_one_tile(map);
    else if (columns > MOST_VALUES || rows > MOST_VALUES)
        figure->why_not = ts_printf("%zu by %zu cells are too many for a picture", columns, rows);
    for (size_t y = 0; !figure->why_not && y < rows; y++)
        for (size_t x = 0; x < columns; x++)
            write_cell(figure, map, x, y);
    struct ts_text caption = {0};
    ts_text_printf(&caption, "%s (%s), ", map->variant,
                   map->rows[0].row->staged ? "staged" : "plain");
    ts_report_case_name(map->rows[0].row, &caption);
    ts_text_puts(&caption, ".");
    figure->caption = caption.text;
    if (!figure->why_not)
        write_labels(figure, map);
    write_alt(figure, map);
}

void ts_report_plan_heatmaps(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                             const struct ts_report_group *group)
{
    for (size_t c = 0; c < group->count; c++) {
        const struct ts_report_case *of = &group->cases[c];
        size_t variants;
        const char **names = ts_report_variants(of, &variants);
        for (size_t v = 0; v < variants; v++) {
            struct heatmap map = {.of = of, .variant = names[v]};
            map.rows = ts_alloc(of->count, sizeof(*map.rows));
            for (size_t i = 0; i < of->count; i++)
                if (strcmp(of->rows[i]->variant, names[v]) == 0)
                    map.rows[map.count++] =
                        (struct heat_row){.row = of->rows[i],
                                          .ns = ts_report_swept(of->rows[i], of->per_element).mid};
            plan_heatmap(figures, kind, group, &map);
            free(map.rows);
            ts_report_axis_free(&map.x);
            ts_report_axis_free(&map.y);
        }
        free(names);
    }
}
