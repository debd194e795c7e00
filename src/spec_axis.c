/* spec_axis.c: axes and sizes, of a spec file and of the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec_read.h"

#define MAX_AXIS_VALUES 10000 /* keeps the search for repeated values cheap */

void ts_axis_free(struct ts_axis *axis)
{
    for (size_t i = 0; axis->texts && i < axis->count; i++)
        free(axis->texts[i]);
    free(axis->texts);
    free(axis->numbers);
    free(axis->name);
    *axis = (struct ts_axis){0};
}

int64_t ts_type_bytes(const char *name)
{
    /* OpenCL's vectors by their number of components; three are stored as four. */
    static const struct {
        const char *suffix;
        size_t elements;
    } vectors[] = {{"", 1}, {"2", 2}, {"3", 4}, {"4", 4}, {"8", 8}, {"16", 16}};
    for (size_t t = 0; t <= TS_ELEM_COUNT; t++) {
        const char *scalar = t < TS_ELEM_COUNT ? ts_elem_table[t].name : "half";
        size_t bytes = t < TS_ELEM_COUNT ? ts_elem_table[t].bytes : 2, length = strlen(scalar);
        if (strncmp(name, scalar, length) != 0)
            continue;
        for (size_t v = 0; v < TS_COUNT(vectors); v++)
            if (strcmp(name + length, vectors[v].suffix) == 0)
                return (int64_t)(bytes * vectors[v].elements);
    }
    return 0;
}

/* ---- names ---- */

const struct ts_axis *ts_spec_axis(const struct ts_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->problem_count; i++)
        if (strcmp(spec->problem[i].name, name) == 0)
            return &spec->problem[i];
    for (size_t i = 0; i < spec->param_count; i++)
        if (strcmp(spec->params[i].name, name) == 0)
            return &spec->params[i];
    return NULL;
}

static bool is_size_name(const struct ts_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->size_name_count; i++)
        if (strcmp(spec->size_names[i], name) == 0)
            return true;
    return false;
}

int ts_spec_check_name(const struct ts_spec *spec, const struct ts_place *at, const char *name,
                       struct ts_err *err)
{
    static const char *const reserved[] = {"DEVICE_", "VARIANT_"};
    if (!ts_is_name(name))
        return ts_place_error(at, err,
                              "expected a name made of letters, digits and _, not "
                              "starting with a digit");
    for (size_t i = 0; i < TS_COUNT(reserved); i++)
        if (strncmp(name, reserved[i], strlen(reserved[i])) == 0)
            return ts_place_error(at, err, "names that start with %s are reserved", reserved[i]);
    if (is_size_name(spec, name))
        return ts_place_error(at, err, "\"%s\" is the name of a size already", name);
    if (ts_spec_axis(spec, name))
        return ts_place_error(at, err, "\"%s\" is the name of an axis already", name);
    return 0;
}

/* ---- axes of a spec ---- */

/* Appends a value (word NULL: number); false when one of the first `among` values is the same. */
static bool append_new(struct ts_axis *axis, size_t *capacity, size_t among, int64_t number,
                       const char *word)
{
    for (size_t i = 0; i < among; i++)
        if (word ? strcmp(axis->texts[i], word) == 0 : axis->numbers[i] == number)
            return false;
    size_t room = *capacity; /* TS_GROW of whichever array is in use */
    if (word) {
        TS_GROW(axis->texts, axis->count, room);
        axis->texts[axis->count++] = ts_strdup(word);
    } else {
        TS_GROW(axis->numbers, axis->count, room);
        axis->numbers[axis->count++] = number;
    }
    *capacity = room;
    return true;
}

static int read_value(const struct ts_place *at, const cJSON *item, struct ts_axis *axis,
                      size_t *capacity, struct ts_err *err)
{
    int64_t number = 0;
    const char *word = cJSON_IsString(item) ? item->valuestring : NULL;
    if (!word && axis->words)
        return ts_place_expected(at, item, "a name, as the others are", err);
    if (word && !axis->words)
        return ts_place_expected(at, item, "a whole number", err);
    if (word && !ts_is_name(word))
        return ts_place_expected(at, item, "a name made of letters, digits and _", err);
    if (!word && ts_place_whole(at, item, INT64_MIN, INT64_MAX, &number, err) != 0)
        return -1;
    if (!append_new(axis, capacity, axis->count, number, word))
        return ts_place_error(at, err, "a value that the axis has already");
    return 0;
}

