/* runqueue.c: see runqueue.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "runqueue.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAKE_UP_NS 50000
/* A thread's turn comes after some slices of the scheduler, a few ms each. */
#define SETTLE_LOOKS 50
#define SETTLE_NS 500000

/* The text of a thread's file, or false: a thread may end meanwhile. */
static bool read_of_thread(int tasks, long id, const char *file, char *text, size_t room)
{
    char path[64];
    ssize_t length = -1;
    int fd;

    snprintf(path, sizeof(path), "%ld/%s", id, file);
    fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = read(fd, text, room - 1);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Running or wanting to. The state follows the name in brackets, which may hold brackets. */
static bool is_ready(int tasks, long id)
{
    char text[512];
    const char *name_end;

    return read_of_thread(tasks, id, "stat", text, sizeof(text)) &&
           (name_end = strrchr(text, ')')) != NULL && strncmp(name_end, ") R", 3) == 0;
}

static void add_thread(struct ts_runqueue *all, int tasks, long id)
{
    struct ts_runqueue_thread thread = {.id = id};
    char text[128];

    if (!read_of_thread(tasks, id, "schedstat", text, sizeof(text)) ||
        sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &thread.run_ns, &thread.wait_ns,
               &thread.turns) != 3)
        return;
    thread.ready = id != (long)getpid() && is_ready(tasks, id); /* the main thread asks */
    TS_GROW(all->threads, all->count, all->capacity);
    all->threads[all->count++] = thread;
}

/* The thread that asks has had a turn: where none is counted, nothing is. */
static bool is_counted(const struct ts_runqueue *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->threads[i].turns > 0)
            return true;
    }
    return false;
}

struct ts_runqueue ts_runqueue_mark(void)
{
    struct ts_runqueue all = {0};
    DIR *directory = opendir("/proc/self/task");
    const struct dirent *entry;

    while (directory && (entry = readdir(directory)) != NULL) {
        long id = strtol(entry->d_name, NULL, 10);

        if (id > 0) /* neither . nor .. */
            add_thread(&all, dirfd(directory), id);
    }
    if (directory)
        closedir(directory);
    if (!is_counted(&all))
        ts_runqueue_free(&all);
    return all;
}

void ts_runqueue_free(struct ts_runqueue *mark)
{
    free(mark->threads);
    *mark = (struct ts_runqueue){0};
}

static struct ts_runqueue_thread find(const struct ts_runqueue *in, long id)
{
    for (size_t i = 0; i < in->count; i++) {
        if (in->threads[i].id == id)
            return in->threads[i];
    }
    return (struct ts_runqueue_thread){.id = id}; /* it began later */
}

int64_t ts_runqueue_between(const struct ts_runqueue *before, const struct ts_runqueue *after,
                            int64_t span_ns, int processors)
{
    int64_t longest_ns = 0;
    int busy = 0;

    for (size_t i = 0; i < after->count; i++) {
        const struct ts_runqueue_thread now = after->threads[i], then = find(before, now.id);
        int64_t wait_ns = now.wait_ns - then.wait_ns;
        int64_t beyond_ns = wait_ns - WAKE_UP_NS * (now.turns - then.turns);

        busy += 2 * (now.run_ns - then.run_ns + wait_ns) > span_ns;
        if (beyond_ns > longest_ns)
            longest_ns = beyond_ns;
    }
    return busy > processors ? 0 : longest_ns;
}

int ts_runqueue_processors(void)
{
    cpu_set_t mine;

    return sched_getaffinity(0, sizeof(mine), &mine) == 0 ? CPU_COUNT(&mine) : INT_MAX;
}

/* Is there a thread that wants to run and did not, since the look before? A driver's thread that
 * polls is ready all the time, and runs. */
static bool is_any_waiting(const struct ts_runqueue *before, const struct ts_runqueue *now)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct ts_runqueue_thread *thread = &now->threads[i];

        if (thread->ready && thread->run_ns == find(before, thread->id).run_ns)
            return true;
    }
    return false;
}

int64_t ts_runqueue_since(const struct ts_runqueue *mark, int64_t span_ns)
{
    const struct timespec moment = {0, SETTLE_NS};
    struct ts_runqueue now, last;
    int64_t longest_ns;
    bool waiting;

    if (mark->count == 0)
        return 0;
    now = ts_runqueue_mark();
    waiting = is_any_waiting(&now, &now); /* at first sight, any that is ready */
    for (int i = 0; i < SETTLE_LOOKS && waiting; i++) {
        (void)nanosleep(&moment, NULL);
        last = now;
        now = ts_runqueue_mark();
        waiting = is_any_waiting(&last, &now);
        ts_runqueue_free(&last);
    }
    longest_ns = ts_runqueue_between(mark, &now, span_ns, ts_runqueue_processors());
    ts_runqueue_free(&now);
    /* Its wait is not over, and of unknown length. */
    return waiting && longest_ns < SETTLE_LOOKS * SETTLE_NS ? SETTLE_LOOKS * SETTLE_NS : longest_ns;
}
