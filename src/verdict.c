/* verdict.c: the field of a case, its tie set, and the sentence about staging. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric.h"

/* Without an interval (a single visit) rows this close count as equal. */
#define TIE_WITHOUT_INTERVAL 0.02
/* Equal rows are at most this much slower than the fastest. */
#define TIE_MARGIN 0.05

/* Rows of a tie set that are written to the results document. */
#define TIE_WRITTEN 32
/* Fresh visits each finalist needs before only they count. */
#define FRESH_ENOUGH 2

static const char *const pays_names[] = {
    [TS_PAYS_YES] = "yes",
    [TS_PAYS_NO] = "no",
    [TS_PAYS_TIE] = "tie",
    [TS_PAYS_UNKNOWN] = "unknown",
};

const char *ts_pays_name(enum ts_pays pays)
{
    return pays_names[pays];
}

/* ---- competing rows ---- */

/* A row that is ok, of the case, and has samples. */
struct entrant {
    const struct ts_row *row;
    size_t index;    /* of the row in the rows given */
    double scale;    /* elements of work a launch, or 1 */
    double swept_ns; /* time per element by the sweep's visits: what the ranking goes by */
};

struct field {
    struct entrant *entrants;
    size_t count;
    bool per_element;
};

/* Visits of the confirmation. */
static size_t fresh_count(const struct ts_row *row)
{
    const struct ts_time *time = &row->time;
    return time->fresh_from < time->visit_count ? time->visit_count - time->fresh_from : 0;
}

/* Median over the sweep's visits, in ns; over all where there are none of them; NaN without
 * samples. */
static double swept_ns(const struct ts_row *row)
{
    size_t count, swept = row->time.visit_count - fresh_count(row);
    double *medians = ts_row_visit_medians(row, 0, &count);
    if (swept > 0 && swept < count)
        count = swept;
    double ns = count > 0 ? ts_median(medians, count) : NAN;
    free(medians);
    return ns;
}

/* The field of the case; free field.entrants. Time counts per element of work where every entrant
 * states its elements: a launch that advances more steps does more. */
static struct field field_of_case(const struct ts_row *rows, size_t count, const struct ts_row *of)
{
    struct field field = {ts_alloc(count + 1, sizeof(struct entrant)), 0, true};
    for (size_t i = 0; i < count; i++) {
        const struct ts_row *row = &rows[i];
        if (row->status != TS_OK || !ts_row_same_case(row, of))
            continue;
        double ns = swept_ns(row);
        if (!isfinite(ns))
            continue;
        field.entrants[field.count++] = (struct entrant){row, i, 1.0, ns};
        field.per_element = field.per_element && row->work.elements > 0;
    }
    for (size_t i = 0; field.per_element && i < field.count; i++) {
        struct entrant *e = &field.entrants[i];
        e->scale = (double)e->row->work.elements;
        e->swept_ns /= e->scale;
    }
    return field;
}

typedef bool (*row_is)(const struct ts_row *row);

static bool is_any(const struct ts_row *row)
{
    (void)row;
    return true;
}

static bool is_baseline(const struct ts_row *row)
{
    return row->baseline;
}

static bool is_plain(const struct ts_row *row)
{
    return !row->staged;
}

static bool is_staged(const struct ts_row *row)
{
    return row->staged;
}

/* The fastest of a kind by the sweep's visits; the earlier row of equals; NULL when there is none.
 */
static const struct entrant *fastest(const struct field *field, row_is kind)
{
    const struct entrant *best = NULL;
    for (size_t i = 0; i < field->count; i++) {
        const struct entrant *e = &field->entrants[i];
        if (kind(e->row) && (!best || e->swept_ns < best->swept_ns))
            best = e;
    }
    return best;
}

static bool both_fresh(const struct ts_row *a, const struct ts_row *b)
{
    return fresh_count(a) >= FRESH_ENOUGH && fresh_count(b) >= FRESH_ENOUGH;
}

