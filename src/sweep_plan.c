/* sweep_plan.c: what a sweep will do: rows, units, cases, and of `ab` which rows are partners. */
#include <stdlib.h>
#include <string.h>

#include "row_map.h"
#include "sweep_private.h"

static const struct ts_device *device_of(struct sweep *s, size_t space)
{
    return ts_sweep_team(s, space)->device;
}

/* By which name --rows is asked for a spec's rows: of `ab`, B's go by A's. */
static const char *asked_name(const struct sweep *s, size_t space)
{
    return s->specs[s->options->ab ? 0 : space]->name;
}

/* ---- rows ---- */

static void describe_row(struct ts_row *row, const struct ts_space *space,
                         const struct ts_config *config, const struct ts_values *size)
{
    const struct ts_spec *spec = space->spec;
    const struct ts_variant *variant = &spec->variants[config->variant];

    row->benchmark = ts_strdup(spec->name);
    ts_values_copy(&row->size, size);
    ts_values_copy(&row->problem, &space->problems[config->problem]);
    ts_values_copy(&row->params, &config->params);
    row->variant = ts_strdup(variant->name);
    row->baseline = variant->baseline;
    row->source = ts_strdup(variant->source.digest);
}

/* What is known before anything is built: work, geometry, and whether the device's limits refuse
 * it. */
static int judge_row(const struct ts_device *device, struct ts_row *row,
                     const struct ts_space *space, const struct ts_config *config,
                     struct ts_err *err)
{
    struct ts_instance instance = {0};
    struct ts_text why = {0};
    const struct ts_job_launch *launch;
    const char *code;

    if (ts_space_instance(space, config, &row->size, device, &instance, err) < 0)
        return -1;
    launch = &instance.launches[0];
    row->work = instance.work;
    row->staged = ts_space_staged(space, config, &instance);
    row->geometry.dims = launch->dims;
    for (int d = 0; d < launch->dims; d++) {
        row->geometry.global[d] = launch->global[d];
        row->geometry.local[d] = launch->local[d];
    }
    row->geometry.local_bytes = instance.local_bytes;
    for (size_t i = 0; i < instance.launch_count && row->status == TS_PENDING; i++) {
        launch = &instance.launches[i];
        code = ts_device_refuses(device, launch->dims, launch->local, instance.local_bytes, &why);
        if (code)
            ts_row_set_status(row, TS_SKIPPED, code, "%s", why.text);
    }
    for (size_t i = 0; i < instance.arg_count && row->status == TS_PENDING; i++) {
        code = ts_device_lacks(device, instance.args[i].type, &why);
        if (code)
            ts_row_set_status(row, TS_SKIPPED, code, "%s", why.text);
    }
    code = ts_space_lacks(space, config, device, &why);
    if (code && row->status == TS_PENDING)
        ts_row_set_status(row, TS_SKIPPED, code, "%s", why.text);
    ts_text_free(&why);
    ts_instance_free(&instance);
    return 0;
}

/* What a resumed run knows of the row: status, facts, visits. */
static void adopt(struct ts_row *row, struct ts_row *known)
{
    struct ts_row fresh = *row;

    *row = *known;
    row->work = fresh.work;
    row->staged = fresh.staged;
    row->baseline = fresh.baseline;
    ts_row_init(known);
    /* A skip for lack of time is not final. */
    if (row->status == TS_SKIPPED && row->reason.code && !strcmp(row->reason.code, "budget"))
        ts_row_set_status(row, row->check.elements > 0 ? TS_OK : TS_PENDING, NULL, "%s", "");
    free(fresh.benchmark);
    ts_values_free(&fresh.size);
    ts_values_free(&fresh.problem);
    ts_values_free(&fresh.params);
    free(fresh.variant);
    free(fresh.source);
    free(fresh.reason.code);
    free(fresh.reason.text);
}

/* ---- units and cases ---- */

static void add_to_unit(struct unit *unit, size_t row, size_t sizes)
{
    if (!unit->rows)
        unit->rows = ts_alloc(sizes, sizeof(*unit->rows));
    unit->rows[unit->row_count++] = row;
}

static void end_case(struct sweep *s, size_t first)
{
    if (s->run->row_count == first)
        return;
    TS_GROW(s->cases, s->case_count, s->case_capacity);
    s->cases[s->case_count++] = (struct case_span){first, s->run->row_count - first};
}

static bool is_asked_for(struct sweep *s, size_t space, const struct ts_row *row)
{
    struct ts_row named = *row;

    named.benchmark = (char *)(uintptr_t)asked_name(s, space); /* a view: frees nothing */
    named.side = TS_AB_NONE;
    return !s->filter || ts_row_filter_admits(s->filter, &named);
}

