/* check_build.c: what Oclgrind's compiler says of a source, with the places that its writer knows.
 *
 * Oclgrind 21.10 compiles a file that it calls input.cl and minds no #line in what it says of it,
 * so that `input.cl:14:5: error: ...` counts the lines of the expanded text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_private.h"
#include "spec_lines.h"

static const char compiled[] = "input.cl:";

/* Of one line of a text, by the #line marks before it: its file, which is the caller's to free(),
 * and its number there. NULL: no mark is before it. */
static char *find_place(const char *text, int64_t line, int64_t *number)
{
    struct ts_lines lines = {.text = text, .next_line = 1};
    char *file = NULL;
    int64_t offset = 0;

    while (ts_lines_next(&lines) && lines.next_line <= line) {
        const char *word, *rest;
        size_t length;
        int next;
        char *name = NULL;

        if (ts_lines_directive(&lines, &word, &length, &rest) && length == strlen("line") &&
            strncmp(word, "line", length) == 0)
            name = ts_lines_mark(rest, &next);
        if (!name)
            continue;
        free(file);
        file = name;
        offset = next - (int64_t)lines.next_line;
    }
    ts_text_free(&lines.clean);
    *number = line + offset;
    return file;
}

char *ts_check_build_log(const char *log, const char *source)
{
    struct ts_text out = {0};

    ts_text_puts(&out, "");
    while (*log) {
        size_t length = strcspn(log, "\n");
        int64_t line, number;
        char *file = NULL;

        if (strncmp(log, compiled, strlen(compiled)) == 0 &&
            sscanf(log + strlen(compiled), "%9" SCNd64, &line) == 1)
            file = find_place(source, line, &number);
        if (file) {
            size_t past = strlen(compiled) + strspn(log + strlen(compiled), "0123456789");
            ts_text_printf(&out, "%s:%" PRId64, file, number);
            log += past;
            length -= past;
        }
        length += log[length] == '\n';
        ts_text_add(&out, log, length);
        log += length;
        free(file);
    }
    return out.text;
}
