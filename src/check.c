/* check.c: what is checked, and what is said of it; check_watch.c does the watching. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_private.h"
#include "choice.h"
#include "file.h"
#include "signals.h"
#include "sweep.h"

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

bool ts_check_row_failed(const struct ts_check_row *row)
{
    bool failed = false;

    for (int pass = 0; pass < TS_PASS_COUNT; pass++)
        failed |= row->passes[pass].failed != NULL;
    return failed;
}

/* ---- Oclgrind ---- */

struct work {
    struct ts_checking *c;
    struct ts_device device;
    char *folder; /* of logs; NULL before it is made */
};

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

/* The device facts that `where` asks for are Oclgrind's, but for how wide vectors are: it stands
 * for whatever device runs the kernels later, and a spec may offer wide vectors to those that have
 * them. */
static int find_device(struct work *w, struct ts_err *err)
{
    struct ts_device_list list = {0};
    char *log = ts_path_join(w->folder, "devices"), *command = ts_check_command(TS_PASS_RACES, log);
    const struct ts_launcher launcher = {.command = command};
    int result = ts_devices_list(&list, &launcher, w->c->options->timeout_ns, false, err);

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
        w->device.number[TS_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT] = 16;
        w->device.number[TS_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE] = 8;
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

    for (size_t i = 0; filter && i < space->size_count; i++) { /* each of its rows is met */
        struct ts_row row;
        ts_row_init(&row);
        row.benchmark = spec->name;
        row.variant = spec->variants[config->variant].name;
        row.size = space->sizes[i];
        row.problem = space->problems[config->problem];
        row.params = config->params;
        admitted |= ts_row_filter_admits(filter, &row);
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
    if (filter)
        ts_row_filter_tell_leftovers(filter, c->specs, c->spec_count, c->options->rows_file, NULL);
    if (c->row_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "nothing to check: the selection and `where` leave no configuration");
    return 0;
}

/* ---- the whole ---- */

static void free_work(struct work *w)
{
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

/* Of one spec: a finding, a kernel that does not build or launch, or a case of which nothing could
 * be checked. */
static bool has_finding_in(const struct ts_checking *c, size_t space)
{
    enum { TRIED = 1, CHECKED = 2 };
    const struct ts_space *of = c->spaces[space];
    unsigned char *seen = ts_alloc(of->problem_count, sizeof(*seen)); /* a case each */
    bool finding = false;

    for (size_t i = 0; i < c->row_count; i++) {
        enum ts_check_status status = ts_check_row_status(&c->rows[i]);
        if (c->rows[i].space != space)
            continue;
        finding |= status == TS_CHECK_FINDING || ts_check_row_failed(&c->rows[i]);
        seen[of->configs[c->rows[i].config].problem] |=
            status == TS_CHECK_NOT_CHECKED ? TRIED : TRIED | CHECKED;
    }
    for (size_t i = 0; i < of->problem_count; i++)
        finding |= seen[i] == TRIED;
    free(seen);
    return finding;
}

static bool has_finding(const struct ts_checking *c)
{
    for (size_t i = 0; i < c->spec_count; i++) {
        if (has_finding_in(c, i))
            return true;
    }
    return false;
}

static int write_output(const struct ts_checking *c, struct ts_err *err)
{
    struct ts_text text = {0};

    if (c->options->json) {
        ts_json_add_document(&text, ts_check_to_document(c));
    } else {
        ts_check_print_text(c, &text);
    }
    int result =
        ts_file_put(c->options->output ? c->options->output : "-", text.text, text.length, err);
    ts_text_free(&text);
    return result;
}

/* Specs, the output, Oclgrind, its device, the plan: all that can be refused before anything runs.
 */
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
        ts_choose_check(&o->selection, c->specs, c->spec_count, err) < 0 ||
        ts_choose_output(o->output ? o->output : "-", c->specs, c->spec_count, o->rows_file, err) <
            0)
        return -1;
    if (need_oclgrind(err) < 0)
        return -1;
    w->folder = ts_dir_temporary("tilesweep-check", err);
    if (!w->folder || find_device(w, err) < 0)
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
    if (prepare(&w, &filter, err) < 0 || ts_check_watch(&c, &w.device, w.folder, err) < 0 ||
        write_output(&c, err) < 0)
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
