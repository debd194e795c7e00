/* row.c: the life of a row. */
#include "row.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const struct {
    const char *name;
    bool finding;
} status_table[TS_STATUS_COUNT] = {
    [TS_OK] = {"ok", false},
    [TS_SKIPPED] = {"skipped", false},
    [TS_BUILD_FAILED] = {"build-failed", true},
    [TS_LAUNCH_FAILED] = {"launch-failed", true},
    [TS_WRONG] = {"wrong", true},
    [TS_TIMEOUT] = {"timeout", true},
    [TS_CRASHED] = {"crashed", true},
};

const char *ts_status_name(enum ts_status status)
{
    return status >= 0 && status < TS_STATUS_COUNT ? status_table[status].name : "pending";
}

bool ts_status_by_name(const char *name, enum ts_status *out)
{
    for (int i = 0; i < TS_STATUS_COUNT; i++) {
        if (strcmp(status_table[i].name, name) == 0) {
            *out = (enum ts_status)i;
            return true;
        }
    }
    return false;
}

bool ts_status_is_finding(enum ts_status status)
{
    return status >= 0 && status < TS_STATUS_COUNT && status_table[status].finding;
}

const struct ts_flag_entry ts_flag_table[] = {
    {TS_FLAG_HOST_CLOCK, "host-clock", "timed by the host's clock: the device's event times lie"},
    {TS_FLAG_COARSE_CLOCK, "coarse-clock", "a sample lasts less than 100 ticks of the clock"},
    {TS_FLAG_BATCHED, "batched", "a sample is the mean of several launches: one is too short"},
    {TS_FLAG_FEW_SAMPLES, "few-samples", "fewer than 3 visits, or a visit of fewer than 2 samples"},
    {TS_FLAG_IN_CACHE, "in-cache", "faster than the measured copy ceiling: the data fit a cache"},
    {TS_FLAG_ABOVE_CEILING, "above-ceiling",
     "faster than the measured multiply-add ceiling: this was measured too low, or `flops` counts "
     "more than is done"},
    {TS_FLAG_UNSTABLE, "unstable", "the interval is wider than 5 % to either side"},
    {TS_FLAG_BIMODAL, "bimodal", "the samples fall into two groups clearly apart"},
    {TS_FLAG_DRIFT, "drift",
     "the device changed, the worker was stopped, or its threads had to wait for a processor, "
     "while it was timed, and doing it again was of no use"},
    {TS_FLAG_PART_COLD, "part-cold",
     "--cache cold: too few sets of its data, or none, fit to keep all of it out of the caches"},
};
const size_t ts_flag_count = TS_COUNT(ts_flag_table);

static const char *const cache_names[TS_CACHE_COUNT] = {
    [TS_CACHE_WARM] = "warm",
    [TS_CACHE_COLD] = "cold",
    [TS_CACHE_PART] = "part",
};

const char *ts_cache_name(enum ts_cache cache)
{
    return cache_names[cache];
}

enum ts_cache ts_cache_by_name(const char *name)
{
    for (int i = 0; name && i < TS_CACHE_COUNT; i++)
        if (strcmp(cache_names[i], name) == 0)
            return (enum ts_cache)i;
    return TS_CACHE_WARM;
}

static const char *const stop_names[TS_STOP_COUNT] = {
    [TS_STOP_PRECISION] = "precision",
    [TS_STOP_PLATEAU] = "plateau",
    [TS_STOP_TIME] = "time",
    [TS_STOP_VISITS] = "visits",
};

const char *ts_stop_name(enum ts_stop stop)
{
    return stop_names[stop];
}

enum ts_stop ts_stop_by_name(const char *name)
{
    for (int i = 0; name && i < TS_STOP_COUNT; i++)
        if (stop_names[i] && strcmp(stop_names[i], name) == 0)
            return (enum ts_stop)i;
    return TS_STOP_NONE;
}

/* ---- life of a row ---- */

static const char *const ab_names[] = {[TS_AB_A] = "a", [TS_AB_B] = "b"};

const char *ts_ab_name(enum ts_ab side)
{
    return ab_names[side];
}