/* Medians of the row's fresh visits, or of the sweep's: never of both, hours may lie between them.
 */
static double *medians_of(const struct ts_row *row, bool fresh, size_t *count)
{
    double *medians = ts_row_visit_medians(row, fresh ? row->time.fresh_from : 0, count);
    if (!fresh && row->time.fresh_from > 0 && row->time.fresh_from < *count)
        *count = row->time.fresh_from;
    return medians;
}

/* Time of a over time of b, both per element: by fresh visits where both have enough, else by the
 * sweep's. */
static struct ts_interval ratio_of(const struct entrant *a, const struct entrant *b)
{
    bool fresh = both_fresh(a->row, b->row);
    size_t na, nb;
    double *ma = medians_of(a->row, fresh, &na), *mb = medians_of(b->row, fresh, &nb);
    struct ts_interval ratio = ts_interval_of_ratio(ma, na, mb, nb);
    free(ma);
    free(mb);
    double per_element = b->scale / a->scale;
    ratio.low *= per_element;
    ratio.mid *= per_element;
    ratio.high *= per_element;
    return ratio;
}

/* ---- the tie set ---- */

static int64_t work_items(const struct ts_row *row)
{
    const struct ts_geometry *g = &row->geometry;
    int64_t product = g->dims > 0 ? 1 : INT64_MAX;
    for (int d = 0; d < g->dims && d < 3; d++)
        product *= g->local[d];
    return product;
}

static int64_t local_bytes(const struct ts_row *row)
{
    if (row->geometry.local_bytes >= 0)
        return row->geometry.local_bytes;
    return row->staged ? INT64_MAX : 0;
}

