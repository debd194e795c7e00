/* selection.h: the options that choose configurations (-s, --size, --variant, --rows), shared by
 * the commands that take them. Floor 4. */
#ifndef TS_SELECTION_H
#define TS_SELECTION_H

#include "../cli.h"
#include "../space.h"

/* A command's struct of options begins with this one, since the calls below get the whole as their
 * target. */
struct ts_chosen {
    struct ts_selection selection;
    const char *rows_file, *rows_which; /* of --rows */
    size_t set_capacity, size_capacity;
    struct ts_cli_list variants;
    char *variant_words; /* copies of the --variant values, cut at commas */
    char *rows_words;    /* copy of the --rows value, cut at its last colon */
};

/* For TS_OPTION_CALL. */
int ts_chosen_set(void *target, const char *value, struct ts_err *err);      /* -s */
int ts_chosen_size(void *target, const char *value, struct ts_err *err);     /* --size */
int ts_chosen_variants(void *target, const char *value, struct ts_err *err); /* --variant */
int ts_chosen_rows(void *target, const char *value, struct ts_err *err);     /* --rows */

/* Once all options are read: selection is whole. */
void ts_chosen_finish(struct ts_chosen *chosen);
void ts_chosen_free(struct ts_chosen *chosen);

#endif
