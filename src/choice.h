/* choice.h: what a command line chooses, for every command that works on configurations (run,
 * check): the SPECs, that the names of -s and --variant exist in them, and --rows. Floor 3,
 * parent's side. */
#ifndef TS_CHOICE_H
#define TS_CHOICE_H

#include "progress.h"
#include "row.h"
#include "space.h"

struct ts_row_filter; /* --rows FILE[:best|failed|suspects] */

/* Loads the SPECs (names or paths); without one those that --rows names (filter may be NULL;
 * rows_file is its name, for messages), else the built-in ones. *specs is a new array, *count grows
 * as they are loaded, also on failure: the caller frees both. Exit status 2. */
int ts_choose_specs(char **names, size_t name_count, struct ts_row_filter *filter,
                    const char *rows_file, struct ts_spec ***specs, size_t *count,
                    struct ts_err *err);
/* A name of -s or --variant that no spec has is a slip of the pen (exit status 2); one that only
 * some have restricts those. */
int ts_choose_check(const struct ts_selection *selection, struct ts_spec *const *specs,
                    size_t count, struct ts_err *err);

/* ts_file_check_output, with all that the specs were read from and the file of --rows (may be NULL)
 * as inputs: a slip of the fingers must not cost somebody's kernel. */
int ts_choose_output(const char *output, struct ts_spec *const *specs, size_t count,
                     const char *rows_file, struct ts_err *err);

/* Does it leave anything out (-s, --size, --variant, --quick)? */
bool ts_selection_restricts(const struct ts_selection *selection);

/* which: "best", "failed" or NULL. */
struct ts_row_filter *ts_row_filter_load(const char *path, const char *which, struct ts_err *err);
void ts_row_filter_free(struct ts_row_filter *filter);
/* Names of the benchmarks it holds; *count; owned by the filter. */
char **ts_row_filter_benchmarks(struct ts_row_filter *filter, size_t *count);
/* Restricts selection (a copy of the user's, emptied by the caller) to the axes and sizes of a
 * benchmark. */
void ts_row_filter_select(const struct ts_row_filter *filter, const char *benchmark,
                          struct ts_selection *selection);
void ts_selection_clear(struct ts_selection *selection); /* frees what ts_row_filter_select made */
bool ts_row_filter_admits(struct ts_row_filter *filter, const struct ts_row *row);
/* Warns of rows of the file, of benchmarks among specs, that no configuration was found for since
 * the last call, and names the first of them. progress: the line that is on, or NULL. */
void ts_row_filter_tell_leftovers(struct ts_row_filter *filter, struct ts_spec *const *specs,
                                  size_t count, const char *rows_file,
                                  struct ts_progress *progress);

#endif
