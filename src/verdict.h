/* verdict.h: from the rows of one case to its answer. Floor 1; pure arithmetic.
 *
 * Plain and staged rows that are ok compete by time per element of work (time where work is not
 * stated). The ranking uses the sweep's visits; the speed-up uses only visits taken after the
 * ranking (row.time.fresh_from) when both finalists have at least two of them, because the minimum
 * of many is biased. speedup is best plain time / best staged time per element: above 1, staging
 * pays. */
#ifndef TS_VERDICT_H
#define TS_VERDICT_H

#include "device.h"
#include "row.h"

enum ts_pays { TS_PAYS_YES, TS_PAYS_NO, TS_PAYS_TIE, TS_PAYS_UNKNOWN };
#define TS_PAYS_COUNT (TS_PAYS_UNKNOWN + 1)
const char *ts_pays_name(enum ts_pays pays);

/* Rows are borrowed: pointers into the array given; NULL where there is none. */
struct ts_verdict {
    const struct ts_row *any; /* a row of the case, for its names */
    const struct ts_row *baseline, *best_plain, *best_staged;
    const struct ts_row *best; /* the recommended one: simplest of the tie set (baseline, then least
                                * local memory, then fewest work-items in a group, then order) */
    const struct ts_row **tie; /* rows not distinguishable from the fastest and at most 5 % slower,
                                * it included; of the winning side alone where pays is yes or no; at
                                * most 32 are kept in the results document, tie_count tells all */
    size_t tie_count;
    bool per_element; /* a launch of best_staged does another amount of work than one of best_plain:
                       * what is said of the two holds per element of it */
    bool fresh; /* the two finalists are compared by their confirmation, else by the sweep's visits
                 */
    struct ts_interval speedup; /* known == false: mid may be NaN (a side is missing) */
    enum ts_pays pays;
    char *why; /* one plain sentence */
};

/* rows: all rows of one run; count of them; of: a row of the case. */
void ts_verdict_of_case(struct ts_verdict *verdict, const struct ts_row *rows, size_t count,
                        const struct ts_row *of, const struct ts_device *device);
void ts_verdict_free(struct ts_verdict *verdict);

/* The row's time in ns as the verdict saw it: by its fresh visits where the finalists are compared
 * by theirs, else by the sweep's; so the times beside a verdict and its speed-up agree. NaN without
 * visits. */
double ts_verdict_time_ns(const struct ts_verdict *verdict, const struct ts_row *row);
/* The same with its 95 % interval. */
struct ts_interval ts_verdict_interval_ns(const struct ts_verdict *verdict,
                                          const struct ts_row *row);

/* The finalists to visit again: at most `room` indices into rows, the fastest plain and staged by
 * the sweep's visits and the baseline; returns how many. */
size_t ts_verdict_finalists(const struct ts_row *rows, size_t count, const struct ts_row *of,
                            size_t *index, size_t room);

cJSON *ts_verdict_to_json(const struct ts_verdict *verdict);

#endif
