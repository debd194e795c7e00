/* child.h: child processes that speak lines: process group, three pipes, deadlines, signals. Floor
 * 0; knows nothing of jobs.
 *
 * A child runs in its own process group with stdin, stdout and stderr as pipes. Sending queues
 * bytes and never blocks; ts_child_wait moves bytes both ways in one ppoll and returns one event at
 * a time. Nothing spins: a wait without work sleeps in the kernel. */
#ifndef TS_CHILD_H
#define TS_CHILD_H

#include "err.h"

struct ts_child; /* opaque */

/* argv[0] is looked up in PATH; exit status 4 when it cannot be started. assigned: count
 * "NAME=VALUE" that its environment has besides or instead of ours. */
struct ts_child *ts_child_open(const char *const *argv, char *const *assigned, size_t count,
                               struct ts_err *err);
/* Ends it the hard way (SIGKILL to the group), reaps, closes. Accepts NULL. */
void ts_child_close(struct ts_child *child);
/* Closes its stdin (a worker then ends by itself), waits up to grace_ms, then ts_child_close. */
void ts_child_finish(struct ts_child *child, int grace_ms);
long ts_child_pid(const struct ts_child *child);
/* Is it stopped (SIGSTOP, a terminal's doing)? Then it cannot answer, and is not to blame. */
bool ts_child_is_stopped(const struct ts_child *child);

/* Queues text and a newline. */
void ts_child_send(struct ts_child *child, const char *line);

enum ts_event_kind {
    TS_EVENT_TIMEOUT, /* until_ns passed */
    TS_EVENT_SIGNAL,  /* ts_signal_pending() became true */
    TS_EVENT_LINE,    /* a whole line of stdout, without newline */
    TS_EVENT_TALK,    /* bytes of stderr */
    TS_EVENT_END,     /* the child is gone: exit_code or signal; nothing follows */
};
struct ts_event {
    enum ts_event_kind kind;
    size_t child;     /* index into the array given */
    const char *text; /* line (NUL-terminated) or talk; valid until the next wait */
    size_t length;
    int exit_code; /* end: 0..255, or -1 when ended by a signal */
    int signal;    /* end: its number, or 0 */
};

/* children may hold NULLs. until_ns: CLOCK_MONOTONIC, INT64_MAX: for ever. A line of over max_line
 * bytes (64 MiB) is cut into END-like failure: the child is killed and END is told with exit_code
 * -1, signal 0. */
void ts_child_wait(struct ts_child *const *children, size_t count, int64_t until_ns,
                   struct ts_event *event);

/* Runs a command by /bin/sh -c, inherits stdio (stdout goes to stderr), returns its wait status's
 * exit code, 128+signal, or -1. A signal of signals.h that comes meanwhile is passed on to it; when
 * it does not end within 1.5 s, or at a second signal, it is killed. to_the_end: it is not passed
 * on, so that the command can finish what it does in the 1.5 s. */
int ts_child_shell(const char *command, bool to_the_end);

#endif
