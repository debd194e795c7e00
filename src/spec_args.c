/* spec_args.c: the arguments of kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec_read.h"

#define MAX_DIMS 4

/* What each kind has beside name: one row a kind. */
static const struct kind {
    const char *name;
    bool shape, fill, value, bytes;
} kinds[] = {
    [TS_ARG_IN] = {"in", .shape = true, .fill = true},
    [TS_ARG_OUT] = {"out", .shape = true},
    [TS_ARG_INOUT] = {"inout", .shape = true, .fill = true},
    [TS_ARG_SCRATCH] = {"scratch", .shape = true},
    [TS_ARG_SCALAR] = {"scalar", .value = true},
    [TS_ARG_LOCAL] = {"local", .bytes = true},
};

const char *ts_arg_kind_name(enum ts_arg_kind kind)
{
    return kinds[kind].name;
}

bool ts_arg_kind_by_name(const char *name, enum ts_arg_kind *out)
{
    for (size_t i = 0; i < TS_COUNT(kinds); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *out = (enum ts_arg_kind)i;
            return true;
        }
    }
    return false;
}

/* ---- memory ---- */

void ts_spec_free_args(struct ts_arg *args, size_t count)
{
    for (size_t i = 0; args && i < count; i++) {
        free(args[i].name);
        free(args[i].type_axis);
        free(args[i].shape); /* the expressions are the spec's */
    }
    free(args);
}

static struct ts_arg copy_arg(const struct ts_arg *from)
{
    struct ts_arg arg = *from;
    arg.name = ts_strdup(from->name);
    arg.type_axis = from->type_axis ? ts_strdup(from->type_axis) : NULL;
    if (from->shape) {
        arg.shape = ts_alloc(from->dims, sizeof(struct ts_expr *));
        memcpy(arg.shape, from->shape, from->dims * sizeof(struct ts_expr *));
    }
    return arg;
}

struct ts_arg *ts_spec_copy_args(const struct ts_arg *args, size_t count)
{
    struct ts_arg *copy = ts_alloc(count, sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        copy[i] = copy_arg(&args[i]);
    return copy;
}

size_t ts_spec_find_arg(const struct ts_arg *args, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(args[i].name, name) != 0)
        i++;
    return i;
}

/* ---- kind, type ---- */

/* "unknown kind "inn"; did you mean "in"?" */
static int unknown_word(const struct ts_place *at, const char *what, const char *word,
                        const char *const *known, size_t count, struct ts_err *err)
{
    struct ts_text text = {0};
    ts_text_printf(&text, "unknown %s \"%s\"", what, word);
    ts_nearest_add(word, known, count, &text);
    ts_place_error(at, err, "%s", text.text);
    ts_text_free(&text);
    return -1;
}

static int read_kind(const struct ts_place *up, const cJSON *object, struct ts_arg *arg,
                     struct ts_err *err)
{
    const char *word;
    TS_MEMBER(value, at, up, object, "kind");
    if (ts_place_string(&at, value, &word, err) != 0)
        return -1;
    if (ts_arg_kind_by_name(word, &arg->kind))
        return 0;
    /* All of them rather than the nearest: "input" is nearest to "inout", but means "in". */
    struct ts_text all = {0};
    for (size_t i = 0; i < TS_COUNT(kinds); i++)
        ts_text_printf(&all, "%s%s",
                       i == 0                    ? ""
                       : i + 1 < TS_COUNT(kinds) ? ", "
                                                 : " or ",
                       kinds[i].name);
    ts_place_error(&at, err, "unknown kind \"%s\"; expected %s", word, all.text);
    ts_text_free(&all);
    return -1;
}

static const struct ts_axis *problem_axis(const struct ts_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->problem_count; i++)
        if (strcmp(spec->problem[i].name, name) == 0)
            return &spec->problem[i];
    return NULL;
}

