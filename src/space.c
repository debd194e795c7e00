/* space.c: what a sweep visits: the configurations of a spec. space_instance.c evaluates one of
 * them. */
#include "space.h"

#include <stdlib.h>
#include <string.h>

#include "space_eval.h"

#define MAX_PAIRS 1000000         /* admitted (configuration, size) pairs without --yes */
#define MAX_COMBINATIONS 20000000 /* of axes and sizes before `where`, about a microsecond each */

/* ---- memory ---- */

static void release_config(struct ts_config *config)
{
    ts_values_free(&config->params);
    free(config->options);
    free(config->admitted);
    free(config->admitted_check);
}

void ts_config_free(struct ts_config *config)
{
    if (!config)
        return;
    release_config(config);
    free(config);
}

static void free_list(struct ts_values *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        ts_values_free(&list[i]);
    free(list);
}

void ts_space_close(struct ts_space *space)
{
    if (!space)
        return;
    free_list(space->sizes, space->size_count);
    free_list(space->problems, space->problem_count);
    for (size_t i = 0; i < space->config_count; i++)
        release_config(&space->configs[i]);
    free(space->configs);
    free(space);
}

/* ---- sizes ---- */

/* A --size in the spec's order of names; all of them and no other. */
static int take_size(const struct ts_spec *spec, const struct ts_values *given,
                     struct ts_values *size, struct ts_err *err)
{
    struct ts_text text = {0};
    const char *const *names = (const char *const *)spec->size_names;
    ts_values_print(given, NULL, ",", &text);
    for (size_t i = 0; i < given->count && !err->exit_status; i++) {
        const char *name = given->items[i].name;
        size_t k = 0;
        while (k < spec->size_name_count && strcmp(names[k], name) != 0)
            k++;
        if (k < spec->size_name_count)
            continue;
        struct ts_text hint = {0};
        ts_text_puts(&hint, "");
        ts_nearest_add(name, names, spec->size_name_count, &hint);
        ts_err_set(err, TS_EXIT_USAGE, "--size %s: %s has no size \"%s\"%s", text.text, spec->name,
                   name, hint.text);
        ts_text_free(&hint);
    }
    for (size_t i = 0; i < spec->size_name_count && !err->exit_status; i++) {
        const struct ts_value *value = ts_values_find(given, names[i]);
        if (!value || value->word || value->number < 1)
            ts_err_set(err, TS_EXIT_USAGE, "--size %s: expected \"%s\" of %s, too", text.text,
                       names[i], spec->name);
        else
            ts_values_add(size, names[i], value->number);
    }
    ts_text_free(&text);
    return err->exit_status ? -1 : 0;
}

static int check_new_size(const struct ts_space *space, size_t index, struct ts_err *err)
{
    struct ts_text text = {0};

    for (size_t i = 0; i < index && !err->exit_status; i++) {
        if (!ts_values_equal(&space->sizes[i], &space->sizes[index]))
            continue;
        ts_values_print(&space->sizes[i], NULL, ",", &text);
        ts_err_set(err, TS_EXIT_USAGE, "--size %s: given twice", text.text);
    }
    ts_text_free(&text);
    return err->exit_status ? -1 : 0;
}

