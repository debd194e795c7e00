/* compare_json.c: a comparison as a tilesweep.compare/1 document. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "version.h"

static void add_interval(cJSON *parent, const char *key, double low, double mid, double high)
{
    cJSON *object = ts_json_add_object(parent, key);
    ts_json_add_real(object, "low", low);
    ts_json_add_real(object, "mid", mid);
    ts_json_add_real(object, "high", high);
}

static void add_time(cJSON *parent, const char *key, double ns)
{
    ts_json_add_int_or_null(parent, key, isfinite(ns) ? (int64_t)llround(ns) : -1);
}

/* ---- inputs ---- */

void ts_compare_add_run(cJSON *runs, const struct ts_compare_run *run)
{
    cJSON *item = ts_json_add_object(runs, NULL);
    ts_json_add_string(item, "file", run->file);
    ts_json_add_string(item, "id", run->run->id);
    ts_json_add_string(item, "started", run->run->started);
    ts_json_add_string(item, "device", run->run->device.name);
    ts_json_add_string(item, "driver", run->run->device.driver);
    if (run->run->context)
        ts_json_add_item(item, "context", cJSON_Duplicate(run->run->context, true));
    else
        ts_json_add_object(item, "context");
}

static void add_side(cJSON *document, const struct ts_compare *compare, enum ts_side side)
{
    cJSON *object = ts_json_add_object(document, side == TS_BASE ? "base" : "new");
    cJSON *runs = ts_json_add_array(object, "runs");
    for (size_t i = 0; i < compare->run_count; i++)
        if (compare->runs[i].side == side)
            ts_compare_add_run(runs, &compare->runs[i]);
}

static void add_options(cJSON *document, const struct ts_compare_options *o)
{
    cJSON *object = ts_json_add_object(document, "options");
    ts_json_add_string(object, "gate", ts_gate_names[o->gate]);
    cJSON *fail_on = ts_json_add_array(object, "fail_on");
    for (size_t i = 0; i < TS_OUTCOME_COUNT; i++)
        if (ts_outcome_kinds[i].fail_on & o->fail_on)
            ts_json_add_string(fail_on, NULL, ts_outcome_kinds[i].name);
    ts_json_add_real(object, "threshold", o->threshold);
    ts_json_add_real(object, "fdr", o->fdr);
    ts_json_add_real(object, "require_power", o->require_power > 0.0 ? o->require_power : NAN);
    ts_json_add_bool(object, "across_devices", o->across_devices);
}

static void add_differences(cJSON *document, const struct ts_compare *compare)
{
    cJSON *array = ts_json_add_array(document, "differences");
    for (size_t i = 0; i < compare->difference_count; i++) {
        cJSON *item = ts_json_add_object(array, NULL);
        ts_json_add_string(item, "what", compare->differences[i].what);
        ts_json_add_string(item, "base", compare->differences[i].base);
        ts_json_add_string(item, "new", compare->differences[i].fresh);
    }
}

/* ---- devices ---- */

static void add_control(cJSON *device, const struct ts_compare_device *d)
{
    const struct ts_judge_group *g = &d->group;
    cJSON *control = ts_json_add_object(device, "control");
    ts_json_add_int(control, "same_binary", (int64_t)d->same_binary);
    ts_json_add_int(control, "same_build", (int64_t)d->same_build);
    add_interval(control, "shift", exp(g->shift_low), exp(g->shift), exp(g->shift_high));
    ts_json_add_bool(control, "taken_out", g->shift_taken_out);
    ts_json_add_bool(control, "too_large", g->shift_too_large);
    ts_json_add_real(control, "scale", g->scale);
}

static void add_devices(cJSON *document, const struct ts_compare *compare)
{
    cJSON *array = ts_json_add_array(document, "devices");
    for (size_t i = 0; i < compare->device_count; i++) {
        const struct ts_compare_device *d = &compare->devices[i];
        cJSON *item = ts_json_add_object(array, NULL);
        for (int s = TS_BASE; s <= TS_NEW; s++)
            ts_json_add_string(item, s == TS_BASE ? "base" : "new",
                               d->example[s] ? d->example[s]->device.name : NULL);
        ts_json_add_int(item, "compared", (int64_t)d->group.count);
        ts_json_add_string(item, "level", ts_level_name(d->level));
        cJSON *prior = ts_json_add_object(item, "prior");
        ts_json_add_real(prior, "df", d->group.prior.df); /* null: without limit */
        ts_json_add_real(prior, "sd", sqrt(d->group.prior.variance));
        add_control(item, d);
    }
}

