/* spec_source.c: source files of a spec: #include "x" expanded, so that the text is whole and its
 * digest covers everything; and the check that no source defines an axis itself, which would beat
 * -D. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "file.h"
#include "spec_lines.h"
#include "spec_read.h"

#define MAX_DEPTH 16
#define MAX_TEXT ((size_t)64 << 20)

/* ---- expansion ---- */

/* A file that is being expanded; the chain up to the source that the spec names. */
struct open_file {
    const struct open_file *up;
    const char *name; /* as written: relative to the spec's folder */
    char *real;       /* canonical path */
    int depth;
};

struct expander {
    const char *folder;
    struct ts_source *source; /* gets the files */
    struct ts_text out;
    char **once; /* canonical paths of files with #pragma once */
    size_t once_count, once_capacity;
};

static int expand_file(struct expander *e, const struct open_file *up, const char *name,
                       struct ts_err *err);

static bool word_is(const char *word, size_t length, const char *what)
{
    return strlen(what) == length && strncmp(word, what, length) == 0;
}

static void add_line_mark(struct ts_text *out, int line, const char *name)
{
    if (out->length && out->text[out->length - 1] != '\n')
        ts_text_puts(out, "\n");
    ts_text_printf(out, "#line %d \"", line);
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            ts_text_puts(out, "\\");
        ts_text_add(out, c, 1);
    }
    ts_text_puts(out, "\"\n");
}

/* The file's text with CRLF made LF; NUL bytes are refused. */
static char *read_text(const char *path, struct ts_err *err)
{
    size_t length, used = 0;
    char *text = ts_file_read(path, &length, err);
    if (!text)
        return NULL;
    if (memchr(text, '\0', length)) {
        ts_err_set(err, TS_EXIT_USAGE, "%s: expected source text, got a NUL byte", path);
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < length; i++)
        if (text[i] != '\r' || text[i + 1] != '\n')
            text[used++] = text[i];
    text[used] = '\0';
    return text;
}

static bool is_once(const struct expander *e, const char *real)
{
    for (size_t i = 0; i < e->once_count; i++)
        if (strcmp(e->once[i], real) == 0)
            return true;
    return false;
}

/* `name` relative to the file that includes it, as the spec would write it; free() it. */
static char *name_beside(const char *including, const char *name)
{
    char *folder = ts_path_dir(including);
    char *joined = strcmp(folder, ".") == 0 ? ts_strdup(name) : ts_path_join(folder, name);
    free(folder);
    return joined;
}

/* The x of #include "x", NULL for <x> and macros, which are left to the compiler; free() it. */
static char *included_name(const char *rest)
{
    const char *end = rest[0] == '"' ? strchr(rest + 1, '"') : NULL;
    return end && end > rest + 1 ? ts_strndup(rest + 1, (size_t)(end - rest - 1)) : NULL;
}

static int expand_include(struct expander *e, const struct open_file *file, const char *included,
                          int line, struct ts_err *err)
{
    char *name = name_beside(file->name, included);
    int result = expand_file(e, file, name, err);
    if (result != 0) {
        char *path = ts_path_join(e->folder, file->name);
        ts_err_prepend(err, "%s:%d", path, line);
        free(path);
    }
    free(name);
    return result;
}

/* How deep conditionals nest, and whether one of them holds an include: its closing #line is
 * skipped by the compiler when the region is not active, so a fresh one follows the #endif. */
struct nesting {
    int depth;
    bool marked;
};

/* A directive that expansion cares about; false: the line is copied as it is. */
static bool expand_directive(struct expander *e, const struct open_file *file,
                             const struct ts_lines *lines, struct nesting *nesting, int *result,
                             struct ts_err *err)
{
    const char *word, *rest;
    size_t length;
    if (!ts_lines_directive(lines, &word, &length, &rest))
        return false;
    if (word_is(word, length, "if") || word_is(word, length, "ifdef") ||
        word_is(word, length, "ifndef"))
        nesting->depth++;
    if (word_is(word, length, "endif")) {
        nesting->depth--;
        if (!nesting->marked || nesting->depth > 0)
            return false;
        nesting->marked = false;
        ts_text_add(&e->out, lines->raw, lines->raw_length);
        add_line_mark(&e->out, lines->next_line, file->name);
        return true;
    }
    if (word_is(word, length, "pragma") && word_is(rest, ts_name_length(rest), "once")) {
        TS_GROW(e->once, e->once_count, e->once_capacity);
        e->once[e->once_count++] = ts_strdup(file->real);
        add_line_mark(&e->out, lines->next_line, file->name);
        return true;
    }
    char *included = word_is(word, length, "include") ? included_name(rest) : NULL;
    if (!included)
        return false;
    *result = expand_include(e, file, included, lines->line, err);
    add_line_mark(&e->out, lines->next_line, file->name);
    nesting->marked = nesting->depth > 0;
    free(included);
    return true;
}

