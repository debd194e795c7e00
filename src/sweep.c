/* sweep.c: the order of a run: specs, devices, and for each device plan, prove, time, write. */
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "sweep_private.h"
#include "table.h"

#define DEFAULT_TIMEOUT_NS (60 * SECOND_NS)
#define MAX_DEVICES 64
#define DEFAULT_PRECISION 0.01

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
    /* A run without an end was killed; it stays unfinished when another device's is gone on with.
     */
    for (size_t i = 0; i < s->results.run_count; i++)
        s->results.runs[i].interrupted |= !s->results.runs[i].finished;
    return result;
}

/* What the run says of the spec: by its name, of `ab` by its side. */
static const cJSON *known_spec(const struct sweep *s, const struct ts_run *run, size_t i)
{
    const cJSON *item;

    if (s->options->ab)
        return cJSON_GetArrayItem(run->specs, (int)i);
    cJSON_ArrayForEach(item, run->specs)
    {
        if (!strcmp(ts_json_string(item, "name", ""), s->specs[i]->name))
            return item;
    }
    return NULL;
}

/* The benchmarks must be those of the run, all of them and unchanged. */
static int check_digests(const struct sweep *s, const struct ts_run *run, struct ts_err *err)
{
    const char *file = s->options->resume;
    size_t known = (size_t)cJSON_GetArraySize(run->specs);

    for (size_t i = 0; i < s->spec_count; i++) {
        const struct ts_spec *spec = s->specs[i];
        const cJSON *same = known_spec(s, run, i);

        if (!same)
            return ts_err_set(err, TS_EXIT_USAGE, "%s: its run has no benchmark \"%s\" (%s)", file,
                              spec->name, spec->path);
        if (strcmp(ts_json_string(same, "digest", ""), spec->digest) != 0)
            return ts_err_set(
                err, TS_EXIT_USAGE,
                "%s: the benchmark \"%s\" (%s) has changed since; what was measured is "
                "of other code",
                file, spec->name, spec->path);
    }
    if (s->spec_count != known)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "%s: its run has %zu benchmarks; give the SPEC of each", file, known);
    return 0;
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
    FILE *to = ts_sweep_writes_to_stdout(s) ? stderr : stdout;
    struct ts_text text = {0};

    for (size_t i = 0; i < s->results.run_count; i++)
        ts_sweep_print_verdicts(&s->results.runs[i], s->options->verbose, &text);
    if (text.text) {
        char *printable = ts_text_printable_lines(text.text);
        fputs(printable, to);
        free(printable);
    }
    ts_text_free(&text);
}

static int measure_all(struct sweep *s, const struct ts_device_list *list, const size_t *chosen,
                       size_t count, struct ts_err *err)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0 && !ts_signal_pending(); i++)
        result = ts_sweep_measure_device(s, list, chosen[i], count - i, err);
    return result;
}

/* Options that would be passed over in silence, or would drop what was measured. */
static int check_options(const struct ts_sweep_options *o, struct ts_err *err)
{
    const struct ts_selection *selection = &o->selection;
    bool restricts = ts_selection_restricts(selection);
    const struct {
        bool given;
        const char *name;
    } not_with_resume[] = {
        {o->output != NULL, "-o"},
        {o->rows_file != NULL, "--rows"},
        {restricts, "-s, --size, --variant and --quick"},
        {selection->no_baseline, "--no-baseline"},
        {o->seed_given, "--seed"},
        {o->context_count > 0, "--context"},
        {o->cache_given, "--cache"},
    };

    if ((o->output && !o->output[0]) || (o->resume && !o->resume[0]))
        return ts_err_set(err, TS_EXIT_USAGE, "%s: expected the name of a file, got \"\"",
                          o->resume ? "--resume" : "-o");
    for (size_t i = 0; o->resume && i < TS_COUNT(not_with_resume); i++) {
        if (not_with_resume[i].given)
            return ts_err_set(err, TS_EXIT_USAGE,
                              "--resume goes on with the run as it was asked for; leave out %s",
                              not_with_resume[i].name);
    }
    if (o->rows_file && restricts)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "--rows says which configurations and sizes; leave out -s, --size, "
                          "--variant and --quick");
    return 0;
}

