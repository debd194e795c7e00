/* pause.h: was this process stopped, or the machine asleep, meanwhile? Floor 0.
 *
 * A time that holds a stop (SIGSTOP and SIGCONT: job control, a debugger, a CPU limiter) or a
 * suspended machine is not the kernel's. Both are seen exactly, without a threshold: SIGCONT,
 * which ends a stop, is left pending, and a sleeping machine lets CLOCK_BOOTTIME run ahead of
 * CLOCK_MONOTONIC. Frozen from outside (a cgroup's freezer, a virtual
 * machine that is paused) a process cannot tell. */
#ifndef TS_PAUSE_H
#define TS_PAUSE_H

#include "base.h"

/* Blocks SIGCONT in this thread and those that it starts later: call it before there are others. A
 * stopped process goes on all the same. */
void ts_pause_install(void);

struct ts_pause {
    int64_t most_asleep_ns; /* since the machine's start, at most */
};
/* One mark at a time: a new one forgets the stops before it. */
struct ts_pause ts_pause_mark(void);
/* Was there a stop or a sleep since the mark? A SIGCONT to a process that was not stopped counts,
 * too. */
bool ts_pause_since(const struct ts_pause *mark);

#endif
