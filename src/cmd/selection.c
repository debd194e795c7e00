/* selection.c: see selection.h. */
#include "selection.h"

#include <stdlib.h>
#include <string.h>

#include "../file.h"

int ts_chosen_set(void *target, const char *value, struct ts_err *err)
{
    struct ts_chosen *o = target;
    struct ts_selection *s = &o->selection;
    struct ts_axis axis = {0};
    if (ts_axis_parse(&axis, value, err) < 0)
        return -1;
    for (size_t i = 0; i < s->set_count; i++)
        if (!strcmp(s->sets[i].name, axis.name)) {
            ts_axis_free(&s->sets[i]);
            s->sets[i] = axis;
            return 0;
        }
    TS_GROW(s->sets, s->set_count, o->set_capacity);
    s->sets[s->set_count++] = axis;
    return 0;
}

int ts_chosen_size(void *target, const char *value, struct ts_err *err)
{
    struct ts_chosen *o = target;
    struct ts_selection *s = &o->selection;
    struct ts_values size = {0};
    if (ts_size_parse(&size, value, err) < 0)
        return -1;
    TS_GROW(s->sizes, s->size_count, o->size_capacity);
    s->sizes[s->size_count++] = size;
    return 0;
}

/* NAME[,NAME]...; every --variant adds to the list. The names lie in one growing string of our own,
 * so they are only pointed to once all options are read (ts_chosen_finish). */
int ts_chosen_variants(void *target, const char *value, struct ts_err *err)
{
    struct ts_chosen *o = target;
    if (!value[0] || value[0] == ',' || value[strlen(value) - 1] == ',' || strstr(value, ",,"))
        return ts_err_set(err, TS_EXIT_USAGE, "expected NAME[,NAME]..., got \"%s\"", value);
    char *joined =
        o->variant_words ? ts_printf("%s,%s", o->variant_words, value) : ts_strdup(value);
    free(o->variant_words);
    o->variant_words = joined;
    return 0;
}

/* FILE[:best|failed|suspects]. A file whose name ends so wins over the reading as a selection. */
int ts_chosen_rows(void *target, const char *value, struct ts_err *err)
{
    static const char *const which[] = {"best", "failed", "suspects"};
    struct ts_chosen *o = target;
    free(o->rows_words);
    o->rows_words = ts_strdup(value);
    o->rows_file = o->rows_words;
    o->rows_which = NULL;
    char *colon = strrchr(o->rows_words, ':');
    if (!colon || ts_file_exists(value))
        return 0;
    for (size_t i = 0; i < TS_COUNT(which); i++)
        if (!strcmp(colon + 1, which[i])) {
            o->rows_which = which[i];
            *colon = '\0';
            return 0;
        }
    return ts_err_set(err, TS_EXIT_USAGE,
                      "expected FILE, FILE:best, FILE:failed or FILE:suspects, got \"%s\"", value);
}

void ts_chosen_finish(struct ts_chosen *o)
{
    char *rest = NULL;
    for (char *name = o->variant_words ? strtok_r(o->variant_words, ",", &rest) : NULL; name;
         name = strtok_r(NULL, ",", &rest)) {
        TS_GROW(o->variants.items, o->variants.count, o->variants.capacity);
        o->variants.items[o->variants.count++] = name;
    }
    o->selection.variants = o->variants.items;
    o->selection.variant_count = o->variants.count;
}

void ts_chosen_free(struct ts_chosen *o)
{
    struct ts_selection *s = &o->selection;
    for (size_t i = 0; i < s->set_count; i++)
        ts_axis_free(&s->sets[i]);
    for (size_t i = 0; i < s->size_count; i++)
        ts_values_free(&s->sizes[i]);
    free(s->sets);
    free(s->sizes);
    ts_cli_list_free(&o->variants);
    free(o->variant_words);
    free(o->rows_words);
}
