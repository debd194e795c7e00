/* pair.c: see pair.h. */
#include "pair.h"

#include <math.h>

static const struct ts_visit *find(const struct ts_row *row, int pair)
{
    for (size_t i = 0; i < row->time.visit_count && pair >= 0; i++) {
        const struct ts_visit *visit = &row->time.visits[i];
        if (visit->pair == pair && visit->count > 0)
            return visit;
    }
    return NULL;
}

size_t ts_pair_ratios(const struct ts_row *a, const struct ts_row *b, struct ts_judge_visit *ratios)
{
    size_t count = 0;
    for (size_t i = 0; i < b->time.visit_count; i++) {
        const struct ts_visit *visit = &b->time.visits[i], *partner = find(a, visit->pair);
        if (partner && visit->count > 0)
            ratios[count++] = (struct ts_judge_visit){
                .log_ns = log(ts_visit_median(visit) / ts_visit_median(partner)),
                .process = visit->worker,
            };
    }
    return count;
}

int ts_pair_next(const struct ts_row *a, const struct ts_row *b)
{
    const struct ts_row *rows[] = {a, b};
    int next = 0;
    for (size_t r = 0; r < TS_COUNT(rows); r++)
        for (size_t i = 0; rows[r] && i < rows[r]->time.visit_count; i++)
            if (rows[r]->time.visits[i].pair >= next)
                next = rows[r]->time.visits[i].pair + 1;
    return next;
}
