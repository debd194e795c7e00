/* compare.c: from files to findings. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"

const char *const ts_gate_names[3] = {
    [TS_GATE_BEST] = "best",
    [TS_GATE_DEPLOYED] = "deployed",
    [TS_GATE_ALL] = "all",
};

/* ---- --fail-on ---- */

int ts_fail_on_parse(const char *words, unsigned *bits, struct ts_err *err)
{
    char *copy = ts_strdup(words), *rest = NULL;
    int result = 0;
    *bits = 0;
    for (char *word = strtok_r(copy, ",", &rest); word && result == 0;
         word = strtok_r(NULL, ",", &rest)) {
        unsigned bit = 0;
        for (size_t i = 0; i < TS_OUTCOME_COUNT; i++)
            if (ts_outcome_kinds[i].fail_on && strcmp(ts_outcome_kinds[i].name, word) == 0)
                bit = ts_outcome_kinds[i].fail_on;
        *bits |= bit;
        if (!bit)
            result = ts_err_set(err, TS_EXIT_USAGE,
                                "expected slower, failed, vanished or inconclusive, joined by "
                                "commas, got \"%s\"",
                                word);
    }
    if (result == 0 && *bits == 0)
        result = ts_err_set(err, TS_EXIT_USAGE,
                            "expected slower, failed, vanished or inconclusive, joined by commas");
    free(copy);
    return result;
}

/* ---- loading ---- */

static void add_run(struct ts_compare *compare, enum ts_side side, const char *file, size_t index)
{
    compare->runs = ts_realloc(compare->runs, compare->run_count + 1, sizeof(*compare->runs));
    compare->runs[compare->run_count++] =
        (struct ts_compare_run){.file = file, .side = side, .in_group = index};
}

static int load_side(struct ts_compare *compare, enum ts_side side, struct ts_err *err)
{
    const struct ts_compare_options *o = &compare->options;
    struct ts_results *results = &compare->results[side];
    for (size_t i = 0; i < o->file_count[side]; i++) {
        size_t before = results->run_count;
        if (ts_results_load(results, o->files[side][i], err) != 0)
            return -1;
        for (size_t r = before; r < results->run_count; r++) {
            if (ts_run_has_sides(&results->runs[r]))
                return ts_err_set(err, TS_EXIT_USAGE,
                                  "%s: holds both sides of `tilesweep ab`, which are compared with "
                                  "each other: tilesweep compare %s, without other files",
                                  o->files[side][i], o->files[side][i]);
            add_run(compare, side, o->files[side][i], r);
        }
    }
    if (results->run_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "%s: expected at least one run, it has none",
                          o->files[side][0]);
    return 0;
}

/* What `ab` measured, a side each. */
static int take_ab(struct ts_compare *compare, struct ts_results *both, const char *file,
                   struct ts_err *err)
{
    compare->paired = true;
    if (both->run_count == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "%s: expected at least one run, it has none", file);
    for (size_t r = 0; r < both->run_count; r++) {
        struct ts_run half[2];
        if (!ts_run_has_sides(&both->runs[r]))
            return ts_err_set(
                err, TS_EXIT_USAGE,
                "%s: runs[%zu]: expected the two sides of `tilesweep ab`, or a second "
                "results file to compare it with",
                file, r);
        if (ts_run_split(&both->runs[r], half, err) != 0)
            return -1;
        for (int s = TS_BASE; s <= TS_NEW; s++) {
            *ts_results_add(&compare->results[s]) = half[s];
            add_run(compare, (enum ts_side)s, file, r);
        }
    }
    return 0;
}

/* measured: by `ab`, in hand; NULL: the files are loaded. */
static int load(struct ts_compare *compare, struct ts_results *measured, const char *file,
                struct ts_err *err)
{
    const struct ts_compare_options *o = &compare->options;
    struct ts_results both = {0};
    int result;
    if (measured) {
        result = take_ab(compare, measured, file, err);
    } else if (o->file_count[TS_NEW] == 0) {
        result = ts_results_load(&both, o->files[TS_BASE][0], err);
        if (result == 0)
            result = take_ab(compare, &both, o->files[TS_BASE][0], err);
        ts_results_free(&both);
    } else {
        result = load_side(compare, TS_BASE, err);
        if (result == 0)
            result = load_side(compare, TS_NEW, err);
    }
    for (size_t i = 0; i < compare->run_count && result == 0; i++) { /* results no longer move */
        struct ts_compare_run *run = &compare->runs[i];
        run->run = &compare->results[run->side].runs[run->in_group];
    }
    return result;
}

/* ---- devices ---- */

