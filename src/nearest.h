/* nearest.h: "did you mean". Floor 0. */
#ifndef TS_NEAREST_H
#define TS_NEAREST_H

#include "base.h"

/* The nearest of `known` to a misspelt word, or NULL: edit distance (a swap of neighbours counts 1,
 * a change of case half) at most 1 for up to four letters, else 2 or a third of the word's length.
 */
const char *ts_nearest(const char *word, const char *const *known, size_t count);

/* Appends `; did you mean "kernel"?` when there is a near one, else nothing. */
void ts_nearest_add(const char *word, const char *const *known, size_t count, struct ts_text *out);

#endif