static int expand_text(struct expander *e, const struct open_file *file, const char *text,
                       struct ts_err *err)
{
    struct ts_lines lines = {.text = text, .next_line = 1};
    struct nesting nesting = {0, false};
    int result = 0;
    add_line_mark(&e->out, 1, file->name);
    while (result == 0 && ts_lines_next(&lines)) {
        if (!expand_directive(e, file, &lines, &nesting, &result, err))
            ts_text_add(&e->out, lines.raw, lines.raw_length);
        if (result == 0 && e->out.length > MAX_TEXT)
            result = ts_err_set(err, TS_EXIT_USAGE, "the source is over 64 MiB with its includes");
    }
    if (e->out.text[e->out.length - 1] != '\n')
        ts_text_puts(&e->out, "\n");
    ts_text_free(&lines.clean);
    return result;
}

/* Exit status 2 when the file is being expanded already, with the way there. */
static int check_cycle(const struct open_file *file, struct ts_err *err)
{
    for (const struct open_file *up = file->up; up; up = up->up)
        if (strcmp(up->real, file->real) == 0)
            return ts_err_set(err, TS_EXIT_USAGE, "includes \"%s\" in a cycle", file->name);
    if (file->depth > MAX_DEPTH)
        return ts_err_set(err, TS_EXIT_USAGE, "includes nest deeper than %d", MAX_DEPTH);
    return 0;
}

static int expand_file(struct expander *e, const struct open_file *up, const char *name,
                       struct ts_err *err)
{
    int result = -1;
    char *path = ts_path_join(e->folder, name);
    char *text = read_text(path, err);
    struct open_file file = {up, name, realpath(path, NULL), up ? up->depth + 1 : 0};
    if (!file.real)
        file.real = ts_strdup(path);
    if (!text || check_cycle(&file, err) != 0)
        goto out;
    TS_GROW(e->source->files, e->source->file_count, e->source->file_capacity);
    e->source->files[e->source->file_count++] = ts_strdup(path);
    result = is_once(e, file.real) ? 0 : expand_text(e, &file, text, err);
out:
    free(file.real);
    free(text);
    free(path);
    return result;
}

int ts_spec_read_source(const struct ts_place *at, const cJSON *list, const char *folder,
                        struct ts_source *source, struct ts_err *err)
{
    struct expander e = {.folder = folder, .source = source};
    size_t count = 0, i = 0;
    int result = ts_place_filled(at, list, &count, err);
    for (const cJSON *item = count ? list->child : NULL; item && result == 0;
         item = item->next, i++) {
        const struct ts_place place = ts_place_item(at, i);
        const char *name;
        result = ts_place_string(&place, item, &name, err);
        if (result == 0 && expand_file(&e, NULL, name, err) != 0)
            result = ts_place_prepend(&place, err);
    }
    if (result == 0) {
        /* What is sent to workers is UTF-8, so the digest must be of exactly that. */
        source->text = ts_utf8_clean(e.out.text, e.out.length, 0);
        source->digest = ts_digest(source->text, strlen(source->text));
    }
    for (size_t k = 0; k < e.once_count; k++)
        free(e.once[k]);
    free(e.once);
    ts_text_free(&e.out);
    return result;
}

/* ---- #define of an axis ---- */

enum truth { NO, YES, UNKNOWN };

/* What is known of macros when one variant is built. */
struct known {
    const char *variant;
    const char *const *names;
    size_t count;
};

static enum truth is_defined(const struct known *known, const char *name, size_t length)
{
    static const char prefix[] = "VARIANT_";
    const size_t head = sizeof(prefix) - 1;
    for (size_t i = 0; i < known->count; i++)
        if (word_is(name, length, known->names[i]))
            return YES;
    if (length > head && strncmp(name, prefix, head) == 0)
        return word_is(name + head, length - head, known->variant) ? YES : NO;
    return UNKNOWN;
}

static enum truth not(enum truth t) { return t == UNKNOWN ? UNKNOWN : t == YES ? NO : YES; }

/* A condition: || && ! ( ) defined X, defined(X), whole numbers; everything else is not known. */
struct condition {
    const struct known *known;
    const char *at;
    int depth;
    bool foreign; /* met something else: the whole is not known */
};

static enum truth parse_or(struct condition *c);

static bool accept(struct condition *c, const char *token)
{
    c->at += strspn(c->at, " \t");
    size_t length = strlen(token);
    if (strncmp(c->at, token, length) != 0)
        return false;
    c->at += length;
    return true;
}

static enum truth parse_defined(struct condition *c)
{
    bool parenthesis = accept(c, "(");
    c->at += strspn(c->at, " \t");
    size_t length = ts_name_length(c->at);
    enum truth result = is_defined(c->known, c->at, length);
    c->at += length;
    if (length == 0 || (parenthesis && !accept(c, ")")))
        c->foreign = true;
    return result;
}