/* ---- rows ---- */

static void add_reason(cJSON *object, const struct ts_row *row)
{
    if (!row->reason.code) {
        ts_json_add_null(object, "reason");
        return;
    }
    cJSON *reason = ts_json_add_object(object, "reason");
    ts_json_add_string(reason, "code", row->reason.code);
    ts_json_add_string(reason, "text", row->reason.text ? row->reason.text : "");
}

static void add_half(cJSON *row, const char *key, const struct ts_compare_half *half)
{
    if (!half) {
        ts_json_add_null(row, key);
        return;
    }
    cJSON *object = ts_json_add_object(row, key);
    ts_json_add_string(object, "status", ts_status_name(half->row.status));
    add_reason(object, &half->row);
    add_time(object, "median_ns", ts_compare_time_ns(half));
    ts_json_add_int(object, "runs", (int64_t)half->run_count);
    ts_json_add_int(object, "visits", (int64_t)half->visit_count);
    ts_json_add_int(object, "clusters", (int64_t)half->cluster_count);
    ts_json_add_string(object, "binary", half->row.build.binary);
}

static const char *const why_names[] = {
    [TS_WHY_NONE] = NULL,     [TS_WHY_NOISE] = "noise",         [TS_WHY_SINGLE] = "single",
    [TS_WHY_SHIFT] = "shift", [TS_WHY_CLOCK] = "clock",         [TS_WHY_WORK] = "work",
    [TS_WHY_CACHE] = "cache", [TS_WHY_THRESHOLD] = "threshold",
};

static void add_judged(cJSON *row, const struct ts_judge_pair *pair)
{
    const struct ts_interval *r = &pair->ratio;
    add_interval(row, "ratio", r->known ? r->low : NAN, r->mid, r->known ? r->high : NAN);
    ts_json_add_real(row, "p", pair->p);
    ts_json_add_real(row, "p_adjusted", pair->p_adjusted);
    ts_json_add_string(row, "why", why_names[pair->why]);
    ts_json_add_real(row, "error", pair->error);
    ts_json_add_real(row, "df", pair->df);
    ts_json_add_real(row, "found", pair->found);
    ts_json_add_real(row, "evidence", pair->evidence);
}

/* Worth measuring again before anyone is told: what seems worse. */
static bool is_suspect(const struct ts_compare *compare, const struct ts_compare_row *row)
{
    return row->outcome == TS_OUT_SLOWER || row->outcome == TS_OUT_FAILED ||
           (row->outcome == TS_OUT_INCONCLUSIVE &&
            row->judged->ratio.mid > 1.0 + compare->options.threshold);
}

static void add_gated(cJSON *row, unsigned gated)
{
    cJSON *array = ts_json_add_array(row, "gated");
    for (unsigned bit = 1; bit < TS_GATED_END; bit <<= 1)
        if (gated & bit)
            ts_json_add_string(array, NULL, ts_gated_words(bit, false));
}

void ts_compare_add_names(cJSON *object, const struct ts_row *names)
{
    ts_json_add_string(object, "benchmark", names->benchmark);
    ts_json_add_item(object, "size", ts_values_to_json(&names->size));
    ts_json_add_item(object, "problem", ts_values_to_json(&names->problem));
}

static void add_row(cJSON *rows, const struct ts_compare *compare, const struct ts_compare_row *row)
{
    cJSON *object = ts_json_add_object(rows, NULL);
    ts_compare_add_names(object, row->names);
    ts_json_add_string(object, "variant", row->names->variant);
    ts_json_add_item(object, "params", ts_values_to_json(&row->names->params));
    ts_json_add_string(object, "status", ts_status_name(row->names->status));
    add_reason(object, row->names);
    ts_json_add_int(object, "device", (int64_t)row->device);
    ts_json_add_string(object, "verdict", ts_outcome_kinds[row->outcome].name);
    if (row->judged)
        add_judged(object, row->judged);
    ts_json_add_string(object, "same_code",
                       row->same_binary  ? "binary"
                       : row->same_build ? "build"
                                         : NULL);
    add_half(object, "base", row->side[TS_BASE]);
    add_half(object, "new", row->side[TS_NEW]);
    add_gated(object, row->gated);
    ts_json_add_bool(object, "fails", row->fails);
    ts_json_add_bool(object, "suspect", is_suspect(compare, row));
    ts_json_add_string(object, "waived", row->waiver ? row->waiver->reason : NULL);
}

