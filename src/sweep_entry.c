/* sweep_entry.c: what is visited in one go: a row, or both sides of a configuration. */
#include <math.h>
#include <stdlib.h>

#include "pair.h"
#include "sweep_private.h"

struct entry *ts_sweep_entries(const struct sweep *s, const struct case_span *span, size_t *count)
{
    struct entry *entries = ts_alloc(span->count, sizeof(*entries));

    *count = 0;
    for (size_t i = span->first; i < span->first + span->count; i++) {
        size_t partner = s->partner[i];
        bool pair = partner != TS_NO_ROW;

        if (!pair || i < partner)
            entries[(*count)++] = (struct entry){{i, partner}, pair ? 2 : 1};
    }
    return entries;
}

/* Only what is proven is timed: on the check sizes in phase one or, where none admits the
 * configuration, at the timed size in its first visit. */
static bool is_live(const struct sweep *s, size_t index)
{
    const struct ts_row *row = &s->run->rows[index];

    return row->status == TS_OK ||
           (row->status == TS_PENDING && s->units[s->row_unit[index]].timed_size_only);
}

size_t ts_sweep_live_rows(const struct sweep *s, const struct entry *entry, size_t live[2])
{
    size_t count = 0;

    for (size_t i = 0; i < entry->count; i++) {
        if (is_live(s, entry->rows[i]))
            live[count++] = entry->rows[i];
    }
    return count;
}

double *ts_sweep_evidence(const struct sweep *s, const struct entry *entry, size_t *count)
{
    const struct ts_row *rows = s->run->rows, *a, *b;
    size_t live[2], n = ts_sweep_live_rows(s, entry, live);
    struct ts_judge_visit *ratios;
    struct ts_cluster *clusters;
    double *values;

    *count = 0;
    if (n == 0)
        return NULL;
    if (n == 1)
        return ts_row_visit_medians(&rows[live[0]], 0, count);
    a = &rows[live[0]];
    b = &rows[live[1]];
    ratios = ts_alloc(b->time.visit_count + 1, sizeof(*ratios));
    clusters = ts_alloc(b->time.visit_count + 1, sizeof(*clusters));
    values = ts_alloc(b->time.visit_count + 1, sizeof(*values));
    *count = ts_judge_fold(ratios, ts_pair_ratios(a, b, ratios), TS_BY_PROCESS, clusters);
    for (size_t i = 0; i < *count; i++)
        values[i] = exp(clusters[i].log_ns);
    free(ratios);
    free(clusters);
    return values;
}

bool ts_sweep_wants_visit(const struct sweep *s, const struct entry *entry, int round)
{
    size_t live[2], count = 0, n = ts_sweep_live_rows(s, entry, live);

    if (n == 1)
        count = s->run->rows[live[0]].time.visit_count;
    else if (n == 2)
        free(ts_sweep_evidence(s, entry, &count));
    return n > 0 && count <= (size_t)round;
}

int64_t ts_sweep_visits_to_make(const struct sweep *s, const struct entry *entries, size_t count,
                                int round)
{
    int64_t visits = 0;
    size_t live[2];

    for (size_t i = 0; i < count; i++) {
        if (ts_sweep_wants_visit(s, &entries[i], round))
            visits += (int64_t)ts_sweep_live_rows(s, &entries[i], live);
    }
    return visits;
}
