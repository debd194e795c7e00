/* runqueue.h: did a thread of this process have to wait for a processor? Floor 0.
 *
 * A kernel on a CPU device runs in threads of this process. While another process keeps one of the
 * processors busy, while the scheduler puts two of the threads on one of them, or while a
 * container's limit holds them back, a launch takes a multiple of its time, and no clock says why.
 * Linux counts it: the run-queue delay and the number of turns in
 * /proc/PID/task/TID/schedstat (its Documentation/scheduler/sched-stats.rst). Where no /proc is
 * mounted, or the kernel was built without CONFIG_SCHEDSTATS (the file is missing, or holds zeros),
 * nobody tells. */
#ifndef TS_RUNQUEUE_H
#define TS_RUNQUEUE_H

#include "base.h"

struct ts_runqueue_thread {
    long id;
    int64_t run_ns, wait_ns; /* on a processor, and ready without one, in all its turns */
    int64_t turns;
    bool ready; /* now: it runs or wants to */
};

/* All threads of the process at a moment; none (count 0) where the system does not tell. */
struct ts_runqueue {
    struct ts_runqueue_thread *threads;
    size_t count, capacity;
};
/* Ends by ts_runqueue_free. */
struct ts_runqueue ts_runqueue_mark(void);
void ts_runqueue_free(struct ts_runqueue *mark);

/* How many processors this process may use; INT_MAX: not known. */
int ts_runqueue_processors(void);

/* The longest time in ns that one thread waited since the mark, span_ns ago, beyond what waking up
 * costs (50 us a turn, so that a kernel of microseconds, which wakes its threads a thousand times,
 * does not look like a busy machine). 0: none had to; the system does not tell; or more threads
 * wanted to run for most of the span than the process may use processors, so that they waited for
 * each other, which no waiting changes. A wait is counted when it is over, so this itself waits (25
 * ms at most) for threads that are ready: call it when the launches are done. */
int64_t ts_runqueue_since(const struct ts_runqueue *mark, int64_t span_ns);
/* The same between two moments, with so many processors. */
int64_t ts_runqueue_between(const struct ts_runqueue *before, const struct ts_runqueue *after,
                            int64_t span_ns, int processors);

#endif
