/* nearest.c: see nearest.h. */
#include "nearest.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 64 /* longer words have no near ones: bounds the work on hostile input */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 2
 * each, another case costs 1, so that "tx" is nearer to "TX" than to "PX". Both at most LONGEST. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = 2 * j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = 2 * i;
        for (size_t j = 1; j <= nb; j++) {
            char x = a[i - 1], y = b[j - 1];
            size_t replace = x == y ? 0 : lower(x) == lower(y) ? 1 : 2;
            now[j] = least(least(last[j], now[j - 1]) + 2, last[j - 1] + replace);
            if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
                now[j] = least(now[j], before[j - 2] + 2);
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

const char *ts_nearest(const char *word, const char *const *known, size_t count)
{
    size_t length = strlen(word);
    if (length > LONGEST)
        return NULL;
    size_t reach = length <= 4 ? 1 : length / 3 > 2 ? length / 3 : 2;
    size_t best = length ? least(2 * reach, 2 * length - 1) : 0; /* not every letter may change */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t known_length = strlen(known[i]);
        if (known_length > LONGEST)
            continue;
        size_t d = distance(word, length, known[i], known_length);
        if (d < best || (d == best && !nearest)) {
            best = d;
            nearest = known[i];
        }
    }
    return nearest;
}

void ts_nearest_add(const char *word, const char *const *known, size_t count, struct ts_text *out)
{
    const char *nearest = ts_nearest(word, known, count);
    if (nearest)
        ts_text_printf(out, "; did you mean \"%s\"?", nearest);
}