static int take_sizes(struct ts_space *space, const struct ts_selection *selection,
                      struct ts_err *err)
{
    const struct ts_spec *spec = space->spec;
    const struct ts_sizes *from =
        ts_spec_timed(spec, selection->quick, space->device ? space->device->type : NULL);
    size_t count = selection->size_count > 0 ? selection->size_count : from->count;
    space->sizes = ts_alloc(count, sizeof(*space->sizes));
    space->size_count = count;
    for (size_t i = 0; i < count; i++) {
        if (selection->size_count == 0)
            ts_values_copy(&space->sizes[i], &from->items[i]);
        else if (take_size(spec, &selection->sizes[i], &space->sizes[i], err) != 0 ||
                 check_new_size(space, i, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- axes ---- */

/* The axes in force: borrowed from the spec or from the selection. */
struct axes {
    const struct ts_axis **problem, **params;
};

/* A set must fit the axis it replaces: numbers for numbers, types for an axis that is a type. */
static int check_set(const struct ts_spec *spec, const struct ts_axis *axis,
                     const struct ts_axis *set, struct ts_err *err)
{
    if (set->words != axis->words)
        return ts_err_set(err, TS_EXIT_USAGE, "-s %s: %s takes %s in %s", set->name, set->name,
                          axis->words ? "names" : "whole numbers", spec->name);
    for (size_t v = 0; v < spec->variant_count; v++) {
        for (size_t i = 0; i < spec->variants[v].arg_count; i++) {
            const char *type_axis = spec->variants[v].args[i].type_axis;
            if (!type_axis || strcmp(type_axis, set->name) != 0)
                continue;
            for (size_t k = 0; k < set->count; k++) {
                enum ts_elem ignored;
                if (!ts_elem_by_name(set->texts[k], &ignored))
                    return ts_err_set(err, TS_EXIT_USAGE, "-s %s: \"%s\" is not a type", set->name,
                                      set->texts[k]);
            }
        }
    }
    return 0;
}

static const struct ts_axis *choose_axis(const struct ts_spec *spec, const struct ts_axis *axis,
                                         const struct ts_selection *selection, struct ts_err *err)
{
    const struct ts_axis *chosen = axis;
    for (size_t i = 0; i < selection->set_count; i++) {
        const struct ts_axis *set = &selection->sets[i];
        if (strcmp(set->name, axis->name) != 0)
            continue;
        if (chosen != axis)
            ts_err_set(err, TS_EXIT_USAGE, "-s %s: given twice", set->name);
        check_set(spec, axis, set, err);
        chosen = set;
    }
    return chosen;
}

static int choose_axes(const struct ts_spec *spec, const struct ts_selection *selection,
                       struct axes *axes, struct ts_err *err)
{
    axes->problem = ts_alloc(spec->problem_count, sizeof(*axes->problem));
    axes->params = ts_alloc(spec->param_count, sizeof(*axes->params));
    for (size_t i = 0; i < spec->problem_count; i++)
        axes->problem[i] = choose_axis(spec, &spec->problem[i], selection, err);
    for (size_t i = 0; i < spec->param_count; i++) {
        const struct ts_axis *from = selection->quick ? spec->quick_params : spec->params;
        axes->params[i] = choose_axis(spec, &from[i], selection, err);
    }
    return err->exit_status ? -1 : 0;
}

/* ---- combinations: a counter with one digit an axis, the last one fastest ---- */

struct counter {
    const struct ts_axis **axes; /* borrowed elements; the array is the counter's */
    size_t *digit;
    size_t count;
};

static void counter_release(struct counter *c)
{
    free(c->axes);
    free(c->digit);
}

/* The axes all[pick[0]], all[pick[1]], ...; pick NULL: all of them. */
static struct counter counter_start(const struct ts_axis *const *all, const size_t *pick,
                                    size_t count)
{
    struct counter c = {ts_alloc(count, sizeof(*c.axes)), ts_alloc(count, sizeof(*c.digit)), count};
    for (size_t i = 0; i < count; i++)
        c.axes[i] = all[pick ? pick[i] : i];
    return c;
}

/* false after the last combination. */
static bool counter_step(struct counter *c)
{
    for (size_t i = c->count; i-- > 0;) {
        if (++c->digit[i] < c->axes[i]->count)
            return true;
        c->digit[i] = 0;
    }
    return false;
}

static void counter_values(const struct counter *c, struct ts_values *values)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct ts_axis *axis = c->axes[i];
        if (axis->words)
            ts_values_add_word(values, axis->name, axis->texts[c->digit[i]]);
        else
            ts_values_add(values, axis->name, axis->numbers[c->digit[i]]);
    }
}

/* Number of combinations, at most `most` + 1. */
static int64_t counter_total(const struct counter *c, int64_t most)
{
    int64_t total = 1;
    for (size_t i = 0; i < c->count; i++) {
        if (total > most / (int64_t)c->axes[i]->count)
            return most + 1;
        total *= (int64_t)c->axes[i]->count;
    }
    return total;
}

/* ---- configurations ---- */

static char *build_options(const struct ts_variant *variant, const struct ts_values *problem,
                           const struct ts_values *params)
{
    struct ts_text text = {0};
    ts_text_puts(&text, variant->options);
    ts_text_puts(&text, text.length ? " " : "");
    ts_values_print_defines(problem, params, variant->name, &text);
    return text.text;
}

/* Evaluates `where` at all sizes of a list; *held of them hold. New array, or NULL with err. */
static bool *admit(const struct ts_space *space, const struct ts_config *config,
                   const struct ts_values *sizes, size_t count, size_t *held, struct ts_err *err)
{
    bool *admitted = ts_alloc(count, sizeof(*admitted));
    *held = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ts_scope scope = {space->spec, config, &space->problems[config->problem],
                                       &sizes[i], space->device};
        if (ts_scope_admits(&scope, &admitted[i], err) != 0) {
            free(admitted);
            return NULL;
        }
        *held += admitted[i];
    }
    return admitted;
}

/* ts_space_staged has nobody to tell, so a fault of `staged` is told before. */
static int check_staged(const struct ts_space *space, const struct ts_config *config,
                        const struct ts_values *size, struct ts_err *err)
{
    const struct ts_scope scope = {space->spec, config, &space->problems[config->problem], size,
                                   space->device};
    const struct ts_expr *staged = space->spec->variants[config->variant].staged;
    int64_t ignored;
    return staged ? ts_scope_eval(&scope, staged, &ignored, err) : 0;
}

/* Every admitted size evaluates to a launch that can be made. Without a device, expressions that
 * need one are left for later. */
static int check_instances(const struct ts_space *space, const struct ts_config *config,
                           const struct ts_values *sizes, const bool *admitted, size_t count,
                           struct ts_err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct ts_instance instance;
        if (!admitted[i])
            continue;
        if (!space->device && ts_variant_needs_device(&space->spec->variants[config->variant]))
            return 0;
        if (ts_space_instance(space, config, &sizes[i], space->device, &instance, err) != 0)
            return -1;
        ts_instance_free(&instance);
        if (check_staged(space, config, &sizes[i], err) != 0)
            return -1;
    }
    return 0;
}

