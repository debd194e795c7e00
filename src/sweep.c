/* sweep.c: the order of a run: specs, devices, and for each device plan, prove, time, write. */
#include "sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "nearest.h"
#include "reference_spec.h"
#include "sweep_private.h"
#include "table.h"
#include "verdict.h"
#include "version.h"

#define DEFAULT_TIMEOUT_NS (60 * SECOND_NS)
#define MAX_DEVICES 64

/* ---- specs ---- */

static int load_specs(struct sweep *s, char **names, size_t count, struct ts_err *err)
{
    s->specs = ts_alloc(count, sizeof(*s->specs));
    for (size_t i = 0; i < count; i++) {
        s->specs[i] = ts_spec_load(names[i], err);
        if (!s->specs[i])
            return -1;
        s->spec_count++;
        if (ts_reference_check(s->specs[i], err) < 0)
            return -1;
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(s->specs[i]->name, s->specs[j]->name))
                return ts_err_set(err, TS_EXIT_USAGE, "%s and %s have the same name \"%s\"",
                                  s->specs[j]->path, s->specs[i]->path, s->specs[i]->name);
        }
    }
    return 0;
}

/* The SPECs of the command line, of --rows, or the built-in ones. */
static int choose_specs(struct sweep *s, struct ts_err *err)
{
    const struct ts_sweep_options *o = s->options;
    char **names = NULL;
    size_t count = 0;
    int result;

    if (o->spec_count > 0)
        return load_specs(s, o->specs, o->spec_count, err);
    if (s->filter) {
        names = ts_row_filter_benchmarks(s->filter, &count);
        return load_specs(s, names, count, err);
    }
    names = ts_spec_builtins(&count, err);
    if (!names)
        return -1;
    result = load_specs(s, names, count, err);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return result;
}

/* "OPTION NAME: no such WHAT in laplacian, matmul; did you mean ...?" */
static int no_such(const struct sweep *s, const char *option, const char *name, const char *what,
                   const char *const *known, size_t known_count, struct ts_err *err)
{
    const char *near = ts_nearest(name, known, known_count);
    struct ts_text text = {0};

    for (size_t i = 0; i < s->spec_count; i++)
        ts_text_printf(&text, "%s%s", i > 0 ? ", " : "", s->specs[i]->name);
    ts_err_set(err, TS_EXIT_USAGE, "%s %s: no such %s in %s%s%s%s", option, name, what, text.text,
               near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    ts_text_free(&text);
    return -1;
}

/* Names of all axes (or variants) of all specs; the names are borrowed, free the list. */
static const char **known_names(const struct sweep *s, bool variants, size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;

    *count = 0;
    for (size_t i = 0; i < s->spec_count; i++) {
        const struct ts_spec *spec = s->specs[i];
        size_t n = variants ? spec->variant_count : spec->problem_count + spec->param_count;
        for (size_t j = 0; j < n; j++) {
            TS_GROW(names, *count, capacity);
            names[(*count)++] = variants ? spec->variants[j].name
                                : j < spec->problem_count
                                    ? spec->problem[j].name
                                    : spec->params[j - spec->problem_count].name;
        }
    }
    return names;
}

static bool is_known(const char *name, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(name, known[i]))
            return true;
    }
    return false;
}

/* A name that no spec has is a slip of the pen; one that only some have restricts those. */
static int check_selection(const struct sweep *s, struct ts_err *err)
{
    const struct ts_selection *selection = &s->options->selection;
    size_t axis_count, variant_count;
    const char **axes = known_names(s, false, &axis_count);
    const char **variants = known_names(s, true, &variant_count);
    int result = 0;

    for (size_t i = 0; i < selection->set_count && result == 0; i++) {
        const char *name = selection->sets[i].name;
        if (!is_known(name, axes, axis_count))
            result = no_such(s, "-s", name, "axis", axes, axis_count, err);
    }
    for (size_t i = 0; i < selection->variant_count && result == 0; i++) {
        const char *name = selection->variants[i];
        if (!is_known(name, variants, variant_count))
            result = no_such(s, "--variant", name, "variant", variants, variant_count, err);
    }
    free(axes);
    free(variants);
    return result;
}

