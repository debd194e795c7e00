/* pause.c: see pause.h. */
#include "pause.h"

#include <signal.h>
#include <time.h>

/* Two clocks that are told in whole nanoseconds may differ by the rounding. */
#define ROUNDING_NS 1000

static volatile sig_atomic_t continued;

static void on_continue(int number)
{
    (void)number;
    if (continued < SIG_ATOMIC_MAX)
        continued = continued + 1;
}

void ts_pause_install(void)
{
    struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
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
    struct ts_pause mark = {.continued = continued};
    int64_t least_ns;
    read_asleep(&least_ns, &mark.most_asleep_ns);
    return mark;
}

bool ts_pause_since(const struct ts_pause *mark)
{
    int64_t least_ns, most_ns;
    read_asleep(&least_ns, &most_ns);
    return continued != mark->continued || least_ns > mark->most_asleep_ns + ROUNDING_NS;
}
