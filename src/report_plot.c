/* report_plot.c: runs gnuplot and looks at what it drew, because it exits 0 with an empty picture
 * and leaves files of no bytes behind when it fails.
 *
 * posix_spawn cannot change the folder in POSIX.1-2008; the extension used is in glibc, musl and
 * the BSDs. */
#define _GNU_SOURCE 1

#include "report_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "signals.h"

extern char **environ;

/* gnuplot processes side by side, at most. */
enum { MOST_PROCESSES = 4 };

/* ---- a process ---- */

struct process {
    pid_t pid;  /* 0: none */
    FILE *talk; /* its stdout and stderr */
    struct ts_report_figure *figure;
};

/* The environment with LC_ALL=C, so that no locale writes decimal commas; free() the array. */
static char **plain_environment(void)
{
    static char plain_locale[] = "LC_ALL=C";
    size_t count = 0, used = 0;
    while (environ && environ[count])
        count++;
    char **copy = ts_alloc(count + 2, sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            copy[used++] = environ[i];
    copy[used] = plain_locale;
    return copy;
}

/* Files and folder of the process: stdin empty, stdout and stderr into talk. 0 or an errno. */
static int set_files(posix_spawn_file_actions_t *actions, int talk, const char *dir)
{
    int failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(actions, talk, 1);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(actions, talk, 2);
    if (!failed && dir)
        failed = posix_spawn_file_actions_addchdir_np(actions, dir);
    return failed;
}

static int start(struct process *process, char *const argv[], const char *dir, struct ts_err *err)
{
    *process = (struct process){.talk = tmpfile()};
    if (!process->talk)
        return ts_err_set(err, TS_EXIT_SYSTEM, "cannot make a temporary file: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = set_files(&actions, fileno(process->talk), dir);
        char **environment = plain_environment();
        if (!failed)
            failed = posix_spawnp(&process->pid, argv[0], &actions, NULL, argv, environment);
        free(environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (!failed)
        return 0;
    fclose(process->talk);
    *process = (struct process){0};
    if (failed == ENOENT)
        return ts_err_set(err, TS_EXIT_SYSTEM,
                          "gnuplot is needed to draw pictures and was not found; on Debian it is "
                          "in the package gnuplot-nox");
    return ts_err_set(err, TS_EXIT_SYSTEM, "cannot run gnuplot: %s", strerror(failed));
}

/* Its wait status. Whoever stops us by a signal wants no picture any more: it is killed. */
static int wait_for(pid_t pid)
{
    struct ts_signals_held held;
    int status = 0;
    bool killed = false;
    pid_t ended;
    ts_signals_hold(&held);
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (ts_signal_pending() && !killed) {
            (void)kill(pid, SIGKILL);
            killed = true;
        } else {
            ts_signals_poll(&held, NULL, 0, INT64_MAX);
        }
    }
    ts_signals_release(&held);
    return ended < 0 ? 255 << 8 : status;
}

/* Waits for its end; returns its exit status, 128 + signal, and what it said (free() it). */
static int finish(struct process *process, char **talk)
{
    int status = wait_for(process->pid);
    struct ts_text text = {0};
    char buffer[4096];
    size_t got;
    rewind(process->talk);
    while ((got = fread(buffer, 1, sizeof(buffer), process->talk)) > 0)
        ts_text_add(&text, buffer, got);
    ts_text_add(&text, "", 0);
    fclose(process->talk);
    process->pid = 0;
    process->talk = NULL;
    *talk = text.text ? text.text : ts_strdup("");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int tell_interrupted(struct ts_err *err)
{
    return ts_err_set(err, 128 + ts_signal_pending(), "interrupted");
}

/* ---- what gnuplot can do ---- */

static int find_scripts(struct ts_gnuplot *gnuplot, struct ts_err *err)
{
    char *data_dir = ts_data_dir(err);
    if (!data_dir)
        return -1;
    char *relative = ts_path_join(data_dir, "scripts/plot");
    gnuplot->script_dir = realpath(relative, NULL); /* gnuplot runs in another folder */
    if (!gnuplot->script_dir)
        ts_err_set(err, TS_EXIT_SYSTEM, "%s: the gnuplot scripts are not there: %s", relative,
                   strerror(errno));
    free(relative);
    free(data_dir);
    return gnuplot->script_dir ? 0 : -1;
}

/* "5.4 patchlevel 4\n  terminals...": the first line is the version. */
static void read_abilities(struct ts_gnuplot *gnuplot, char *talk)
{
    char *end = strchr(talk, '\n');
    if (end)
        *end = '\0';
    gnuplot->version = ts_strdup(talk);
    const char *terminals = end ? end + 1 : "";
    gnuplot->has_png = strstr(terminals, " pngcairo ") || strstr(terminals, " png ");
    gnuplot->has_svg = strstr(terminals, " svg ");
}

int ts_gnuplot_open(struct ts_gnuplot *gnuplot, struct ts_err *err)
{
    static char program[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    static char question[] = "set print '-'; print sprintf('%.1f patchlevel %s', GPVAL_VERSION, "
                             "GPVAL_PATCHLEVEL); print ' '.GPVAL_TERMINALS.' '";
    char *const argv[] = {program, defaults, execute, question, NULL};
    *gnuplot = (struct ts_gnuplot){0};
    struct process process;
    if (find_scripts(gnuplot, err) < 0 || start(&process, argv, NULL, err) < 0)
        return -1;
    char *talk;
    int status = finish(&process, &talk);
    if (status == 0)
        read_abilities(gnuplot, talk);
    if (ts_signal_pending())
        tell_interrupted(err);
    else if (status == 127)
        ts_err_set(err, TS_EXIT_SYSTEM,
                   "gnuplot is needed to draw pictures and was not found; on Debian it is in the "
                   "package gnuplot-nox");
    else if (status != 0)
        ts_err_set(err, TS_EXIT_SYSTEM, "gnuplot does not run (exit status %d): %.1000s", status,
                   talk);
    else if (!gnuplot->has_png && !gnuplot->has_svg)
        ts_err_set(err, TS_EXIT_SYSTEM,
                   "this gnuplot (%s) can draw neither PNG nor SVG; on Debian install gnuplot-nox",
                   gnuplot->version);
    else
        gnuplot->drawing_dir = ts_dir_temporary("tilesweep-report", err);
    free(talk);
    return err->exit_status ? -1 : 0;
}

void ts_gnuplot_close(struct ts_gnuplot *gnuplot)
{
    if (!gnuplot)
        return;
    free(gnuplot->version);
    free(gnuplot->script_dir);
    if (gnuplot->drawing_dir)
        (void)rmdir(gnuplot->drawing_dir);
    free(gnuplot->drawing_dir);
    *gnuplot = (struct ts_gnuplot){0};
}

/* ---- looking at a picture ---- */

/* The end of the group that begins at `group`: behind its own </g>. */
static const char *group_end(const char *group)
{
    int depth = 0;
    for (const char *at = group; (at = strchr(at, '<')); at++) {
        if (strncmp(at, "<g ", 3) == 0 || strncmp(at, "<g>", 3) == 0)
            depth++;
        else if (strncmp(at, "</g>", 4) == 0 && --depth == 0)
            return at + 4;
    }
    return group + strlen(group);
}

static bool draws_something(const char *from, const char *to)
{
    static const char *const marks[] = {"<path", "<polygon", "<use ", "<text", "<circle", "<rect"};
    for (size_t i = 0; i < TS_COUNT(marks); i++) {
        const char *mark = strstr(from, marks[i]);
        if (mark && mark < to)
            return true;
    }
    return false;
}

/* NULL, or what is wrong with it. Each layer of a plot is a group of its own in gnuplot's SVG. */
static const char *svg_fault(const char *text, size_t length)
{
    static const char layer_mark[] = "<g id=\"gnuplot_plot_";
    if (length < 7 || !strstr(text + (length > 64 ? length - 64 : 0), "</svg>"))
        return "is not complete";
    const char *layer = strstr(text, layer_mark);
    if (!layer)
        return "shows no data";
    for (; layer; layer = strstr(layer + 1, layer_mark))
        if (!draws_something(layer, group_end(layer)))
            return "has an empty layer";
    return NULL;
}

static const char *png_fault(const char *text, size_t length)
{
    static const char signature[] = "\x89PNG\r\n\x1a\n";
    static const char end[] = "IEND\xAE\x42\x60\x82";
    enum { SIGNATURE = 8, END = 8, SMALLEST = 512 };
    if (length < SMALLEST)
        return "is too small to show anything";
    if (memcmp(text, signature, SIGNATURE) != 0)
        return "is no PNG";
    if (memcmp(text + length - END, end, END) != 0)
        return "is not complete";
    return NULL;
}

/* Formats: a new one is a row here, one of the files in report_written.c, and a terminal in
 * scripts/plot/terminal.gnuplot. */
static const struct format {
    const char *ending;
    const char *(*fault)(const char *bytes, size_t length);
    size_t can, picture; /* offsets of the bool in struct ts_gnuplot and of the text in struct
                          * ts_report_figure */
} format_table[] = {
    {"png", png_fault, offsetof(struct ts_gnuplot, has_png),
     offsetof(struct ts_report_figure, png)},
    {"svg", svg_fault, offsetof(struct ts_gnuplot, has_svg),
     offsetof(struct ts_report_figure, svg)},
};

static bool can_draw(const struct ts_gnuplot *gnuplot, const struct format *format)
{
    return *(const bool *)((const char *)gnuplot + format->can);
}

/* Where gnuplot draws: what is not whole is not seen in the folder of the report. */
static char *drawing_path(const struct ts_gnuplot *gnuplot, const struct ts_report_figure *figure,
                          const struct format *format)
{
    return ts_printf("%s/%s.%s", gnuplot->drawing_dir, figure->name, format->ending);
}

static void remove_drawings(const struct ts_gnuplot *gnuplot, const struct ts_report_figure *figure)
{
    for (size_t i = 0; i < TS_COUNT(format_table); i++) {
        char *path = drawing_path(gnuplot, figure, &format_table[i]);
        (void)unlink(path);
        free(path);
    }
}

/* dir: where the picture will be. */
static int take_picture(const struct ts_gnuplot *gnuplot, struct ts_report_figure *figure,
                        const struct format *format, const char *dir, struct ts_err *err)
{
    struct ts_text *picture = (struct ts_text *)((char *)figure + format->picture);
    char *path = drawing_path(gnuplot, figure, format);
    size_t length = 0;
    struct ts_err unread = {0};
    char *bytes = ts_file_read(path, &length, &unread);
    const char *fault = bytes ? format->fault(bytes, length) : "was not written";
    if (fault)
        ts_err_set(err, TS_EXIT_SYSTEM, "%s/%s.%s %s", dir, figure->name, format->ending, fault);
    else
        ts_text_add(picture, bytes, length);
    free(bytes);
    free(path);
    return fault ? -1 : 0;
}

static int take_pictures(const struct ts_gnuplot *gnuplot, struct ts_report_figure *figure,
                         const char *dir, struct ts_err *err)
{
    for (size_t i = 0; i < TS_COUNT(format_table); i++)
        if (can_draw(gnuplot, &format_table[i]) &&
            take_picture(gnuplot, figure, &format_table[i], dir, err) < 0)
            return -1;
    return 0;
}

/* ---- drawing ---- */

static int start_figure(const struct ts_gnuplot *gnuplot, struct process *process,
                        struct ts_report_figure *figure, const char *dir, struct ts_err *err)
{
    enum { FIXED = 6 };
    char *argv[FIXED + TS_COUNT(format_table) + 1] = {0};
    size_t count = 0;
    argv[count++] = ts_strdup("gnuplot");
    argv[count++] = ts_strdup("-d"); /* without the user's start-up file */
    argv[count++] = ts_strdup("-c");
    argv[count++] = ts_path_join(gnuplot->script_dir, figure->kind->script);
    argv[count++] = ts_printf("data/%s.tsv", figure->name);
    argv[count++] = ts_printf("data/%s.labels.tsv", figure->name);
    for (size_t i = 0; i < TS_COUNT(format_table); i++)
        if (can_draw(gnuplot, &format_table[i]))
            argv[count++] = drawing_path(gnuplot, figure, &format_table[i]);
    int result = start(process, argv, dir, err);
    process->figure = figure;
    for (size_t i = 0; i < count; i++)
        free(argv[i]);
    return result;
}

/* Words by which gnuplot tells of a picture that lacks something, with exit status 0. */
static bool tells_of_loss(const char *talk)
{
    static const char *const words[] = {"no valid points", "undefined", "Skipping data file"};
    for (size_t i = 0; i < TS_COUNT(words); i++)
        if (strstr(talk, words[i]))
            return true;
    return false;
}

static int finish_figure(const struct ts_gnuplot *gnuplot, struct process *process, const char *dir,
                         struct ts_err *err)
{
    struct ts_report_figure *figure = process->figure;
    char *talk;
    int status = finish(process, &talk), result = 0;
    if (ts_signal_pending())
        result = tell_interrupted(err);
    else if (status != 0)
        result = ts_err_set(err, TS_EXIT_SYSTEM,
                            "gnuplot failed (exit status %d) on %s/data/%s.tsv with %s:\n%.2000s",
                            status, dir, figure->name, figure->kind->script, talk);
    else if (tells_of_loss(talk))
        result = ts_err_set(err, TS_EXIT_SYSTEM, "gnuplot left something out of %s/%s:\n%.2000s",
                            dir, figure->name, talk);
    if (result == 0)
        result = take_pictures(gnuplot, figure, dir, err);
    remove_drawings(gnuplot, figure);
    free(talk);
    return result;
}

static size_t processes_wanted(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online < 1)
        return 1;
    return online > MOST_PROCESSES ? MOST_PROCESSES : (size_t)online;
}

int ts_gnuplot_draw(const struct ts_gnuplot *gnuplot, struct ts_report_figures *figures,
                    const char *dir, struct ts_err *err)
{
    struct process ring[MOST_PROCESSES] = {{0}};
    size_t room = processes_wanted(), next = 0;
    int result = 0;
    for (size_t i = 0; i < figures->count && result == 0; i++) {
        if (figures->items[i].why_not)
            continue;
        struct process *process = &ring[next++ % room];
        if (process->pid)
            result = finish_figure(gnuplot, process, dir, err);
        if (result == 0 && ts_signal_pending())
            result = tell_interrupted(err);
        if (result == 0)
            result = start_figure(gnuplot, process, &figures->items[i], dir, err);
    }
    for (size_t i = 0; i < room; i++)
        if (ring[i].pid && finish_figure(gnuplot, &ring[i], dir, err) < 0)
            result = -1;
    return result;
}