static int read_axis(const struct ts_place *at, const cJSON *list, struct ts_axis *axis,
                     struct ts_err *err)
{
    size_t count = 0, capacity = 0, i = 0;
    if (ts_place_filled(at, list, &count, err) != 0)
        return -1;
    if (count > MAX_AXIS_VALUES)
        return ts_place_error(at, err, "expected at most %d values, got %zu", MAX_AXIS_VALUES,
                              count);
    axis->words = cJSON_IsString(list->child);
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(at, i);
        if (read_value(&place, item, axis, &capacity, err) != 0)
            return -1;
    }
    return 0;
}

static struct ts_axis copy_axis(const struct ts_axis *from)
{
    struct ts_axis axis = {.name = ts_strdup(from->name), .words = from->words};
    size_t capacity = 0;
    for (size_t i = 0; i < from->count; i++)
        append_new(&axis, &capacity, 0, from->words ? 0 : from->numbers[i],
                   from->words ? from->texts[i] : NULL);
    return axis;
}

/* quick_params: the axes of `like`, those that the object names with its values. */
static int read_restricted(const struct ts_place *at, const cJSON *object,
                           const struct ts_axis *like, size_t count, struct ts_axis *axes,
                           struct ts_err *err)
{
    const char **names = ts_alloc(count, sizeof(*names));
    int result = 0;
    for (size_t i = 0; i < count; i++)
        names[i] = like[i].name;
    if (object)
        result = ts_place_keys(at, object, names, count, err);
    free(names);
    for (size_t i = 0; i < count && result == 0; i++) {
        const cJSON *list = ts_json_get(object, like[i].name);
        const struct ts_place place = ts_place_key(at, like[i].name);
        if (!list) {
            axes[i] = copy_axis(&like[i]);
            continue;
        }
        axes[i].name = ts_strdup(like[i].name);
        result = read_axis(&place, list, &axes[i], err);
        if (result == 0 && axes[i].words != like[i].words)
            result = ts_place_error(&place, err, "expected %s, as in params",
                                    like[i].words ? "names" : "whole numbers");
    }
    return result;
}

