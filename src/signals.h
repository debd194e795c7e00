/* signals.h: signals that stop the program as flags, and sleeping without missing one. Floor 0. */
#ifndef TS_SIGNALS_H
#define TS_SIGNALS_H

#include <poll.h>
#include <signal.h>

#include "base.h"

/* SIGINT, SIGTERM and SIGHUP: from now on they only set a flag and wake ts_signals_poll; SIGPIPE is
 * ignored. A session that ends stops the run as SIGTERM does, unless nohup asked to live on. */
void ts_signals_install(void);
/* A writer that finds its pipe closed gets EPIPE instead of dying. */
void ts_signals_ignore_pipe(void);
/* One whose file reaches its limit (ulimit -f) gets EFBIG. */
void ts_signals_ignore_limit(void);

int ts_signal_pending(void); /* the first signal's number; 0: none */
int ts_signal_last(void);    /* the last one's */
int ts_signal_count(void);   /* how many came */

/* Between hold and release no signal of ours is delivered but in ts_signals_poll, so that none can
 * slip in between the last look and the sleep. SIGCHLD is handled only here, so that it does not
 * cut short somebody else's sleep. */
struct ts_signals_held {
    sigset_t before;
    struct sigaction child_before;
};
void ts_signals_hold(struct ts_signals_held *held);
void ts_signals_release(const struct ts_signals_held *held);
/* Sleeps until a descriptor is ready, a signal came, a child's state changed or until_ns
 * (CLOCK_MONOTONIC, INT64_MAX: never) passed. Unless a descriptor is ready all revents are 0. */
void ts_signals_poll(const struct ts_signals_held *held, struct pollfd *fds, size_t count,
                     int64_t until_ns);

#endif
