/* child.c: see child.h.
 *
 * How a wait works: a child that has something to tell (a whole line, talk, its end) is not read
 * from, so memory stays bounded and its own order is kept: stdout is read first, stderr right after
 * it, and talk is told before lines, so what a job printed comes before the line that ends the job.
 * Children take turns. A wait sleeps only in ppoll, with our signals and SIGCHLD blocked
 * outside of it, so none of them can slip in between the last look and the sleep. */
#define _GNU_SOURCE /* pipe2: in POSIX since 2024 */
#include "child_private.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_LINE ((size_t)64 << 20)
#define READ_CHUNK ((size_t)64 << 10) /* a pipe's capacity: one read empties it */
#define REAP_PATIENCE_NS 1000000000LL

/* One of the child's two output pipes. left: once the child is gone, how many bytes it can have
 * left in there; a grandchild that goes on writing does not count. */
struct stream {
    int fd; /* -1: closed */
    size_t left;
};

struct ts_child {
    pid_t pid;
    int in; /* -1: closed */
    struct ts_text queue;
    size_t sent; /* of the queue */

    struct stream out, err;
    char *line; /* what was read of stdout: told up to `begin`, searched for newlines up to
                   `scanned` */
    size_t begin, scanned, end, capacity;
    bool have_line; /* scanned is at a newline */
    char talk[READ_CHUNK];
    size_t talk_length;

    bool exited; /* its end was seen; it stays a zombie until it is closed, so its number stays ours
                  */
    bool overlong; /* a line passed MAX_LINE */
    bool ended;    /* the end was told */
    siginfo_t fate;
};

static int signal_told; /* how many signals were events */

/* ---- start ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A pipe with both ends above the standard descriptors (a program may be started with these closed)
 * and not passed on by exec. ours: the index of the end that stays here, which never blocks. */
static int open_pipe(int ends[2], int ours)
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] > STDERR_FILENO)
            continue;
        int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0)
            return -1;
        close(ends[i]);
        ends[i] = moved;
    }
    return fcntl(ends[ours], F_SETFL, fcntl(ends[ours], F_GETFL) | O_NONBLOCK);
}

struct ts_child *ts_child_open(const char *const *argv, char *const *assigned, size_t count,
                               struct ts_err *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, talk[2] = {-1, -1}, failed = 0;
    struct ts_child *child = ts_alloc(1, sizeof(*child));
    ts_signals_ignore_pipe();
    if (open_pipe(in, 1) != 0 || open_pipe(out, 0) != 0 || open_pipe(talk, 0) != 0)
        failed = errno;
    if (!failed)
        failed = ts_child_spawn(&child->pid, argv, assigned, count,
                                (const int[3]){in[0], out[1], talk[1]}, true);
    close_fd(&in[0]);
    close_fd(&out[1]);
    close_fd(&talk[1]);
    child->in = in[1];
    child->out.fd = out[0];
    child->err.fd = talk[0];
    if (failed) {
        ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot start: %s", argv[0], strerror(failed));
        child->pid = 0;
        ts_child_close(child);
        return NULL;
    }
    return child;
}

long ts_child_pid(const struct ts_child *child)
{
    return (long)child->pid;
}

bool ts_child_is_stopped(const struct ts_child *child)
{
    siginfo_t state = {0};
    /* Not taken (WNOWAIT), so that it can be asked again. */
    return waitid(P_PID, (id_t)child->pid, &state, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
           state.si_pid == child->pid;
}

/* ---- moving bytes ---- */

void ts_child_send(struct ts_child *child, const char *line)
{
    if (child->in < 0)
        return;
    if (child->sent == child->queue.length)
        child->sent = child->queue.length = 0;
    ts_text_puts(&child->queue, line);
    ts_text_puts(&child->queue, "\n");
}

static bool has_queue(const struct ts_child *child)
{
    return child->in >= 0 && child->sent < child->queue.length;
}

static void write_queue(struct ts_child *child)
{
    while (has_queue(child)) {
        ssize_t put =
            write(child->in, child->queue.text + child->sent, child->queue.length - child->sent);
        if (put > 0)
            child->sent += (size_t)put;
        else if (put < 0 && errno == EINTR)
            continue;
        else if (put < 0 && errno == EAGAIN)
            return;
        else
            close_fd(&child->in); /* nobody reads there any more; its end will tell why */
    }
}

/* One read; 0 when there is nothing (now, or ever: then the stream is closed). */
static size_t read_stream(const struct ts_child *child, struct stream *from, char *into,
                          size_t room)
{
    if (child->exited && from->left < room)
        room = from->left;
    ssize_t got = 0;
    if (room > 0)
        do
            got = read(from->fd, into, room);
        while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN && !child->exited)
        return 0;
    if (got <= 0)
        close_fd(&from->fd);
    else if (child->exited)
        from->left -= (size_t)got;
    return got > 0 ? (size_t)got : 0;
}