static bool same_word(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* The same kind of device: its id changes with the driver, so names decide. */
static bool same_device(const struct ts_run *a, const struct ts_run *b)
{
    return same_word(a->device.name, b->device.name) &&
           same_word(a->device.platform_name, b->device.platform_name);
}

static size_t kinds_on(const struct ts_compare *compare, enum ts_side side)
{
    size_t kinds = 0;
    for (size_t i = 0; i < compare->run_count; i++) {
        bool first = compare->runs[i].side == side;
        for (size_t k = 0; k < i && first; k++)
            first = compare->runs[k].side != side ||
                    !same_device(compare->runs[k].run, compare->runs[i].run);
        kinds += first;
    }
    return kinds;
}

/* Asked for some rows only: `run --rows`. */
static bool is_partial(const struct ts_run *run)
{
    return ts_json_string(run->options, "rows_file", NULL) ||
           ts_json_string(run->options, "rows_which", NULL);
}

/* With --across-devices, and of `ab`, the only device of one side meets the only one of the other.
 */
static void group_runs(struct ts_compare *compare)
{
    bool across = (compare->options.across_devices || compare->paired) &&
                  kinds_on(compare, TS_BASE) == 1 && kinds_on(compare, TS_NEW) == 1;
    compare->devices = ts_alloc(compare->run_count, sizeof(*compare->devices));
    for (size_t i = 0; i < compare->run_count; i++) {
        struct ts_compare_run *run = &compare->runs[i];
        size_t d = 0;
        for (; d < compare->device_count; d++) {
            struct ts_compare_device *at = &compare->devices[d];
            const struct ts_run *known =
                at->example[TS_BASE] ? at->example[TS_BASE] : at->example[TS_NEW];
            if (across || same_device(known, run->run))
                break;
        }
        compare->device_count += d == compare->device_count;
        struct ts_compare_device *device = &compare->devices[d];
        run->device = d;
        run->in_group = device->run_count[TS_BASE] + device->run_count[TS_NEW];
        device->example[run->side] = run->run;
        device->partial[run->side] = is_partial(run->run) && (device->run_count[run->side] == 0 ||
                                                              device->partial[run->side]);
        device->run_count[run->side]++;
        device->run_side =
            ts_realloc(device->run_side, run->in_group + 1, sizeof(*device->run_side));
        device->run_side[run->in_group] = run->side;
    }
}

static void name_devices(const struct ts_compare *compare, enum ts_side side, struct ts_text *out)
{
    const char *joint = "";
    for (size_t d = 0; d < compare->device_count; d++) {
        if (compare->devices[d].run_count[side] == 0)
            continue;
        ts_text_printf(out, "%s\"%s\"", joint, compare->devices[d].example[side]->device.name);
        joint = ", ";
    }
}

static int refuse_devices(const struct ts_compare *compare, struct ts_err *err)
{
    struct ts_text base = {0}, fresh = {0};
    name_devices(compare, TS_BASE, &base);
    name_devices(compare, TS_NEW, &fresh);
    ts_err_set(err, TS_EXIT_USAGE, "no device in common: BASE has %s, NEW has %s; %s", base.text,
               fresh.text,
               compare->options.across_devices
                   ? "--across-devices needs exactly one on each side"
                   : "--across-devices compares one with the other all the same");
    ts_text_free(&base);
    ts_text_free(&fresh);
    return -1;
}

/* ---- overlap ---- */

static int refuse_rows(const struct ts_compare *compare, struct ts_err *err)
{
    struct ts_text example[2] = {{0}, {0}};
    size_t rows[2] = {0, 0};
    for (size_t i = 0; i < compare->row_count; i++)
        for (int s = TS_BASE; s <= TS_NEW; s++) {
            if (!compare->rows[i].side[s])
                continue;
            if (rows[s]++ == 0)
                ts_row_key(&compare->rows[i].side[s]->row, &example[s]);
        }
    ts_err_set(err, TS_EXIT_USAGE,
               "no configuration in common: %s has %zu, such as \"%s\"; %s has %zu, such as "
               "\"%s\"; expected the same benchmark, size, problem, variant and parameters",
               ts_compare_side_name(compare, TS_BASE), rows[TS_BASE],
               rows[TS_BASE] ? example[TS_BASE].text : "none",
               ts_compare_side_name(compare, TS_NEW), rows[TS_NEW],
               rows[TS_NEW] ? example[TS_NEW].text : "none");
    ts_text_free(&example[TS_BASE]);
    ts_text_free(&example[TS_NEW]);
    return -1;
}

static int check_overlap(const struct ts_compare *compare, struct ts_err *err)
{
    bool device = false;
    for (size_t d = 0; d < compare->device_count; d++)
        device = device || (compare->devices[d].run_count[TS_BASE] > 0 &&
                            compare->devices[d].run_count[TS_NEW] > 0);
    if (!device)
        return refuse_devices(compare, err);
    for (size_t i = 0; i < compare->row_count; i++)
        if (compare->rows[i].side[TS_BASE] && compare->rows[i].side[TS_NEW])
            return 0;
    return refuse_rows(compare, err);
}

/* ---- judging ---- */

static void judge(struct ts_compare *compare)
{
    const struct ts_judge_rule rule = {compare->options.threshold, compare->options.fdr};
    struct ts_judge_group *groups = ts_alloc(compare->device_count, sizeof(*groups));
    for (size_t d = 0; d < compare->device_count; d++)
        groups[d] = compare->devices[d].group;
    ts_judge(groups, compare->device_count, &rule);
    for (size_t d = 0; d < compare->device_count; d++)
        compare->devices[d].group = groups[d];
    free(groups);
}

/* ---- what fails ---- */

static void count_failures(struct ts_compare *compare)
{
    compare->nothing = true;
    for (size_t i = 0; i < compare->row_count; i++) {
        struct ts_compare_row *row = &compare->rows[i];
        compare->nothing &= row->judged == NULL;
        bool finding =
            row->gated && (ts_outcome_kinds[row->outcome].fail_on & compare->options.fail_on) != 0;
        row->fails = finding && !row->waiver;
        compare->gated_count += row->gated != 0;
        compare->failing_count += row->fails;
        compare->waived_count += finding && row->waiver;
    }
    double wanted = compare->options.require_power;
    compare->blind = compare->nothing || (wanted > 0.0 && !(compare->evidence <= wanted));
}

int ts_compare_exit_status(const struct ts_compare *compare)
{
    return compare->failing_count > 0 || compare->blind ? TS_EXIT_FINDING : TS_EXIT_OK;
}

/* ---- doors ---- */

/* YYYY-MM-DD of the newest run of NEW: waivers expire by when was measured, so that a comparison
 * says the same tomorrow. */
static void day_of(const struct ts_compare *compare, char day[11])
{
    const char *newest = "";
    for (size_t i = 0; i < compare->run_count; i++) {
        const struct ts_compare_run *run = &compare->runs[i];
        if (run->side == TS_NEW && strcmp(run->run->started, newest) > 0)
            newest = run->run->started;
    }
    memset(day, 0, 11);
    memcpy(day, newest, strlen(newest) < 10 ? strlen(newest) : 10);
}

static int run(struct ts_compare *compare, struct ts_results *measured, const char *file,
               struct ts_err *err)
{
    const struct ts_compare_options *o = &compare->options;
    char day[11];
    if (o->waivers &&
        ts_waivers_load(&compare->waivers, &compare->waiver_count, o->waivers, err) != 0)
        return -1;
    if (load(compare, measured, file, err) != 0)
        return -1;
    group_runs(compare);
    ts_compare_pair_rows(compare);
    if (check_overlap(compare, err) != 0)
        return -1;
    ts_compare_find_differences(compare);
    judge(compare);
    ts_compare_set_outcomes(compare);
    ts_compare_find_cases(compare);
    if (o->gate == TS_GATE_DEPLOYED && ts_compare_gate_deployed(compare, o->deployed, err) != 0)
        return -1;
    ts_compare_judge_cases(compare);
    day_of(compare, day);
    ts_waivers_apply(compare, day);
    count_failures(compare);
    return 0;
}

static struct ts_compare *open_compare(const struct ts_compare_options *options,
                                       struct ts_results *measured, const char *file,
                                       struct ts_err *err)
{
    struct ts_compare *compare = ts_alloc(1, sizeof(*compare));
    compare->options = *options;
    if (run(compare, measured, file, err) == 0)
        return compare;
    ts_compare_free(compare);
    return NULL;
}

struct ts_compare *ts_compare_open(const struct ts_compare_options *options, struct ts_err *err)
{
    return open_compare(options, NULL, NULL, err);
}

struct ts_compare *ts_compare_open_ab(const struct ts_compare_options *options,
                                      struct ts_results *results, const char *file,
                                      struct ts_err *err)
{
    struct ts_compare *compare = open_compare(options, results, file, err);
    ts_results_free(results);
    return compare;
}

static void free_half(struct ts_compare_half *half)
{
    free(half->row.time.visits); /* all else of the row is borrowed */
    free(half->visits);
    free(half->clusters);
}

static void free_case(struct ts_compare_case *c)
{
    for (int s = TS_BASE; s <= TS_NEW; s++) {
        ts_verdict_free(&c->verdict[s]);
        free(c->side_rows[s]);
    }
    free(c->words);
}

void ts_compare_free(struct ts_compare *compare)
{
    if (!compare)
        return;
    for (size_t i = 0; i < compare->half_count; i++)
        free_half(&compare->halves[i]);
    for (size_t i = 0; i < compare->row_count; i++) {
        free(compare->rows[i].pairs);
        free(compare->rows[i].pair_clusters);
    }
    for (size_t i = 0; i < compare->case_count; i++)
        free_case(&compare->cases[i]);
    for (size_t i = 0; i < compare->difference_count; i++) {
        free(compare->differences[i].what);
        free(compare->differences[i].base);
        free(compare->differences[i].fresh);
    }
    for (size_t i = 0; i < compare->device_count; i++)
        free(compare->devices[i].run_side);
    ts_waivers_free(compare->waivers, compare->waiver_count);
    ts_results_free(&compare->results[TS_BASE]);
    ts_results_free(&compare->results[TS_NEW]);
    free(compare->runs);
    free(compare->devices);
    free(compare->halves);
    free(compare->rows);
    free(compare->pairs);
    free(compare->cases);
    free(compare->differences);
    free(compare);
}