/* The growing list. */
struct collector {
    struct ts_space *space;
    size_t capacity;
    int64_t pairs;
    bool yes;
};

static int count_pairs(struct collector *c, size_t more, struct ts_err *err)
{
    c->pairs += (int64_t)more;
    if (c->pairs <= MAX_PAIRS || c->yes)
        return 0;
    return ts_err_set(err, TS_EXIT_USAGE,
                      "%s: more than 10^6 configurations; restrict axes by -s, or say --yes",
                      c->space->spec->path);
}

/* Takes the configuration's memory in every case. */
static int collect(struct collector *c, struct ts_config *config, struct ts_err *err)
{
    struct ts_space *space = c->space;
    const struct ts_spec *spec = space->spec;
    size_t held = 0, held_check = 0;
    config->admitted = admit(space, config, space->sizes, space->size_count, &held, err);
    if (config->admitted)
        config->admitted_check = admit(space, config, spec->check_sizes.items,
                                       spec->check_sizes.count, &held_check, err);
    space->excluded += (int64_t)(space->size_count - held);
    if (!config->admitted_check || count_pairs(c, held, err) != 0 ||
        check_instances(space, config, space->sizes, config->admitted, space->size_count, err) !=
            0 ||
        (held > 0 && check_instances(space, config, spec->check_sizes.items, config->admitted_check,
                                     spec->check_sizes.count, err) != 0)) {
        release_config(config);
        return -1;
    }
    if (held == 0) {
        release_config(config);
        return 0;
    }
    const struct ts_variant *variant = &spec->variants[config->variant];
    config->options = build_options(variant, &space->problems[config->problem], &config->params);
    TS_GROW(space->configs, space->config_count, c->capacity);
    space->configs[space->config_count++] = *config;
    return 0;
}

static int collect_variant(struct collector *c, const struct axes *axes, size_t problem,
                           size_t variant, struct ts_err *err)
{
    const struct ts_variant *v = &c->space->spec->variants[variant];
    struct counter counter = counter_start(axes->params, v->params, v->param_count);
    int result = 0;
    do {
        struct ts_config config = {.variant = variant, .problem = problem};
        counter_values(&counter, &config.params);
        result = collect(c, &config, err);
    } while (result == 0 && counter_step(&counter));
    counter_release(&counter);
    return result;
}

/* ---- which variants ---- */

static bool is_selected(const struct ts_spec *spec, const struct ts_selection *selection,
                        size_t variant)
{
    if (variant == spec->baseline && selection->variant_count > 0 && !selection->no_baseline)
        return true;
    for (size_t i = 0; i < selection->variant_count; i++)
        if (strcmp(selection->variants[i], spec->variants[variant].name) == 0)
            return true;
    return selection->variant_count == 0 && !(selection->no_baseline && variant == spec->baseline);
}

/* Indices of the selected variants, the baseline first; *count of them; free(). */
static size_t *select_variants(const struct ts_spec *spec, const struct ts_selection *selection,
                               size_t *count)
{
    size_t *order = ts_alloc(spec->variant_count, sizeof(*order));
    *count = 0;
    if (is_selected(spec, selection, spec->baseline))
        order[(*count)++] = spec->baseline;
    for (size_t v = 0; v < spec->variant_count; v++)
        if (v != spec->baseline && is_selected(spec, selection, v))
            order[(*count)++] = v;
    return order;
}

/* ---- the space ---- */

/* At most MAX_COMBINATIONS + 1, like both factors. */
static int64_t bounded_product(int64_t a, int64_t b)
{
    return a > MAX_COMBINATIONS / b ? MAX_COMBINATIONS + 1 : a * b;
}

/* Combinations of the variant's parameters. */
static int64_t variant_total(const struct ts_variant *variant, const struct axes *axes)
{
    struct counter params = counter_start(axes->params, variant->params, variant->param_count);
    int64_t total = counter_total(&params, MAX_COMBINATIONS);
    counter_release(&params);
    return total;
}

/* A reference variant counts once more, selected or not: its first admitted configuration is sought
 * among all. */
