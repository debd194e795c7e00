/* store_check.c: what the members of a run's header may be: docs/results.schema.json as tables. */
#include "store_private.h"

#include <string.h>

static const struct ts_field run_fields[] = {
    {"interrupted", TS_FIELD_BOOL, 0, 0}, {"platform", TS_FIELD_OBJECT, 0, 0},
    {"device", TS_FIELD_OBJECT, 0, 0},    {"clock", TS_FIELD_OBJECT, 0, 0},
    {"peaks", TS_FIELD_OBJECT, 0, 0},     {"counts", TS_FIELD_OBJECT, 0, 0},
    {"drift", TS_FIELD_OBJECT, 0, 0},     {"verdicts", TS_FIELD_LIST, 0, 0},
};

static const struct ts_field platform_fields[] = {{"index", TS_FIELD_WHOLE, 0, 0}};

static const struct ts_field device_fields[] = {
    {"index", TS_FIELD_WHOLE, 0, 0},
    {"limits", TS_FIELD_OBJECT, 0, 0},
};

static const struct ts_field clock_fields[] = {
    {"source", TS_FIELD_TEXT, 0, 0},
    {"tick_ns", TS_FIELD_WHOLE, TS_FIELD_OR_NULL, 1},
    {"floor_ns", TS_FIELD_WHOLE, TS_FIELD_OR_NULL, 0},
    {"host_ratio", TS_FIELD_REAL, TS_FIELD_OR_NULL, 0},
    {"warnings", TS_FIELD_TEXTS, 0, 0},
};

static const struct ts_field peaks_fields[] = {
    {"copy_bytes_per_s", TS_FIELD_REAL, TS_FIELD_OR_NULL, 0},
    {"fma_flops_per_s", TS_FIELD_REAL, TS_FIELD_OR_NULL, 0},
    {"local_bytes_per_s", TS_FIELD_REAL, TS_FIELD_OR_NULL, 0},
};

static const struct ts_field counts_fields[] = {{"excluded", TS_FIELD_WHOLE, 0, 0}};

static const struct ts_field drift_fields[] = {
    {"copy", TS_FIELD_REAL, 0, 0},
    {"fma", TS_FIELD_REAL, 0, 0},
};

static const struct ts_field_part parts[] = {
    {"platform", platform_fields, TS_COUNT(platform_fields)},
    {"device", device_fields, TS_COUNT(device_fields)},
    {"clock", clock_fields, TS_COUNT(clock_fields)},
    {"peaks", peaks_fields, TS_COUNT(peaks_fields)},
    {"counts", counts_fields, TS_COUNT(counts_fields)},
    {"drift", drift_fields, TS_COUNT(drift_fields)},
};

/* "event" or "host", where it is told. */
static int check_source(const struct ts_place *at, const cJSON *clock, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "clock"), key = ts_place_key(&place, "source");
    const char *source = ts_json_string(clock, "source", "host");
    if (strcmp(source, "event") == 0 || strcmp(source, "host") == 0)
        return 0;
    return ts_place_expected(&key, ts_json_get(clock, "source"), "\"event\" or \"host\"", err);
}

int ts_store_check_header(const struct ts_place *at, const cJSON *object, struct ts_err *err)
{
    if (ts_place_fields(at, object, run_fields, TS_COUNT(run_fields), err) != 0 ||
        ts_place_parts(at, object, parts, TS_COUNT(parts), err) != 0)
        return -1;
    return check_source(at, ts_json_get(object, "clock"), err);
}

int ts_store_check_end(const struct ts_place *at, const cJSON *object, struct ts_err *err)
{
    static const struct ts_field fields[] = {{"interrupted", TS_FIELD_BOOL, 0, 0},
                                             {"peaks", TS_FIELD_OBJECT, 0, 0}};
    static const struct ts_field_part end_parts[] = {
        {"peaks", peaks_fields, TS_COUNT(peaks_fields)}};
    return ts_place_fields(at, object, fields, TS_COUNT(fields), err) != 0
               ? -1
               : ts_place_parts(at, object, end_parts, TS_COUNT(end_parts), err);
}