/* The rows of one case of one space. */
static int plan_rows(struct sweep *s, size_t space_index, size_t problem, size_t size,
                     struct unit *units, struct ts_err *err)
{
    struct ts_space *space = s->spaces[space_index];

    for (size_t c = 0; c < space->config_count; c++) {
        const struct ts_config *config = &space->configs[c];
        struct ts_row *row;
        size_t index;

        if (config->problem != problem || !config->admitted[size])
            continue;
        index = ts_run_add_row(s->run);
        row = &s->run->rows[index];
        describe_row(row, space, config, &space->sizes[size]);
        if (s->options->ab)
            row->side = space_index == 0 ? TS_AB_A : TS_AB_B;
        if (!is_asked_for(s, space_index, row)) {
            ts_row_free(row);
            s->run->row_count--;
            continue;
        }
        if (judge_row(device_of(s, space_index), row, space, config, err) < 0)
            return -1;
        add_to_unit(&units[c], index, space->size_count);
    }
    return 0;
}

static void keep_units(struct sweep *s, size_t space_index, struct unit *units)
{
    const struct ts_space *space = s->spaces[space_index];

    for (size_t c = 0; c < space->config_count; c++) {
        if (units[c].row_count == 0) {
            free(units[c].rows);
            continue;
        }
        TS_GROW(s->units, s->unit_count, s->unit_capacity);
        units[c].space = space_index;
        units[c].config = c;
        units[c].timed_size_only = true;
        for (size_t i = 0; i < space->spec->check_sizes.count; i++)
            units[c].timed_size_only &= !space->configs[c].admitted_check[i];
        s->units[s->unit_count++] = units[c];
    }
}

/* The space's case with these values; false: it has none. */
static bool find_case(const struct ts_space *space, const struct ts_values *problem,
                      const struct ts_values *size, size_t *problem_index, size_t *size_index)
{
    size_t p = 0, z = 0;

    while (p < space->problem_count && !ts_values_equal(&space->problems[p], problem))
        p++;
    while (z < space->size_count && !ts_values_equal(&space->sizes[z], size))
        z++;
    *problem_index = p;
    *size_index = z;
    return p < space->problem_count && z < space->size_count;
}

/* One case of all spaces from first to end that have it; those before `own` had none. */
static int plan_case(struct sweep *s, size_t own, size_t end, size_t problem, size_t size,
                     struct unit *const *units, struct ts_err *err)
{
    const struct ts_space *of = s->spaces[own];
    size_t first = s->run->row_count, p, z;

    for (size_t i = own; i < end; i++) {
        if (find_case(s->spaces[i], &of->problems[problem], &of->sizes[size], &p, &z) &&
            plan_rows(s, i, p, z, units[i], err) < 0)
            return -1;
    }
    end_case(s, first);
    return 0;
}

/* Spaces first to end share their cases: one benchmark's, or the two sides of `ab`. */
static int plan_spaces(struct sweep *s, size_t first, size_t end, struct unit *const *units,
                       struct ts_err *err)
{
    size_t p, z;

    for (size_t i = first; i < end; i++) {
        const struct ts_space *space = s->spaces[i];

        for (size_t problem = 0; problem < space->problem_count; problem++) {
            for (size_t size = 0; size < space->size_count; size++) {
                if (i > first && find_case(s->spaces[first], &space->problems[problem],
                                           &space->sizes[size], &p, &z))
                    continue; /* planned with it */
                if (plan_case(s, i, end, problem, size, units, err) < 0)
                    return -1;
            }
        }
    }
    return 0;
}

static int plan_all(struct sweep *s, struct ts_err *err)
{
    struct unit **units = ts_alloc(s->spec_count + 1, sizeof(*units));
    size_t together = s->options->ab ? s->spec_count : 1;
    int result = 0;

    for (size_t i = 0; i < s->spec_count; i++)
        units[i] = ts_alloc(s->spaces[i]->config_count, sizeof(**units));
    for (size_t i = 0; i < s->spec_count && result == 0; i += together)
        result = plan_spaces(s, i, i + together, units, err);
    for (size_t i = 0; i < s->spec_count; i++) {
        keep_units(s, i, units[i]);
        free(units[i]);
    }
    free(units);
    return result;
}

/* What an earlier journal knows of the planned rows. Rows that this plan does not hold are dropped.
 */
