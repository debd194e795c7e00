/* compare_waiver.c: accepted findings: an exact row, how much is accepted, why, and until when. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "place.h"

#define WAIVERS_SCHEMA "tilesweep.waivers/"
#define WAIVERS_VERSION 1

/* ---- reading ---- */

static int read_name(char **out, const struct ts_place *at, const cJSON *object, const char *key,
                     bool required, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *value = ts_json_get(object, key);
    const char *text;
    if (!value && !required)
        return 0;
    if (ts_place_string(&place, value, &text, err) != 0)
        return -1;
    if (!text[0])
        return ts_place_expected(&place, value, "a text that is not empty", err);
    *out = ts_strdup(text);
    return 0;
}

static int read_values(struct ts_values *out, const struct ts_place *at, const cJSON *object,
                       const char *key, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, key);
    const cJSON *value = ts_json_get(object, key);
    if (ts_place_object(&place, value, err) != 0)
        return -1;
    return ts_values_from_json(out, value, err) != 0 ? ts_place_prepend(&place, err) : 0;
}

/* YYYY-MM-DD with a month and a day that can be. */
static bool is_day(const char *text)
{
    static const char form[] = "0000-00-00";
    if (strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    int month = (text[5] - '0') * 10 + text[6] - '0', day = (text[8] - '0') * 10 + text[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static int read_until(struct ts_waiver *waiver, const struct ts_place *at, const cJSON *object,
                      struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "until");
    if (read_name(&waiver->until, at, object, "until", true, err) != 0)
        return -1;
    if (!is_day(waiver->until))
        return ts_place_expected(&place, ts_json_get(object, "until"),
                                 "the last day as \"YYYY-MM-DD\"", err);
    return 0;
}

/* A ratio above 1 for what is slower; "failed" or "vanished" for those. */
static int read_accepts(struct ts_waiver *waiver, const struct ts_place *at, const cJSON *object,
                        struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "ceiling");
    const cJSON *value = ts_json_get(object, "ceiling");
    static const char expected[] =
        "a number above 1 (1.2: up to 1.2 times BASE's time), \"failed\" or \"vanished\"";
    if (cJSON_IsNumber(value) && value->valuedouble > 1.0) {
        waiver->ceiling = value->valuedouble;
        waiver->accepts = TS_FAIL_SLOWER | TS_FAIL_INCONCLUSIVE;
        return 0;
    }
    waiver->ceiling = INFINITY;
    if (cJSON_IsString(value) && strcmp(value->valuestring, "failed") == 0)
        waiver->accepts = TS_FAIL_FAILED;
    else if (cJSON_IsString(value) && strcmp(value->valuestring, "vanished") == 0)
        waiver->accepts = TS_FAIL_VANISHED;
    else
        return ts_place_expected(&place, value, expected, err);
    return 0;
}

static int read_waiver(struct ts_waiver *waiver, const struct ts_place *at, const cJSON *object,
                       struct ts_err *err)
{
    static const char *const known[] = {"benchmark", "size",    "problem", "variant", "params",
                                        "device",    "ceiling", "reason",  "until"};
    if (ts_place_keys(at, object, known, TS_COUNT(known), err) != 0 ||
        read_name(&waiver->benchmark, at, object, "benchmark", true, err) != 0 ||
        read_values(&waiver->size, at, object, "size", err) != 0 ||
        read_values(&waiver->problem, at, object, "problem", err) != 0 ||
        read_name(&waiver->variant, at, object, "variant", true, err) != 0 ||
        read_values(&waiver->params, at, object, "params", err) != 0 ||
        read_name(&waiver->device, at, object, "device", false, err) != 0 ||
        read_accepts(waiver, at, object, err) != 0 ||
        read_name(&waiver->reason, at, object, "reason", true, err) != 0 ||
        read_until(waiver, at, object, err) != 0)
        return -1;
    return 0;
}

static int read_waivers(struct ts_waiver **waivers, size_t *count, const char *path,
                        const cJSON *document, struct ts_err *err)
{
    static const char *const known[] = {"schema", "waivers"};
    const struct ts_place root = ts_place_root(path);
    const struct ts_place schema = ts_place_key(&root, "schema");
    const struct ts_place list = ts_place_key(&root, "waivers");
    const cJSON *item, *items = ts_json_get(document, "waivers");
    size_t room;
    if (ts_place_object(&root, document, err) != 0 ||
        ts_place_schema(&schema, ts_json_get(document, "schema"), WAIVERS_SCHEMA, WAIVERS_VERSION,
                        err) != 0 ||
        ts_place_keys(&root, document, known, TS_COUNT(known), err) != 0)
        return -1;
    if (ts_place_list(&list, items, &room, err) != 0)
        return -1;
    *waivers = ts_alloc(room + 1, sizeof(**waivers));
    cJSON_ArrayForEach(item, items)
    {
        const struct ts_place place = ts_place_item(&list, *count);
        if (read_waiver(&(*waivers)[(*count)++], &place, item, err) != 0)
            return -1;
    }
    return 0;
}

int ts_waivers_load(struct ts_waiver **waivers, size_t *count, const char *path, struct ts_err *err)
{
    cJSON *document = ts_json_load(path, err);
    *waivers = NULL;
    *count = 0;
    if (!document)
        return -1;
    int result = read_waivers(waivers, count, path, document, err);
    cJSON_Delete(document);
    return result;
}

void ts_waivers_free(struct ts_waiver *waivers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ts_waiver *w = &waivers[i];
        char *texts[] = {w->benchmark, w->variant, w->reason, w->until, w->device};
        for (size_t t = 0; t < TS_COUNT(texts); t++)
            free(texts[t]);
        ts_values_free(&w->size);
        ts_values_free(&w->problem);
        ts_values_free(&w->params);
    }
    free(waivers);
}

