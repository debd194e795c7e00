/* spec_lines.c: see spec_lines.h. */
#include "spec_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Past backslash-newline pairs. */
static size_t splice(const char *text, size_t at)
{
    while (text[at] == '\\' && text[at + 1] == '\n')
        at += 2;
    return at;
}

/* From behind the opening mark to behind the closing one, or to the end of the line or text. */
static size_t copy_literal(struct ts_lines *s, size_t at, char mark)
{
    ts_text_add(&s->clean, &mark, 1);
    for (at = splice(s->text, at); s->text[at] && s->text[at] != '\n';) {
        char c = s->text[at];
        size_t next = splice(s->text, at + 1);
        ts_text_add(&s->clean, &c, 1);
        if (c == mark)
            return next;
        if (c == '\\' && s->text[next] && s->text[next] != '\n') {
            ts_text_add(&s->clean, s->text + next, 1);
            next = splice(s->text, next + 1);
        }
        at = next;
    }
    return at;
}

/* at the first character of the comment's body; returns behind its end. */
static size_t skip_comment(const char *text, size_t at, bool block)
{
    for (at = splice(text, at); text[at]; at = splice(text, at + 1)) {
        if (!block && text[at] == '\n')
            return at;
        size_t next = splice(text, at + 1);
        if (block && text[at] == '*' && text[next] == '/')
            return next + 1;
    }
    return at;
}

bool ts_lines_next(struct ts_lines *s)
{
    size_t at = s->at;
    if (!s->text[at])
        return false;
    s->raw = s->text + at;
    s->line = s->next_line;
    s->clean.length = 0;
    ts_text_puts(&s->clean, "");
    for (at = splice(s->text, at); s->text[at] && s->text[at] != '\n'; at = splice(s->text, at)) {
        char c = s->text[at];
        size_t next = splice(s->text, at + 1);
        if (c == '/' && (s->text[next] == '*' || s->text[next] == '/')) {
            at = skip_comment(s->text, next + 1, s->text[next] == '*');
            ts_text_puts(&s->clean, " ");
        } else if (c == '"' || c == '\'') {
            at = copy_literal(s, at + 1, c);
        } else {
            ts_text_add(&s->clean, &c, 1);
            at = next;
        }
    }
    s->at = s->text[at] ? at + 1 : at;
    s->raw_length = (size_t)(s->text + s->at - s->raw);
    for (size_t i = 0; i < s->raw_length; i++)
        s->next_line += s->raw[i] == '\n';
    return true;
}

size_t ts_name_length(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
}

bool ts_lines_directive(const struct ts_lines *lines, const char **word, size_t *word_length,
                        const char **rest)
{
    static const char blank[] = " \t\v\f";
    const char *p = lines->clean.text + strspn(lines->clean.text, blank);
    if (p[0] == '#')
        p++;
    else if (p[0] == '%' && p[1] == ':') /* the digraph */
        p += 2;
    else
        return false;
    p += strspn(p, blank);
    *word = p;
    *word_length = ts_name_length(p);
    p += *word_length;
    *rest = p + strspn(p, blank);
    return true;
}

char *ts_lines_mark(const char *rest, int *line)
{
    struct ts_text name = {0};
    char *end;
    long number = strtol(rest, &end, 10);
    const char *p = strchr(end, '"');

    if (!p || number < 0 || number > INT_MAX)
        return NULL;
    ts_text_puts(&name, "");
    for (p++; *p && *p != '"'; p++) {
        p += *p == '\\' && p[1];
        ts_text_add(&name, p, 1);
    }
    *line = (int)number;
    return name.text;
}