/* ---- output ---- */

static char *default_output(const struct sweep *s, const struct ts_device *device, size_t devices)
{
    char *benchmark = ts_path_slug(s->spec_count == 1 ? s->specs[0]->name : "all");
    char *name = ts_path_slug(devices == 1 ? device->name : "devices");
    char stamp[32], *path;
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
    path = ts_printf("results/local/%s-%s-%s.json", benchmark, name, stamp);
    free(benchmark);
    free(name);
    return path;
}

static bool writes_to_stdout(const struct sweep *s)
{
    return !strcmp(s->output, "-");
}

/* Before an hour of measuring, not after it. */
static int check_output(const struct sweep *s, struct ts_err *err)
{
    struct stat status;

    if (ts_file_make_parents(s->output, err) < 0)
        return -1;
    if (stat(s->output, &status) == 0 && S_ISDIR(status.st_mode))
        return ts_err_set(err, TS_EXIT_SYSTEM, "%s: is a folder, expected a file", s->output);
    return 0;
}

/* ---- resuming ---- */

/* FILE.part if it is there and a run had begun in it, else FILE. */
static int load_earlier(struct sweep *s, bool *from_part, struct ts_err *err)
{
    const char *file = s->options->resume;
    char *part = ts_printf("%s.part", file);
    int result = 0;

    if (ts_file_exists(part))
        result = ts_journal_load(&s->results, part, err);
    free(part);
    *from_part = s->results.run_count > 0;
    if (result == 0 && !*from_part)
        result = ts_results_load(&s->results, file, err);
    if (result == 0 && s->results.run_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "%s: no run to go on with", file);
    return result;
}

static int check_digests(const struct sweep *s, const struct ts_run *run, struct ts_err *err)
{
    const cJSON *item;

    for (size_t i = 0; i < s->spec_count; i++) {
        cJSON_ArrayForEach(item, run->specs)
        {
            if (!strcmp(ts_json_string(item, "name", ""), s->specs[i]->name) &&
                strcmp(ts_json_string(item, "digest", ""), s->specs[i]->digest) != 0)
                return ts_err_set(err, TS_EXIT_USAGE,
                                  "%s: the benchmark \"%s\" (%s) has changed since; what was "
                                  "measured is of other code",
                                  s->options->resume, s->specs[i]->name, s->specs[i]->path);
        }
    }
    return 0;
}

/* What a budget cut off can be measured yet. */
static bool has_open_rows(const struct ts_run *run)
{
    for (size_t i = 0; i < run->row_count; i++) {
        const struct ts_row *row = &run->rows[i];
        if (row->status == TS_SKIPPED && row->reason.code && !strcmp(row->reason.code, "budget"))
            return true;
    }
    return false;
}

/* The earlier run of the device at hand; NULL: start a new one. */
static struct ts_run *earlier_run(struct sweep *s, const struct ts_device *device, bool *complete)
{
    *complete = false;
    for (size_t i = 0; i < s->results.run_count; i++) {
        struct ts_run *run = &s->results.runs[i];
        if (!run->device.id || strcmp(run->device.id, device->id) != 0)
            continue;
        *complete = run->finished && !run->interrupted && !has_open_rows(run);
        s->run_index = i;
        return run;
    }
    return NULL;
}

/* ---- one device ---- */

static cJSON *make_specs(const struct sweep *s)
{
    cJSON *list = cJSON_CreateArray();

    for (size_t i = 0; i < s->spec_count; i++) {
        cJSON *item = ts_json_add_object(list, NULL);
        ts_json_add_string(item, "name", s->specs[i]->name);
        ts_json_add_string(item, "digest", s->specs[i]->digest);
    }
    return list;
}

