/* progress.c: says how far the work is, and leaves nothing behind. */
#include "progress.h"

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { REDRAW_NS = 100000000 };              /* on a terminal: ten times a second */
static const int64_t sparse_ns = 5000000000; /* elsewhere: a line every five seconds */

struct ts_progress {
    bool quiet, terminal;
    bool shown; /* the line is on the screen */
    char *phase, *best;
    int64_t done, total;
    int64_t phase_begun_ns, told_ns;
};

struct ts_progress *ts_progress_open(bool quiet)
{
    struct ts_progress *p = ts_alloc(1, sizeof(*p));
    const char *term = getenv("TERM");
    p->quiet = quiet;
    /* The line needs "erase to the end of the line", which a dumb terminal has not. It uses no
     * colour, so NO_COLOR has nothing to switch off. */
    p->terminal = isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
    p->told_ns = p->phase_begun_ns = ts_now_ns();
    return p;
}

static void erase(struct ts_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

void ts_progress_close(struct ts_progress *p)
{
    if (!p)
        return;
    erase(p);
    fflush(stderr);
    free(p->phase);
    free(p->best);
    free(p);
}

static size_t terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* "prove  42 %  13 of 31  8 s left  best local TX=32 TY=8 1.2 ms" */
static void describe(const struct ts_progress *p, int64_t now, struct ts_text *line)
{
    ts_text_puts(line, p->phase ? p->phase : "");
    if (p->total > 0) {
        int percent = (int)(100.0 * (double)p->done / (double)p->total);
        ts_text_printf(line, "  %3d %%  %lld of %lld", percent, (long long)p->done,
                       (long long)p->total);
    }
    int64_t spent = now - p->phase_begun_ns;
    if (p->done > 0 && p->done < p->total && spent > 1000000000) {
        double left = (double)spent / (double)p->done * (double)(p->total - p->done);
        char span[TS_HUMAN_ROOM];
        ts_text_printf(line, "  %s left", ts_human_span((int64_t)left, span));
    }
    if (p->best)
        ts_text_printf(line, "  best %s", p->best);
}

static void draw(struct ts_progress *p, bool now_please)
{
    if (p->quiet || !p->phase)
        return;
    int64_t now = ts_now_ns();
    if (!now_please && now - p->told_ns < (p->terminal ? REDRAW_NS : sparse_ns))
        return;
    struct ts_text line = {0};
    describe(p, now, &line);
    if (p->terminal) {
        /* One column stays free: a full line would wrap and could not be erased. */
        size_t bytes = ts_text_fit(line.text, terminal_columns() - 1);
        fprintf(stderr, "\r%.*s\033[K", (int)bytes, line.text);
        p->shown = true;
    } else {
        fprintf(stderr, "%s\n", line.text);
    }
    fflush(stderr);
    p->told_ns = now;
    ts_text_free(&line);
}

void ts_progress_phase(struct ts_progress *p, const char *name, int64_t total)
{
    free(p->phase);
    p->phase = ts_text_printable(name);
    p->done = 0;
    p->total = total;
    p->phase_begun_ns = ts_now_ns();
    draw(p, p->terminal);
}

void ts_progress_extend(struct ts_progress *p, const char *name, int64_t units)
{
    free(p->phase);
    p->phase = ts_text_printable(name);
    p->total += units;
    draw(p, false);
}

void ts_progress_update(struct ts_progress *p, int64_t done, const char *best)
{
    p->done = done;
    if (best && (!p->best || strcmp(best, p->best) != 0)) {
        free(p->best);
        p->best = ts_text_printable(best);
    }
    draw(p, false);
}

static void say(const char *format, va_list values)
{
    struct ts_text text = {0};
    ts_text_vprintf(&text, format, values);
    char *printable = ts_text_printable_lines(text.text);
    fprintf(stderr, "%s\n", printable);
    free(printable);
    ts_text_free(&text);
}

void ts_progress_say(struct ts_progress *p, const char *format, ...)
{
    va_list values;
    bool again = p && p->shown;
    if (p)
        erase(p);
    va_start(values, format);
    say(format, values);
    va_end(values);
    if (p)
        draw(p, again);
}

void ts_say(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(format, values);
    va_end(values);
}
