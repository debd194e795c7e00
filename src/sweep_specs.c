/* sweep_specs.c: which specs a sweep runs, and that what the command line selects exists in them.
 */
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "reference_spec.h"
#include "sweep_private.h"

static int load_specs(struct sweep *s, char **names, size_t count, struct ts_err *err)
{
    s->specs = ts_alloc(count, sizeof(*s->specs));
    for (size_t i = 0; i < count; i++) {
        s->specs[i] = ts_spec_load(names[i], err);
        if (!s->specs[i])
            return -1;
        s->spec_count++;
        if (ts_reference_check(s->specs[i], err) < 0)
            return -1;
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(s->specs[i]->name, s->specs[j]->name))
                return ts_err_set(err, TS_EXIT_USAGE, "%s and %s have the same name \"%s\"",
                                  s->specs[j]->path, s->specs[i]->path, s->specs[i]->name);
        }
    }
    return 0;
}

/* The SPECs of the command line, of --rows, or the built-in ones. */
int ts_sweep_choose_specs(struct sweep *s, struct ts_err *err)
{
    const struct ts_sweep_options *o = s->options;
    char **names = NULL;
    size_t count = 0;
    int result;

    if (o->spec_count > 0)
        return load_specs(s, o->specs, o->spec_count, err);
    if (s->filter) {
        names = ts_row_filter_benchmarks(s->filter, &count);
        return load_specs(s, names, count, err) == 0
                   ? 0
                   : ts_err_prepend(err,
                                    "--rows %s names benchmarks; give the SPEC of one that is not "
                                    "built in, too",
                                    o->rows_file);
    }
    names = ts_spec_builtins(&count, err);
    if (!names)
        return -1;
    result = load_specs(s, names, count, err);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return result;
}

/* "OPTION NAME: no such WHAT in laplacian, matmul; did you mean ...?" */
static int no_such(const struct sweep *s, const char *option, const char *name, const char *what,
                   const char *const *known, size_t known_count, struct ts_err *err)
{
    const char *near = ts_nearest(name, known, known_count);
    struct ts_text text = {0};

    for (size_t i = 0; i < s->spec_count; i++)
        ts_text_printf(&text, "%s%s", i > 0 ? ", " : "", s->specs[i]->name);
    ts_err_set(err, TS_EXIT_USAGE, "%s %s: no such %s in %s%s%s%s", option, name, what, text.text,
               near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    ts_text_free(&text);
    return -1;
}

/* Names of all axes (or variants) of all specs; the names are borrowed, free the list. */
static const char **known_names(const struct sweep *s, bool variants, size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;

    *count = 0;
    for (size_t i = 0; i < s->spec_count; i++) {
        const struct ts_spec *spec = s->specs[i];
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

/* A name that no spec has is a slip of the pen; one that only some have restricts those. */
int ts_sweep_check_selection(const struct sweep *s, struct ts_err *err)
{
    const struct ts_selection *selection = &s->options->selection;
    size_t axis_count, variant_count;
    const char **axes = known_names(s, false, &axis_count);
    const char **variants = known_names(s, true, &variant_count);
    int result = 0;

    for (size_t i = 0; i < selection->set_count && result == 0; i++) {
        const char *name = selection->sets[i].name;
        if (!is_known(name, axes, axis_count))
            result = no_such(s, "-s", name, "axis", axes, axis_count, err);
    }
    for (size_t i = 0; i < selection->variant_count && result == 0; i++) {
        const char *name = selection->variants[i];
        if (!is_known(name, variants, variant_count))
            result = no_such(s, "--variant", name, "variant", variants, variant_count, err);
    }
    free(axes);
    free(variants);
    return result;
}
