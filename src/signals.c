/* signals.c: see signals.h. */
#define _GNU_SOURCE /* ppoll: in POSIX since 2024 */
#include "signals.h"

#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000LL

static volatile sig_atomic_t signal_first, signal_last, signal_seen;

static void on_stop_signal(int number)
{
    if (!signal_first)
        signal_first = number;
    signal_last = number;
    if (signal_seen < 1000)
        signal_seen = signal_seen + 1;
}

/* Nothing to do: that it is handled at all makes ppoll return. */
static void on_child_signal(int number)
{
    (void)number;
}

static void ignore(int number)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void ts_signals_ignore_pipe(void)
{
    ignore(SIGPIPE);
}

void ts_signals_ignore_limit(void)
{
    ignore(SIGXFSZ);
}

/* A session that ends stops the run as SIGTERM does, unless nohup asked to live on. */
static void handle_hangup(const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, action, NULL);
}

void ts_signals_install(void)
{
    /* No SA_RESTART: a slow call ends, and its caller looks at the flag. */
    struct sigaction action = {.sa_handler = on_stop_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    handle_hangup(&action);
    ts_signals_ignore_pipe();
}

int ts_signal_pending(void)
{
    return signal_first;
}

int ts_signal_last(void)
{
    return signal_last;
}

int ts_signal_count(void)
{
    return signal_seen;
}

void ts_signals_hold(struct ts_signals_held *held)
{
    struct sigaction action = {.sa_handler = on_child_signal, .sa_flags = SA_NOCLDSTOP};
    sigset_t ours;
    sigemptyset(&action.sa_mask);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, &held->before);
    sigaction(SIGCHLD, &action, &held->child_before);
}

void ts_signals_release(const struct ts_signals_held *held)
{
    sigaction(SIGCHLD, &held->child_before, NULL);
    sigprocmask(SIG_SETMASK, &held->before, NULL);
}

void ts_signals_poll(const struct ts_signals_held *held, struct pollfd *fds, size_t count,
                     int64_t until_ns)
{
    sigset_t open = held->before;
    sigdelset(&open, SIGINT);
    sigdelset(&open, SIGTERM);
    sigdelset(&open, SIGHUP);
    sigdelset(&open, SIGCHLD);
    struct timespec rest = {0, 0};
    if (until_ns != INT64_MAX) {
        int64_t now_ns = ts_now_ns(), rest_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        rest = (struct timespec){(time_t)(rest_ns / NS_PER_S), (long)(rest_ns % NS_PER_S)};
    }
    if (ppoll(fds, (nfds_t)count, until_ns == INT64_MAX ? NULL : &rest, &open) <= 0)
        for (size_t i = 0; i < count; i++)
            fds[i].revents = 0;
}
