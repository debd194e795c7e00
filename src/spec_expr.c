/* spec_expr.c: the expressions of a spec: compiled once, owned by the spec, every name checked. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "spec_read.h"

static const char size_prefix[] = "sizeof_";
static const char device_prefix[] = "DEVICE_";

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- messages ---- */

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Column (from 1) of the first place where name stands as a word of its own. */
static size_t column_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if ((at == text || !is_word_byte(at[-1])) && !is_word_byte(at[length]))
            return (size_t)(at - text) + 1;
    return 1;
}

static int name_error(const struct ts_spec *spec, const struct ts_expr *expr, const char *name,
                      struct ts_err *err, const char *text)
{
    return ts_err_set(err, TS_EXIT_USAGE, "%s: %s: column %zu: %s", spec->path,
                      ts_spec_place(spec, expr), column_of(ts_expr_text(expr), name), text);
}

/* Every name that a misspelt one may have meant; free() the array. Strings made here go to *made.
 */
static const char **known_names(const struct ts_spec *spec, unsigned scope, struct ts_values *made,
                                size_t *count)
{
#define X(field, type) "DEVICE_" #field,
    static const char *const facts[] = {
        TS_DEVICE_FIELDS(X) "DEVICE_MAX_WORK_ITEM_SIZES_0",
        "DEVICE_MAX_WORK_ITEM_SIZES_1",
        "DEVICE_MAX_WORK_ITEM_SIZES_2",
    };
#undef X
    size_t room = spec->size_name_count + spec->problem_count + spec->param_count + TS_COUNT(facts);
    const char **names = ts_alloc(room, sizeof(*names));
    size_t used = 0;
    for (size_t i = 0; i < spec->size_name_count; i++)
        names[used++] = spec->size_names[i];
    for (size_t i = 0; i < spec->problem_count + spec->param_count; i++) {
        bool problem = i < spec->problem_count;
        const struct ts_axis *axis =
            problem ? &spec->problem[i] : &spec->params[i - spec->problem_count];
        if (!problem && !(scope & TS_SCOPE_PARAMS))
            continue;
        char *name = ts_printf("%s%s", axis->words ? size_prefix : "", axis->name);
        ts_values_add(made, name, 0);
        names[used++] = made->items[made->count - 1].name;
        free(name);
    }
    for (size_t i = 0; scope & TS_SCOPE_DEVICE && i < TS_COUNT(facts); i++)
        names[used++] = facts[i];
    *count = used;
    return names;
}

static int unknown_name(const struct ts_spec *spec, const struct ts_expr *expr, const char *name,
                        unsigned scope, struct ts_err *err)
{
    struct ts_values made = {0};
    struct ts_text text = {0};
    size_t count;
    const char **names = known_names(spec, scope, &made, &count);
    ts_text_printf(&text, "unknown name \"%s\"", name);
    ts_nearest_add(name, names, count, &text);
    name_error(spec, expr, name, err, text.text);
    ts_text_free(&text);
    ts_values_free(&made);
    free(names);
    return -1;
}

/* ---- names ---- */

static size_t find_param(const struct ts_spec *spec, const char *name)
{
    size_t i = 0;
    while (i < spec->param_count && strcmp(spec->params[i].name, name) != 0)
        i++;
    return i;
}

/* The parameter that a name of an expression stands for (TX, sizeof_REAL), or param_count. */
static size_t param_of(const struct ts_spec *spec, const char *name)
{
    size_t index = find_param(spec, name);
    if (index == spec->param_count && starts_with(name, size_prefix))
        index = find_param(spec, name + sizeof(size_prefix) - 1);
    return index;
}

/* sizeof_REAL: an axis of words, all of them types. */
static bool sizes_types(const struct ts_axis *axis)
{
    for (size_t i = 0; axis->words && i < axis->count; i++)
        if (ts_type_bytes(axis->texts[i]) == 0)
            return false;
    return axis->words;
}

static bool is_size(const struct ts_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->size_name_count; i++)
        if (strcmp(spec->size_names[i], name) == 0)
            return true;
    return false;
}