/* A type's name, or a problem axis all of whose values are types. */
static int read_type(const struct ts_spec *spec, const struct ts_place *up, const cJSON *object,
                     struct ts_arg *arg, struct ts_err *err)
{
    const char *word, *known[TS_ELEM_COUNT];
    TS_MEMBER(value, at, up, object, "type");
    if (!value && arg->kind == TS_ARG_LOCAL)
        return 0; /* its bytes say all */
    if (ts_place_string(&at, value, &word, err) != 0)
        return -1;
    if (ts_elem_by_name(word, &arg->type))
        return 0;
    const struct ts_axis *axis = problem_axis(spec, word);
    for (size_t i = 0; i < TS_ELEM_COUNT; i++)
        known[i] = ts_elem_table[i].name;
    if (!axis)
        return unknown_word(&at, "type", word, known, TS_ELEM_COUNT, err);
    for (size_t i = 0; i < axis->count; i++) {
        enum ts_elem ignored;
        if (!axis->words || !ts_elem_by_name(axis->texts[i], &ignored))
            return ts_place_error(&at, err, "not all values of the axis \"%s\" are types", word);
    }
    arg->type_axis = ts_strdup(word);
    return 0;
}

/* ---- fill ---- */

static int read_range(const struct ts_place *at, const cJSON *pair, struct ts_fill *fill,
                      struct ts_err *err)
{
    const struct ts_place low = ts_place_item(at, 0), high = ts_place_item(at, 1);
    if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2)
        return ts_place_expected(at, pair, "[low, high]", err);
    if (ts_place_real(&low, pair->child, &fill->low, err) != 0 ||
        ts_place_real(&high, pair->child->next, &fill->high, err) != 0)
        return -1;
    if (fill->low >= fill->high)
        return ts_place_error(at, err, "expected low below high");
    fill->kind = TS_FILL_RANDOM;
    return 0;
}

static int read_fill_object(const struct ts_place *at, const cJSON *object, struct ts_fill *fill,
                            struct ts_err *err)
{
    static const char *const keys[] = {"random", "file"};
    if (ts_place_keys(at, object, keys, TS_COUNT(keys), err) != 0)
        return -1;
    if (ts_json_get(object, "file"))
        return ts_place_error(at, err,
                              "kind \"file\" is not supported by this version; use \"random\", "
                              "\"zero\", \"index\" or a number");
    TS_MEMBER(pair, place, at, object, "random");
    return read_range(&place, pair, fill, err);
}

static int read_fill(const struct ts_place *up, const cJSON *object, struct ts_fill *fill,
                     struct ts_err *err)
{
    static const char choices[] =
        "\"random\", {\"random\": [low, high]}, \"zero\", \"index\" or a number";
    TS_MEMBER(value, at, up, object, "fill");
    *fill = (struct ts_fill){TS_FILL_RANDOM, 0, 1};
    if (!value)
        return 0;
    if (cJSON_IsNumber(value)) {
        fill->kind = TS_FILL_NUMBER;
        return ts_place_real(&at, value, &fill->low, err);
    }
    if (cJSON_IsObject(value))
        return read_fill_object(&at, value, fill, err);
    if (!cJSON_IsString(value))
        return ts_place_expected(&at, value, choices, err);
    if (strcmp(value->valuestring, "random") == 0)
        return 0;
    fill->kind = strcmp(value->valuestring, "zero") == 0 ? TS_FILL_ZERO : TS_FILL_INDEX;
    if (fill->kind == TS_FILL_INDEX && strcmp(value->valuestring, "index") != 0)
        return ts_place_error(&at, err, "unknown fill \"%s\"; expected %s", value->valuestring,
                              choices);
    return 0;
}

/* ---- one argument ---- */

static int read_scalar(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                       struct ts_arg *arg, struct ts_err *err)
{
    int64_t whole;
    TS_MEMBER(value, at, up, object, "value");
    if (!cJSON_IsNumber(value))
        return ts_spec_expr(r, &at, value, TS_SCOPE_ALL, &arg->value, err);
    if (!arg->type_axis && !ts_elem_table[arg->type].real && !ts_json_whole(value, &whole))
        return ts_place_expected(&at, value, "a whole number, as the type is", err);
    return ts_place_real(&at, value, &arg->real_value, err);
}

static int read_shape(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                      struct ts_arg *arg, struct ts_err *err)
{
    TS_MEMBER(value, at, up, object, "shape");
    if (ts_place_filled(&at, value, &arg->dims, err) != 0)
        return -1;
    if (arg->dims > MAX_DIMS)
        return ts_place_error(&at, err, "expected at most %d dimensions, got %zu", MAX_DIMS,
                              arg->dims);
    return ts_spec_expr_list(r, &at, value, arg->kind == TS_ARG_SCRATCH ? TS_SCOPE_ALL : 0,
                             &arg->shape, &arg->dims, err);
}