static void adopt_rows(struct sweep *s, struct ts_row *known, size_t count)
{
    struct ts_row_map map = {0};
    bool is_new;

    for (size_t i = 0; i < count; i++)
        *ts_row_map_put(&map, &known[i], &is_new) = i;
    for (size_t i = 0; i < s->run->row_count; i++) {
        const size_t *found = ts_row_map_find(&map, &s->run->rows[i]);
        if (found && known[*found].benchmark)
            adopt(&s->run->rows[i], &known[*found]);
    }
    for (size_t i = 0; i < count; i++)
        ts_row_free(&known[i]);
    ts_row_map_free(&map);
}

static int open_spaces(struct sweep *s, struct ts_err *err)
{
    s->spaces = ts_alloc(s->spec_count, sizeof(*s->spaces));
    s->run->excluded = 0;
    for (size_t i = 0; i < s->spec_count; i++) {
        struct ts_selection selection = s->options->selection;

        if (s->filter) {
            memset(&selection, 0, sizeof(selection));
            ts_row_filter_select(s->filter, asked_name(s, i), &selection);
        }
        s->spaces[i] =
            ts_space_open(s->specs[i], &selection, device_of(s, i), s->options->yes, err);
        if (s->filter)
            ts_selection_clear(&selection);
        if (!s->spaces[i])
            return -1;
        s->run->excluded += s->spaces[i]->excluded;
    }
    return 0;
}

/* The row as its partner on the other side is looked up: a view, frees nothing. */
static struct ts_row without_side(const struct sweep *s, const struct ts_row *row)
{
    struct ts_row view = *row;

    view.benchmark = s->specs[0]->name;
    view.side = TS_AB_NONE;
    return view;
}

/* The same configuration of both sides: by case, variant and parameters. */
static int find_partners(struct sweep *s, struct ts_err *err)
{
    struct ts_row_map map = {0};
    size_t pairs = 0, rows[2] = {0, 0};
    bool is_new;

    for (size_t i = 0; i < s->run->row_count; i++) {
        const struct ts_row *row = &s->run->rows[i], view = without_side(s, row);
        const size_t *found = row->side == TS_AB_B ? ts_row_map_find(&map, &view) : NULL;

        s->partner[i] = TS_NO_ROW;
        rows[row->side == TS_AB_B]++;
        if (row->side == TS_AB_A)
            *ts_row_map_put(&map, &view, &is_new) = i;
        if (!found)
            continue;
        s->partner[i] = *found;
        s->partner[*found] = i;
        pairs++;
    }
    ts_row_map_free(&map);
    if (pairs > 0 || !s->options->ab || s->run->row_count == 0)
        return 0;
    return ts_err_set(err, TS_EXIT_USAGE,
                      "no configuration in common: A (%s) has %zu, B (%s) has %zu; expected the "
                      "same size, problem, variant and parameters",
                      s->specs[0]->path, rows[0], s->specs[1]->path, rows[1]);
}

int ts_sweep_plan(struct sweep *s, struct ts_err *err)
{
    struct ts_row *known = s->run->rows;
    size_t known_count = s->run->row_count;

    s->run->rows = NULL;
    s->run->row_count = s->run->row_capacity = 0;
    if (open_spaces(s, err) < 0)
        return -1;
    if (plan_all(s, err) < 0)
        return -1;
    adopt_rows(s, known, known_count);
    free(known);
    if (s->filter)
        ts_row_filter_tell_leftovers(s->filter, s->specs, s->spec_count, s->options->rows_file,
                                     s->progress);
    s->row_unit = ts_alloc(s->run->row_count, sizeof(*s->row_unit));
    for (size_t u = 0; u < s->unit_count; u++) {
        for (size_t r = 0; r < s->units[u].row_count; r++)
            s->row_unit[s->units[u].rows[r]] = u;
    }
    s->partner = ts_alloc(s->run->row_count, sizeof(*s->partner));
    s->proofs = ts_alloc(s->run->row_count, sizeof(*s->proofs));
    return find_partners(s, err);
}

void ts_sweep_unplan(struct sweep *s)
{
    for (size_t i = 0; i < s->unit_count; i++)
        free(s->units[i].rows);
    free(s->units);
    free(s->cases);
    free(s->row_unit);
    free(s->partner);
    for (size_t i = 0; s->proofs && i < s->run->row_count; i++)
        free(s->proofs[i].right);
    free(s->proofs);
    for (size_t i = 0; s->spaces && i < s->spec_count; i++)
        ts_space_close(s->spaces[i]);
    free(s->spaces);
    s->units = NULL;
    s->cases = NULL;
    s->row_unit = s->partner = NULL;
    s->proofs = NULL;
    s->spaces = NULL;
    s->unit_count = s->unit_capacity = s->case_count = s->case_capacity = 0;
}