/* ---- cases ---- */

static void add_config(cJSON *object, const char *key, const struct ts_compare_row *row)
{
    if (!row) {
        ts_json_add_null(object, key);
        return;
    }
    cJSON *config = ts_json_add_object(object, key);
    ts_json_add_string(config, "variant", row->names->variant);
    ts_json_add_item(config, "params", ts_values_to_json(&row->names->params));
}

static void add_case(cJSON *cases, const struct ts_compare_case *c)
{
    cJSON *object = ts_json_add_object(cases, NULL);
    ts_compare_add_names(object, c->names);
    ts_json_add_int(object, "device", (int64_t)c->device);
    ts_json_add_string(object, "verdict", ts_outcome_kinds[c->outcome].name);
    ts_json_add_string(object, "words", c->words);
    add_config(object, "best_base", c->best[TS_BASE]);
    add_config(object, "best_new", c->best[TS_NEW]);
    ts_json_add_bool(object, "other_best", c->other_best);
    ts_json_add_real(object, "best_ratio", c->best_ratio);
    for (int s = TS_BASE; s <= TS_NEW; s++)
        ts_json_add_string(object, s == TS_BASE ? "pays_base" : "pays_new",
                           c->side_count[s] > 0 ? ts_pays_name(c->verdict[s].pays) : NULL);
    ts_json_add_real(object, "found", c->found);
    ts_json_add_real(object, "evidence", c->evidence);
}

/* ---- the document ---- */

static void add_waivers(cJSON *document, const struct ts_compare *compare)
{
    cJSON *array = ts_json_add_array(document, "waivers");
    for (size_t i = 0; i < compare->waiver_count; i++) {
        const struct ts_waiver *waiver = &compare->waivers[i];
        cJSON *item = ts_json_add_object(array, NULL);
        struct ts_text key = {0};
        ts_waiver_key(waiver, &key);
        ts_json_add_string(item, "row", key.text);
        ts_json_add_string(item, "reason", waiver->reason);
        ts_json_add_string(item, "until", waiver->until);
        ts_json_add_string(item, "state",
                           waiver->expired ? "expired"
                           : waiver->used  ? "used"
                                           : "unused");
        ts_text_free(&key);
    }
}

static void add_summary(cJSON *document, const struct ts_compare *compare)
{
    cJSON *counts = ts_json_add_object(document, "counts");
    for (size_t i = 0; i < TS_OUTCOME_COUNT; i++)
        ts_json_add_int(counts, ts_outcome_kinds[i].name, (int64_t)compare->count[i]);
    ts_json_add_int(counts, "gated", (int64_t)compare->gated_count);
    ts_json_add_int(counts, "failing", (int64_t)compare->failing_count);
    ts_json_add_int(counts, "waived", (int64_t)compare->waived_count);
    cJSON *power = ts_json_add_object(document, "power");
    ts_json_add_real(power, "found", compare->found);
    ts_json_add_real(power, "evidence", compare->evidence);
    bool known = compare->typical_found < DBL_MAX;
    ts_json_add_real(power, "typical_found", known ? compare->typical_found : NAN);
    ts_json_add_bool(power, "blind", compare->blind);
    ts_json_add_int(document, "exit_status", ts_compare_exit_status(compare));
}

cJSON *ts_compare_json(const struct ts_compare *compare)
{
    cJSON *document = cJSON_CreateObject();
    ts_json_add_string(document, "schema", "tilesweep.compare/1");
    cJSON *tool = ts_json_add_object(document, "tool");
    ts_json_add_string(tool, "version", ts_version());
    ts_json_add_string(tool, "revision", ts_revision());
    add_side(document, compare, TS_BASE);
    add_side(document, compare, TS_NEW);
    add_options(document, &compare->options);
    add_summary(document, compare);
    add_differences(document, compare);
    add_devices(document, compare);
    cJSON *cases = ts_json_add_array(document, "cases");
    for (size_t i = 0; i < compare->case_count; i++)
        add_case(cases, &compare->cases[i]);
    cJSON *rows = ts_json_add_array(document, "rows");
    for (size_t i = 0; i < compare->row_count; i++)
        add_row(rows, compare, &compare->rows[i]);
    add_waivers(document, compare);
    return document;
}
