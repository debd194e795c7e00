/* values.c: ordered named values. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

static void append(struct ts_values *v, const char *name, const char *word, int64_t number)
{
    TS_GROW(v->items, v->count, v->capacity);
    v->items[v->count++] = (struct ts_value){
        .name = ts_strdup(name), .word = word ? ts_strdup(word) : NULL, .number = number};
}

void ts_values_add(struct ts_values *v, const char *name, int64_t number)
{
    append(v, name, NULL, number);
}

void ts_values_add_word(struct ts_values *v, const char *name, const char *word)
{
    append(v, name, word, 0);
}

void ts_values_copy(struct ts_values *to, const struct ts_values *from)
{
    size_t count = from->count; /* to and from may be the same list */
    for (size_t i = 0; i < count; i++)
        append(to, from->items[i].name, from->items[i].word, from->items[i].number);
}

void ts_values_free(struct ts_values *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->count; i++) {
        free(v->items[i].name);
        free(v->items[i].word);
    }
    free(v->items);
    *v = (struct ts_values){0};
}

const struct ts_value *ts_values_find(const struct ts_values *v, const char *name)
{
    for (size_t i = 0; i < v->count; i++)
        if (!strcmp(v->items[i].name, name))
            return &v->items[i];
    return NULL;
}

int64_t ts_values_number(const struct ts_values *v, const char *name, int64_t fallback)
{
    const struct ts_value *value = ts_values_find(v, name);
    return value && !value->word ? value->number : fallback;
}

bool ts_value_equal(const struct ts_value *a, const struct ts_value *b)
{
    if (strcmp(a->name, b->name) || !a->word != !b->word)
        return false;
    return a->word ? !strcmp(a->word, b->word) : a->number == b->number;
}

bool ts_values_equal(const struct ts_values *a, const struct ts_values *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        /* Mostly in the same order; JSON objects that another program wrote need not be. */
        const struct ts_value *other = &b->items[i];
        if (strcmp(other->name, a->items[i].name))
            other = ts_values_find(b, a->items[i].name);
        if (!other || !ts_value_equal(&a->items[i], other))
            return false;
    }
    return true;
}

bool ts_values_equal_but(const struct ts_values *a, const struct ts_values *b, const char *name)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->items[i].name, b->items[i].name) != 0)
            return false;
        if (strcmp(a->items[i].name, name) != 0 && !ts_value_equal(&a->items[i], &b->items[i]))
            return false;
    }
    return true;
}

cJSON *ts_values_to_json(const struct ts_values *v)
{
    cJSON *object = cJSON_CreateObject();
    if (!object)
        ts_no_memory();
    for (size_t i = 0; i < v->count; i++) {
        const struct ts_value *value = &v->items[i];
        if (value->word)
            ts_json_add_string(object, value->name, value->word);
        else
            ts_json_add_int(object, value->name, value->number);
    }
    return object;
}

int ts_values_from_json(struct ts_values *v, const cJSON *object, struct ts_err *err)
{
    if (!cJSON_IsObject(object))
        return ts_err_set(err, TS_EXIT_USAGE, "expected an object of names and values");
    for (const cJSON *item = object->child; item; item = item->next) {
        int64_t number;
        if (cJSON_IsString(item))
            ts_values_add_word(v, item->string, item->valuestring);
        else if (ts_json_whole(item, &number))
            ts_values_add(v, item->string, number);
        else
            return ts_err_set(err, TS_EXIT_USAGE, "%s: expected a whole number or a name",
                              item->string);
    }
    return 0;
}

void ts_value_print(const struct ts_value *value, struct ts_text *out)
{
    if (value->word)
        ts_text_puts(out, value->word);
    else
        ts_text_printf(out, "%lld", (long long)value->number);
}

void ts_values_print(const struct ts_values *v, const char *prefix, const char *separator,
                     struct ts_text *out)
{
    ts_text_puts(out, ""); /* text is a string even where there are no values */
    for (size_t i = 0; i < v->count; i++) {
        const struct ts_value *value = &v->items[i];
        ts_text_printf(out, "%s%s%s=", i ? separator : "", prefix ? prefix : "", value->name);
        ts_value_print(value, out);
    }
}

void ts_values_print_defines(const struct ts_values *problem, const struct ts_values *params,
                             const char *variant, struct ts_text *out)
{
    const struct ts_values *parts[] = {problem, params};
    for (size_t i = 0; i < TS_COUNT(parts); i++) {
        ts_values_print(parts[i], "-D", " ", out);
        ts_text_puts(out, parts[i]->count ? " " : "");
    }
    ts_text_printf(out, "-DVARIANT_%s", variant);
}
