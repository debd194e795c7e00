/* pause.c: see pause.h. */
#include "pause.h"

#include <signal.h>
#include <time.h>

/* Two clocks that are told in whole nanoseconds may differ by the rounding. */
#define ROUNDING_NS 1000

static sigset_t continue_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    return set;
}

/* Blocked, it is pending from the moment that it is sent, before any thread goes on. A handler
 * would run in one of the threads, which need not be the one that asks, nor come first. */
void ts_pause_install(void)
{
    sigset_t set = continue_signal();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static bool was_continued(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

static void forget_continued(void)
{
    const struct timespec now = {0, 0};
    sigset_t set = continue_signal();
    while (sigtimedwait(&set, NULL, &now) == SIGCONT)
        ;
}

/* How long the machine has slept so far lies between *least and *most: the clocks cannot be read at
 * one instant. Both 0 where there is no such clock. */
static void read_asleep(int64_t *least_ns, int64_t *most_ns)
{
    *least_ns = *most_ns = 0;
#ifdef CLOCK_BOOTTIME
    struct timespec now;
    int64_t before_ns = ts_now_ns();
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return;
    int64_t boot_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    *most_ns = boot_ns - before_ns;
    *least_ns = boot_ns - ts_now_ns();
#endif
}

struct ts_pause ts_pause_mark(void)
{
    struct ts_pause mark;
    int64_t least_ns;
    forget_continued();
    read_asleep(&least_ns, &mark.most_asleep_ns);
    return mark;
}

bool ts_pause_since(const struct ts_pause *mark)
{
    int64_t least_ns, most_ns;
    read_asleep(&least_ns, &most_ns);
    return was_continued() || least_ns > mark->most_asleep_ns + ROUNDING_NS;
}