/* Of `ab`: A's spec, then B's. A single one is loaded twice, and B gets the options besides. */
static int load_sides(struct sweep *s, struct ts_err *err)
{
    const struct ts_sweep_options *o = s->options;

    if (o->spec_count == 0) /* the command line has one, a file that was resumed need not */
        return ts_err_set(err, TS_EXIT_USAGE,
                          "%s: options.specs: expected one SPEC or two, got none", o->resume);
    s->specs = ts_alloc(2, sizeof(*s->specs));
    for (size_t i = 0; i < 2; i++) {
        char **name = &o->specs[i < o->spec_count ? i : 0];
        struct ts_spec **one = NULL;
        size_t count = 0;
        int result = ts_choose_specs(name, 1, NULL, NULL, &one, &count, err);

        if (count > 0)
            s->specs[s->spec_count++] = one[0];
        free(one);
        if (result < 0)
            return -1;
    }
    return o->options_b ? ts_spec_add_options(s->specs[1], o->options_b, "--options-b", err) : 0;
}

static int load_specs(struct sweep *s, struct ts_err *err)
{
    const struct ts_sweep_options *o = s->options;

    if (o->ab)
        return load_sides(s, err);
    return ts_choose_specs(o->specs, o->spec_count, s->filter, o->rows_file, &s->specs,
                           &s->spec_count, err);
}

/* B's variables are given again, because nothing that stands in a file is run; but they must be
 * those of the run. With --anonymous the file has names alone. */
static int check_environment_b(const struct sweep *s, const struct ts_run *run, struct ts_err *err)
{
    const struct ts_launcher *b = &s->options->b;
    const cJSON *item, *known = ts_json_get(ts_json_get(run->sides, ts_ab_name(TS_AB_B)), "env");
    struct ts_text was = {0}, is = {0};
    bool same = (size_t)cJSON_GetArraySize(known) == b->assigned_count;
    size_t i = 0;

    cJSON_ArrayForEach(item, known)
    {
        const char *entry = cJSON_IsString(item) ? item->valuestring : "";
        size_t length = strlen(entry);
        same = same && strncmp(entry, b->assigned[i], length) == 0 &&
               b->assigned[i][length] == (strchr(entry, '=') ? '\0' : '=');
        ts_text_printf(&was, " %s", entry);
        i++;
    }
    for (i = 0; i < b->assigned_count; i++)
        ts_text_printf(&is, " %s", b->assigned[i]);
    if (!same)
        ts_err_set(err, TS_EXIT_USAGE, "%s: --env-b of its run:%s; got:%s", s->options->resume,
                   was.text ? was.text : " none", is.text ? is.text : " none");
    ts_text_free(&was);
    ts_text_free(&is);
    return same ? 0 : -1;
}