/* ---- applying ---- */

static struct ts_row names_of(const struct ts_waiver *waiver)
{
    return (struct ts_row){.benchmark = waiver->benchmark,
                           .variant = waiver->variant,
                           .size = waiver->size,
                           .problem = waiver->problem,
                           .params = waiver->params};
}

void ts_waiver_key(const struct ts_waiver *waiver, struct ts_text *out)
{
    struct ts_row names = names_of(waiver);
    ts_row_key(&names, out);
}

static bool is_for(const struct ts_waiver *waiver, const struct ts_row *names,
                   const char *device_name)
{
    struct ts_row mine = names_of(waiver);
    return ts_row_same_case(&mine, names) && strcmp(mine.variant, names->variant) == 0 &&
           ts_values_equal(&mine.params, &names->params) &&
           (!waiver->device || strstr(device_name, waiver->device));
}

static bool accepts(const struct ts_waiver *waiver, const struct ts_compare_row *row)
{
    if (!(ts_outcome_kinds[row->outcome].fail_on & waiver->accepts))
        return false;
    return !row->judged || row->judged->ratio.mid <= waiver->ceiling;
}

void ts_waivers_apply(struct ts_compare *compare, const char *day)
{
    for (size_t w = 0; w < compare->waiver_count; w++) {
        struct ts_waiver *waiver = &compare->waivers[w];
        waiver->expired = strcmp(day, waiver->until) > 0;
        for (size_t i = 0; i < compare->row_count && !waiver->expired; i++) {
            struct ts_compare_row *row = &compare->rows[i];
            const struct ts_compare_device *device = &compare->devices[row->device];
            const struct ts_run *run =
                device->example[TS_NEW] ? device->example[TS_NEW] : device->example[TS_BASE];
            if (row->waiver || !is_for(waiver, row->names, run->device.name) ||
                !accepts(waiver, row))
                continue;
            row->waiver = waiver;
            waiver->used = true;
        }
    }
}