/* Looks for the end of the line that begins at `begin`. */
static void find_line(struct ts_child *child)
{
    char *newline = NULL;
    if (child->end > child->scanned)
        newline = memchr(child->line + child->scanned, '\n', child->end - child->scanned);
    child->have_line = newline;
    child->scanned = newline ? (size_t)(newline - child->line) : child->end;
    if ((child->have_line ? child->scanned : child->end) - child->begin > MAX_LINE) {
        child->overlong = true;
        child->have_line = false;
        kill(-child->pid, SIGKILL);
    }
}

static void read_line(struct ts_child *child)
{
    if (child->begin > 0) {
        size_t rest = child->end - child->begin;
        if (rest > 0)
            memmove(child->line, child->line + child->begin, rest);
        child->scanned -= child->begin;
        child->begin = 0;
        child->end = rest;
    }
    if (child->capacity - child->end < READ_CHUNK) {
        child->capacity = child->capacity * 2 + READ_CHUNK;
        child->line = ts_realloc(child->line, child->capacity, 1);
    }
    child->end += read_stream(child, &child->out, child->line + child->end, READ_CHUNK);
    find_line(child);
}

static bool is_drained(const struct ts_child *child)
{
    return child->out.fd < 0 && child->err.fd < 0;
}

/* Has something to tell without being read from. */
static bool is_ready(const struct ts_child *child)
{
    return child->talk_length > 0 || child->have_line || child->overlong ||
           (child->exited && is_drained(child));
}

static void limit_stream(struct stream *stream)
{
    int bytes = 0;
    if (stream->fd >= 0 && ioctl(stream->fd, FIONREAD, &bytes) == 0 && bytes > 0)
        stream->left = (size_t)bytes;
}

/* Has the child ended? It is not reaped yet: as long as it is a zombie, its process group cannot be
 * somebody else's. */
static void look_for_end(struct ts_child *child)
{
    siginfo_t fate;
    memset(&fate, 0, sizeof(fate));
    if (child->exited)
        return;
    int failed = waitid(P_PID, (id_t)child->pid, &fate, WEXITED | WNOHANG | WNOWAIT);
    if (failed == 0 && fate.si_pid == 0)
        return;
    if (failed != 0 && errno == EINTR)
        return;
    child->exited = true;
    child->fate = fate; /* all zero when somebody else reaped it: told as exit code 0 */
    limit_stream(&child->out);
    limit_stream(&child->err);
    close_fd(&child->in);
}

/* Order matters: see the top of the file. */
static void read_child(struct ts_child *child)
{
    if (child->out.fd >= 0)
        read_line(child);
    if (child->err.fd >= 0)
        child->talk_length = read_stream(child, &child->err, child->talk, sizeof(child->talk));
}

/* ---- waiting ---- */

static bool is_live(const struct ts_child *child)
{
    return child && !child->ended;
}

/* fds: room for three a child. Children that are ready are not read from. Returns how many. */
static size_t list_descriptors(struct ts_child *const *children, size_t count, struct pollfd *fds)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ts_child *child = children[i];
        if (!is_live(child))
            continue;
        if (has_queue(child))
            fds[used++] = (struct pollfd){.fd = child->in, .events = POLLOUT};
        if (child->out.fd >= 0 && !is_ready(child))
            fds[used++] = (struct pollfd){.fd = child->out.fd, .events = POLLIN};
        if (child->err.fd >= 0 && !is_ready(child))
            fds[used++] = (struct pollfd){.fd = child->err.fd, .events = POLLIN};
    }
    return used;
}

static bool any_ready(struct ts_child *const *children, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_live(children[i]) && (is_ready(children[i]) || children[i]->exited))
            return true;
    return false;
}

/* Sleeps until something may have happened, at most to until_ns, then moves what can be moved.
 * signals_told: a signal beyond this many is news, and no reason to sleep. */
static void pump(struct ts_child *const *children, size_t count, int64_t until_ns, int signals_told,
                 struct pollfd *fds)
{
    struct ts_signals_held held;
    ts_signals_hold(&held);
    for (size_t i = 0; i < count; i++)
        if (is_live(children[i]))
            look_for_end(children[i]);
    bool now = any_ready(children, count) || ts_signal_count() > signals_told;
    size_t used = list_descriptors(children, count, fds);
    ts_signals_poll(&held, fds, used, now ? 0 : until_ns);
    ts_signals_release(&held);
    for (size_t i = 0; i < count; i++) {
        struct ts_child *child = children[i];
        if (!is_live(child))
            continue;
        look_for_end(child);
        write_queue(child);
        if (!is_ready(child))
            read_child(child);
    }
}