static int prepare(struct sweep *s, bool *from_part, struct ts_err *err)
{
    struct ts_sweep_options *merged = &s->merged.options;

    *merged = *s->options;
    s->options = merged;
    if (check_options(merged, err) < 0)
        return -1;
    if (merged->resume) {
        if (load_earlier(s, from_part, err) < 0)
            return -1;
        const struct ts_run *last = &s->results.runs[s->results.run_count - 1];
        if (ts_sweep_options_from_json(&s->merged, last->options, err) < 0)
            return -1;
        if (!merged->seed_given)
            merged->seed = last->seed;
    }
    s->visits = merged->visits > 0 ? merged->visits : merged->selection.quick ? 3 : 5;
    s->precision = merged->precision > 0 ? merged->precision : DEFAULT_PRECISION;
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
    s->own_workers = merged->b.command || merged->b.assigned_count > 0;
    if (load_specs(s, err) < 0 ||
        ts_choose_check(&merged->selection, s->specs, s->spec_count, err) < 0 ||
        ts_probe_load(&s->probe, err) < 0)
        return -1;
    for (size_t i = 0; i < s->results.run_count; i++) {
        if (check_digests(s, &s->results.runs[i], err) < 0 ||
            check_environment_b(s, &s->results.runs[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Measured once all the same; whoever set the machine up wants to know. */
static void warn_of_twins(const struct ts_device_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct ts_device *device = &list->devices[i],
                               *twin = &list->devices[ts_devices_twin(list, i)];
        if (twin != device)
            ts_say("warning: device %d:%d is %d:%d again (%s); do two ICD files name one driver?",
                   device->platform_index, device->device_index, twin->platform_index,
                   twin->device_index, device->name);
    }
}

static int sweep_devices(struct sweep *s, bool from_part, struct ts_err *err)
{
    const struct ts_launcher launcher = {.command = s->options->worker};
    struct ts_device_list list = {0};
    size_t chosen[MAX_DEVICES], count = 0;
    int result = -1;

    if (ts_devices_list(&list, &launcher, s->timeout_ns, false, err) < 0)
        return -1;
    if (ts_devices_choose(&list, s->options->devices, s->options->device_count, chosen, MAX_DEVICES,
                          &count, err) < 0)
        goto out;
    if (s->own_workers && count > 1) {
        ts_err_set(err, TS_EXIT_USAGE, "--worker-b and --env-b work with one device; -d names %zu",
                   count);
        goto out;
    }
    warn_of_twins(&list);
    if (ts_sweep_open_output(s, &list.devices[chosen[0]], count, from_part, err) < 0)
        goto out;
    s->progress = ts_progress_open(s->options->quiet);
    result = measure_all(s, &list, chosen, count, err);
    ts_progress_close(s->progress);
    s->progress = NULL;
    if (s->results.run_count > 0 && result == 0) {
        if (!s->keeps_results)
            print_results(s);
        result = ts_sweep_save(s, err);
    } else if (s->run && ts_sweep_has_told(s)) {
        ts_sweep_keep(s);
    }
out:
    ts_devices_free(&list);
    return result;
}

/* results: gets what was measured; NULL: not wanted. */
static void free_sweep(struct sweep *s, struct ts_results *results)
{
    ts_journal_close(s->journal, !ts_sweep_has_told(s)); /* an empty journal is litter */
    for (size_t i = 0; i < s->spec_count; i++)
        ts_spec_free(s->specs[i]);
    free(s->specs);
    ts_probe_free(&s->probe);
    ts_row_filter_free(s->filter);
    if (results)
        *results = s->results;
    else
        ts_results_free(&s->results);
    free(s->output);
    ts_sweep_options_free_read(&s->merged);
}

/* A device left with locked clocks is no success, whatever was measured. */
static int clean_up(const struct ts_sweep_options *options, int result)
{
    if (!options->cleanup || ts_child_shell(options->cleanup, true) == 0)
        return result;
    ts_say("tilesweep: --cleanup: the command failed: %s", options->cleanup);
    if (result == TS_EXIT_OK || result == TS_EXIT_FINDING)
        result = ts_signal_pending() ? 128 + ts_signal_pending() : TS_EXIT_SYSTEM;
    return result;
}

/* The sweep that is under way, for the one who finds no memory. */
static struct sweep *under_way;

static void out_of_memory(void)
{
    (void)clean_up(under_way->options, TS_EXIT_SYSTEM);
    (void)ts_sweep_tell_journal(under_way);
}

int ts_sweep_run(const struct ts_sweep_options *options, struct ts_results *results,
                 struct ts_err *err)
{
    struct sweep s = {.options = options, .keeps_results = results != NULL};
    bool from_part = false;
    int result = -1;

    ts_signals_install();
    if (prepare(&s, &from_part, err) < 0)
        goto out;
    if (ts_signal_pending()) {
        result = 128 + ts_signal_pending();
        goto out; /* nothing was set up yet */
    }
    under_way = &s;
    ts_on_no_memory(out_of_memory);
    if (options->setup && ts_child_shell(options->setup, false) != 0) {
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
    ts_on_no_memory(NULL);
    result = clean_up(options, result);
out:
    free_sweep(&s, results);
    return result;
}