static cJSON *make_context(const struct sweep *s)
{
    cJSON *context = cJSON_CreateObject();

    for (size_t i = 0; i < s->options->context_count; i++) {
        const char *entry = s->options->context[i], *equals = strchr(entry, '=');
        char *key = ts_strndup(entry, equals ? (size_t)(equals - entry) : strlen(entry));
        cJSON_DeleteItemFromObjectCaseSensitive(context, key);
        ts_json_add_string(context, key, equals ? equals + 1 : "");
        free(key);
    }
    return context;
}

static void copy_device(struct ts_device *to, const struct ts_device *from)
{
    struct ts_err ignored = {0};
    cJSON *object = cJSON_CreateObject();

    ts_device_to_json(from, object);
    ts_device_from_json(to, object, &ignored);
    cJSON_Delete(object);
}

static void begin_run(struct sweep *s, const struct ts_device *device)
{
    struct ts_run *run = ts_results_add(&s->results);
    char stamp[32];

    s->run_index = s->results.run_count - 1;
    ts_utc_now(stamp);
    run->started = ts_strdup(stamp);
    run->id = ts_printf("%s-%ld-%zu", stamp, (long)getpid(), s->run_index);
    run->seed = s->seed;
    run->tool = cJSON_CreateObject();
    ts_json_add_string(run->tool, "version", ts_version());
    ts_json_add_string(run->tool, "revision", ts_revision());
    run->context = make_context(s);
    run->specs = make_specs(s);
    run->options = ts_sweep_options_to_json(s->options, s);
    copy_device(&run->device, device);
    run->rows = NULL;
}

/* Names of machines, files and variables stay at home. */
static void anonymise(struct ts_run *run)
{
    cJSON *name = ts_json_get(run->host, "name"), *item;

    if (name)
        cJSON_SetValuestring(name, "");
    cJSON_ArrayForEach(item, run->environment)
    {
        if (cJSON_IsString(item))
            cJSON_SetValuestring(item, "");
    }
}

/* What the run's rows look like when it is over. */
static void finish_rows(struct sweep *s)
{
    for (size_t i = 0; i < s->run->row_count; i++) {
        struct ts_row *row = &s->run->rows[i];
        bool untimed =
            row->status == TS_PENDING || (row->status == TS_OK && row->time.visit_count == 0);
        if (untimed && !s->run->interrupted)
            ts_row_set_status(row, TS_SKIPPED, "budget", "the run's time was over before its turn");
        ts_row_derive_flags(row, &s->run->peaks, &s->run->clock);
    }
}

/* stopped: by a signal or a failure, before all was done. */
static void end_run(struct sweep *s, bool stopped)
{
    char stamp[32];

    ts_utc_now(stamp);
    free(s->run->finished);
    s->run->finished = ts_strdup(stamp);
    s->run->interrupted = stopped;
    cJSON_Delete(s->run->spent);
    s->run->spent = ts_sweep_spent_to_json(s);
    finish_rows(s);
}

static void tell_waiting(void *context, long holder_pid)
{
    struct sweep *s = context;

    ts_progress_say(s->progress, "waiting for process %ld, which measures on this device",
                    holder_pid);
}

static int run_phases(struct sweep *s, bool resumed, struct ts_err *err)
{
    s->lost_in_a_row = 0;
    memset(&s->proving, 0, sizeof(s->proving));
    memset(&s->timing, 0, sizeof(s->timing));
    if (ts_sweep_open_device(s, err) < 0)
        return -1;
    if (ts_signal_pending())
        return 0;
    if (s->options->anonymous)
        anonymise(s->run);
    if (ts_sweep_plan(s, err) < 0)
        return -1;
    if (s->run->row_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "nothing to measure: the selection and `where` leave no configuration");
    if (s->journal && !resumed && ts_journal_run(s->journal, s->run, err) < 0)
        return -1;
    if (ts_sweep_prove(s, err) < 0)
        return -1;
    return ts_signal_pending() ? 0 : ts_sweep_time(s, err);
}

