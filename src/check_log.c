/* check_log.c: reading Oclgrind's log.
 *
 * A message is a line that begins at the margin and the lines below it that begin with a tab:
 *
 *     Read-write data race at local memory address 0x1000000000020
 *         Kernel: bad
 *
 *         First entity:  Global(8,0,0) Local(8,0,0) Group(0,0,0)
 *           %1 = load float, float addrspace(3)* %arrayidx11, align 4
 *         At line 12 (column 25) of missing_barrier.cl:
 *           (a line of source: the wrong one, because #line is not minded in choosing it)
 *
 * Fields follow one tab, instructions and source lines a tab and two blanks: so no text of a kernel
 * reads as a field. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_private.h"

static const char *const kind_names[TS_FINDING_KIND_COUNT] = {
    [TS_FINDING_RACE] = "data-race",       [TS_FINDING_BARRIER] = "barrier",
    [TS_FINDING_BOUNDS] = "out-of-bounds", [TS_FINDING_UNINITIALISED] = "uninitialised",
    [TS_FINDING_UNALIGNED] = "unaligned",
};

const char *ts_finding_kind_name(enum ts_finding_kind kind)
{
    return kind_names[kind];
}

/* How the first line of a message tells its kind. */
static const struct {
    const char *words;
    enum ts_finding_kind kind;
} heads[] = {
    {" data race at ", TS_FINDING_RACE},
    {"Work-group divergence detected", TS_FINDING_BARRIER},
    {"Invalid read ", TS_FINDING_BOUNDS},
    {"Invalid write ", TS_FINDING_BOUNDS},
    {" exceeds static array size ", TS_FINDING_BOUNDS},
    {"Uninitialized ", TS_FINDING_UNINITIALISED},
    {" uninitialized ", TS_FINDING_UNINITIALISED},
    {"naligned ", TS_FINDING_UNALIGNED},
};

static const char *const spaces[] = {"global", "local", "private", "constant"};

/* ---- lines ---- */

/* A walk over a text, line by line; the line is a copy of our own. */
struct walk {
    const char *at, *end;
    char *line;
};

static bool next_line(struct walk *w)
{
    const char *newline;
    size_t length;

    free(w->line);
    w->line = NULL;
    if (w->at >= w->end)
        return false;
    newline = memchr(w->at, '\n', (size_t)(w->end - w->at));
    length = newline ? (size_t)(newline - w->at) : (size_t)(w->end - w->at);
    w->line = ts_utf8_clean(w->at, length, 0);
    w->at += length + (newline != NULL);
    return true;
}

static const char *after(const char *text, const char *start)
{
    size_t length = strlen(start);

    return strncmp(text, start, length) == 0 ? text + length + strspn(text + length, " ") : NULL;
}

/* ---- a message's first line ---- */

static const char *find_space(const char *head)
{
    for (size_t i = 0; i < TS_COUNT(spaces); i++) {
        char words[32];
        snprintf(words, sizeof(words), "%s memory", spaces[i]);
        if (strstr(head, words))
            return spaces[i];
    }
    return NULL;
}

static bool begin(struct ts_finding *finding, const char *head, const struct ts_values *at)
{
    const char *address = strstr(head, " address 0x"), *size = strstr(head, " of size ");
    const char *space = find_space(head);

    for (size_t i = 0; i < TS_COUNT(heads); i++) {
        if (!strstr(head, heads[i].words))
            continue;
        memset(finding, 0, sizeof(*finding));
        finding->kind = heads[i].kind;
        finding->message = ts_strndup(head, address ? (size_t)(address - head) : strlen(head));
        finding->space = space ? ts_strdup(space) : NULL;
        finding->bytes = finding->reached = finding->group_items = -1;
        if (size)
            sscanf(size, " of size %" SCNd64, &finding->bytes);
        finding->times = 1;
        ts_values_copy(&finding->size, at);
        return true;
    }
    return false;
}

/* ---- the lines below it ---- */

static struct ts_access *add_access(struct ts_finding *finding)
{
    if (finding->access_count < 2)
        finding->access_count++;
    return &finding->access[finding->access_count - 1];
}

static bool scan_ids(const char *text, const char *name, int64_t ids[3])
{
    const char *at = strstr(text, name);

    return at && sscanf(at + strlen(name), "(%" SCNd64 ",%" SCNd64 ",%" SCNd64 ")", &ids[0],
                        &ids[1], &ids[2]) == 3;
}

static void take_entity(struct ts_finding *finding, const char *text)
{
    struct ts_access *access = add_access(finding);

    access->has_item =
        scan_ids(text, "Global", access->global) && scan_ids(text, "Local", access->local);
    access->has_group = scan_ids(text, "Group", access->group);
}

static void take_place(struct ts_finding *finding, const char *text)
{
    struct ts_access *access;
    int64_t line, column = 0;
    const char *file = strstr(text, " of ");
    size_t length;

    if (!file || (sscanf(text, "%" SCNd64 " (column %" SCNd64, &line, &column) < 1))
        return;
    access = finding->access_count > 0 ? &finding->access[finding->access_count - 1]
                                       : add_access(finding);
    if (access->file)
        return;
    file += strlen(" of ");
    length = strlen(file);
    access->file = ts_strndup(file, length > 0 && file[length - 1] == ':' ? length - 1 : length);
    access->line = line;
    access->column = column;
}