static int check_total(const struct ts_space *space, const struct axes *axes, const size_t *order,
                       size_t count, bool yes, struct ts_err *err)
{
    const struct ts_spec *spec = space->spec;
    struct counter counter = counter_start(axes->problem, NULL, spec->problem_count);
    int64_t problems = counter_total(&counter, MAX_COMBINATIONS);
    int64_t places =
        bounded_product(problems, (int64_t)(space->size_count + spec->check_sizes.count));
    int64_t total = problems;
    counter_release(&counter);
    for (size_t i = 0; i < count; i++)
        total += bounded_product(places, variant_total(&spec->variants[order[i]], axes));
    for (size_t v = 0; v < spec->variant_count; v++)
        if (spec->reference_variant && strcmp(spec->variants[v].name, spec->reference_variant) == 0)
            total += bounded_product(places, variant_total(&spec->variants[v], axes));
    if (total <= MAX_COMBINATIONS || yes)
        return 0;
    return ts_err_set(
        err, TS_EXIT_USAGE,
        "%s: more than 2*10^7 combinations of axes and sizes; restrict axes by -s, or "
        "say --yes",
        spec->path);
}

static void list_problems(struct ts_space *space, const struct axes *axes)
{
    struct counter counter = counter_start(axes->problem, NULL, space->spec->problem_count);
    size_t capacity = 0;
    do {
        struct ts_values values = {0};
        counter_values(&counter, &values);
        TS_GROW(space->problems, space->problem_count, capacity);
        space->problems[space->problem_count++] = values;
    } while (counter_step(&counter));
    counter_release(&counter);
}

static int fill_space(struct ts_space *space, const struct ts_selection *selection, bool yes,
                      struct ts_err *err)
{
    const struct ts_spec *spec = space->spec;
    struct collector collector = {.space = space, .yes = yes};
    struct axes axes = {0};
    size_t count = 0;
    size_t *order = select_variants(spec, selection, &count);
    int result = -1;
    if (take_sizes(space, selection, err) != 0 || choose_axes(spec, selection, &axes, err) != 0 ||
        check_total(space, &axes, order, count, yes, err) != 0)
        goto out;
    list_problems(space, &axes);
    result = 0;
    for (size_t p = 0; p < space->problem_count && result == 0; p++)
        for (size_t i = 0; i < count && result == 0; i++)
            result = collect_variant(&collector, &axes, p, order[i], err);
out:
    free(axes.problem);
    free(axes.params);
    free(order);
    return result;
}

struct ts_space *ts_space_open(const struct ts_spec *spec, const struct ts_selection *selection,
                               const struct ts_device *device, bool yes, struct ts_err *err)
{
    struct ts_space *space = ts_alloc(1, sizeof(*space));
    space->spec = spec;
    space->device = device;
    if (fill_space(space, selection, yes, err) == 0)
        return space;
    ts_space_close(space);
    return NULL;
}

/* ---- reference by variant ---- */

/* Steps the counter to the first combination that `where` admits at the size. */
static struct ts_config *first_admitted(const struct ts_space *space, struct counter *counter,
                                        size_t variant, size_t problem,
                                        const struct ts_values *size,
                                        const struct ts_device *device, struct ts_err *err)
{
    const struct ts_values *axes = &space->problems[problem];
    do {
        struct ts_config config = {.variant = variant, .problem = problem};
        const struct ts_scope scope = {space->spec, &config, axes, size, device};
        bool admitted = false;
        counter_values(counter, &config.params);
        int result = ts_scope_admits(&scope, &admitted, err);
        if (result == 0 && admitted) {
            config.options = build_options(&space->spec->variants[variant], axes, &config.params);
            struct ts_config *found = ts_alloc(1, sizeof(*found));
            *found = config;
            return found;
        }
        release_config(&config);
        if (result != 0)
            return NULL;
    } while (counter_step(counter));
    return NULL;
}

struct ts_config *ts_space_reference_config(const struct ts_space *space, size_t problem,
                                            const struct ts_values *size,
                                            const struct ts_device *device, struct ts_err *err)
{
    const struct ts_spec *spec = space->spec;
    size_t variant = 0;
    while (variant < spec->variant_count && spec->reference_variant &&
           strcmp(spec->variants[variant].name, spec->reference_variant) != 0)
        variant++;
    if (!spec->reference_variant || variant == spec->variant_count)
        return NULL;
    const struct ts_axis **axes = ts_alloc(spec->param_count, sizeof(*axes));
    for (size_t i = 0; i < spec->param_count; i++)
        axes[i] = &spec->params[i];
    const struct ts_variant *v = &spec->variants[variant];
    struct counter counter = counter_start(axes, v->params, v->param_count);
    struct ts_config *config = first_admitted(space, &counter, variant, problem, size, device, err);
    counter_release(&counter);
    free(axes);
    return config;
}
