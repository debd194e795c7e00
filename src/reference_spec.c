/* reference_spec.c: see reference_spec.h. */
#include "reference_spec.h"

#include <stdlib.h>
#include <string.h>

#include "reference.h"

static size_t length_of(const char *const *names)
{
    size_t count = 0;
    while (names && names[count])
        count++;
    return count;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* `FILE: <text>; did you mean "x"?`; text is released. */
static int say(const struct ts_spec *spec, char *text, const char *name, const char *const *known,
               size_t count, struct ts_err *err)
{
    struct ts_text hint = {0};
    ts_text_puts(&hint, "");
    ts_nearest_add(name, known, count, &hint);
    ts_err_set(err, TS_EXIT_USAGE, "%s: %s%s", spec->path, text, hint.text);
    ts_text_free(&hint);
    free(text);
    return -1;
}

static int unknown_reference(const struct ts_spec *spec, struct ts_err *err)
{
    const char **names = ts_alloc(ts_reference_count, sizeof(*names));
    struct ts_text text = {0};
    ts_text_printf(&text,
                   "reference: no built-in reference \"%s\" (built in:", spec->reference_name);
    for (size_t i = 0; i < ts_reference_count; i++) {
        names[i] = ts_reference_table[i]->name;
        ts_text_printf(&text, "%s %s", i ? "," : "", names[i]);
    }
    ts_text_puts(&text, ")");
    say(spec, text.text, spec->reference_name, names, ts_reference_count, err);
    free(names);
    return -1;
}

static int check_sizes(const struct ts_spec *spec, const struct ts_reference *reference,
                       struct ts_err *err)
{
    const char *const *have = (const char *const *)spec->size_names;
    for (size_t i = 0; i < length_of(reference->sizes); i++) {
        const char *name = reference->sizes[i];
        if (!is_among(name, have, spec->size_name_count))
            return say(spec,
                       ts_printf("sizes: reference \"%s\" reads \"%s\", which is no size here",
                                 reference->name, name),
                       name, have, spec->size_name_count, err);
    }
    return 0;
}

/* Which axes a reference can do without is its own affair, and an axis that it does not read may be
 * meant so (REAL). But one that is nearly named like an axis that it misses is a slip of the pen.
 */
static int check_problem(const struct ts_spec *spec, const struct ts_reference *reference,
                         struct ts_err *err)
{
    size_t count = length_of(reference->problem), missing = 0;
    const char **lacking = ts_alloc(count, sizeof(*lacking));
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ts_axis *axis = ts_spec_axis(spec, reference->problem[i]);
        if (!axis)
            lacking[missing++] = reference->problem[i];
    }
    for (size_t i = 0; i < spec->problem_count && result == 0; i++) {
        const char *name = spec->problem[i].name;
        if (!is_among(name, reference->problem, count) && ts_nearest(name, lacking, missing))
            result = say(spec,
                         ts_printf("problem.%s: reference \"%s\" does not read this axis", name,
                                   reference->name),
                         name, lacking, missing, err);
    }
    free(lacking);
    return result;
}

static bool is_output(const struct ts_arg *arg)
{
    return arg->kind == TS_ARG_OUT || arg->kind == TS_ARG_INOUT;
}

static bool is_input(const struct ts_arg *arg)
{
    return arg->kind == TS_ARG_IN || arg->kind == TS_ARG_INOUT || arg->kind == TS_ARG_SCALAR;
}

/* Every name of the reference is an argument of the right side. */
static int check_names(const struct ts_spec *spec, const struct ts_variant *variant,
                       const struct ts_reference *reference, bool outputs, struct ts_err *err)
{
    const char *const *names = outputs ? reference->outputs : reference->inputs;
    const char **have = ts_alloc(variant->arg_count, sizeof(*have));
    size_t count = 0;
    int result = 0;
    for (size_t i = 0; i < variant->arg_count; i++)
        if (outputs ? is_output(&variant->args[i]) : is_input(&variant->args[i]))
            have[count++] = variant->args[i].name;
    for (size_t i = 0; i < length_of(names) && result == 0; i++)
        if (!is_among(names[i], have, count))
            result = say(spec,
                         ts_printf("reference \"%s\" %s \"%s\", which is no argument of kind %s of "
                                   "variant \"%s\"",
                                   reference->name, outputs ? "computes" : "reads", names[i],
                                   outputs ? "out or inout" : "in, inout or scalar", variant->name),
                         names[i], have, count, err);
    free(have);
    return result;
}

/* No output that nobody could prove. */
static int check_outputs(const struct ts_spec *spec, const struct ts_variant *variant,
                         const struct ts_reference *reference, struct ts_err *err)
{
    size_t count = length_of(reference->outputs);
    for (size_t i = 0; i < variant->arg_count; i++) {
        const char *name = variant->args[i].name;
        if (variant->args[i].kind == TS_ARG_OUT && !is_among(name, reference->outputs, count))
            return say(spec,
                       ts_printf("variant \"%s\" has an output \"%s\", which reference \"%s\" does "
                                 "not compute",
                                 variant->name, name, reference->name),
                       name, reference->outputs, count, err);
    }
    return 0;
}

int ts_reference_check(const struct ts_spec *spec, struct ts_err *err)
{
    if (!spec->reference_name)
        return 0;
    const struct ts_reference *reference = ts_reference_find(spec->reference_name);
    if (!reference)
        return unknown_reference(spec, err);
    if (check_sizes(spec, reference, err) != 0 || check_problem(spec, reference, err) != 0)
        return -1;
    for (size_t i = 0; i < spec->variant_count; i++) {
        const struct ts_variant *variant = &spec->variants[i];
        if (check_names(spec, variant, reference, true, err) != 0 ||
            check_names(spec, variant, reference, false, err) != 0 ||
            check_outputs(spec, variant, reference, err) != 0)
            return -1;
    }
    return 0;
}
