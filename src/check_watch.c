/* check_watch.c: workers under Oclgrind, several side by side: each pass of a row, size by size. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_private.h"
#include "crew.h"
#include "file.h"
#include "progress.h"
#include "signals.h"

#define DEFAULT_TIMEOUT_NS 60000000000LL
#define TALK_BYTES (64 * 1024)

/* Oclgrind's device is as large as those that kernels are written for, so that its own limits (32
 * KiB, 1024 work-items) leave few configurations unchecked. One thread a process: several processes
 * run side by side. The limit of errors only bounds the log: what differs in nothing but work-items
 * is told once. */
#define LIMITS "--local-mem-size 262144 --max-wgsize 4096 --num-threads 1 --max-errors 2000"

/* options: what is added to the build options. again: where Oclgrind dies of what the compiler
 * made, the pass is done once more with these; NULL: it is not. */
static const struct {
    const char *name, *flags, *options, *again;
} passes[TS_PASS_COUNT] = {
    /* Optimised code is several times faster, but with `restrict` it can hold an intrinsic that
     * Oclgrind 21.10 lacks (llvm.experimental.noalias.scope.decl). */
    [TS_PASS_RACES] = {"races", "--data-races", "", " -cl-opt-disable"},
    /* Optimised code holds `freeze`, which Oclgrind 21.10 does not know when it follows values. */
    [TS_PASS_UNINITIALISED] = {"uninitialised", "--uninitialized", " -cl-opt-disable", NULL},
};

const char *ts_check_pass_name(enum ts_check_pass pass)
{
    return passes[pass].name;
}