static enum truth parse_factor(struct condition *c)
{
    enum truth result = UNKNOWN;
    if (c->foreign || ++c->depth > 64) {
        c->foreign = true;
        return UNKNOWN;
    }
    if (accept(c, "!")) {
        result = not(parse_factor(c));
    } else if (accept(c, "(")) {
        result = parse_or(c);
        if (!accept(c, ")"))
            c->foreign = true;
    } else {
        size_t length = ts_name_length(c->at);
        const char *word = c->at;
        c->at += length;
        if (word_is(word, length, "defined"))
            result = parse_defined(c);
        else if (word_is(word, length, "0") || word_is(word, length, "1"))
            result = word[0] == '1' ? YES : NO;
        else
            c->foreign = true;
    }
    c->depth--;
    return result;
}

static enum truth parse_and(struct condition *c)
{
    enum truth result = parse_factor(c);
    while (accept(c, "&&")) {
        enum truth right = parse_factor(c);
        result = result == NO || right == NO ? NO : result == YES ? right : UNKNOWN;
    }
    return result;
}

static enum truth parse_or(struct condition *c)
{
    enum truth result = parse_and(c);
    while (accept(c, "||")) {
        enum truth right = parse_and(c);
        result = result == YES || right == YES ? YES : result == NO ? right : UNKNOWN;
    }
    return result;
}

static enum truth evaluate(const struct known *known, const char *text)
{
    struct condition c = {.known = known, .at = text};
    enum truth result = parse_or(&c);
    c.at += strspn(c.at, " \t");
    return c.foreign || *c.at ? UNKNOWN : result;
}

/* One #if ... #endif: is the present branch taken, and was one before it? */
struct branch {
    enum truth now, before;
};

struct scan {
    struct known known;
    struct branch *branches;
    size_t depth, capacity;
};

static enum truth either(enum truth a, enum truth b)
{
    return a == YES || b == YES ? YES : a == NO && b == NO ? NO : UNKNOWN;
}

static void enter(struct scan *s, enum truth condition)
{
    TS_GROW(s->branches, s->depth, s->capacity);
    s->branches[s->depth++] = (struct branch){condition, NO};
}

/* #elif, #else (condition YES). */
static void change(struct scan *s, enum truth condition)
{
    if (s->depth == 0)
        return;
    struct branch *b = &s->branches[s->depth - 1];
    b->before = either(b->before, b->now);
    b->now = b->before == YES || condition == NO   ? NO
             : b->before == NO && condition == YES ? YES
                                                   : UNKNOWN;
}

/* Keeps the stack of conditionals; false when the directive is none of theirs. */
static bool follow_conditional(struct scan *s, const char *word, size_t length, const char *rest)
{
    if (word_is(word, length, "if"))
        enter(s, evaluate(&s->known, rest));
    else if (word_is(word, length, "ifdef"))
        enter(s, is_defined(&s->known, rest, ts_name_length(rest)));
    else if (word_is(word, length, "ifndef"))
        enter(s, not(is_defined(&s->known, rest, ts_name_length(rest))));
    else if (word_is(word, length, "elif"))
        change(s, evaluate(&s->known, rest));
    else if (word_is(word, length, "else"))
        change(s, YES);
    else if (word_is(word, length, "endif"))
        s->depth -= s->depth > 0;
    else
        return false;
    return true;
}

static bool hidden(const struct scan *s)
{
    for (size_t i = 0; i < s->depth; i++)
        if (s->branches[i].now == NO)
            return true;
    return false;
}

/* The axis that a #define or #undef names, or NULL. */
static const char *axis_defined(const struct known *known, const char *rest)
{
    size_t length = ts_name_length(rest);
    for (size_t i = 0; i < known->count; i++)
        if (word_is(rest, length, known->names[i]))
            return known->names[i];
    return NULL;
}

static int define_error(const struct ts_place *at, const char *folder, const char *name, int line,
                        const char *axis, struct ts_err *err)
{
    char *path = ts_path_join(folder, name);
    ts_err_set(
        err, TS_EXIT_USAGE,
        "%s:%d: defines \"%s\" itself, so that the axis would not arrive; remove the line or "
        "put it into #ifndef %s",
        path, line, axis, axis);
    free(path);
    return ts_place_prepend(at, err);
}

int ts_spec_check_defines(const struct ts_place *at, const struct ts_source *source,
                          const char *folder, const char *variant, const char *const *names,
                          size_t count, struct ts_err *err)
{
    struct scan s = {.known = {variant, names, count}};
    struct ts_lines lines = {.text = source->text, .next_line = 1};
    char *file = ts_strdup("");
    int result = 0;
    while (result == 0 && ts_lines_next(&lines)) {
        const char *word, *rest, *axis;
        size_t length;
        if (!ts_lines_directive(&lines, &word, &length, &rest) ||
            follow_conditional(&s, word, length, rest))
            continue;
        if (word_is(word, length, "line")) {
            char *name = ts_lines_mark(rest, &lines.next_line);
            if (name) {
                free(file);
                file = name;
            }
            continue;
        }
        if (!word_is(word, length, "define") && !word_is(word, length, "undef"))
            continue;
        axis = axis_defined(&s.known, rest);
        if (axis && !hidden(&s))
            result = define_error(at, folder, file, lines.line, axis, err);
    }
    free(file);
    free(s.branches);
    ts_text_free(&lines.clean);
    return result;
}