static int compare_whole(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Simplest first: baseline, then least local memory, then fewest work-items, then order in the
 * sweep. */
static int by_simplicity(const void *a, const void *b)
{
    const struct entrant *x = a, *y = b;
    int order = (int)y->row->baseline - (int)x->row->baseline;
    if (order == 0)
        order = compare_whole(local_bytes(x->row), local_bytes(y->row));
    if (order == 0)
        order = compare_whole(work_items(x->row), work_items(y->row));
    if (order == 0)
        order = compare_whole((int64_t)x->index, (int64_t)y->index);
    return order;
}

/* Not distinguishable, and close besides: a few noisy visits cannot tell much apart, and nobody
 * wants to deploy what was a third slower for want of proof. */
static bool is_tied(const struct entrant *e, const struct entrant *first)
{
    if (e == first)
        return true;
    struct ts_interval ratio = ratio_of(e, first);
    if (!ratio.known)
        return fabs(ratio.mid - 1.0) <= TIE_WITHOUT_INTERVAL;
    return ratio.low <= 1.0 && ratio.high >= 1.0 && ratio.mid <= 1.0 + TIE_MARGIN;
}

/* Where staging was shown to pay, or to cost, only the winning side can hold the tie set: the
 * recommendation never contradicts the verdict. */
static void find_ties(struct ts_verdict *verdict, const struct field *field)
{
    row_is side = verdict->pays == TS_PAYS_YES  ? is_staged
                  : verdict->pays == TS_PAYS_NO ? is_plain
                                                : is_any;
    const struct entrant *first = fastest(field, side);
    if (!first)
        return;
    struct entrant *tied = ts_alloc(field->count, sizeof(*tied));
    size_t count = 0;
    for (size_t i = 0; i < field->count; i++) {
        const struct entrant *e = &field->entrants[i];
        bool finalist = e->row == verdict->best_plain || e->row == verdict->best_staged;
        /* A verdict of "tie" says of its two finalists that they are. */
        if (side(e->row) && (is_tied(e, first) || (verdict->pays == TS_PAYS_TIE && finalist)))
            tied[count++] = *e;
    }
    qsort(tied, count, sizeof(*tied), by_simplicity);
    verdict->tie = ts_alloc(count, sizeof(*verdict->tie));
    verdict->tie_count = count;
    for (size_t i = 0; i < count; i++)
        verdict->tie[i] = tied[i].row;
    verdict->best = tied[0].row;
    free(tied);
}

/* ---- the sentence ---- */

/* Whether the case has rows of the kind at all, whatever became of them. */
static bool has_rows(const struct ts_row *rows, size_t count, const struct ts_row *of, row_is kind)
{
    for (size_t i = 0; i < count; i++)
        if (kind(&rows[i]) && ts_row_same_case(&rows[i], of))
            return true;
    return false;
}

static void add_device_fact(struct ts_text *why, const struct ts_device *device)
{
    if (device && device->number[TS_DEVICE_LOCAL_MEM_TYPE] == TS_LOCAL_MEM_GLOBAL)
        ts_text_puts(why,
                     "; local memory is global memory on this device (CL_DEVICE_LOCAL_MEM_TYPE)");
}

/* Which side is missing, and whether it was tried. */
static char *why_unknown(const struct ts_verdict *v, bool plain_tried, bool staged_tried)
{
    if (!v->best_plain && !v->best_staged)
        return ts_strdup("unknown: no configuration is ok");
    const char *side = v->best_plain ? "staged" : "plain";
    bool tried = v->best_plain ? staged_tried : plain_tried;
    if (tried)
        return ts_printf("unknown: no %s configuration is ok", side);
    return ts_printf("unknown: there is no %s configuration", side);
}

static char *why_known(const struct ts_verdict *v, const struct ts_device *device)
{
    const struct ts_interval *s = &v->speedup;
    struct ts_text why = {0};
    const char *unit = v->per_element ? " per element of work" : "";
    switch (v->pays) {
    case TS_PAYS_YES:
        ts_text_printf(&why, "staging pays: %.2f times faster%s (%.2f to %.2f)", s->mid, unit,
                       s->low, s->high);
        break;
    case TS_PAYS_NO:
        ts_text_printf(
            &why,
            "staging costs here: the best staged configuration takes %.2f times as long%s as "
            "the best plain one (%.2f to %.2f)",
            1.0 / s->mid, unit, 1.0 / s->high, 1.0 / s->low);
        add_device_fact(&why, device);
        break;
    case TS_PAYS_TIE:
        ts_text_printf(
            &why,
            "no difference that these measurements can show: staged against plain is %.2f "
            "times as fast%s (%.2f to %.2f); to tell them apart, measure longer (--visits 20)",
            s->mid, unit, s->low, s->high);
        break;
    case TS_PAYS_UNKNOWN:
        ts_text_printf(
            &why,
            "unknown: a single visit gives no interval; staged against plain is %.2f times "
            "as fast%s in it",
            s->mid, unit);
        break;
    }
    return why.text;
}

static enum ts_pays decide(const struct ts_interval *speedup)
{
    if (!speedup->known)
        return TS_PAYS_UNKNOWN;
    if (speedup->low > 1.0)
        return TS_PAYS_YES;
    return speedup->high < 1.0 ? TS_PAYS_NO : TS_PAYS_TIE;
}

/* ---- doors ---- */

static const struct ts_row *row_of(const struct entrant *e)
{
    return e ? e->row : NULL;
}

void ts_verdict_of_case(struct ts_verdict *verdict, const struct ts_row *rows, size_t count,
                        const struct ts_row *of, const struct ts_device *device)
{
    struct field field = field_of_case(rows, count, of);
    const struct entrant *plain = fastest(&field, is_plain), *staged = fastest(&field, is_staged);
    *verdict = (struct ts_verdict){
        .any = of,
        .baseline = row_of(fastest(&field, is_baseline)),
        .best_plain = row_of(plain),
        .best_staged = row_of(staged),
        .speedup = {NAN, NAN, NAN, false},
        .pays = TS_PAYS_UNKNOWN,
    };
    if (plain && staged) {
        verdict->fresh = both_fresh(plain->row, staged->row);
        verdict->speedup = ratio_of(plain, staged);
        verdict->pays = decide(&verdict->speedup);
        verdict->per_element =
            field.per_element && plain->row->work.elements != staged->row->work.elements;
        verdict->why = why_known(verdict, device);
    } else {
        verdict->why = why_unknown(verdict, has_rows(rows, count, of, is_plain),
                                   has_rows(rows, count, of, is_staged));
    }
    find_ties(verdict, &field);
    free(field.entrants);
}

void ts_verdict_free(struct ts_verdict *verdict)
{
    if (!verdict)
        return;
    free(verdict->tie);
    free(verdict->why);
    *verdict = (struct ts_verdict){0};
}

size_t ts_verdict_finalists(const struct ts_row *rows, size_t count, const struct ts_row *of,
                            size_t *index, size_t room)
{
    static const row_is kinds[] = {is_plain, is_staged, is_baseline};
    struct field field = field_of_case(rows, count, of);
    size_t used = 0;
    for (size_t k = 0; k < TS_COUNT(kinds) && used < room; k++) {
        const struct entrant *e = fastest(&field, kinds[k]);
        bool there = !e;
        for (size_t i = 0; i < used && !there; i++)
            there = index[i] == e->index;
        if (!there)
            index[used++] = e->index;
    }
    free(field.entrants);
    return used;
}

struct ts_interval ts_verdict_interval_ns(const struct ts_verdict *verdict,
                                          const struct ts_row *row)
{
    bool fresh = verdict->fresh && fresh_count(row) >= FRESH_ENOUGH;
    size_t count;
    double *medians = medians_of(row, fresh, &count);
    struct ts_interval interval = count > 0 ? ts_interval_of_visits(medians, count)
                                            : (struct ts_interval){NAN, NAN, NAN, false};
    free(medians);
    return interval;
}

double ts_verdict_time_ns(const struct ts_verdict *verdict, const struct ts_row *row)
{
    struct ts_interval interval = ts_verdict_interval_ns(verdict, row);
    return interval.mid;
}

static cJSON *row_to_json(const struct ts_verdict *verdict, const struct ts_row *row)
{
    if (!row)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "variant", row->variant);
    ts_json_add_item(object, "params", ts_values_to_json(&row->params));
    double ns = ts_verdict_time_ns(verdict, row);
    ts_json_add_int_or_null(object, "median_ns", isfinite(ns) ? (int64_t)llround(ns) : -1);
    return object;
}

