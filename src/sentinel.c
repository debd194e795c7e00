/* sentinel.c: excursions and drift. */
#include "sentinel.h"

#include <math.h>
#include <stdlib.h>

#include "place.h"
#include "stats.h"

#define LOOKS_BACK 9
#define LOOKS_NEEDED 3
#define EXCURSION 0.05
#define NOISE_TIMES 4.0
/* Of normal noise three deviations in four are below so many standard deviations. */
#define DEVIATION_SHARE 0.75
#define DEVIATION_SCALE 1.1503
#define DRIFT_LOOKS 6

typedef double (*time_of)(const struct ts_sentinel_point *point);

static double copy_of(const struct ts_sentinel_point *point)
{
    return (double)point->copy_ns;
}

static double fma_of(const struct ts_sentinel_point *point)
{
    return (double)point->fma_ns;
}

void ts_sentinel_free(struct ts_sentinel_series *series)
{
    free(series->points);
    *series = (struct ts_sentinel_series){0};
}

/* Is the point off the level of the `count` points before it? */
static bool is_off(const struct ts_sentinel_point *before, size_t count,
                   const struct ts_sentinel_point *point, time_of time)
{
    double x[LOOKS_BACK] = {0}, level, noise, off;

    for (size_t i = 0; i < count; i++)
        x[i] = log(time(&before[i]));
    level = ts_median(x, count);
    for (size_t i = 0; i < count; i++)
        x[i] = fabs(x[i] - level);
    noise = ts_quantile(x, count, DEVIATION_SHARE) / DEVIATION_SCALE;
    off = fabs(log(time(point)) - level);
    return off > log1p(EXCURSION) && off > NOISE_TIMES * noise;
}

void ts_sentinel_keep(struct ts_sentinel_series *series, const struct ts_sentinel_point *point)
{
    TS_GROW(series->points, series->count, series->capacity);
    series->points[series->count++] = *point;
}

bool ts_sentinel_add(struct ts_sentinel_series *series, const struct ts_sentinel_point *point)
{
    size_t back = series->count < LOOKS_BACK ? series->count : LOOKS_BACK;
    struct ts_sentinel_point kept = *point;

    kept.excursion = false;
    if (back >= LOOKS_NEEDED) {
        const struct ts_sentinel_point *before = series->points + series->count - back;
        kept.excursion =
            is_off(before, back, point, copy_of) || is_off(before, back, point, fma_of);
    }
    ts_sentinel_keep(series, &kept);
    return kept.excursion;
}

static double median_of(const struct ts_sentinel_point *points, size_t count, time_of time)
{
    double *x = ts_alloc(count, sizeof(*x)), median;

    for (size_t i = 0; i < count; i++)
        x[i] = time(&points[i]);
    median = ts_median(x, count);
    free(x);
    return median;
}

struct ts_sentinel_pair ts_sentinel_drift(const struct ts_sentinel_series *series)
{
    size_t third = series->count / 3;

    if (series->count < DRIFT_LOOKS)
        return (struct ts_sentinel_pair){1.0, 1.0};
    const struct ts_sentinel_point *late = series->points + (series->count - third);
    return (struct ts_sentinel_pair){
        .copy = median_of(late, third, copy_of) / median_of(series->points, third, copy_of),
        .fma = median_of(late, third, fma_of) / median_of(series->points, third, fma_of),
    };
}

struct ts_sentinel_pair ts_sentinel_level(const struct ts_sentinel_series *series)
{
    return (struct ts_sentinel_pair){
        .copy = median_of(series->points, series->count, copy_of),
        .fma = median_of(series->points, series->count, fma_of),
    };
}

cJSON *ts_sentinel_point_to_json(const struct ts_sentinel_point *point)
{
    cJSON *object = cJSON_CreateObject();

    ts_json_add_int(object, "at_ms", point->at_ms);
    ts_json_add_int(object, "copy_ns", point->copy_ns);
    ts_json_add_int(object, "fma_ns", point->fma_ns);
    ts_json_add_int(object, "worker", point->worker);
    ts_json_add_bool(object, "excursion", point->excursion);
    return object;
}

static int member(const cJSON *object, const char *key, int64_t least, int64_t *out,
                  struct ts_err *err)
{
    const struct ts_place at = ts_place_root(key);

    return ts_place_whole(&at, ts_json_get(object, key), least, TS_JSON_EXACT, out, err);
}

int ts_sentinel_point_from_json(struct ts_sentinel_point *point, const cJSON *object,
                                struct ts_err *err)
{
    int64_t worker;

    *point = (struct ts_sentinel_point){0};
    if (!cJSON_IsObject(object))
        return ts_err_set(err, TS_EXIT_USAGE, "expected a look of the sentinel, an object");
    if (member(object, "at_ms", 0, &point->at_ms, err) != 0 ||
        member(object, "copy_ns", 1, &point->copy_ns, err) != 0 ||
        member(object, "fma_ns", 1, &point->fma_ns, err) != 0 ||
        member(object, "worker", 0, &worker, err) != 0)
        return -1;
    point->worker = worker <= INT32_MAX ? (int)worker : INT32_MAX;
    point->excursion = ts_json_bool(object, "excursion", false);
    return 0;
}