bool ts_ab_by_name(const char *name, enum ts_ab *out)
{
    for (int side = TS_AB_A; side <= TS_AB_B; side++)
        if (strcmp(ab_names[side], name) == 0) {
            *out = (enum ts_ab)side;
            return true;
        }
    return false;
}

void ts_geometry_init(struct ts_geometry *geometry)
{
    *geometry = (struct ts_geometry){
        .global = {-1, -1, -1},
        .local = {-1, -1, -1},
        .local_bytes = -1,
        .local_bytes_reported = -1,
        .work_group_limit = -1,
        .preferred_multiple = -1,
        .private_bytes = -1,
    };
}

void ts_geometry_free(struct ts_geometry *geometry)
{
    free(geometry->limit_rule);
    ts_geometry_init(geometry);
}

void ts_build_init(struct ts_build *build)
{
    *build = (struct ts_build){.build_ns = -1};
}

void ts_build_free(struct ts_build *build)
{
    free(build->options);
    free(build->log);
    free(build->binary);
    ts_build_init(build);
}

void ts_row_init(struct ts_row *row)
{
    *row = (struct ts_row){
        .status = TS_PENDING,
        .build = {.build_ns = -1},
        .check = {.worst = -1.0},
        .time = {.first_ns = -1, .batch = 1},
        .work = {-1, -1, -1, -1},
    };
    ts_geometry_init(&row->geometry);
}

void ts_row_free(struct ts_row *row)
{
    if (!row)
        return;
    free(row->benchmark);
    ts_values_free(&row->size);
    ts_values_free(&row->problem);
    ts_values_free(&row->params);
    free(row->variant);
    free(row->reason.code);
    free(row->reason.text);
    free(row->source);
    ts_geometry_free(&row->geometry);
    ts_build_free(&row->build);
    ts_values_free(&row->check.at_size);
    for (size_t i = 0; i < row->time.visit_count; i++)
        free(row->time.visits[i].sample_ns);
    free(row->time.visits);
    free(row->talk);
    ts_row_init(row);
}

void ts_row_set_status(struct ts_row *row, enum ts_status status, const char *code,
                       const char *format, ...)
{
    /* Both are made before the old ones go: code and arguments may be the row's own. */
    struct ts_text text = {0};
    if (code && format) {
        va_list values;
        va_start(values, format);
        ts_text_vprintf(&text, format, values);
        va_end(values);
    }
    char *copy = code ? ts_strdup(code) : NULL;
    free(row->reason.code);
    free(row->reason.text);
    row->status = status;
    row->reason.code = copy;
    row->reason.text = text.text;
}

void ts_row_drop_visits(struct ts_row *row, size_t count)
{
    struct ts_time *time = &row->time;

    while (count-- > 0 && time->visit_count > 0) {
        const struct ts_visit *visit = &time->visits[--time->visit_count];
        time->disturbed -= visit->disturbed;
        free(visit->sample_ns);
    }
    if (time->fresh_from > time->visit_count)
        time->fresh_from = time->visit_count;
}

size_t ts_row_mark_disturbed(struct ts_row *row, size_t count)
{
    size_t marked = 0;

    for (size_t i = row->time.visit_count; i > 0 && marked < count; i--) {
        struct ts_visit *visit = &row->time.visits[i - 1];
        marked += !visit->disturbed;
        visit->disturbed = true;
    }
    row->time.disturbed += (int)marked;
    return marked;
}

static void append_visit(struct ts_time *time, const int64_t *sample_ns, size_t count, int worker)
{
    TS_GROW(time->visits, time->visit_count, time->visit_capacity);
    struct ts_visit *visit = &time->visits[time->visit_count++];
    *visit = (struct ts_visit){.count = count, .worker = worker, .pair = -1};
    visit->sample_ns = ts_alloc(count ? count : 1, sizeof(*visit->sample_ns));
    if (count)
        memcpy(visit->sample_ns, sample_ns, count * sizeof(*sample_ns));
}

void ts_row_add_visit(struct ts_row *row, const int64_t *sample_ns, size_t count, int worker)
{
    bool confirming = row->time.fresh_from < row->time.visit_count;
    append_visit(&row->time, sample_ns, count, worker);
    if (!confirming)
        row->time.fresh_from = row->time.visit_count;
}