/* text as one word of the shell. */
static void add_quoted(struct ts_text *out, const char *text)
{
    ts_text_puts(out, "'");
    for (; *text; text++)
        ts_text_puts(out, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
    ts_text_puts(out, "'");
}

char *ts_check_command(enum ts_check_pass pass, const char *log)
{
    struct ts_text command = {0};

    ts_text_printf(&command, "oclgrind %s %s --log ", passes[pass].flags, LIMITS);
    add_quoted(&command, log);
    /* By this name a program that is rebuilt during a check still starts itself. */
    ts_text_printf(&command, " /proc/%ld/exe worker", (long)getpid());
    return command.text;
}

/* A pass of one row, and the worker that it has in hand: a fresh one for each size, because
 * Oclgrind 21.10 takes a new buffer for uninitialised where a released one was shorter. */
struct watcher {
    bool busy, again;
    size_t seat, row;
    enum ts_check_pass pass;
    size_t size; /* index of the one in hand */
    char *log;   /* path */
    /* What this attempt at the pass has found. The row's once the attempt is over: one that is
     * begun anew finds it again. */
    struct ts_findings found;
};

struct work {
    struct ts_checking *c;
    struct ts_crew *crew;
    const struct ts_device *device;
    struct ts_progress *progress;
    const char *folder; /* of logs */
    struct watcher *watchers;
    size_t watcher_count;
    size_t next, logs; /* next row * pass; logs begun */
    int64_t done, end_ns;
};

/* The size'th one that a row is checked on: --size's, else the spec's check sizes, as far as the
 * configuration admits them. NULL: no more. */
static const struct ts_values *row_size(const struct ts_checking *c, const struct ts_check_row *row,
                                        size_t size)
{
    const struct ts_space *space = c->spaces[row->space];
    const struct ts_config *config = &space->configs[row->config];
    bool given = c->options->selection.size_count > 0;
    const struct ts_values *sizes = given ? space->sizes : space->spec->check_sizes.items;
    const bool *admitted = given ? config->admitted : config->admitted_check;
    size_t count = given ? space->size_count : space->spec->check_sizes.count;

    for (size_t i = 0; i < count; i++) {
        if (admitted[i] && size-- == 0)
            return &sizes[i];
    }
    return NULL;
}

static struct ts_pass_result *pass_of(struct work *w, const struct watcher *watcher)
{
    return &w->c->rows[watcher->row].passes[watcher->pass];
}

static const struct ts_source *source_of(const struct work *w, const struct watcher *watcher)
{
    const struct ts_check_row *row = &w->c->rows[watcher->row];
    const struct ts_space *space = w->c->spaces[row->space];

    return &space->spec->variants[space->configs[row->config].variant].source;
}

static void not_done(struct ts_pass_result *pass, const char *code, const char *why)
{
    if (pass->code)
        return;
    pass->code = ts_strdup(code);
    pass->why = ts_strdup(why);
}

/* ---- jobs ---- */

static int send_size(struct work *w, struct watcher *watcher, struct ts_err *err)
{
    struct ts_checking *c = w->c;
    const struct ts_check_row *row = &c->rows[watcher->row];
    const struct ts_space *space = c->spaces[row->space];
    const struct ts_config *config = &space->configs[row->config];
    const struct ts_source *source = source_of(w, watcher);
    const char *digest = source->digest, *text = source->text;
    struct ts_job job = {.verb = TS_JOB_CHECK, .seed = c->options->seed ? c->options->seed : 1};
    int result;

    job.code.source = ts_strdup(digest);
    job.code.options =
        ts_printf("%s%s", config->options,
                  watcher->again ? passes[watcher->pass].again : passes[watcher->pass].options);
    job.instances = ts_alloc(1, sizeof(*job.instances));
    result = ts_space_instance(space, config, row_size(c, row, watcher->size), w->device,
                               &job.instances[0], err);
    if (result == 0) {
        job.instance_count = 1;
        ts_crew_send(w->crew, watcher->seat, &job, &digest, &text, 1);
    }
    ts_job_free(&job);
    return result;
}

/* A fresh worker for the size in hand. */
static int begin_watch(struct work *w, struct watcher *watcher, struct ts_err *err)
{
    char *name = ts_printf("%zu", w->logs++), *command;

    watcher->log = ts_path_join(w->folder, name);
    command = ts_check_command(watcher->pass, watcher->log);
    ts_crew_use_command(w->crew, command);
    free(command);
    free(name);
    if (ts_crew_hire(w->crew, &watcher->seat, err) < 0)
        return -1;
    watcher->busy = true;
    return send_size(w, watcher, err);
}

/* What Oclgrind's device cannot do is no fault of the kernel. The code, and why in words; or NULL.
 */
static const char *refusal(const struct work *w, const struct ts_check_row *row,
                           struct ts_text *why)
{
    const struct ts_space *space = w->c->spaces[row->space];

    if (!row_size(w->c, row, 0)) {
        ts_text_puts(why, "no check size admits it; give one by --size");
        return "size";
    }
    return ts_space_lacks(space, &space->configs[row->config], w->device, why);
}

static int start(struct work *w, struct watcher *watcher, size_t task, struct ts_err *err)
{
    struct ts_text why = {0};
    const char *code;

    watcher->row = task / TS_PASS_COUNT;
    watcher->pass = (enum ts_check_pass)(task % TS_PASS_COUNT);
    watcher->size = 0;
    watcher->again = false;
    code = refusal(w, &w->c->rows[watcher->row], &why);
    if (!code)
        return begin_watch(w, watcher, err);
    not_done(pass_of(w, watcher), code, why.text);
    ts_text_free(&why);
    ts_progress_update(w->progress, ++w->done, NULL);
    return 0;
}

/* ---- answers ---- */

/* What the log says, as findings at the size in hand. */
static struct ts_findings read_log(struct work *w, const struct watcher *watcher)
{
    const struct ts_check_row *row = &w->c->rows[watcher->row];
    struct ts_findings fresh = {0};
    struct ts_err err = {0};
    size_t length = 0;
    char *log = ts_file_read(watcher->log, &length, &err);

    if (log)
        ts_findings_read(&fresh, log, length, row_size(w->c, row, watcher->size));
    free(log);
    if (fresh.fatal) {
        not_done(pass_of(w, watcher), "oclgrind", fresh.fatal);
        free(fresh.fatal);
        fresh.fatal = NULL;
    }
    return fresh;
}

static void take_talk(struct ts_check_row *row, const char *talk)
{
    char *both;

    if (!talk)
        return;
    both = row->talk ? ts_printf("%s%s", row->talk, talk) : ts_strdup(talk);
    free(row->talk);
    row->talk = ts_utf8_clean(both, strlen(both), TALK_BYTES);
    free(both);
}

/* Where Oclgrind gives up it says so on standard error, and the launch succeeds all the same. */
static const char *last_words(const char *talk)
{
    return talk ? strstr(talk, "OCLGRIND FATAL ERROR") : NULL;
}

static void look_for_death(struct ts_pass_result *pass, const char *talk)
{
    const char *at = last_words(talk);
    char *words;

    if (!at)
        return;
    words = ts_strndup(at, 300);
    for (char *c = words; *c; c++)
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    not_done(pass, "oclgrind", words);
    free(words);
}

/* "build-failed" and "launch-failed" are the kernel's faults, as in a sweep; NULL: this is not. */
static const char *kernel_failure(const char *status)
{
    static const enum ts_status faults[] = {TS_BUILD_FAILED, TS_LAUNCH_FAILED};

    for (size_t i = 0; i < TS_COUNT(faults); i++) {
        if (strcmp(status, ts_status_name(faults[i])) == 0)
            return ts_status_name(faults[i]);
    }
    return NULL;
}

/* The reply's reason, and what the compiler said of the source. */
static char *reason_text(const struct ts_reply *reply, const char *source)
{
    const char *text = ts_json_string(ts_json_get(reply->line, "reason"), "text", "?");
    char *log =
        ts_check_build_log(ts_json_string(ts_json_get(reply->line, "build"), "log", ""), source);
    char *why = ts_printf("%s%s%s", text, log[0] ? "\n" : "", log);

    free(log);
    return why;
}

/* The worker was lost, or could not do the job: the row is not checked, whatever it was. */
static void take_failure(struct ts_pass_result *pass, const struct ts_reply *reply,
                         const char *source)
{
    const cJSON *reason = ts_json_get(reply->line, "reason");
    const char *status;
    char *why;

    if (reply->kind == TS_REPLY_LOST) {
        not_done(pass, reply->status == TS_TIMEOUT ? "timeout" : "crash", reply->text);
        return;
    }
    status = ts_json_string(reply->line, "status", "?");
    if (strcmp(status, "ok") == 0)
        return;
    if (!pass->code) /* else Oclgrind gave up before */
        pass->failed = kernel_failure(status);
    why = strcmp(status, ts_status_name(TS_BUILD_FAILED)) == 0
              ? reason_text(reply, source)
              : ts_strdup(ts_json_string(reason, "text", "?"));
    not_done(pass, ts_json_string(reason, "code", status), why);
    free(why);
}

/* What a process said that Oclgrind then died of, or gave up in, is told but no finding: who knows
 * since when it was wrong. What was said until a deadline stands. */
static void take_findings(struct watcher *watcher, struct ts_pass_result *pass,
                          const struct ts_reply *reply, struct ts_findings *fresh)
{
    bool died = (reply->kind == TS_REPLY_LOST && reply->status != TS_TIMEOUT) ||
                last_words(reply->talk) || last_words(pass->why);
    struct ts_text why = {0};

    if (!died) {
        ts_findings_move(&watcher->found, fresh);
        return;
    }
    if (fresh->count > 0) {
        ts_text_printf(&why, "%s; not counted, because said before that: ", pass->why);
        ts_finding_print(&fresh->items[0], &why);
        if (fresh->count > 1)
            ts_text_printf(&why, " and %zu more", fresh->count - 1);
        free(pass->why);
        pass->why = why.text;
    }
    ts_findings_free(fresh);
}

static void end_watch(struct work *w, struct watcher *watcher, bool lost)
{
    if (!lost)
        ts_crew_dismiss(w->crew, watcher->seat);
    unlink(watcher->log);
    free(watcher->log);
    watcher->log = NULL;
    watcher->busy = false;
}

/* Oclgrind itself failed, and there is another way to build. */
static bool take_again(struct watcher *watcher, struct ts_pass_result *pass)
{
    if (watcher->again || !passes[watcher->pass].again || !pass->code ||
        (strcmp(pass->code, "oclgrind") != 0 && strcmp(pass->code, "crash") != 0))
        return false;
    watcher->size = 0;
    watcher->again = true;
    ts_findings_free(&watcher->found);
    free(pass->code);
    free(pass->why);
    *pass = (struct ts_pass_result){0};
    return true;
}

static int take_reply(struct work *w, const struct ts_reply *reply, struct ts_err *err)
{
    struct watcher *watcher = w->watchers;
    struct ts_check_row *row;
    struct ts_pass_result *pass;
    struct ts_findings fresh;

    while (!watcher->busy || watcher->seat != reply->seat)
        watcher++;
    row = &w->c->rows[watcher->row];
    pass = pass_of(w, watcher);
    fresh = read_log(w, watcher);
    take_talk(row, reply->talk);
    look_for_death(pass, reply->talk);
    take_failure(pass, reply, source_of(w, watcher)->text);
    take_findings(watcher, pass, reply, &fresh);
    end_watch(w, watcher, reply->kind == TS_REPLY_LOST);
    if (!pass->code) {
        pass->sizes++;
        watcher->size++;
        pass->done = !row_size(w->c, row, watcher->size);
    }
    if ((!pass->code && !pass->done) || take_again(watcher, pass))
        return begin_watch(w, watcher, err);
    ts_findings_move(&row->findings, &watcher->found);
    ts_progress_update(w->progress, ++w->done, NULL);
    return 0;
}

/* ---- all rows ---- */

static bool any_busy(const struct work *w)
{
    for (size_t i = 0; i < w->watcher_count; i++) {
        if (w->watchers[i].busy)
            return true;
    }
    return false;
}

static int fill_seats(struct work *w, struct ts_err *err)
{
    size_t tasks = w->c->row_count * TS_PASS_COUNT;

    for (size_t i = 0; i < w->watcher_count; i++) {
        while (!w->watchers[i].busy && w->next < tasks) {
            if (start(w, &w->watchers[i], w->next++, err) < 0)
                return -1;
        }
    }
    return 0;
}

static size_t watcher_count(const struct ts_checking *c)
{
    long count = c->options->jobs > 0 ? c->options->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    size_t tasks = c->row_count * TS_PASS_COUNT;

    count = count < 1 ? 1 : count > TS_CREW_SEATS ? TS_CREW_SEATS : count;
    return (size_t)count < tasks ? (size_t)count : tasks;
}

/* What was not reached says so; what was found until then stands. */
static void close_rows(struct work *w)
{
    struct ts_checking *c = w->c;

    for (size_t i = 0; i < w->watcher_count; i++)
        ts_findings_move(&c->rows[w->watchers[i].row].findings, &w->watchers[i].found);
    for (size_t i = 0; i < c->row_count; i++) {
        for (int p = 0; p < TS_PASS_COUNT; p++) {
            struct ts_pass_result *pass = &c->rows[i].passes[p];
            if (!pass->done && c->interrupted)
                not_done(pass, "interrupted", "the check was interrupted before its turn");
            else if (!pass->done)
                not_done(pass, "budget", "the time was over before its turn");
        }
    }
}

static int watch_all(struct work *w, struct ts_err *err)
{
    struct ts_reply reply;
    int result = fill_seats(w, err);

    while (result == 0 && any_busy(w) && !ts_signal_pending() && ts_now_ns() < w->end_ns) {
        ts_crew_wait(w->crew, w->end_ns, &reply);
        if (reply.kind == TS_REPLY_DONE || reply.kind == TS_REPLY_LOST)
            result = take_reply(w, &reply, err);
        ts_reply_free(&reply);
        if (result == 0 && ts_now_ns() < w->end_ns)
            result = fill_seats(w, err);
    }
    return result;
}

static void free_work(struct work *w)
{
    for (size_t i = 0; i < w->watcher_count; i++) {
        if (w->watchers[i].log)
            unlink(w->watchers[i].log);
        free(w->watchers[i].log);
    }
    free(w->watchers);
}

int ts_check_watch(struct ts_checking *c, const struct ts_device *device, const char *folder,
                   struct ts_err *err)
{
    const struct ts_check_options *o = c->options;
    struct work w = {.c = c, .device = device, .folder = folder};
    const struct ts_launcher itself = {0};
    int ordinal = 0, result;

    w.end_ns = o->budget_ns > 0 ? ts_now_ns() + o->budget_ns : INT64_MAX;
    w.watcher_count = watcher_count(c);
    w.watchers = ts_alloc(w.watcher_count, sizeof(*w.watchers));
    w.crew =
        ts_crew_open(&itself, o->timeout_ns > 0 ? o->timeout_ns : DEFAULT_TIMEOUT_NS, &ordinal);
    ts_crew_use_device(w.crew, device);
    w.progress = ts_progress_open(o->quiet);
    ts_progress_phase(w.progress, "check", (int64_t)(c->row_count * TS_PASS_COUNT));
    result = watch_all(&w, err);
    ts_progress_close(w.progress);
    ts_crew_close(w.crew);
    c->interrupted = ts_signal_pending() != 0;
    close_rows(&w);
    free_work(&w);
    return result;
}
