/* sweep_output.c: where a sweep's results go: the document, its journal, and what to do when
 * writing fails. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "sweep_private.h"

#define SCHEMA_WITHIN 4096

static char *default_output(const struct sweep *s, const struct ts_device *device, size_t devices)
{
    bool one = s->spec_count == 1 || s->options->ab;
    char *benchmark = ts_path_slug(one ? s->specs[0]->name : "all");
    char *name = ts_path_slug(devices == 1 ? device->name : "devices");
    char stamp[32], *path;
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
    path = ts_printf("results/local/%s%s-%s-%s.json", benchmark, s->options->ab ? "-ab" : "", name,
                     stamp);
    free(benchmark);
    free(name);
    return path;
}

bool ts_sweep_writes_to_stdout(const struct sweep *s)
{
    return !strcmp(s->output, "-");
}

/* Ours names its schema at once; one that another program wrote anew need not. */
static bool is_results(const char *path)
{
    char start[SCHEMA_WITHIN + 1];
    struct ts_results results = {0};
    struct ts_err ignored = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, start, SCHEMA_WITHIN);
    bool is;

    if (fd >= 0)
        close(fd);
    start[length > 0 ? length : 0] = '\0';
    is = strstr(start, "\"tilesweep.results/") || ts_results_load(&results, path, &ignored) == 0;
    ts_results_free(&results);
    return is;
}

/* Before an hour of measuring, not after it. Of the folders only those of the default are made. */
static int check_output(const struct sweep *s, struct ts_err *err)
{
    struct stat status;

    if (!s->options->output && !s->options->resume && ts_file_make_parents(s->output, err) < 0)
        return -1;
    if (ts_choose_output(s->output, s->specs, s->spec_count, s->options->rows_file, err) < 0)
        return -1;
    if (ts_sweep_writes_to_stdout(s)) /* though a file may have the name, too */
        return 0;
    /* A slip of the fingers must cost no file of somebody's. */
    if (stat(s->output, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        !is_results(s->output))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "%s: is no results file and is not overwritten; choose another name",
                          s->output);
    return 0;
}

/* The journal of a killed run is worth more than a new one. Opened to append first, because that
 * tells when another process is at it. */
static int check_part(const struct sweep *s, struct ts_err *err)
{
    struct ts_results earlier = {0};
    struct ts_err damage = {0};
    char *part = ts_printf("%s.part", s->output);
    bool readable = !ts_file_exists(part) || ts_journal_load(&earlier, part, &damage) == 0;

    if (!readable)
        ts_err_set(
            err, TS_EXIT_SYSTEM,
            "%s\nit may hold an unfinished run and is not overwritten; move it away or choose "
            "another -o",
            damage.text);
    else if (earlier.run_count > 0) {
        /* Opening tells, by the lock, when another process is at it. */
        struct ts_journal *journal = ts_journal_open(s->output, true, err);
        if (journal)
            ts_err_set(err, TS_EXIT_SYSTEM,
                       "%s: holds an unfinished run; go on with it by --resume %s, or remove it",
                       part, s->output);
        ts_journal_close(journal, false);
    }
    ts_results_free(&earlier);
    free(part);
    return err->exit_status ? -1 : 0;
}

/* A device or a pipe gets the document alone. */
static bool keeps_journal(const struct sweep *s)
{
    struct stat status;

    if (ts_sweep_writes_to_stdout(s))
        return false;
    return stat(s->output, &status) < 0 || S_ISREG(status.st_mode);
}

/* Earlier runs come first, so that a journal begun for a resumed document holds them. */
static int open_journal(struct sweep *s, bool from_part, struct ts_err *err)
{
    if (!keeps_journal(s))
        return 0;
    if (!s->options->resume && check_part(s, err) < 0)
        return -1;
    s->journal = ts_journal_open(s->output, from_part, err);
    if (!s->journal)
        return -1;
    for (size_t i = 0; i < s->results.run_count && !from_part; i++) {
        if (ts_journal_copy(s->journal, &s->results.runs[i], err) < 0)
            return -1;
    }
    return 0;
}

bool ts_sweep_has_told(const struct sweep *s)
{
    for (size_t r = 0; r < s->results.run_count; r++) {
        const struct ts_run *run = &s->results.runs[r];
        for (size_t i = 0; i < run->row_count; i++)
            if (run->rows[i].status != TS_PENDING)
                return true;
    }
    return false;
}

/* The document to another folder than where it should go; false: there neither. */
static bool save_in(struct sweep *s, const char *folder)
{
    struct ts_err ignored = {0};
    char *path = ts_printf("%s/tilesweep-results-%ld.json", folder, (long)getpid());
    bool saved = ts_results_save(&s->results, path, &ignored) == 0;

    if (saved)
        ts_say("what was measured is in %s", path);
    free(path);
    return saved;
}

bool ts_sweep_tell_journal(const struct sweep *s)
{
    if (!s->journal || !ts_journal_is_whole(s->journal))
        return false;
    ts_say("what was measured is in %s.part; go on with --resume %s", s->output, s->output);
    return true;
}

/* The results did not go where they should: the journal holds them, else they go to a folder for
 * temporary files. Says where. */
static void rescue(struct sweep *s)
{
    const char *chosen = getenv("TMPDIR");
    const char *const folders[] = {chosen && chosen[0] ? chosen : "/tmp", "/tmp", "/var/tmp", "."};

    if (ts_sweep_tell_journal(s))
        return;
    for (size_t i = 0; i < TS_COUNT(folders); i++) {
        if (save_in(s, folders[i]))
            return;
    }
    if (s->journal)
        ts_say("what was measured before the failure is in %s.part", s->output);
}

void ts_sweep_keep(struct sweep *s)
{
    struct ts_err ignored = {0};

    if (s->journal && ts_file_exists(s->output))
        rescue(s);
    else
        ts_sweep_save(s, &ignored);
}

int ts_sweep_save(struct sweep *s, struct ts_err *err)
{
    bool interrupted = ts_signal_pending() != 0;

    fflush(stdout); /* what was printed stands before what is said now */
    for (size_t i = 0; i < s->results.run_count; i++)
        interrupted |= s->results.runs[i].interrupted;
    if (interrupted && !ts_sweep_has_told(s) && ts_file_exists(s->output)) {
        /* Nothing was measured: what the file holds is worth more. */
        ts_say("interrupted before anything was measured; %s is as it was", s->output);
        return 0;
    }
    if (ts_results_save(&s->results, s->output, err) < 0) {
        rescue(s);
        return -1;
    }
    /* The journal of an interrupted run knows what is proven but not timed: --resume goes on from
     * it. */
    ts_journal_close(s->journal, !interrupted);
    s->journal = NULL;
    if (ts_sweep_writes_to_stdout(s))
        return 0;
    ts_say("results: %s", s->output);
    if (interrupted)
        ts_say("interrupted; go on with: tilesweep %s --resume %s%s%s%s",
               s->options->ab ? "ab" : "run", s->output,
               s->options->worker ? " --worker ... (as before)" : "",
               s->options->b.command ? " --worker-b ... (as before)" : "",
               s->options->b.assigned_count > 0 ? " --env-b ... (as before)" : "");
    return 0;
}

int ts_sweep_open_output(struct sweep *s, const struct ts_device *first, size_t devices,
                         bool from_part, struct ts_err *err)
{
    s->output = s->options->resume   ? ts_strdup(s->options->resume)
                : s->options->output ? ts_strdup(s->options->output)
                                     : default_output(s, first, devices);
    if (check_output(s, err) < 0)
        return -1;
    return open_journal(s, from_part, err);
}
