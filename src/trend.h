/* trend.h: did a row's time change for good, and when? Steps and slow creep in dated series of many
 * rows. Floor 1; pure arithmetic. docs/comparing.md explains the method to users. */
#ifndef TS_TREND_H
#define TS_TREND_H

#include "stats.h"

enum ts_trend_kind { TS_TREND_NONE, TS_TREND_STEP, TS_TREND_CREEP };
const char *ts_trend_name(enum ts_trend_kind kind); /* "none", "step", "creep" */

struct ts_trend {
    /* in: log times, oldest first, TS_TREND_LEAST or more of them (fewer: nothing is found) */
    const double *log_ns;
    size_t count;
    /* out */
    enum ts_trend_kind kind; /* the better of the two, whether shown or not; NONE: too few runs */
    size_t first;            /* step: the first run of the new level; creep: the last of the old */
    double log_change;       /* new level over old; creep: last run over where it began */
    double error, df;        /* of log_change; NaN: not known */
    struct ts_interval change; /* the ratio, 95 % */
    double p, p_adjusted;      /* "no change"; for having looked everywhere, and over all rows */
    bool shown;                /* p_adjusted at most fdr, and the change beyond the threshold */
};

/* Two runs at least on either side of a step, three for a creep: one bad night is neither. */
enum { TS_TREND_LEAST = 6 };

/* threshold, fdr: shares, as in judge.h. */
void ts_trends_find(struct ts_trend *trends, size_t count, double threshold, double fdr);

#endif
