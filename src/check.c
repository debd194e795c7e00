/* check.c: every configuration under Oclgrind, some side by side, each pass in a worker of its own.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_private.h"
#include "choice.h"
#include "crew.h"
#include "file.h"
#include "progress.h"
#include "signals.h"
#include "sweep.h"

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

const char *ts_check_status_name(enum ts_check_status status)
{
    static const char *const names[TS_CHECK_STATUS_COUNT] = {
        [TS_CHECK_CLEAN] = "clean",
        [TS_CHECK_FINDING] = "finding",
        [TS_CHECK_NOT_CHECKED] = "not-checked",
    };
    return names[status];
}

enum ts_check_status ts_check_row_status(const struct ts_check_row *row)
{
    if (row->findings.count > 0)
        return TS_CHECK_FINDING;
    for (int pass = 0; pass < TS_PASS_COUNT; pass++) {
        if (!row->passes[pass].done)
            return TS_CHECK_NOT_CHECKED;
    }
    return TS_CHECK_CLEAN;
}

/* ---- workers under Oclgrind ---- */

/* A pass of one row, and the worker that it has in hand: a fresh one for each size, because
 * Oclgrind 21.10 takes a new buffer for uninitialised where a released one was shorter. */
struct watcher {
    bool busy, again;
    size_t seat, row;
    enum ts_check_pass pass;
    size_t size; /* index of the one in hand */
    char *log;   /* path */
};

struct work {
    struct ts_checking *c;
    struct ts_crew *crew;
    struct ts_device device;
    struct ts_progress *progress;
    char *folder; /* of logs; NULL before it is made */
    struct watcher *watchers;
    size_t watcher_count;
    size_t next, logs; /* next row * pass; logs begun */
    int64_t done, end_ns;
};

