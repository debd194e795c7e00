/* row_json.h: a row as JSON, in results, journal and protocol. Floor 1. */
#ifndef TS_ROW_JSON_H
#define TS_ROW_JSON_H

#include "metric.h"
#include "place.h"
#include "row.h"

/* The object of contract.md section 6, every key present, null where a fact is not known. peaks of
 * the run are needed for rate.of_peak and rate.bound (NULL: null). median_ns is the median of the
 * visits' medians, q1_ns and q3_ns are quartiles over all samples, low_ns and high_ns null after a
 * single visit. `time` is null unless the status is ok and there are visits. */
cJSON *ts_row_to_json(const struct ts_row *row, const struct ts_peaks *peaks);
/* Reads the row that stands at a place of a results file or journal; what is derived (median_ns,
 * rate) is computed again. A fact that is absent is unknown; one of another type than
 * docs/results.schema.json says is a fault: exit status 2 with its place. */
int ts_row_from_json(struct ts_row *row, const struct ts_place *at, const cJSON *object,
                     struct ts_err *err);
/* The part of it that needs no row: types of the members, and of those of the parts. */
int ts_row_check_fields(const struct ts_place *at, const cJSON *object, struct ts_err *err);

/* The parts that the protocol shares with the results file; reading leaves facts that are absent,
 * or of another type, unknown. */
cJSON *ts_geometry_to_json(const struct ts_geometry *geometry);
void ts_geometry_from_json(struct ts_geometry *geometry, const cJSON *object);
cJSON *ts_build_to_json(const struct ts_build *build);
void ts_build_from_json(struct ts_build *build, const cJSON *object);
cJSON *ts_check_to_json(const struct ts_check *check); /* JSON null when never proven */
void ts_check_from_json(struct ts_check *check, const cJSON *object);

#endif