void ts_row_add_fresh_visit(struct ts_row *row, const int64_t *sample_ns, size_t count, int worker)
{
    append_visit(&row->time, sample_ns, count, worker);
}

double *ts_row_samples(const struct ts_row *row, size_t *count)
{
    const struct ts_time *time = &row->time;
    size_t total = 0, used = 0;
    for (size_t i = 0; i < time->visit_count; i++)
        total += time->visits[i].count;
    double *samples = ts_alloc(total + 1, sizeof(*samples));
    for (size_t i = 0; i < time->visit_count; i++)
        for (size_t j = 0; j < time->visits[i].count; j++)
            samples[used++] = (double)time->visits[i].sample_ns[j];
    *count = used;
    return samples;
}

double ts_visit_median(const struct ts_visit *visit)
{
    double *x = ts_alloc(visit->count, sizeof(*x));
    for (size_t i = 0; i < visit->count; i++)
        x[i] = (double)visit->sample_ns[i];
    double median = ts_median(x, visit->count);
    free(x);
    return median;
}

double *ts_row_visit_medians(const struct ts_row *row, size_t first, size_t *count)
{
    size_t visits = row->time.visit_count, used = 0;
    double *medians = ts_alloc(visits + 1, sizeof(*medians));
    for (size_t i = first; i < visits; i++) {
        if (row->time.visits[i].count > 0)
            medians[used++] = ts_visit_median(&row->time.visits[i]);
    }
    *count = used;
    return medians;
}

const char *ts_row_unreached(const struct ts_row *row)
{
    if (row->status == TS_PENDING)
        return "not reached within the budget";
    if (row->status == TS_OK && row->time.visit_count == 0)
        return "proven right on the check sizes, not timed within the budget";
    return NULL;
}

bool ts_row_same_case(const struct ts_row *a, const struct ts_row *b)
{
    return a->side == b->side && strcmp(a->benchmark, b->benchmark) == 0 &&
           ts_values_equal(&a->size, &b->size) && ts_values_equal(&a->problem, &b->problem);
}

void ts_row_defines(const struct ts_row *row, struct ts_text *out)
{
    ts_values_print_defines(&row->problem, &row->params, row->variant, out);
}

void ts_row_key(const struct ts_row *row, struct ts_text *out)
{
    ts_text_puts(out, row->benchmark);
    const struct ts_values *parts[] = {&row->problem, &row->size};
    for (size_t i = 0; i < TS_COUNT(parts); i++) {
        if (parts[i]->count)
            ts_text_puts(out, " ");
        ts_values_print(parts[i], "", " ", out);
    }
    ts_text_puts(out, " ");
    ts_text_puts(out, row->variant);
    if (row->params.count)
        ts_text_puts(out, " ");
    ts_values_print(&row->params, "", " ", out);
    if (row->side != TS_AB_NONE)
        ts_text_printf(out, " (side %s)", ts_ab_name(row->side));
}

static int by_name(const void *a, const void *b)
{
    const struct ts_value *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void add_sorted(const struct ts_values *values, struct ts_text *out)
{
    const struct ts_value **items = ts_alloc(values->count, sizeof(*items));
    for (size_t i = 0; i < values->count; i++)
        items[i] = &values->items[i];
    qsort(items, values->count, sizeof(*items), by_name);
    for (size_t i = 0; i < values->count; i++) {
        if (items[i]->word)
            ts_text_printf(out, " %s=%s", items[i]->name, items[i]->word);
        else
            ts_text_printf(out, " %s=%lld", items[i]->name, (long long)items[i]->number);
    }
    ts_text_puts(out, ";");
    free(items);
}

void ts_row_map_key(const struct ts_row *row, struct ts_text *out)
{
    const char *side = ts_ab_name(row->side);
    ts_text_printf(out, "%s;%s;%s;", side ? side : "", row->benchmark, row->variant);
    add_sorted(&row->problem, out);
    add_sorted(&row->size, out);
    add_sorted(&row->params, out);
}