/* The instruction says who reads and who writes. */
static void take_instruction(struct ts_finding *finding, const char *text)
{
    static const struct {
        const char *words, *action;
    } actions[] = {
        {"= load ", "reads"},        {"store ", "writes"},
        {"= atomicrmw ", "updates"}, {"= cmpxchg ", "updates"},
        {"_Z7barrier", "reaches"},   {"work_group_barrier", "reaches"},
        {"atomic", "updates"},       {"async_work_group", "copies"},
    };
    struct ts_access *access;

    if (finding->access_count == 0)
        return;
    access = &finding->access[finding->access_count - 1];
    if (access->action || access->file) /* what follows a place is a line of source */
        return;
    for (size_t i = 0; i < TS_COUNT(actions) && !access->action; i++) {
        if (strstr(text, actions[i].words))
            access->action = actions[i].action;
    }
}

static void take_detail(struct ts_finding *finding, const char *line)
{
    const char *text = line + 1, *rest;

    if (text[0] == ' ') {
        take_instruction(finding, text);
    } else if ((rest = after(text, "Kernel:")) != NULL) {
        if (!finding->kernel)
            finding->kernel = ts_strdup(rest);
    } else if ((rest = after(text, "Entity:")) != NULL ||
               (rest = after(text, "First entity:")) != NULL ||
               (rest = after(text, "Second entity:")) != NULL) {
        take_entity(finding, rest);
    } else if ((rest = after(text, "Work-group:")) != NULL) {
        struct ts_access *access = add_access(finding);
        access->has_group = scan_ids(text, "Work-group: ", access->group);
    } else if ((rest = after(text, "At line ")) != NULL) {
        take_place(finding, rest);
    } else if ((rest = after(text, "Only ")) != NULL) {
        sscanf(rest, "%" SCNd64 " out of %" SCNd64, &finding->reached, &finding->group_items);
    }
}

/* ---- gathering ---- */

static void free_finding(struct ts_finding *finding)
{
    free(finding->message);
    free(finding->space);
    free(finding->kernel);
    free(finding->access[0].file);
    free(finding->access[1].file);
    ts_values_free(&finding->size);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* "Index (4) exceeds static array size (4)": not told again for each index. */
static bool same_message(const char *a, const char *b)
{
    static const char digits[] = "0123456789-";

    for (;;) {
        a += strspn(a, digits);
        b += strspn(b, digits);
        if (*a != *b)
            return false;
        if (!*a)
            return true;
        a++;
        b++;
    }
}

static bool same_access(const struct ts_access *a, const struct ts_access *b)
{
    return same_text(a->file, b->file) && a->line == b->line && same_text(a->action, b->action);
}

/* A race is told once from each side, too. */
static bool same_finding(const struct ts_finding *a, const struct ts_finding *b)
{
    if (a->kind != b->kind || !same_message(a->message, b->message) || a->bytes != b->bytes ||
        !same_text(a->kernel, b->kernel) || a->access_count != b->access_count)
        return false;
    return (same_access(&a->access[0], &b->access[0]) &&
            same_access(&a->access[1], &b->access[1])) ||
           (a->kind == TS_FINDING_RACE && same_access(&a->access[0], &b->access[1]) &&
            same_access(&a->access[1], &b->access[0]));
}

/* Takes finding. */
static void add_finding(struct ts_findings *findings, struct ts_finding *finding)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (same_finding(&findings->items[i], finding)) {
            findings->items[i].times += finding->times;
            free_finding(finding);
            return;
        }
    }
    TS_GROW(findings->items, findings->count, findings->capacity);
    findings->items[findings->count++] = *finding;
}

void ts_findings_move(struct ts_findings *into, struct ts_findings *from)
{
    for (size_t i = 0; i < from->count; i++)
        add_finding(into, &from->items[i]);
    into->cut |= from->cut;
    if (!into->fatal) {
        into->fatal = from->fatal;
        from->fatal = NULL;
    }
    from->count = 0; /* each has gone */
    ts_findings_free(from);
}

/* "OCLGRIND FATAL ERROR (Kernel.cpp:12)" and its next lines, and every message that is news to us.
 */
static void take_fatal(struct ts_findings *findings, const char *head, struct walk rest)
{
    struct ts_text text = {0};

    if (findings->fatal)
        return;
    rest.line = NULL;
    ts_text_puts(&text, head);
    for (int i = 0; i < 3 && next_line(&rest) && rest.line[0]; i++)
        ts_text_printf(&text, "; %s", rest.line + strspn(rest.line, " \t"));
    free(rest.line);
    findings->fatal = ts_utf8_clean(text.text, text.length, 1000);
    ts_text_free(&text);
}