static void tell_end(struct ts_child *child, struct ts_event *event)
{
    event->kind = TS_EVENT_END;
    event->exit_code = -1;
    if (child->overlong)
        event->signal = 0;
    else if (child->fate.si_code == CLD_KILLED || child->fate.si_code == CLD_DUMPED)
        event->signal = child->fate.si_status;
    else
        event->exit_code = child->fate.si_status;
    child->ended = true;
}

static void tell(struct ts_child *child, struct ts_event *event)
{
    if (child->talk_length > 0) {
        event->kind = TS_EVENT_TALK;
        event->text = child->talk;
        event->length = child->talk_length;
        child->talk_length = 0;
    } else if (child->have_line) {
        event->kind = TS_EVENT_LINE;
        event->text = child->line + child->begin;
        event->length = child->scanned - child->begin;
        child->line[child->scanned++] = '\0';
        child->begin = child->scanned;
        find_line(child);
    } else {
        tell_end(child, event);
    }
}

/* The first child after the one that told last. */
static bool take_turn(struct ts_child *const *children, size_t count, struct ts_event *event)
{
    static size_t last;
    for (size_t i = 1; i <= count; i++) {
        size_t index = (last + i) % count;
        if (is_live(children[index]) && is_ready(children[index])) {
            last = event->child = index;
            tell(children[index], event);
            return true;
        }
    }
    return false;
}

/* with_signals: tell of them; else they wait for a later call. An event that is there comes before
 * a timeout, but only one: a child that never stops talking must not hide that its time is up. */
static void wait_event(struct ts_child *const *children, size_t count, int64_t until_ns,
                       bool with_signals, struct ts_event *event)
{
    static bool was_late;
    struct pollfd *fds = ts_alloc(3 * count, sizeof(*fds));
    *event = (struct ts_event){.kind = TS_EVENT_TIMEOUT, .exit_code = -1};
    for (;;) {
        if (with_signals && ts_signal_count() > signal_told) {
            signal_told = ts_signal_count();
            event->kind = TS_EVENT_SIGNAL;
            break;
        }
        if (was_late && ts_now_ns() >= until_ns) {
            was_late = false;
            break;
        }
        pump(children, count, until_ns, with_signals ? signal_told : INT_MAX, fds);
        if (with_signals && ts_signal_count() > signal_told)
            continue;
        bool late = ts_now_ns() >= until_ns;
        if (take_turn(children, count, event)) {
            was_late = late;
            break;
        }
        if (late) {
            was_late = false;
            break;
        }
    }
    free(fds);
}

void ts_child_wait(struct ts_child *const *children, size_t count, int64_t until_ns,
                   struct ts_event *event)
{
    wait_event(children, count, until_ns, true, event);
}

/* ---- the end ---- */

/* Waits for the process to be gone, but not for ever: one that is stuck in a driver's call does not
 * even heed SIGKILL. Returns its wait status, or -1. */
static int reap(pid_t pid, int64_t until_ns)
{
    struct ts_signals_held held;
    int status = -1;
    ts_signals_hold(&held);
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            break;
        status = -1;
        if ((got < 0 && errno != EINTR) || ts_now_ns() >= until_ns)
            break;
        ts_signals_poll(&held, NULL, 0, until_ns);
    }
    ts_signals_release(&held);
    return status;
}

void ts_child_close(struct ts_child *child)
{
    if (!child)
        return;
    close_fd(&child->in);
    close_fd(&child->out.fd);
    close_fd(&child->err.fd);
    if (child->pid > 0) {
        kill(-child->pid, SIGKILL);
        reap(child->pid, ts_now_ns() + REAP_PATIENCE_NS);
    }
    ts_text_free(&child->queue);
    free(child->line);
    free(child);
}

void ts_child_finish(struct ts_child *child, int grace_ms)
{
    if (!child)
        return;
    struct ts_event event = {.kind = TS_EVENT_LINE};
    int64_t until_ns = ts_now_ns() + (int64_t)grace_ms * 1000000;
    close_fd(&child->in);
    /* Its last words are read, or it could not write them and end. */
    while (!child->ended && event.kind != TS_EVENT_TIMEOUT)
        wait_event(&child, 1, until_ns, false, &event);
    ts_child_close(child);
}
