/* sentinel.h: what two fixed kernels, timed again and again between the visits, tell of the device.
 * Floor 1; arithmetic on plain points, tested on made-up series. */
#ifndef TS_SENTINEL_H
#define TS_SENTINEL_H

#include "json.h"

/* One look. Times are of the run's clock. */
struct ts_sentinel_point {
    int64_t at_ms; /* since the run began */
    int64_t copy_ns, fma_ns;
    int worker;     /* ordinal of the process */
    bool excursion; /* what was measured since the look before it is not believed */
};

struct ts_sentinel_series {
    struct ts_sentinel_point *points;
    size_t count, capacity;
};
void ts_sentinel_free(struct ts_sentinel_series *series); /* leaves it empty */
/* Appends a point that was judged before. */
void ts_sentinel_keep(struct ts_sentinel_series *series, const struct ts_sentinel_point *point);
/* Appends the point; judges whether it is an excursion: a kernel's time off the median of the nine
 * looks before it by more than 5 % and more than four times their own noise (by the upper quartile
 * of their deviations). A new level is normal after three looks at it. Never with fewer than three
 * looks before it. Returns the judgement, which is in the stored point, too. */
bool ts_sentinel_add(struct ts_sentinel_series *series, const struct ts_sentinel_point *point);

/* One number for each of the two kernels. */
struct ts_sentinel_pair {
    double copy, fma;
};
/* How the device changed over the run, as a ratio late / early of each kernel's time: medians of
 * the last and the first third of the looks. 1 with fewer than six looks. */
struct ts_sentinel_pair ts_sentinel_drift(const struct ts_sentinel_series *series);

/* Medians of both kernels' times over all looks, in ns; at least one look. */
struct ts_sentinel_pair ts_sentinel_level(const struct ts_sentinel_series *series);

cJSON *ts_sentinel_point_to_json(const struct ts_sentinel_point *point);
/* Exit status 2 with the place ("copy_ns: expected ..."). */
int ts_sentinel_point_from_json(struct ts_sentinel_point *point, const cJSON *object,
                                struct ts_err *err);

#endif