/* Workers of a resumed run are numbered on. */
static int next_ordinal(const struct ts_run *run)
{
    int next = 0;

    for (size_t i = 0; i < run->row_count; i++) {
        for (size_t v = 0; v < run->rows[i].time.visit_count; v++) {
            if (run->rows[i].time.visits[v].worker >= next)
                next = run->rows[i].time.visits[v].worker + 1;
        }
    }
    return next;
}

/* An even share of what the devices before this one left of the budget; waiting for the device's
 * lock does not count. */
static void begin_budget(struct sweep *s, size_t devices_left)
{
    if (s->options->budget_ns > 0)
        s->end_ns = ts_now_ns() + s->budget_left_ns / (int64_t)devices_left;
}

static int measure_device(struct sweep *s, const struct ts_device_list *list, size_t index,
                          size_t devices_left, struct ts_err *err)
{
    const struct ts_device *device = &list->devices[index];
    bool complete = false, resumed = earlier_run(s, device, &complete) != NULL;
    char *path = ts_devices_lock_path(list, device);
    int lock = -1, result = -1;
    int64_t begin_ns;

    if (complete) {
        free(path);
        return 0;
    }
    lock = ts_lock_take(path, !s->options->no_wait, tell_waiting, s, err);
    free(path);
    if (lock < 0)
        return ts_signal_pending() ? 0 : ts_err_prepend(err, "%s", device->name);
    if (!resumed)
        begin_run(s, device);
    s->run = &s->results.runs[s->run_index];
    s->crew = ts_crew_open(s->options->worker, s->timeout_ns, next_ordinal(s->run));
    begin_ns = ts_now_ns();
    begin_budget(s, devices_left);
    result = run_phases(s, resumed, err);
    s->budget_left_ns -= ts_now_ns() - begin_ns;
    ts_crew_close(s->crew);
    s->crew = NULL;
    s->has_seat = false;
    end_run(s, result < 0 || ts_signal_pending() != 0);
    if (result == 0 && s->journal && !ts_signal_pending() &&
        ts_journal_end(s->journal, s->run, err) < 0)
        result = -1;
    ts_sweep_unplan(s);
    ts_lock_release(lock);
    return result;
}

/* ---- the whole ---- */

static bool has_finding(const struct ts_run *run)
{
    for (size_t i = 0; i < run->row_count; i++) {
        bool any_ok = false;

        if (ts_status_is_finding(run->rows[i].status))
            return true;
        if (i > 0 && ts_row_same_case(&run->rows[i - 1], &run->rows[i]))
            continue;
        for (size_t j = i; j < run->row_count && ts_row_same_case(&run->rows[i], &run->rows[j]);
             j++)
            any_ok |= run->rows[j].status == TS_OK;
        if (!any_ok)
            return true;
    }
    return false;
}

static void print_results(struct sweep *s)
{
    FILE *to = writes_to_stdout(s) ? stderr : stdout;
    struct ts_text text = {0};

    for (size_t i = 0; i < s->results.run_count; i++)
        ts_sweep_print_verdicts(&s->results.runs[i], s->options->verbose, &text);
    if (text.text && !(s->options->quiet && to == stderr))
        fputs(text.text, to);
    ts_text_free(&text);
}

/* The results did not go where they should: the journal holds them, else they go to the folder for
 * temporary files. Says where. */
static void rescue(struct sweep *s)
{
    const char *folder = getenv("TMPDIR");
    struct ts_err ignored = {0};
    char *path;

    if (s->journal) {
        fprintf(stderr, "what was measured is in %s.part; go on with --resume %s\n", s->output,
                s->output);
        return;
    }
    path = ts_printf("%s/tilesweep-results-%ld.json", folder && folder[0] ? folder : "/tmp",
                     (long)getpid());
    if (ts_results_save(&s->results, path, &ignored) == 0)
        fprintf(stderr, "what was measured is in %s\n", path);
    free(path);
}