static int check_name(const struct ts_spec *spec, const struct ts_expr *expr, const char *name,
                      unsigned scope, struct ts_err *err)
{
    int64_t ignored;
    if (is_size(spec, name))
        return 0;
    if (param_of(spec, name) < spec->param_count && !(scope & TS_SCOPE_PARAMS))
        return name_error(spec, expr, name, err,
                          "a parameter never changes the case; only the shape of kind \"scratch\" "
                          "may use one");
    const struct ts_axis *axis = ts_spec_axis(spec, name);
    if (axis && axis->words)
        return name_error(spec, expr, name, err,
                          "an axis of names has no value in an expression; where they are types, "
                          "sizeof_<axis> is their size in bytes");
    if (axis)
        return 0;
    if (starts_with(name, size_prefix)) {
        axis = ts_spec_axis(spec, name + sizeof(size_prefix) - 1);
        if (axis && !sizes_types(axis))
            return name_error(spec, expr, name, err, "not all values of that axis are types");
        if (axis)
            return 0;
    }
    if (starts_with(name, device_prefix) && !(scope & TS_SCOPE_DEVICE))
        return name_error(spec, expr, name, err, "a case is the same on every device");
    if (ts_device_fact(NULL, name, &ignored))
        return 0;
    return unknown_name(spec, expr, name, scope, err);
}

static bool lists(const struct ts_variant *variant, size_t param)
{
    for (size_t i = 0; i < variant->param_count; i++)
        if (variant->params[i] == param)
            return true;
    return false;
}

/* The first name of expr that is a parameter which the variant does not list, or NULL. */
static const char *unlisted(const struct ts_spec *spec, const struct ts_variant *variant,
                            const struct ts_expr *expr)
{
    size_t count;
    const char *const *names = ts_expr_names(expr, &count);
    for (size_t i = 0; i < count; i++) {
        size_t param = param_of(spec, names[i]);
        if (param < spec->param_count && !lists(variant, param))
            return names[i];
    }
    return NULL;
}

bool ts_variant_knows(const struct ts_spec *spec, const struct ts_variant *variant,
                      const struct ts_expr *expr)
{
    return !unlisted(spec, variant, expr);
}

int ts_spec_check_params(const struct ts_spec *spec, const struct ts_variant *variant,
                         const struct ts_expr *expr, struct ts_err *err)
{
    const char *name = expr ? unlisted(spec, variant, expr) : NULL;
    if (!name)
        return 0;
    char *text = ts_printf("\"%s\" is no parameter of variant \"%s\"; add it to the variant's "
                           "params or override the expression there",
                           spec->params[param_of(spec, name)].name, variant->name);
    name_error(spec, expr, name, err, text);
    free(text);
    return -1;
}

/* ---- compiling ---- */

const char *ts_spec_place(const struct ts_spec *spec, const struct ts_expr *expr)
{
    for (size_t i = 0; i < spec->expr_count; i++)
        if (spec->exprs[i].expr == expr)
            return spec->exprs[i].place;
    return "";
}

static int compile(struct ts_spec_reader *r, const struct ts_place *at, const char *text,
                   struct ts_expr **expr, struct ts_err *err)
{
    struct ts_spec *spec = r->spec;
    *expr = ts_expr_compile(text, err);
    if (!*expr)
        return ts_place_prepend(at, err);
    TS_GROW(spec->exprs, spec->expr_count, spec->expr_capacity);
    spec->exprs[spec->expr_count++] = (struct ts_spec_expr){*expr, ts_place_text(at)};
    return 0;
}

int ts_spec_expr(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *value,
                 unsigned scope, struct ts_expr **expr, struct ts_err *err)
{
    int64_t number;
    size_t count;
    if (value && ts_json_whole(value, &number)) {
        char *text = ts_printf("%lld", (long long)number);
        int result = compile(r, at, text, expr, err);
        free(text);
        return result;
    }
    if (!cJSON_IsString(value))
        return ts_place_expected(at, value, "an expression or a whole number", err);
    if (compile(r, at, value->valuestring, expr, err) != 0)
        return -1;
    const char *const *names = ts_expr_names(*expr, &count);
    for (size_t i = 0; i < count; i++)
        if (check_name(r->spec, *expr, names[i], scope, err) != 0)
            return -1;
    return 0;
}

int ts_spec_expr_list(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *value,
                      unsigned scope, struct ts_expr ***exprs, size_t *count, struct ts_err *err)
{
    size_t length = 0, i = 0;
    if (ts_place_list(at, value, &length, err) != 0)
        return -1;
    *exprs = ts_alloc(length, sizeof(**exprs));
    *count = length;
    for (const cJSON *item = value->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(at, i);
        if (ts_spec_expr(r, &place, item, scope, &(*exprs)[i], err) != 0)
            return -1;
    }
    return 0;
}
