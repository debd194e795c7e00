/* export.h: results in the forms of other programs. Floor 3. docs/exporting.md tells users which
 * program reads what; tests/export reads each as that program does.
 *
 *     const struct ts_export_format *format = ts_export_format_find("csv");
 *     status = ts_export(&options, err);
 *
 * A new form is a writer and a row of the table in export.c. */
#ifndef TS_EXPORT_H
#define TS_EXPORT_H

#include "space.h"

struct ts_export_format;
/* NULL: none of that name. */
const struct ts_export_format *ts_export_format_find(const char *name);
/* "csv (a table, ...), google-benchmark (...)" for the help text, or only their names for a
 * message; free() it. */
char *ts_export_format_words(bool names_only);

struct ts_export_options {
    char *const *files; /* results files, at least one */
    size_t file_count;
    const struct ts_export_format *format;
    const char *output; /* file; "-": standard output; a folder, for forms that hold one space */
    /* What is exported; NULL or empty: all. */
    const char *run;               /* the run's id */
    const char *device;            /* a part of the device's or platform's name, case ignored */
    const char *benchmark;         /* its name */
    struct ts_selection selection; /* sets, sizes and variants of it; nothing else is looked at */
};

/* Writes. Exit status 2: a bad file, nothing left, what the form cannot express; 4: cannot write.
 * What is left out is told on standard error. */
int ts_export(const struct ts_export_options *options, struct ts_err *err);

#endif