static int save(struct sweep *s, struct ts_err *err)
{
    bool interrupted = ts_signal_pending() != 0;

    for (size_t i = 0; i < s->results.run_count; i++)
        interrupted |= s->results.runs[i].interrupted;
    if (ts_results_save(&s->results, s->output, err) < 0) {
        rescue(s);
        return -1;
    }
    /* The journal of an interrupted run knows what is proven but not timed: --resume goes on from
     * it. */
    ts_journal_close(s->journal, !interrupted);
    s->journal = NULL;
    if (writes_to_stdout(s))
        return 0;
    if (!s->options->quiet)
        fprintf(stderr, "results: %s\n", s->output);
    if (interrupted)
        fprintf(stderr, "interrupted; go on with: tilesweep run --resume %s\n", s->output);
    return 0;
}

static int measure_all(struct sweep *s, const struct ts_device_list *list, const size_t *chosen,
                       size_t count, struct ts_err *err)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0 && !ts_signal_pending(); i++)
        result = measure_device(s, list, chosen[i], count - i, err);
    return result;
}

/* The journal of a killed run is worth more than a new one. Opened to append first, because that
 * tells when another process is at it. */
static int check_part(const struct sweep *s, struct ts_err *err)
{
    struct ts_results earlier = {0};
    struct ts_err ignored = {0};
    char *part = ts_printf("%s.part", s->output);
    struct ts_journal *journal =
        ts_file_exists(part) ? ts_journal_open(s->output, true, err) : NULL;
    bool holds_run =
        journal && ts_journal_load(&earlier, part, &ignored) == 0 && earlier.run_count > 0;

    ts_journal_close(journal, false);
    ts_results_free(&earlier);
    if (holds_run)
        ts_err_set(err, TS_EXIT_SYSTEM,
                   "%s: holds an unfinished run; go on with it by --resume %s, or remove it", part,
                   s->output);
    free(part);
    return err->exit_status ? -1 : 0;
}

/* A device or a pipe gets the document alone. */
static bool keeps_journal(const struct sweep *s)
{
    struct stat status;

    if (writes_to_stdout(s))
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

/* Options that would be passed over in silence, or would drop what was measured. */
static int check_options(const struct ts_sweep_options *o, struct ts_err *err)
{
    const struct ts_selection *selection = &o->selection;
    bool selects = selection->set_count > 0 || selection->size_count > 0 ||
                   selection->variant_count > 0 || selection->quick;
    const char *other = o->resume && o->output      ? "-o"
                        : o->resume && o->rows_file ? "--rows"
                        : selects                   ? "-s, --size, --variant or --quick"
                                                    : NULL;

    if (o->resume && other)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "--resume goes on with the run as it was asked for; leave out %s", other);
    if (o->rows_file && selects)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "--rows says which configurations and sizes; leave out %s", other);
    return 0;
}

