/* place.c: see place.h. */
#include "place.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

/* ---- messages ---- */

static void print_place(const struct ts_place *at, struct ts_text *out)
{
    if (!at->up) {
        ts_text_puts(out, at->key);
        return;
    }
    print_place(at->up, out);
    if (!at->key)
        ts_text_printf(out, "[%zu]", at->index);
    else
        ts_text_printf(out, "%s%s", at->up->up ? "." : ": ", at->key);
}

char *ts_place_text(const struct ts_place *at)
{
    struct ts_text whole = {0};
    const struct ts_place *top = at;
    while (top->up)
        top = top->up;
    print_place(at, &whole);
    size_t skip = strlen(top->key) + (at->up ? 2 : 0); /* "FILE: " */
    char *text = ts_strdup(whole.text + skip);
    ts_text_free(&whole);
    return text;
}

int ts_place_prepend(const struct ts_place *at, struct ts_err *err)
{
    struct ts_text place = {0};
    print_place(at, &place);
    ts_err_prepend(err, "%s", place.text);
    ts_text_free(&place);
    return -1;
}

int ts_place_error(const struct ts_place *at, struct ts_err *err, const char *format, ...)
{
    char message[sizeof(err->text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    ts_err_set(err, TS_EXIT_USAGE, "%s", message);
    return ts_place_prepend(at, err);
}

/* The value in a few words; free() it. */
static char *describe(const cJSON *value)
{
    if (cJSON_IsNull(value))
        return ts_strdup("null");
    if (cJSON_IsBool(value))
        return ts_strdup(cJSON_IsTrue(value) ? "true" : "false");
    if (cJSON_IsNumber(value))
        return ts_json_print(value);
    if (cJSON_IsString(value)) {
        char *clean = ts_utf8_clean(value->valuestring, strlen(value->valuestring), 0);
        char *text = strlen(clean) > 60 ? ts_printf("a text of %zu bytes", strlen(clean))
                                        : ts_printf("\"%s\"", clean);
        free(clean);
        return text;
    }
    if (cJSON_IsArray(value))
        return ts_strdup(cJSON_GetArraySize(value) ? "a list" : "an empty list");
    return ts_strdup("an object");
}

int ts_place_expected(const struct ts_place *at, const cJSON *value, const char *what,
                      struct ts_err *err)
{
    if (!value)
        return ts_place_error(at, err, "missing; expected %s", what);
    char *got = describe(value);
    ts_place_error(at, err, "expected %s, got %s", what, got);
    free(got);
    return -1;
}

/* ---- typed reading ---- */

int ts_place_object(const struct ts_place *at, const cJSON *value, struct ts_err *err)
{
    return cJSON_IsObject(value) ? 0 : ts_place_expected(at, value, "an object", err);
}

static bool is_among(const char *word, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return false;
}

int ts_place_keys(const struct ts_place *at, const cJSON *value, const char *const *known,
                  size_t count, struct ts_err *err)
{
    if (ts_place_object(at, value, err) != 0)
        return -1;
    for (const cJSON *item = value->child; item; item = item->next) {
        if (is_among(item->string, known, count))
            continue;
        struct ts_text hint = {0};
        ts_text_puts(&hint, "unknown key");
        ts_nearest_add(item->string, known, count, &hint);
        const struct ts_place place = ts_place_key(at, item->string);
        ts_place_error(&place, err, "%s", hint.text);
        ts_text_free(&hint);
        return -1;
    }
    return 0;
}

int ts_place_list(const struct ts_place *at, const cJSON *value, size_t *count, struct ts_err *err)
{
    if (!cJSON_IsArray(value))
        return ts_place_expected(at, value, "a list", err);
    *count = (size_t)cJSON_GetArraySize(value);
    return 0;
}

int ts_place_filled(const struct ts_place *at, const cJSON *value, size_t *count,
                    struct ts_err *err)
{
    if (!cJSON_IsArray(value) || !value->child)
        return ts_place_expected(at, value, "a list of at least one element", err);
    *count = (size_t)cJSON_GetArraySize(value);
    return 0;
}

int ts_place_string(const struct ts_place *at, const cJSON *value, const char **out,
                    struct ts_err *err)
{
    if (!cJSON_IsString(value))
        return ts_place_expected(at, value, "a text", err);
    *out = value->valuestring;
    return 0;
}

int ts_place_real(const struct ts_place *at, const cJSON *value, double *out, struct ts_err *err)
{
    if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble))
        return ts_place_expected(at, value, "a number", err);
    *out = value->valuedouble;
    return 0;
}

int ts_place_bool(const struct ts_place *at, const cJSON *value, bool *out, struct ts_err *err)
{
    if (!cJSON_IsBool(value))
        return ts_place_expected(at, value, "true or false", err);
    *out = cJSON_IsTrue(value);
    return 0;
}

int ts_place_whole(const struct ts_place *at, const cJSON *value, int64_t least, int64_t most,
                   int64_t *out, struct ts_err *err)
{
    int64_t number;
    if (!value || !ts_json_whole(value, &number))
        return ts_place_expected(at, value, "a whole number", err);
    if (number < least || number > most) {
        if (number < least && most >= INT64_MAX / 2) /* no bound that people know of */
            return ts_place_error(at, err, "expected at least %lld, got %lld", (long long)least,
                                  (long long)number);
        return ts_place_error(at, err, "expected %lld to %lld, got %lld", (long long)least,
                              (long long)most, (long long)number);
    }
    *out = number;
    return 0;
}