cJSON *ts_verdict_to_json(const struct ts_verdict *verdict)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "benchmark", verdict->any->benchmark);
    ts_json_add_item(object, "size", ts_values_to_json(&verdict->any->size));
    ts_json_add_item(object, "problem", ts_values_to_json(&verdict->any->problem));
    if (verdict->any->side != TS_AB_NONE)
        ts_json_add_string(object, "side", ts_ab_name(verdict->any->side));
    ts_json_add_item(object, "baseline", row_to_json(verdict, verdict->baseline));
    ts_json_add_item(object, "best_plain", row_to_json(verdict, verdict->best_plain));
    ts_json_add_item(object, "best_staged", row_to_json(verdict, verdict->best_staged));
    ts_json_add_item(object, "best", row_to_json(verdict, verdict->best));
    cJSON *tie = ts_json_add_array(object, "tie");
    for (size_t i = 0; i < verdict->tie_count && i < TIE_WRITTEN; i++)
        ts_json_add_item(tie, NULL, row_to_json(verdict, verdict->tie[i]));
    ts_json_add_int(object, "tie_count", (int64_t)verdict->tie_count);
    const struct ts_interval *s = &verdict->speedup;
    cJSON *speedup = ts_json_add_object(object, "speedup");
    ts_json_add_real(speedup, "low", s->known ? s->low : NAN);
    ts_json_add_real(speedup, "mid", s->mid);
    ts_json_add_real(speedup, "high", s->known ? s->high : NAN);
    ts_json_add_string(object, "pays", ts_pays_name(verdict->pays));
    ts_json_add_string(object, "why", verdict->why);
    return object;
}