static int prepare(struct sweep *s, bool *from_part, struct ts_sweep_options *merged,
                   struct ts_err *err)
{
    *merged = *s->options;
    s->options = merged;
    if (check_options(merged, err) < 0)
        return -1;
    if (merged->resume) {
        if (load_earlier(s, from_part, err) < 0)
            return -1;
        const struct ts_run *last = &s->results.runs[s->results.run_count - 1];
        if (ts_sweep_options_from_json(merged, last->options, err) < 0)
            return -1;
        if (!merged->seed_given)
            merged->seed = last->seed;
    }
    s->visits = merged->visits > 0 ? merged->visits : merged->selection.quick ? 3 : 5;
    s->samples = merged->samples > 0 ? merged->samples : merged->selection.quick ? 3 : 5;
    s->seed = merged->seed_given || merged->resume ? merged->seed : 1;
    s->timeout_ns = merged->timeout_ns > 0 ? merged->timeout_ns : DEFAULT_TIMEOUT_NS;
    s->end_ns = INT64_MAX;
    s->budget_left_ns = merged->budget_ns;
    if (merged->rows_file) {
        s->filter = ts_row_filter_load(merged->rows_file, merged->rows_which, err);
        if (!s->filter)
            return -1;
    }
    if (choose_specs(s, err) < 0 || check_selection(s, err) < 0 ||
        ts_probe_load(&s->probe, err) < 0)
        return -1;
    for (size_t i = 0; i < s->results.run_count; i++) {
        if (check_digests(s, &s->results.runs[i], err) < 0)
            return -1;
    }
    return 0;
}

static int sweep_devices(struct sweep *s, bool from_part, struct ts_err *err)
{
    struct ts_device_list list = {0};
    size_t chosen[MAX_DEVICES], count = 0;
    int result = -1;

    if (ts_devices_list(&list, s->options->worker, s->timeout_ns, false, err) < 0)
        return -1;
    if (ts_devices_choose(&list, s->options->devices, s->options->device_count, chosen, MAX_DEVICES,
                          &count, err) < 0)
        goto out;
    s->output = s->options->resume   ? ts_strdup(s->options->resume)
                : s->options->output ? ts_strdup(s->options->output)
                                     : default_output(s, &list.devices[chosen[0]], count);
    if ((!writes_to_stdout(s) && check_output(s, err) < 0) || open_journal(s, from_part, err) < 0)
        goto out;
    s->progress = ts_progress_open(s->options->quiet);
    result = measure_all(s, &list, chosen, count, err);
    ts_progress_close(s->progress);
    s->progress = NULL;
    if (s->results.run_count > 0 && result == 0) {
        print_results(s);
        result = save(s, err);
    } else if (s->run && s->run->row_count > 0) {
        /* Stopped by a failure: what was measured is kept. */
        struct ts_err ignored = {0};
        if (save(s, &ignored) == 0 && s->options->quiet)
            fprintf(stderr, "what was measured so far: %s\n", s->output);
    }
out:
    ts_devices_free(&list);
    return result;
}

static void free_sweep(struct sweep *s)
{
    ts_journal_close(s->journal, false);
    for (size_t i = 0; i < s->spec_count; i++)
        ts_spec_free(s->specs[i]);
    free(s->specs);
    ts_probe_free(&s->probe);
    ts_row_filter_free(s->filter);
    ts_results_free(&s->results);
    free(s->output);
}

int ts_sweep_run(const struct ts_sweep_options *options, struct ts_err *err)
{
    struct sweep s = {.options = options};
    struct ts_sweep_options merged;
    bool from_part = false;
    int result = -1;

    ts_signals_install();
    if (prepare(&s, &from_part, &merged, err) < 0)
        goto out;
    if (options->setup && ts_child_shell(options->setup) != 0) {
        if (ts_signal_pending())
            result = 128 + ts_signal_pending();
        else
            ts_err_set(err, TS_EXIT_SYSTEM, "--setup: the command failed: %s", options->setup);
        goto cleanup;
    }
    if (sweep_devices(&s, from_part, err) < 0)
        goto cleanup;
    result = TS_EXIT_OK;
    for (size_t i = 0; i < s.results.run_count; i++) {
        if (has_finding(&s.results.runs[i]))
            result = TS_EXIT_FINDING;
    }
    if (ts_signal_pending())
        result = 128 + ts_signal_pending();
cleanup:
    if (options->cleanup && ts_child_shell(options->cleanup) != 0)
        fprintf(stderr, "tilesweep: --cleanup: the command failed: %s\n", options->cleanup);
out:
    free_sweep(&s);
    return result;
}
