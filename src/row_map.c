/* row_map.c: open addressing, at most half full. */
#include "row_map.h"

#include <stdlib.h>
#include <xxhash.h>

struct ts_row_map_entry {
    XXH128_hash_t key;
    size_t number;
    bool taken;
};

static XXH128_hash_t key_of(const struct ts_row *row)
{
    struct ts_text key = {0};
    ts_row_map_key(row, &key);
    XXH128_hash_t hash = XXH3_128bits(key.text, key.length);
    ts_text_free(&key);
    return hash;
}

/* The entry with the key, or the empty one where it belongs. */
static struct ts_row_map_entry *find_entry(const struct ts_row_map *map, XXH128_hash_t key)
{
    size_t at = (size_t)key.low64 & (map->capacity - 1);
    while (map->entries[at].taken && !XXH128_isEqual(map->entries[at].key, key))
        at = (at + 1) & (map->capacity - 1);
    return &map->entries[at];
}

static void grow(struct ts_row_map *map)
{
    if (2 * (map->used + 1) <= map->capacity)
        return;
    struct ts_row_map larger = {.capacity = map->capacity ? 2 * map->capacity : 64,
                                .used = map->used};
    larger.entries = ts_alloc(larger.capacity, sizeof(*larger.entries));
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].taken)
            *find_entry(&larger, map->entries[i].key) = map->entries[i];
    free(map->entries);
    *map = larger;
}

void ts_row_map_free(struct ts_row_map *map)
{
    free(map->entries);
    *map = (struct ts_row_map){0};
}

size_t *ts_row_map_put(struct ts_row_map *map, const struct ts_row *row, bool *is_new)
{
    grow(map);
    XXH128_hash_t key = key_of(row);
    struct ts_row_map_entry *entry = find_entry(map, key);
    *is_new = !entry->taken;
    if (*is_new) {
        *entry = (struct ts_row_map_entry){.key = key, .taken = true};
        map->used++;
    }
    return &entry->number;
}

size_t *ts_row_map_find(const struct ts_row_map *map, const struct ts_row *row)
{
    if (map->capacity == 0)
        return NULL;
    struct ts_row_map_entry *entry = find_entry(map, key_of(row));
    return entry->taken ? &entry->number : NULL;
}
