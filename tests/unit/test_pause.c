/* test_pause.c: stops and sleeps are seen, on made-up clocks. */
#include "pause.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t awake_ns = 5000000000, asleep_ns;

/* In place of the system's: each reading takes 30 ns. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int64_t ns = awake_ns + (clock == CLOCK_BOOTTIME ? asleep_ns : 0);
    *now = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    awake_ns += 30;
    return 0;
}

static void time_alone_is_no_pause(void **state)
{
    (void)state;
    asleep_ns = 7 * (int64_t)1000000000;
    struct ts_pause mark = ts_pause_mark();
    assert_false(ts_pause_since(&mark));
    awake_ns += 3600 * (int64_t)1000000000;
    assert_false(ts_pause_since(&mark));
}

static void a_sleep_is_one(void **state)
{
    (void)state;
    struct ts_pause mark = ts_pause_mark();
    asleep_ns += 1000000;
    assert_true(ts_pause_since(&mark));
    mark = ts_pause_mark();
    assert_false(ts_pause_since(&mark));
}

static void a_stop_is_one(void **state)
{
    (void)state;
    ts_pause_install();
    struct ts_pause mark = ts_pause_mark();
    pid_t pid = fork();
    if (pid == 0) {
        const struct timespec moment = {0, 50000000};
        for (;;) { /* until it is killed: the first may come before the stop */
            nanosleep(&moment, NULL);
            kill(getppid(), SIGCONT);
        }
    }
    raise(SIGSTOP);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(ts_pause_since(&mark));
    mark = ts_pause_mark();
    assert_false(ts_pause_since(&mark));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_alone_is_no_pause),
        cmocka_unit_test(a_sleep_is_one),
        cmocka_unit_test(a_stop_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
