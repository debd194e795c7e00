/* pair.h: the visits that `ab` makes in pairs, one to either side of a configuration: what they say
 * of the ratio between the sides. Floor 1. */
#ifndef TS_PAIR_H
#define TS_PAIR_H

#include "judge.h"
#include "row.h"

/* Per pair of visits that both rows have, in the order of b's visits: the log ratio b over a of the
 * visits' medians, with b's worker as its process; run 0. At most b's visit_count of them; returns
 * how many. */
size_t ts_pair_ratios(const struct ts_row *a, const struct ts_row *b,
                      struct ts_judge_visit *ratios);

/* A number that no visit of the two rows has; b may be NULL. */
int ts_pair_next(const struct ts_row *a, const struct ts_row *b);

#endif