/* A known key that this kind does not have. */
static int check_keys_of_kind(const struct ts_place *up, const cJSON *object,
                              const struct kind *kind, struct ts_err *err)
{
    const struct {
        const char *key;
        bool allowed;
    } keys[] = {{"shape", kind->shape},
                {"fill", kind->fill},
                {"value", kind->value},
                {"bytes", kind->bytes}};
    for (size_t i = 0; i < TS_COUNT(keys); i++) {
        const struct ts_place at = ts_place_key(up, keys[i].key);
        if (ts_json_get(object, keys[i].key) && !keys[i].allowed)
            return ts_place_error(&at, err, "an argument of kind \"%s\" has none", kind->name);
    }
    return 0;
}

static int read_arg(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *object,
                    struct ts_arg *arg, struct ts_err *err)
{
    static const char *const keys[] = {"name", "kind", "type", "shape", "fill", "value", "bytes"};
    const char *name;
    if (ts_place_keys(at, object, keys, TS_COUNT(keys), err) != 0)
        return -1;
    TS_MEMBER(value, name_at, at, object, "name");
    if (ts_place_string(&name_at, value, &name, err) != 0)
        return -1;
    if (!ts_is_name(name))
        return ts_place_expected(&name_at, value, "a name made of letters, digits and _", err);
    arg->name = ts_strdup(name);
    if (read_kind(at, object, arg, err) != 0)
        return -1;
    const struct kind *kind = &kinds[arg->kind];
    if (check_keys_of_kind(at, object, kind, err) != 0 ||
        read_type(r->spec, at, object, arg, err) != 0)
        return -1;
    if (kind->shape && read_shape(r, at, object, arg, err) != 0)
        return -1;
    if (kind->fill && read_fill(at, object, &arg->fill, err) != 0)
        return -1;
    if (kind->value)
        return read_scalar(r, at, object, arg, err);
    TS_MEMBER(bytes, bytes_at, at, object, "bytes");
    return kind->bytes ? ts_spec_expr(r, &bytes_at, bytes, TS_SCOPE_ALL, &arg->bytes, err) : 0;
}

/* ---- lists ---- */

/* An element of a variant's list that names one of the spec's arguments. */
static int inherit_arg(struct ts_spec_reader *r, const struct ts_place *at, const char *name,
                       struct ts_arg *arg, struct ts_err *err)
{
    size_t index = ts_spec_find_arg(r->args, r->arg_count, name);
    if (index < r->arg_count) {
        *arg = copy_arg(&r->args[index]);
        return 0;
    }
    const char **known = ts_alloc(r->arg_count, sizeof(*known));
    for (size_t i = 0; i < r->arg_count; i++)
        known[i] = r->args[i].name;
    unknown_word(at, "argument", name, known, r->arg_count, err);
    free(known);
    return -1;
}

static int check_outputs(const struct ts_place *at, const struct ts_arg *args, size_t count,
                         struct ts_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == TS_ARG_OUT || args[i].kind == TS_ARG_INOUT)
            return 0;
    return ts_place_error(at, err, "no argument of kind \"out\" or \"inout\": nothing to prove");
}

int ts_spec_read_args(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *list,
                      struct ts_arg **args, size_t *count, struct ts_err *err)
{
    size_t length = 0, i = 0;
    if (ts_place_filled(at, list, &length, err) != 0)
        return -1;
    *args = ts_alloc(length, sizeof(**args));
    *count = length;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(at, i);
        struct ts_arg *arg = &(*args)[i];
        int result = r->args && cJSON_IsString(item)
                         ? inherit_arg(r, &place, item->valuestring, arg, err)
                         : read_arg(r, &place, item, arg, err);
        if (result != 0)
            return -1;
        if (ts_spec_find_arg(*args, i, arg->name) < i)
            return ts_place_error(&place, err, "a second argument \"%s\"", arg->name);
    }
    return check_outputs(at, *args, *count, err);
}
