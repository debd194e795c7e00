/* progress.h: one line of progress on a terminal, a sparse line elsewhere. Floor 0.
 *
 * On a terminal the line is redrawn in place, at most ten times a second, and erased before
 * anything else is printed and at the end: nothing is left behind. Elsewhere one plain line at most
 * every five seconds, none when the work is shorter. No thread, no timer: it draws when told of a
 * change. */
#ifndef TS_PROGRESS_H
#define TS_PROGRESS_H

#include "base.h"

struct ts_progress;

/* quiet: draws nothing. Writes to stderr; honours NO_COLOR and TERM=dumb. */
struct ts_progress *ts_progress_open(bool quiet);
void ts_progress_close(struct ts_progress *p);
/* A phase begins: "prove" with `total` units to do; time left is estimated within the phase. */
void ts_progress_phase(struct ts_progress *p, const char *name, int64_t total);
/* More turned out to be done in the phase than it began with, `units` of it (0: a change of name);
 * it is called `name` from here on. */
void ts_progress_extend(struct ts_progress *p, const char *name, int64_t units);
/* done units so far; best: the best so far in words ("local TX=32 TY=8 1.2 ms"), or NULL. */
void ts_progress_update(struct ts_progress *p, int64_t done, const char *best);
/* A message that stays (a warning) while a progress line is on: erases the line, prints, redraws. p
 * may be NULL.
 */
void ts_progress_say(struct ts_progress *p, const char *format, ...) TS_PRINTF(2, 3);

/* A message on standard error where no progress line is on. Here as there, what devices, drivers
 * and files put into it cannot steer the terminal: control characters are shown as '?'. */
void ts_say(const char *format, ...) TS_PRINTF(1, 2);

#endif
