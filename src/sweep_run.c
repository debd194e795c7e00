/* sweep_run.c: one run, which is one device: its lock, begun or resumed, the phases, its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "hide.h"
#include "sweep_private.h"
#include "version.h"

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

/* Of `ab`: A's and B's, in this order. */
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

/* What each side of `ab` is; names of files and values of variables stay at home with --anonymous.
 */
static cJSON *make_sides(const struct sweep *s)
{
    const struct ts_sweep_options *o = s->options;
    cJSON *sides = o->ab ? cJSON_CreateObject() : NULL;

    for (size_t i = 0; i < s->spec_count && sides; i++) {
        cJSON *side = ts_json_add_object(sides, ts_ab_name(i == 0 ? TS_AB_A : TS_AB_B));
        ts_json_add_string(side, "spec", o->anonymous ? s->specs[i]->name : s->specs[i]->path);
        char *options = i == 1 ? ts_sweep_options_b(o) : NULL;
        ts_json_add_string(side, "options", options ? options : "");
        free(options);
        if (i == 0 || !s->own_workers)
            continue;
        cJSON *env = o->b.assigned_count > 0 ? ts_json_add_array(side, "env") : NULL;
        for (size_t v = 0; v < o->b.assigned_count; v++) {
            const char *entry = o->b.assigned[v];
            char *shown = ts_printf(
                "%.*s", o->anonymous ? (int)strcspn(entry, "=") : (int)strlen(entry), entry);
            ts_json_add_string(env, NULL, shown);
            free(shown);
        }
        if (o->b.command && !o->anonymous)
            ts_json_add_string(side, "worker", o->b.command);
    }
    return sides;
}