static int check_values(const struct ts_place *at, const cJSON *value, bool texts,
                        struct ts_err *err)
{
    int64_t number;
    if (ts_place_object(at, value, err) != 0)
        return -1;
    for (const cJSON *item = value->child; item; item = item->next) {
        const struct ts_place place = ts_place_key(at, item->string);
        if (!ts_json_whole(item, &number) && !(texts && cJSON_IsString(item)))
            return ts_place_expected(&place, item,
                                     texts ? "a whole number or a name" : "a whole number", err);
    }
    return 0;
}

static int check_list(const struct ts_place *at, const cJSON *value, const struct ts_field *field,
                      struct ts_err *err)
{
    const cJSON *item;
    const char *text;
    int64_t number;
    size_t count, index = 0;
    if (ts_place_list(at, value, &count, err) != 0)
        return -1;
    cJSON_ArrayForEach(item, value)
    {
        const struct ts_place place = ts_place_item(at, index++);
        if (field->kind == TS_FIELD_TEXTS && ts_place_string(&place, item, &text, err) != 0)
            return -1;
        if (field->kind == TS_FIELD_WHOLES &&
            ts_place_whole(&place, item, field->least, INT64_MAX, &number, err) != 0)
            return -1;
    }
    return 0;
}

static int check_real(const struct ts_place *at, const cJSON *value, int64_t least,
                      struct ts_err *err)
{
    double number;
    if (ts_place_real(at, value, &number, err) != 0)
        return -1;
    if (number < (double)least)
        return ts_place_error(at, err, "expected at least %lld, got %g", (long long)least, number);
    return 0;
}

static int check_field(const struct ts_place *at, const cJSON *value, const struct ts_field *field,
                       struct ts_err *err)
{
    int64_t whole;
    const char *text;
    bool flag;
    switch (field->kind) {
    case TS_FIELD_BOOL:
        return ts_place_bool(at, value, &flag, err);
    case TS_FIELD_TEXT:
        return ts_place_string(at, value, &text, err);
    case TS_FIELD_WHOLE:
        return ts_place_whole(at, value, field->least, INT64_MAX, &whole, err);
    case TS_FIELD_REAL:
        return check_real(at, value, field->least, err);
    case TS_FIELD_OBJECT:
        return ts_place_object(at, value, err);
    case TS_FIELD_LIST:
    case TS_FIELD_TEXTS:
    case TS_FIELD_WHOLES:
        return check_list(at, value, field, err);
    case TS_FIELD_SIZES:
    case TS_FIELD_VALUES:
        return check_values(at, value, field->kind == TS_FIELD_VALUES, err);
    }
    return 0;
}

int ts_place_fields(const struct ts_place *at, const cJSON *object, const struct ts_field *fields,
                    size_t count, struct ts_err *err)
{
    if (ts_place_object(at, object, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct ts_place place = ts_place_key(at, fields[i].key);
        const cJSON *value = ts_json_get(object, fields[i].key);
        if (!value && !(fields[i].more & TS_FIELD_NEEDED))
            continue;
        if (cJSON_IsNull(value) && (fields[i].more & TS_FIELD_OR_NULL))
            continue;
        if (check_field(&place, value, &fields[i], err) != 0)
            return -1;
    }
    return 0;
}

int ts_place_parts(const struct ts_place *at, const cJSON *object,
                   const struct ts_field_part *parts, size_t count, struct ts_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct ts_place place = ts_place_key(at, parts[i].key);
        const cJSON *part = ts_json_get(object, parts[i].key);
        if (cJSON_IsObject(part) &&
            ts_place_fields(&place, part, parts[i].fields, parts[i].count, err) != 0)
            return -1;
    }
    return 0;
}

int ts_place_schema(const struct ts_place *at, const cJSON *value, const char *prefix, int version,
                    struct ts_err *err)
{
    size_t length = strlen(prefix);
    if (cJSON_IsString(value) && strncmp(value->valuestring, prefix, length) == 0) {
        const char *text = value->valuestring + length;
        char *end;
        long told = strtol(text, &end, 10); /* LONG_MAX beyond it: newer, too */
        bool number = *text >= '1' && *text <= '9' && *end == '\0';
        if (number && told == version)
            return 0;
        if (number && told > version)
            return ts_place_error(at, err, "%s is newer than this program understands (%d)",
                                  value->valuestring, version);
    }
    char *wanted = ts_printf("\"%s%d\"", prefix, version);
    ts_place_expected(at, value, wanted, err);
    free(wanted);
    return -1;
}

int ts_place_unsigned(const struct ts_place *at, const cJSON *value, uint64_t *out,
                      struct ts_err *err)
{
    int64_t number;
    if (value && ts_json_whole(value, &number) && number >= 0) {
        *out = (uint64_t)number;
        return 0;
    }
    if (cJSON_IsString(value) && *value->valuestring >= '0' && *value->valuestring <= '9') {
        char *end;
        errno = 0;
        unsigned long long digits = strtoull(value->valuestring, &end, 10);
        if (!errno && !*end) {
            *out = digits;
            return 0;
        }
    }
    return ts_place_expected(at, value, "a whole number from 0", err);
}

bool ts_is_name(const char *text)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *text && strchr(first, *text) && text[strspn(text, rest)] == '\0';
}
