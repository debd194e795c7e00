/* row_map.h: rows found by their key, whatever the order of the names in it. Floor 1.
 *
 * Zero-initialise. Holds no row, only the keys' 128-bit digests and a number for each (an index,
 * most often), so rows may move. */
#ifndef TS_ROW_MAP_H
#define TS_ROW_MAP_H

#include "row.h"

struct ts_row_map {
    struct ts_row_map_entry *entries;
    size_t capacity, used;
};

void ts_row_map_free(struct ts_row_map *map); /* leaves it empty */
/* The number kept for the row's key, to be set by the caller; *is_new: the key was not there, and
 * the number is 0. Valid until the next put. */
size_t *ts_row_map_put(struct ts_row_map *map, const struct ts_row *row, bool *is_new);
/* The number kept for the row's key; NULL: none. Valid until the next put. */
size_t *ts_row_map_find(const struct ts_row_map *map, const struct ts_row *row);

#endif