int ts_spec_read_axes(struct ts_spec_reader *r, const char *key, const struct ts_axis *like,
                      size_t like_count, struct ts_axis **axes, size_t *count, struct ts_err *err)
{
    TS_MEMBER(object, at, &r->root, r->document, key);
    if (like) {
        *axes = ts_alloc(like_count, sizeof(**axes));
        *count = like_count;
        return read_restricted(&at, object, like, like_count, *axes, err);
    }
    *count = 0;
    *axes = ts_alloc(object ? (size_t)cJSON_GetArraySize(object) : 0, sizeof(**axes));
    if (!object)
        return 0;
    if (ts_place_object(&at, object, err) != 0)
        return -1;
    for (const cJSON *item = object->child; item; item = item->next) {
        const struct ts_place place = ts_place_key(&at, item->string);
        if (ts_spec_check_name(r->spec, &place, item->string, err) != 0)
            return -1;
        struct ts_axis *axis = &(*axes)[(*count)++];
        axis->name = ts_strdup(item->string);
        if (read_axis(&place, item, axis, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- sizes of a spec ---- */

/* The first tuple: its keys are the names. */
static int read_size_names(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *object,
                           struct ts_err *err)
{
    struct ts_spec *spec = r->spec;
    if (ts_place_object(at, object, err) != 0)
        return -1;
    if (!object->child)
        return ts_place_error(at, err, "expected at least one name");
    spec->size_names = ts_alloc((size_t)cJSON_GetArraySize(object), sizeof(*spec->size_names));
    for (const cJSON *item = object->child; item; item = item->next) {
        const struct ts_place place = ts_place_key(at, item->string);
        if (ts_spec_check_name(spec, &place, item->string, err) != 0)
            return -1;
        spec->size_names[spec->size_name_count++] = ts_strdup(item->string);
    }
    return 0;
}

/* Every tuple has the names of the first one; the message tells them, since it may be the first one
 * that lacks a name. */
static int check_size_names(const struct ts_spec *spec, const struct ts_place *at,
                            const cJSON *object, struct ts_err *err)
{
    struct ts_text names = {0};
    int result = ts_place_object(at, object, err);
    for (size_t i = 0; i < spec->size_name_count; i++)
        ts_text_printf(&names, "%s%s", i ? ", " : "", spec->size_names[i]);
    for (const cJSON *item = object ? object->child : NULL; item && result == 0; item = item->next)
        if (!is_size_name(spec, item->string))
            result = ts_place_error(at, err, "\"%s\" is no name of sizes[0], which has %s",
                                    item->string, names.text);
    for (size_t i = 0; i < spec->size_name_count && result == 0; i++)
        if (!ts_json_get(object, spec->size_names[i]))
            result = ts_place_error(at, err, "\"%s\" is missing; sizes[0] has %s",
                                    spec->size_names[i], names.text);
    ts_text_free(&names);
    return result;
}

static int read_size(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *object,
                     struct ts_values *size, struct ts_err *err)
{
    const struct ts_spec *spec = r->spec;
    if (!spec->size_names && read_size_names(r, at, object, err) != 0)
        return -1;
    if (check_size_names(spec, at, object, err) != 0)
        return -1;
    for (size_t i = 0; i < spec->size_name_count; i++) {
        int64_t number;
        TS_MEMBER(value, place, at, object, spec->size_names[i]);
        if (ts_place_whole(&place, value, 1, INT64_MAX, &number, err) != 0)
            return -1;
        ts_values_add(size, spec->size_names[i], number);
    }
    return 0;
}

int ts_spec_read_sizes(struct ts_spec_reader *r, const char *key, struct ts_sizes *sizes,
                       struct ts_err *err)
{
    size_t length = 0, i = 0;
    TS_MEMBER(list, at, &r->root, r->document, key);
    if (ts_place_filled(&at, list, &length, err) != 0)
        return -1;
    if (length > MAX_AXIS_VALUES)
        return ts_place_error(&at, err, "expected at most %d sizes, got %zu", MAX_AXIS_VALUES,
                              length);
    sizes->items = ts_alloc(length, sizeof(*sizes->items));
    sizes->count = length;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_size(r, &place, item, &sizes->items[i], err) != 0)
            return -1;
        for (size_t before = 0; before < i; before++)
            if (ts_values_equal(&sizes->items[before], &sizes->items[i]))
                return ts_place_error(&place, err, "the same as %s[%zu]", key, before);
    }
    return 0;
}

/* ---- the command line ---- */

/* One whole number of the piece text[0..length). */
static bool parse_whole(const char *text, size_t length, int64_t *out)
{
    char *piece = ts_strndup(text, length), *end;
    errno = 0;
    long long number = strtoll(piece, &end, 10);
    bool good = length > 0 && *end == '\0' && errno == 0 &&
                (piece[0] == '-' || (piece[0] >= '0' && piece[0] <= '9'));
    free(piece);
    *out = number;
    return good && number >= -TS_JSON_EXACT && number <= TS_JSON_EXACT;
}

/* first:last[:step], step "8" adds, "x2" multiplies. */
struct range {
    int64_t first, last, step;
    bool factor;
};

static bool parse_range(const char *text, size_t length, struct range *range)
{
    const char *end = text + length, *colon = memchr(text, ':', length);
    const char *second = memchr(colon + 1, ':', (size_t)(end - colon - 1));
    const char *last_end = second ? second : end;
    range->step = 1;
    if (!parse_whole(text, (size_t)(colon - text), &range->first) ||
        !parse_whole(colon + 1, (size_t)(last_end - colon - 1), &range->last))
        return false;
    if (!second)
        return true;
    const char *step = second + 1;
    range->factor = step < end && *step == 'x';
    step += range->factor;
    return parse_whole(step, (size_t)(end - step), &range->step);
}

static int axis_error(const char *text, struct ts_err *err, const char *what)
{
    return ts_err_set(err, TS_EXIT_USAGE, "%s: %s", text, what);
}

static int append_range(struct ts_axis *axis, size_t *capacity, const struct range *range,
                        const char *whole, struct ts_err *err)
{
    if (range->last < range->first)
        return axis_error(whole, err, "a range must not end below its start");
    if (range->factor ? range->step < 2 || range->first < 1 : range->step < 1)
        return axis_error(whole, err,
                          range->factor
                              ? "expected a start of at least 1 and a factor of at least 2"
                              : "expected a step of at least 1");
    size_t before = axis->count; /* a range itself has no value twice */
    for (int64_t value = range->first;;) {
        if (axis->count == MAX_AXIS_VALUES)
            return axis_error(whole, err, "more than 10000 values");
        if (!append_new(axis, capacity, before, value, NULL))
            return axis_error(whole, err, "the same value twice");
        if (range->factor ? value > range->last / range->step : value > range->last - range->step)
            return 0;
        value = range->factor ? value * range->step : value + range->step;
    }
}

static int parse_piece(struct ts_axis *axis, size_t *capacity, const char *piece, size_t length,
                       const char *whole, struct ts_err *err)
{
    struct range range = {0};
    int64_t number = 0;
    char *word = ts_strndup(piece, length);
    bool is_word = ts_is_name(word);
    int result = 0;
    if (axis->count == 0)
        axis->words = is_word;
    if (is_word != axis->words)
        result = axis_error(whole, err, "expected all numbers or all names");
    else if (!is_word && memchr(piece, ':', length))
        result = parse_range(piece, length, &range)
                     ? append_range(axis, capacity, &range, whole, err)
                     : axis_error(whole, err, "expected FIRST:LAST:STEP or FIRST:LAST:xFACTOR");
    else if (!is_word && !parse_whole(piece, length, &number))
        result = axis_error(whole, err, "expected NAME=VALUE,... with whole numbers or names");
    else if (axis->count == MAX_AXIS_VALUES)
        result = axis_error(whole, err, "more than 10000 values");
    else if (!append_new(axis, capacity, axis->count, number, is_word ? word : NULL))
        result = axis_error(whole, err, "the same value twice");
    free(word);
    return result;
}

int ts_axis_parse(struct ts_axis *axis, const char *text, struct ts_err *err)
{
    const char *equals = strchr(text, '=');
    size_t capacity = 0;
    *axis = (struct ts_axis){0};
    if (equals)
        axis->name = ts_strndup(text, (size_t)(equals - text));
    int result = equals && ts_is_name(axis->name)
                     ? 0
                     : axis_error(text, err, "expected NAME=VALUE,... (TX=8,16 or TX=8:64:8)");
    for (const char *piece = equals; piece && result == 0;) {
        piece++; /* past '=' or ',' */
        size_t length = strcspn(piece, ",");
        result = parse_piece(axis, &capacity, piece, length, text, err);
        piece = piece[length] ? piece + length : NULL;
    }
    if (result != 0)
        ts_axis_free(axis);
    return result;
}

/* "W=4096" of a size; the piece's end is at length. */
static bool parse_size_piece(struct ts_values *size, const char *piece, size_t length)
{
    const char *equals = memchr(piece, '=', length);
    int64_t number;
    if (!equals)
        return false;
    char *name = ts_strndup(piece, (size_t)(equals - piece));
    bool good = ts_is_name(name) && !ts_values_find(size, name) &&
                parse_whole(equals + 1, length - (size_t)(equals + 1 - piece), &number) &&
                number >= 1;
    if (good)
        ts_values_add(size, name, number);
    free(name);
    return good;
}

int ts_size_parse(struct ts_values *size, const char *text, struct ts_err *err)
{
    *size = (struct ts_values){0};
    for (const char *piece = text; piece;) {
        size_t length = strcspn(piece, ",");
        if (!parse_size_piece(size, piece, length)) {
            ts_values_free(size);
            return axis_error(
                text, err, "expected NAME=NUMBER,... with numbers of at least 1 (W=4096,H=4096)");
        }
        piece = piece[length] ? piece + length + 1 : NULL;
    }
    return 0;
}
