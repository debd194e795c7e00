/* row_json_check.c: what the members of a row may be: docs/results.schema.json as tables. */
#include "row_json.h"

#define OR_NULL TS_FIELD_OR_NULL
#define NEEDED TS_FIELD_NEEDED

static const struct ts_field row_fields[] = {
    {"benchmark", TS_FIELD_TEXT, NEEDED, 0}, {"size", TS_FIELD_SIZES, NEEDED, 0},
    {"problem", TS_FIELD_VALUES, NEEDED, 0}, {"variant", TS_FIELD_TEXT, NEEDED, 0},
    {"side", TS_FIELD_TEXT, 0, 0},           {"baseline", TS_FIELD_BOOL, 0, 0},
    {"staged", TS_FIELD_BOOL, 0, 0},         {"params", TS_FIELD_VALUES, NEEDED, 0},
    {"status", TS_FIELD_TEXT, NEEDED, 0},    {"reason", TS_FIELD_OBJECT, OR_NULL, 0},
    {"source", TS_FIELD_TEXT, OR_NULL, 0},   {"geometry", TS_FIELD_OBJECT, 0, 0},
    {"build", TS_FIELD_OBJECT, 0, 0},        {"check", TS_FIELD_OBJECT, OR_NULL, 0},
    {"time", TS_FIELD_OBJECT, OR_NULL, 0},   {"work", TS_FIELD_OBJECT, 0, 0},
    {"rate", TS_FIELD_OBJECT, 0, 0},         {"talk", TS_FIELD_TEXT, OR_NULL, 0},
};

static const struct ts_field reason_fields[] = {
    {"code", TS_FIELD_TEXT, NEEDED, 0},
    {"text", TS_FIELD_TEXT, 0, 0},
};

static const struct ts_field geometry_fields[] = {
    {"global", TS_FIELD_WHOLES, OR_NULL, 1},
    {"local", TS_FIELD_WHOLES, OR_NULL, 1},
    {"local_bytes", TS_FIELD_WHOLE, OR_NULL, 0},
    {"local_bytes_reported", TS_FIELD_WHOLE, OR_NULL, 0},
    {"work_group_limit", TS_FIELD_WHOLE, OR_NULL, 0},
    {"preferred_multiple", TS_FIELD_WHOLE, OR_NULL, 0},
    {"private_bytes", TS_FIELD_WHOLE, OR_NULL, 0},
    {"limit_rule", TS_FIELD_TEXT, OR_NULL, 0},
};

static const struct ts_field build_fields[] = {
    {"ns", TS_FIELD_WHOLE, OR_NULL, 0},
    {"options", TS_FIELD_TEXT, OR_NULL, 0},
    {"log", TS_FIELD_TEXT, 0, 0},
    {"binary", TS_FIELD_TEXT, OR_NULL, 0},
};

static const struct ts_field check_fields[] = {
    {"sizes", TS_FIELD_WHOLE, 0, 0},         {"elements", TS_FIELD_WHOLE, 0, 0},
    {"worst", TS_FIELD_REAL, OR_NULL, 0},    {"at", TS_FIELD_WHOLES, OR_NULL, 0},
    {"at_size", TS_FIELD_SIZES, OR_NULL, 0},
};

/* median_ns and what follows it are computed again, and must all the same be what they say. */
static const struct ts_field time_fields[] = {
    {"clock", TS_FIELD_TEXT, NEEDED, 0},     {"first_ns", TS_FIELD_WHOLE, OR_NULL, 1},
    {"batch", TS_FIELD_WHOLE, 0, 1},         {"visits", TS_FIELD_LIST, NEEDED, 0},
    {"workers", TS_FIELD_WHOLES, 0, 0},      {"fresh_from", TS_FIELD_WHOLE, 0, 0},
    {"median_ns", TS_FIELD_WHOLE, 0, 1},     {"low_ns", TS_FIELD_WHOLE, OR_NULL, 1},
    {"high_ns", TS_FIELD_WHOLE, OR_NULL, 1}, {"q1_ns", TS_FIELD_WHOLE, 0, 1},
    {"q3_ns", TS_FIELD_WHOLE, 0, 1},         {"flags", TS_FIELD_TEXTS, 0, 0},
    {"stop", TS_FIELD_TEXT, OR_NULL, 0},     {"disturbed", TS_FIELD_WHOLE, 0, 0},
    {"cache", TS_FIELD_TEXT, 0, 0},          {"pairs", TS_FIELD_LIST, 0, 0},
};

static const struct ts_field work_fields[] = {
    {"elements", TS_FIELD_WHOLE, OR_NULL, 0},
    {"flops", TS_FIELD_WHOLE, OR_NULL, 0},
    {"bytes", TS_FIELD_WHOLE, OR_NULL, 0},
    {"requested_bytes", TS_FIELD_WHOLE, OR_NULL, 0},
};

static const struct ts_field rate_fields[] = {
    {"elements_per_s", TS_FIELD_REAL, OR_NULL, 0}, {"flops_per_s", TS_FIELD_REAL, OR_NULL, 0},
    {"bytes_per_s", TS_FIELD_REAL, OR_NULL, 0},    {"of_peak", TS_FIELD_REAL, OR_NULL, 0},
    {"bound", TS_FIELD_TEXT, OR_NULL, 0},
};

static const struct ts_field_part parts[] = {
    {"reason", reason_fields, TS_COUNT(reason_fields)},
    {"geometry", geometry_fields, TS_COUNT(geometry_fields)},
    {"build", build_fields, TS_COUNT(build_fields)},
    {"check", check_fields, TS_COUNT(check_fields)},
    {"time", time_fields, TS_COUNT(time_fields)},
    {"work", work_fields, TS_COUNT(work_fields)},
    {"rate", rate_fields, TS_COUNT(rate_fields)},
};

int ts_row_check_fields(const struct ts_place *at, const cJSON *object, struct ts_err *err)
{
    if (ts_place_fields(at, object, row_fields, TS_COUNT(row_fields), err) != 0)
        return -1;
    return ts_place_parts(at, object, parts, TS_COUNT(parts), err);
}