/* text as one word of the shell. */
static void add_quoted(struct ts_text *out, const char *text)
{
    ts_text_puts(out, "'");
    for (; *text; text++)
        ts_text_puts(out, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
    ts_text_puts(out, "'");
}

static char *worker_command(enum ts_check_pass pass, const char *log)
{
    struct ts_text command = {0};

    ts_text_printf(&command, "oclgrind %s %s --log ", passes[pass].flags, LIMITS);
    add_quoted(&command, log);
    /* By this name a program that is rebuilt during a check still starts itself. */
    ts_text_printf(&command, " /proc/%ld/exe worker", (long)getpid());
    return command.text;
}

static int need_oclgrind(struct ts_err *err)
{
    const char *path = getenv("PATH");
    char *words = ts_strdup(path ? path : ""), *rest = NULL;
    bool found = false;

    for (char *folder = strtok_r(words, ":", &rest); folder && !found;
         folder = strtok_r(NULL, ":", &rest)) {
        char *program = ts_path_join(folder, "oclgrind");
        found = access(program, X_OK) == 0;
        free(program);
    }
    free(words);
    if (found)
        return 0;
    return ts_err_set(err, TS_EXIT_SYSTEM,
                      "oclgrind is needed to check kernels and was not found; on Debian it is in "
                      "the package oclgrind");
}

static int make_folder(struct work *w, struct ts_err *err)
{
    const char *base = getenv("TMPDIR");

    w->folder = ts_printf("%s/tilesweep-check-XXXXXX", base && base[0] ? base : "/tmp");
    if (mkdtemp(w->folder))
        return 0;
    ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot make a folder for Oclgrind's logs", w->folder);
    free(w->folder);
    w->folder = NULL;
    return -1;
}

/* The device facts that `where` asks for are Oclgrind's. */
static int find_device(struct work *w, struct ts_err *err)
{
    struct ts_device_list list = {0};
    char *log = ts_path_join(w->folder, "devices"), *command = worker_command(TS_PASS_RACES, log);
    int result = ts_devices_list(&list, command, w->c->options->timeout_ns, false, err);

    unlink(log);
    if (result == 0 && strcmp(list.devices[0].platform_name, "Oclgrind") != 0)
        result = ts_err_set(err, TS_EXIT_SYSTEM,
                            "oclgrind does not take the place of the OpenCL loader here: the first "
                            "device is \"%s\"",
                            list.devices[0].name);
    else if (result < 0 && err->exit_status == TS_EXIT_NO_DEVICE)
        err->exit_status = TS_EXIT_SYSTEM;
    if (result == 0) {
        w->device = list.devices[0];
        memset(&list.devices[0], 0, sizeof(list.devices[0]));
        w->c->checker = ts_strdup(w->device.driver ? w->device.driver : w->device.name);
        ts_devices_free(&list);
    } else if (!ts_signal_pending()) {
        ts_err_prepend(err, "oclgrind");
    }
    free(command);
    free(log);
    return result;
}

/* ---- rows ---- */

/* Is the configuration among those of --rows, at any of their sizes? */
static bool filter_admits(struct ts_row_filter *filter, const struct ts_space *space,
                          const struct ts_config *config)
{
    const struct ts_spec *spec = space->spec;
    bool admitted = filter == NULL;

    for (size_t i = 0; i < space->size_count && !admitted; i++) {
        struct ts_row row;
        ts_row_init(&row);
        row.benchmark = spec->name;
        row.variant = spec->variants[config->variant].name;
        row.size = space->sizes[i];
        row.problem = space->problems[config->problem];
        row.params = config->params;
        admitted = ts_row_filter_admits(filter, &row);
    }
    return admitted;
}

static int plan_spec(struct work *w, size_t index, struct ts_row_filter *filter, struct ts_err *err)
{
    struct ts_checking *c = w->c;
    struct ts_selection selection = c->options->selection;

    if (filter) {
        memset(&selection, 0, sizeof(selection));
        ts_row_filter_select(filter, c->specs[index]->name, &selection);
    }
    c->spaces[index] = ts_space_open(c->specs[index], &selection, &w->device, c->options->yes, err);
    if (filter)
        ts_selection_clear(&selection);
    if (!c->spaces[index])
        return -1;
    for (size_t i = 0; i < c->spaces[index]->config_count; i++) {
        if (!filter_admits(filter, c->spaces[index], &c->spaces[index]->configs[i]))
            continue;
        TS_GROW(c->rows, c->row_count, c->row_capacity);
        c->rows[c->row_count++] = (struct ts_check_row){.space = index, .config = i};
    }
    return 0;
}

static int plan(struct work *w, struct ts_row_filter *filter, struct ts_err *err)
{
    struct ts_checking *c = w->c;

    c->spaces = ts_alloc(c->spec_count, sizeof(*c->spaces));
    for (size_t i = 0; i < c->spec_count; i++) {
        if (plan_spec(w, i, filter, err) < 0)
            return -1;
    }
    if (c->row_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "nothing to check: the selection and `where` leave no configuration");
    return 0;
}

/* The size'th one that a row is checked on: --size's, else the spec's check sizes, as far as the
 * configuration admits them. NULL: no more. */
static const struct ts_values *row_size(const struct ts_checking *c, const struct ts_check_row *row,
                                        size_t size)
{
    const struct ts_space *space = c->spaces[row->space];
    const struct ts_config *config = &space->configs[row->config];
    bool given = c->options->selection.size_count > 0;
    const struct ts_values *sizes = given ? space->sizes : space->spec->check_sizes;
    const bool *admitted = given ? config->admitted : config->admitted_check;
    size_t count = given ? space->size_count : space->spec->check_size_count;

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
    const struct ts_source *source = &space->spec->variants[config->variant].source;
    const char *digest = source->digest, *text = source->text;
    struct ts_job job = {.verb = TS_JOB_CHECK, .seed = c->options->seed ? c->options->seed : 1};
    int result;

    job.code.source = ts_strdup(digest);
    job.code.options =
        ts_printf("%s%s", config->options,
                  watcher->again ? passes[watcher->pass].again : passes[watcher->pass].options);
    job.instances = ts_alloc(1, sizeof(*job.instances));
    result = ts_space_instance(space, config, row_size(c, row, watcher->size), &w->device,
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
    command = worker_command(watcher->pass, watcher->log);
    ts_crew_use_command(w->crew, command);
    free(command);
    free(name);
    if (ts_crew_hire(w->crew, &watcher->seat, err) < 0)
        return -1;
    watcher->busy = true;
    return send_size(w, watcher, err);
}

static int start(struct work *w, struct watcher *watcher, size_t task, struct ts_err *err)
{
    watcher->row = task / TS_PASS_COUNT;
    watcher->pass = (enum ts_check_pass)(task % TS_PASS_COUNT);
    watcher->size = 0;
    watcher->again = false;
    if (row_size(w->c, &w->c->rows[watcher->row], 0))
        return begin_watch(w, watcher, err);
    not_done(pass_of(w, watcher), "size", "no check size admits it; give one by --size");
    ts_progress_update(w->progress, ++w->done, NULL);
    return 0;
}

/* ---- answers ---- */

/* What the log says, as findings at the size in hand. */
static void read_log(struct work *w, struct watcher *watcher)
{
    struct ts_check_row *row = &w->c->rows[watcher->row];
    struct ts_err err = {0};
    size_t length = 0;
    char *log = ts_file_read(watcher->log, &length, &err);

    if (log)
        ts_findings_read(&row->findings, log, length, row_size(w->c, row, watcher->size));
    free(log);
    if (row->findings.fatal) {
        not_done(pass_of(w, watcher), "oclgrind", row->findings.fatal);
        free(row->findings.fatal);
        row->findings.fatal = NULL;
    }
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
static void look_for_death(struct ts_pass_result *pass, const char *talk)
{
    const char *at = talk ? strstr(talk, "OCLGRIND FATAL ERROR") : NULL;
    char *words;

    if (!at)
        return;
    words = ts_strndup(at, 300);
    for (char *c = words; *c; c++)
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    not_done(pass, "oclgrind", words);
    free(words);
}

/* The worker was lost, or could not do the job: the row is not checked, whatever it was. */
static void take_failure(struct ts_pass_result *pass, const struct ts_reply *reply)
{
    const cJSON *reason = ts_json_get(reply->line, "reason"), *build;
    const char *status, *log;
    char *why;

    if (reply->kind == TS_REPLY_LOST) {
        not_done(pass, reply->status == TS_TIMEOUT ? "timeout" : "crash", reply->text);
        return;
    }
    status = ts_json_string(reply->line, "status", "?");
    if (strcmp(status, "ok") == 0)
        return;
    build = ts_json_get(reply->line, "build");
    log = !strcmp(status, "build-failed") ? ts_json_string(build, "log", "") : "";
    why = ts_printf("%s%s%s", ts_json_string(reason, "text", "?"), log[0] ? "\n" : "", log);
    not_done(pass, ts_json_string(reason, "code", status), why);
    free(why);
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
    free(pass->code);
    free(pass->why);
    *pass = (struct ts_pass_result){0};
    return true;
}

static int take_reply(struct work *w, const struct ts_reply *reply, struct ts_err *err)
{
    struct watcher *watcher = w->watchers;
    struct ts_pass_result *pass;
    bool lost = reply->kind == TS_REPLY_LOST;

    while (!watcher->busy || watcher->seat != reply->seat)
        watcher++;
    pass = pass_of(w, watcher);
    read_log(w, watcher);
    take_talk(&w->c->rows[watcher->row], reply->talk);
    look_for_death(pass, reply->talk);
    take_failure(pass, reply);
    end_watch(w, watcher, lost);
    if (!pass->code) {
        pass->sizes++;
        watcher->size++;
        pass->done = !row_size(w->c, &w->c->rows[watcher->row], watcher->size);
    }
    if ((!pass->code && !pass->done) || take_again(watcher, pass))
        return begin_watch(w, watcher, err);
    ts_progress_update(w->progress, ++w->done, NULL);
    return 0;
}

/* ---- the whole ---- */

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

/* What was not reached says so. */
static void close_rows(struct ts_checking *c)
{
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

static int check_rows(struct work *w, struct ts_err *err)
{
    const struct ts_check_options *o = w->c->options;
    int result;

    w->end_ns = o->budget_ns > 0 ? ts_now_ns() + o->budget_ns : INT64_MAX;
    w->watcher_count = watcher_count(w->c);
    w->watchers = ts_alloc(w->watcher_count, sizeof(*w->watchers));
    w->crew = ts_crew_open(NULL, o->timeout_ns > 0 ? o->timeout_ns : DEFAULT_TIMEOUT_NS, 0);
    ts_crew_use_device(w->crew, &w->device);
    w->progress = ts_progress_open(o->quiet);
    ts_progress_phase(w->progress, "check", (int64_t)(w->c->row_count * TS_PASS_COUNT));
    result = watch_all(w, err);
    ts_progress_close(w->progress);
    ts_crew_close(w->crew);
    w->c->interrupted = ts_signal_pending() != 0;
    close_rows(w->c);
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
    ts_device_free(&w->device);
    if (w->folder)
        rmdir(w->folder);
    free(w->folder);
}

static void free_checking(struct ts_checking *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        ts_findings_free(&c->rows[i].findings);
        free(c->rows[i].talk);
        for (int pass = 0; pass < TS_PASS_COUNT; pass++) {
            free(c->rows[i].passes[pass].code);
            free(c->rows[i].passes[pass].why);
        }
    }
    free(c->rows);
    for (size_t i = 0; c->spaces && i < c->spec_count; i++)
        ts_space_close(c->spaces[i]);
    free(c->spaces);
    for (size_t i = 0; i < c->spec_count; i++)
        ts_spec_free(c->specs[i]);
    free(c->specs);
    free(c->checker);
}

/* A finding, or a case (a benchmark's problem) of which nothing could be checked. */
static bool has_finding(const struct ts_checking *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        size_t space = c->rows[i].space,
               problem = c->spaces[space]->configs[c->rows[i].config].problem;
        bool any_checked = false;

        if (ts_check_row_status(&c->rows[i]) == TS_CHECK_FINDING)
            return true;
        for (size_t j = 0; j < c->row_count; j++) {
            any_checked |= c->rows[j].space == space &&
                           c->spaces[space]->configs[c->rows[j].config].problem == problem &&
                           ts_check_row_status(&c->rows[j]) != TS_CHECK_NOT_CHECKED;
        }
        if (!any_checked)
            return true;
    }
    return false;
}

static int write_output(const struct ts_checking *c, struct ts_err *err)
{
    struct ts_text text = {0};
    int result = 0;

    if (c->options->json) {
        cJSON *document = ts_check_to_document(c);
        char *printed = ts_json_print_pretty(document);
        ts_text_printf(&text, "%s\n", printed);
        free(printed);
        cJSON_Delete(document);
    } else {
        ts_check_print_text(c, &text);
    }
    if (c->options->output && strcmp(c->options->output, "-") != 0)
        result = ts_file_write(c->options->output, text.text, text.length, err);
    else
        fwrite(text.text, 1, text.length, stdout); /* main looks whether it arrived */
    ts_text_free(&text);
    return result;
}

/* Specs, Oclgrind, its device, the plan: all that can be refused before anything runs. */
static int prepare(struct work *w, struct ts_row_filter **filter, struct ts_err *err)
{
    struct ts_checking *c = w->c;
    const struct ts_check_options *o = c->options;

    if (o->rows_file) {
        *filter = ts_row_filter_load(o->rows_file, o->rows_which, err);
        if (!*filter)
            return -1;
    }
    if (ts_choose_specs(o->specs, o->spec_count, *filter, o->rows_file, &c->specs, &c->spec_count,
                        err) < 0 ||
        ts_choose_check(&o->selection, c->specs, c->spec_count, err) < 0)
        return -1;
    if (need_oclgrind(err) < 0 || make_folder(w, err) < 0 || find_device(w, err) < 0)
        return -1;
    return plan(w, *filter, err);
}

int ts_check_run(const struct ts_check_options *options, struct ts_err *err)
{
    struct ts_checking c = {.options = options};
    struct work w = {.c = &c};
    struct ts_row_filter *filter = NULL;
    int result = -1;

    ts_signals_install();
    ts_utc_now(c.started);
    if (prepare(&w, &filter, err) < 0 || check_rows(&w, err) < 0 || write_output(&c, err) < 0)
        goto out;
    result = ts_signal_pending() ? 128 + ts_signal_pending()
             : has_finding(&c)   ? TS_EXIT_FINDING
                                 : TS_EXIT_OK;
out:
    ts_row_filter_free(filter);
    free_work(&w);
    free_checking(&c);
    return result;
}