static cJSON *make_context(const struct sweep *s)
{
    cJSON *context = cJSON_CreateObject();

    for (size_t i = 0; i < s->options->context_count; i++) {
        const char *entry = s->options->context[i], *equals = strchr(entry, '=');
        /* Cleaned before it is compared: two keys must not become one afterwards. */
        char *key = ts_utf8_clean(entry, equals ? (size_t)(equals - entry) : strlen(entry), 0);
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

/* What is not known before the worker has told. */
static cJSON *unknown_host(void)
{
    static const char *const keys[] = {"name", "os", "cpu", "cores", "load"};
    cJSON *host = cJSON_CreateObject();

    for (size_t i = 0; i < TS_COUNT(keys); i++)
        ts_json_add_null(host, keys[i]);
    return host;
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
    run->host = unknown_host();
    run->specs = make_specs(s);
    run->options = ts_sweep_options_to_json(s->options, s);
    run->sides = make_sides(s);
    copy_device(&run->device, device);
    run->rows = NULL;
}

/* Names of machines, files and variables stay at home: of what the team's workers told of their
 * host, and of all that they tell from now on. */
static void anonymise(struct team *team, cJSON *host, cJSON *environment)
{
    cJSON *name = ts_json_get(host, "name"), *item;

    ts_crew_hide(team->crew, cJSON_GetStringValue(name));
    if (name)
        cJSON_SetValuestring(name, "");
    cJSON_ArrayForEach(item, environment)
    {
        if (cJSON_IsString(item))
            cJSON_SetValuestring(item, "");
    }
}

static void anonymise_run(struct sweep *s)
{
    cJSON *measured = ts_json_get(ts_json_get(s->run->sides, ts_ab_name(TS_AB_B)), "measured");
    char *host = ts_strdup(ts_json_string(s->run->host, "name", ""));

    for (size_t i = 0; i < s->run->clock.warning_count; i++)
        ts_hide_in(&s->run->clock.warnings[i], host);
    free(host);
    anonymise(&s->teams[0], s->run->host, s->run->environment);
    if (s->own_workers)
        anonymise(&s->teams[1], ts_json_get(measured, "host"),
                  ts_json_get(measured, "environment"));
}

/* What the run's rows look like when it is over. */
static void finish_rows(struct sweep *s)
{
    for (size_t i = 0; i < s->run->row_count; i++) {
        struct ts_row *row = &s->run->rows[i];
        const char *unreached = ts_row_unreached(row);

        if (unreached && !s->run->interrupted)
            ts_row_set_status(row, TS_SKIPPED, "budget", "%s", unreached);
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

/* Another process on the machine is the usual reason why times cannot be trusted. */
static void warn_of_load(struct sweep *s)
{
    double load = ts_json_number(s->run->host, "load", 0),
           cores = ts_json_number(s->run->host, "cores", 1);

    if (load > 0.5 * cores && load > 1)
        ts_progress_say(
            s->progress,
            "warning: the machine is busy (load %.1f on %.0f processors): intervals will be "
            "wide, and times on a CPU device disturbed",
            load, cores);
}

static int run_phases(struct sweep *s, bool resumed, struct ts_err *err)
{
    int opened;

    s->lost_in_a_row = 0;
    memset(&s->proving, 0, sizeof(s->proving));
    memset(&s->timing, 0, sizeof(s->timing));
    memset(&s->owed, 0, sizeof(s->owed));
    opened = ts_sweep_open_device(s, err);
    /* Whatever came of it: an interrupted run is saved, too. */
    if (s->options->anonymous)
        anonymise_run(s);
    if (opened < 0 || ts_signal_pending())
        return opened;
    warn_of_load(s);
    if (ts_sweep_plan(s, err) < 0)
        return -1;
    if (s->run->row_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "nothing to measure: the selection and `where` leave no configuration");
    if (s->journal && !resumed && ts_journal_run(s->journal, s->run, err) < 0)
        return -1;
    if (ts_sweep_prove(s, err) < 0)
        return -1;
    if (ts_signal_pending() || ts_sweep_time(s, err) < 0)
        return ts_signal_pending() ? 0 : -1;
    if (!s->options->digest || ts_signal_pending() || ts_now_ns() >= s->end_ns)
        return 0;
    return ts_sweep_digest(s, err);
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

/* B's own workers may list other devices: the one that -d names there. A resumed run keeps the
 * clock of B's first visits. */
static int choose_device_b(struct sweep *s, struct ts_err *err)
{
    const cJSON *side = ts_json_get(s->run->sides, ts_ab_name(TS_AB_B));
    const cJSON *clock = ts_json_get(ts_json_get(side, "measured"), "clock");
    const struct ts_sweep_options *o = s->options;
    struct ts_device_list list = {0};
    size_t chosen, count = 0;

    if (ts_devices_list(&list, &o->b, s->timeout_ns, false, err) < 0)
        return ts_err_prepend(err, "side b");
    if (ts_devices_choose(&list, o->devices, o->device_count, &chosen, 1, &count, err) < 0) {
        ts_devices_free(&list);
        return ts_err_prepend(err, "side b");
    }
    copy_device(&s->device_b, &list.devices[chosen]);
    ts_devices_free(&list);
    if (clock)
        ts_clock_from_json(&s->clock_b, clock);
    return 0;
}

static int open_teams(struct sweep *s, struct ts_err *err)
{
    const struct ts_launcher a = {.command = s->options->worker};

    s->next_ordinal = next_ordinal(s->run);
    s->teams[0] = (struct team){.crew = ts_crew_open(&a, s->timeout_ns, &s->next_ordinal),
                                .device = &s->run->device,
                                .clock = &s->run->clock};
    if (!s->own_workers)
        return 0;
    if (choose_device_b(s, err) < 0)
        return -1;
    s->teams[1] =
        (struct team){.crew = ts_crew_open(&s->options->b, s->timeout_ns, &s->next_ordinal),
                      .device = &s->device_b,
                      .clock = &s->clock_b};
    return 0;
}

static void close_teams(struct sweep *s)
{
    for (size_t i = 0; i < TS_COUNT(s->teams); i++)
        ts_crew_close(s->teams[i].crew);
    memset(s->teams, 0, sizeof(s->teams));
    ts_device_free(&s->device_b);
    ts_clock_free(&s->clock_b);
}

int ts_sweep_measure_device(struct sweep *s, const struct ts_device_list *list, size_t index,
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
    if (lock < 0 && ts_signal_pending()) {
        ts_progress_say(s->progress, "%s: interrupted while waiting for the device", device->name);
        memset(err, 0, sizeof(*err)); /* the end of the run says the rest */
        return 0;
    }
    if (lock < 0)
        return ts_err_prepend(err, "%s", device->name);
    if (!resumed)
        begin_run(s, device);
    s->run = &s->results.runs[s->run_index];
    begin_ns = s->begin_ns = ts_now_ns();
    begin_budget(s, devices_left);
    result = open_teams(s, err);
    if (result == 0)
        result = run_phases(s, resumed, err);
    s->budget_left_ns -= ts_now_ns() - begin_ns;
    close_teams(s);
    end_run(s, result < 0 || ts_signal_pending() != 0);
    if (result == 0 && s->journal && !ts_signal_pending() &&
        ts_journal_end(s->journal, s->run, err) < 0)
        result = -1;
    ts_sweep_unplan(s);
    ts_lock_release(lock);
    return result;
}