void ts_findings_read(struct ts_findings *findings, const char *log, size_t length,
                      const struct ts_values *size)
{
    struct walk w = {.at = log, .end = log + length};
    struct ts_finding finding;
    bool open = false, fatal = false;

    while (next_line(&w)) {
        if (w.line[0] == '\t') {
            if (open)
                take_detail(&finding, w.line);
            continue;
        }
        if (!w.line[0]) {
            fatal = false;
            continue;
        }
        if (open)
            add_finding(findings, &finding);
        open = !fatal && begin(&finding, w.line, size);
        if (!open && strstr(w.line, " suppressing further errors"))
            findings->cut = true;
        else if (!open && !fatal) {
            take_fatal(findings, w.line, w);
            fatal = true;
        }
    }
    if (open)
        add_finding(findings, &finding);
    free(w.line);
}

void ts_findings_free(struct ts_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free_finding(&findings->items[i]);
    free(findings->items);
    free(findings->fatal);
    memset(findings, 0, sizeof(*findings));
}

/* ---- in words ---- */

static void add_ids(struct ts_text *out, const int64_t ids[3])
{
    ts_text_printf(out, "(%" PRId64 ",%" PRId64 ",%" PRId64 ")", ids[0], ids[1], ids[2]);
}

static void add_who(struct ts_text *out, const struct ts_access *access)
{
    if (access->has_item) {
        ts_text_puts(out, "work-item ");
        add_ids(out, access->global);
    } else if (access->has_group) {
        ts_text_puts(out, "work-group ");
        add_ids(out, access->group);
    } else {
        ts_text_puts(out, "somebody");
    }
}

static void add_place(struct ts_text *out, const struct ts_access *access)
{
    if (access->file)
        ts_text_printf(out, " at %s:%" PRId64, access->file, access->line);
}

static void print_race(const struct ts_finding *f, struct ts_text *out)
{
    const struct ts_access *first = &f->access[0], *second = &f->access[1];

    ts_text_printf(out, "data race in %s memory: ", f->space ? f->space : "unknown");
    add_who(out, first);
    ts_text_printf(out, " %s", first->action ? first->action : "accesses");
    add_place(out, first);
    ts_text_puts(out, " what ");
    add_who(out, second);
    ts_text_printf(out, " %s", second->action ? second->action : "accesses");
    add_place(out, second);
    if (first->has_group && f->space && !strcmp(f->space, "local")) {
        ts_text_puts(out, ", work-group ");
        add_ids(out, first->group);
    }
}

static void print_barrier(const struct ts_finding *f, struct ts_text *out)
{
    ts_text_puts(out, "barrier not reached by the whole work-group");
    if (f->reached >= 0)
        ts_text_printf(out, ": %" PRId64 " of %" PRId64 " work-items reach it", f->reached,
                       f->group_items);
    add_place(out, &f->access[0]);
    if (f->access[0].has_group) {
        ts_text_puts(out, ", work-group ");
        add_ids(out, f->access[0].group);
    }
}

static void print_bounds(const struct ts_finding *f, struct ts_text *out)
{
    bool read = strncmp(f->message, "Invalid read", strlen("Invalid read")) == 0;

    if (f->bytes >= 0 && f->space)
        ts_text_printf(out, "%s of %" PRId64 " B out of bounds in %s memory",
                       read ? "read" : "write", f->bytes, f->space);
    else
        ts_text_printf(out, "out of bounds: %s", f->message);
    add_place(out, &f->access[0]);
    ts_text_puts(out, ", ");
    add_who(out, &f->access[0]);
}

static void print_uninitialised(const struct ts_finding *f, struct ts_text *out)
{
    if (f->space && strstr(f->message, "written to"))
        ts_text_printf(out, "uninitialised value written to %s memory", f->space);
    else
        ts_text_printf(out, "uninitialised memory: %s", f->message);
    add_place(out, &f->access[0]);
    ts_text_puts(out, ", ");
    add_who(out, &f->access[0]);
}

static void print_unaligned(const struct ts_finding *f, struct ts_text *out)
{
    ts_text_printf(out, "unaligned access: %s", f->message);
    add_place(out, &f->access[0]);
    ts_text_puts(out, ", ");
    add_who(out, &f->access[0]);
}

void ts_finding_print(const struct ts_finding *finding, struct ts_text *out)
{
    static void (*const print[TS_FINDING_KIND_COUNT])(const struct ts_finding *,
                                                      struct ts_text *) = {
        [TS_FINDING_RACE] = print_race,           [TS_FINDING_BARRIER] = print_barrier,
        [TS_FINDING_BOUNDS] = print_bounds,       [TS_FINDING_UNINITIALISED] = print_uninitialised,
        [TS_FINDING_UNALIGNED] = print_unaligned,
    };

    print[finding->kind](finding, out);
    if (finding->kernel)
        ts_text_printf(out, ", kernel %s", finding->kernel);
    ts_text_puts(out, " (");
    ts_values_print(&finding->size, "", " ", out);
    if (finding->times > 1)
        ts_text_printf(out, "%sseen %" PRId64 " times", finding->size.count > 0 ? "; " : "",
                       finding->times);
    ts_text_puts(out, ")");
}
