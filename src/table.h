/* table.h: aligned tables and numbers with units, for people at terminals. Floor 0.
 *
 * Cells are UTF-8; control characters and invalid bytes (device names and logs come from outside)
 * are shown as '?', so that no text can move the cursor or colour the screen.
 *
 *     struct ts_table t = {0};
 *     ts_table_column(&t, "variant", TS_LEFT);
 *     ts_table_column(&t, "time", TS_RIGHT);
 *     ts_table_cell(&t, "%s", name);
 *     ts_table_cell(&t, "%s", ts_human_time(ns, buffer));   row by row
 *     ts_table_print(&t, "  ", &text);
 *     ts_table_free(&t); */
#ifndef TS_TABLE_H
#define TS_TABLE_H

#include "base.h"

enum ts_align { TS_LEFT, TS_RIGHT };

/* Zero-initialise. */
struct ts_table {
    struct ts_table_column {
        char *title; /* NULL: no column of the table may have a title */
        enum ts_align align;
    } * columns;
    size_t column_count, column_capacity;
    char **cells; /* row by row */
    size_t cell_count, cell_capacity;
};

/* All columns before the first cell. title NULL: a table without a heading. */
void ts_table_column(struct ts_table *t, const char *title, enum ts_align align);
/* The next cell: rows fill up one after another. */
void ts_table_cell(struct ts_table *t, const char *format, ...) TS_PRINTF(2, 3);
/* Empty cells up to the end of the row under way; nothing when no row is. */
void ts_table_end_row(struct ts_table *t);
/* Appends the table, each line begun with indent, columns two spaces apart, no trailing spaces. */
void ts_table_print(const struct ts_table *t, const char *indent, struct ts_text *out);
void ts_table_free(struct ts_table *t);

/* Columns that UTF-8 text takes on a terminal: combining marks 0, East Asian wide characters 2. */
size_t ts_text_columns(const char *text);
/* Length in bytes of the longest start of text that takes at most `columns`. */
size_t ts_text_fit(const char *text, size_t columns);
/* A copy with control characters and invalid UTF-8 turned into '?'; free() it. */
char *ts_text_printable(const char *text);
/* The same for text of several lines: newlines and tabs stay. */
char *ts_text_printable_lines(const char *text);
/* Appends text as content of an HTML or XML element, or of a quoted attribute: what has a meaning
 * there is escaped; control characters, invalid UTF-8 and what XML 1.0 does not admit become '?';
 * newlines and tabs stay. NULL: nothing. */
void ts_text_add_markup(struct ts_text *out, const char *text);

/* Numbers for people: three significant digits, base 10. All return buffer; what is not finite or
 * negative where that makes no sense is "-". */
enum { TS_HUMAN_ROOM = 40 };
/* "420 ps" (of an element), "12.3 us", "1.23 ms", "4.56 s" */
const char *ts_human_time(double ns, char buffer[TS_HUMAN_ROOM]);
/* "16.1 GB/s" of (1.61e10, "B/s") */
const char *ts_human_rate(double value, const char *unit, char buffer[TS_HUMAN_ROOM]);
/* "48 KiB", "1.5 GiB": base 2, for memory sizes; -1: "-" */
const char *ts_human_bytes(int64_t bytes, char buffer[TS_HUMAN_ROOM]);
/* "3 s", "2 min 05 s", "1 h 20 min": how long something takes. */
const char *ts_human_span(int64_t ns, char buffer[TS_HUMAN_ROOM]);

#endif
