/* spec_lines.h: C source as logical lines: continuations joined, comments blanked, and the
 * preprocessor's directives told apart. Floor 0; for spec_source.c. */
#ifndef TS_SPEC_LINES_H
#define TS_SPEC_LINES_H

#include "base.h"

/* A walk over a text. Start with {text, 0, 1}; release `clean` by ts_text_free. */
struct ts_lines {
    const char *text;
    size_t at;
    int next_line; /* number of the physical line at `at` */
    /* the current logical line: */
    const char *raw; /* into text, its newline included */
    size_t raw_length;
    int line;             /* number of its first physical line */
    struct ts_text clean; /* without comments and continuations, no newline */
};

/* false at the end of the text. A comment that spans lines makes them one logical line, as in C. */
bool ts_lines_next(struct ts_lines *lines);

/* When the current line is a directive: its word ("define") and what follows the white space after
 * it (both into clean); else false. The word ends at *word_length. */
bool ts_lines_directive(const struct ts_lines *lines, const char **word, size_t *word_length,
                        const char **rest);

/* What follows the word of a #line that expansion wrote, `12 "file"`: the next line's number, and
 * the file's name, which is the caller's to free(). NULL, *line untouched: no such mark. */
char *ts_lines_mark(const char *rest, int *line);

/* Length of the name (letters, digits, _) at text. */
size_t ts_name_length(const char *text);

#endif
