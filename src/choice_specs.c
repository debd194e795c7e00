/* choice_specs.c: which specs a command works on, and that what its line selects exists in them. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "file.h"
#include "nearest.h"
#include "reference_spec.h"

bool ts_selection_restricts(const struct ts_selection *selection)
{
    return selection->set_count > 0 || selection->size_count > 0 || selection->variant_count > 0 ||
           selection->quick;
}

static int load_specs(char **names, size_t name_count, struct ts_spec ***specs, size_t *count,
                      struct ts_err *err)
{
    *specs = ts_alloc(name_count, sizeof(**specs));
    for (size_t i = 0; i < name_count; i++) {
        struct ts_spec *spec = (*specs)[i] = ts_spec_load(names[i], err);
        if (!spec)
            return -1;
        (*count)++;
        if (ts_reference_check(spec, err) < 0)
            return -1;
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(spec->name, (*specs)[j]->name))
                return ts_err_set(err, TS_EXIT_USAGE, "%s and %s have the same name \"%s\"",
                                  (*specs)[j]->path, spec->path, spec->name);
        }
    }
    return 0;
}

int ts_choose_specs(char **names, size_t name_count, struct ts_row_filter *filter,
                    const char *rows_file, struct ts_spec ***specs, size_t *count,
                    struct ts_err *err)
{
    size_t builtin_count = 0;
    int result;

    if (name_count > 0)
        return load_specs(names, name_count, specs, count, err);
    if (filter) {
        names = ts_row_filter_benchmarks(filter, &name_count);
        return load_specs(names, name_count, specs, count, err) == 0
                   ? 0
                   : ts_err_prepend(err,
                                    "--rows %s names benchmarks; give the SPEC of one that is not "
                                    "built in, too",
                                    rows_file);
    }
    names = ts_spec_builtins(&builtin_count, err);
    if (!names)
        return -1;
    result = load_specs(names, builtin_count, specs, count, err);
    for (size_t i = 0; i < builtin_count; i++)
        free(names[i]);
    free(names);
    return result;
}

/* "OPTION NAME: no such WHAT in laplacian, matmul; did you mean ...?" */
static int no_such(struct ts_spec *const *specs, size_t count, const char *option, const char *name,
                   const char *what, const char *const *known, size_t known_count,
                   struct ts_err *err)
{
    const char *near = ts_nearest(name, known, known_count);
    struct ts_text text = {0};

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(specs[i]->name, specs[i - 1]->name) != 0) /* `ab` may have one twice */
            ts_text_printf(&text, "%s%s", i > 0 ? ", " : "", specs[i]->name);
    }
    ts_err_set(err, TS_EXIT_USAGE, "%s %s: no such %s in %s%s%s%s", option, name, what, text.text,
               near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    ts_text_free(&text);
    return -1;
}

/* Names of all axes (or variants) of all specs; the names are borrowed, free the list. */
static const char **known_names(struct ts_spec *const *specs, size_t spec_count, bool variants,
                                size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;

    *count = 0;
    for (size_t i = 0; i < spec_count; i++) {
        const struct ts_spec *spec = specs[i];
        size_t n = variants ? spec->variant_count : spec->problem_count + spec->param_count;
        for (size_t j = 0; j < n; j++) {
            TS_GROW(names, *count, capacity);
            names[(*count)++] = variants ? spec->variants[j].name
                                : j < spec->problem_count
                                    ? spec->problem[j].name
                                    : spec->params[j - spec->problem_count].name;
        }
    }
    return names;
}

static bool is_known(const char *name, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(name, known[i]))
            return true;
    }
    return false;
}

int ts_choose_check(const struct ts_selection *selection, struct ts_spec *const *specs,
                    size_t count, struct ts_err *err)
{
    size_t axis_count, variant_count;
    const char **axes = known_names(specs, count, false, &axis_count);
    const char **variants = known_names(specs, count, true, &variant_count);
    int result = 0;

    for (size_t i = 0; i < selection->set_count && result == 0; i++) {
        const char *name = selection->sets[i].name;
        if (!is_known(name, axes, axis_count))
            result = no_such(specs, count, "-s", name, "axis", axes, axis_count, err);
    }
    for (size_t i = 0; i < selection->variant_count && result == 0; i++) {
        const char *name = selection->variants[i];
        if (!is_known(name, variants, variant_count))
            result =
                no_such(specs, count, "--variant", name, "variant", variants, variant_count, err);
    }
    free(axes);
    free(variants);
    return result;
}

struct inputs {
    char **files;
    size_t count, capacity;
};

static void add_input(struct inputs *inputs, const char *file)
{
    TS_GROW(inputs->files, inputs->count, inputs->capacity);
    inputs->files[inputs->count++] = ts_strdup(file);
}

static void add_spec_inputs(struct inputs *inputs, const struct ts_spec *spec)
{
    add_input(inputs, spec->path);
    for (size_t i = 0; i < spec->variant_count; i++)
        for (size_t k = 0; k < spec->variants[i].source.file_count; k++)
            add_input(inputs, spec->variants[i].source.files[k]);
}

int ts_choose_output(const char *output, struct ts_spec *const *specs, size_t count,
                     const char *rows_file, struct ts_err *err)
{
    struct inputs inputs = {0};
    int result;

    for (size_t i = 0; i < count; i++)
        add_spec_inputs(&inputs, specs[i]);
    if (rows_file)
        add_input(&inputs, rows_file);
    result = ts_file_check_output(output, inputs.files, inputs.count, err);
    for (size_t i = 0; i < inputs.count; i++)
        free(inputs.files[i]);
    free(inputs.files);
    return result;
}
