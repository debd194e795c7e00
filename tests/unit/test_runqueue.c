/* test_runqueue.c: waits for a processor, from made-up numbers and from threads that share one. */
#define _GNU_SOURCE /* CPU_SET */
#include "runqueue.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define MS 1000000

static void waits_are_told_apart_from_waking_up(void **state)
{
    (void)state;
    struct ts_runqueue_thread then[] = {{11, 0, 5 * MS, 100, false}, {12, 0, 0, 0, false}};
    struct ts_runqueue_thread now[] = {
        {11, 0, 9 * MS, 180, false}, {12, 0, 3 * MS, 2, true}, {13, 0, 1 * MS, 1, false}};
    const struct ts_runqueue before = {then, 2, 2}, after = {now, 3, 3}, none = {0};

    /* 11 waited 4 ms in 80 turns: waking up. 12 had to wait, 13 began later. */
    assert_int_equal(ts_runqueue_between(&before, &after, 10 * MS, 2), 3 * MS - 2 * 50000);
    now[1].wait_ns = 0;
    assert_int_equal(ts_runqueue_between(&before, &after, 10 * MS, 2), 1 * MS - 50000);
    assert_int_equal(ts_runqueue_between(&before, &none, 10 * MS, 2), 0);
    assert_int_equal(ts_runqueue_between(&after, &after, 10 * MS, 2), 0);
    /* Two of them want to run for most of 1 ms, on one processor: they wait for each other. */
    assert_int_equal(ts_runqueue_between(&before, &after, 1 * MS, 1), 0);
}

static void sleep_ms(long ms)
{
    const struct timespec time = {0, ms * MS};
    nanosleep(&time, NULL);
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static atomic_bool rest, end;

/* As the threads of a driver: busy, then asleep. */
static void *work(void *unused)
{
    (void)unused;
    while (!rest)
        ;
    while (!end)
        sleep_ms(10);
    return NULL;
}

/* Two threads on one processor: each waits for the other about half of the time. */
static void two_threads_on_one_processor_wait(void **state)
{
    (void)state;
    cpu_set_t all, one;
    pthread_t threads[2];
    struct ts_runqueue mark = ts_runqueue_mark();

    if (mark.count == 0) /* a system that does not tell */
        skip();
    ts_runqueue_free(&mark);
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    rest = end = false;
    for (size_t i = 0; i < TS_COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
        assert_int_equal(pthread_setaffinity_np(threads[i], sizeof(one), &one), 0);
    }
    sleep_ms(5);
    mark = ts_runqueue_mark();
    sleep_ms(200);
    rest = true;
    /* On a loaded machine longer, never shorter. */
    assert_in_range(ts_runqueue_since(&mark, 200 * MS), 20 * MS, 100000 * (int64_t)MS);
    ts_runqueue_free(&mark);
    end = true;
    for (size_t i = 0; i < TS_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}

static void who_sleeps_does_not_wait(void **state)
{
    (void)state;
    int64_t least_ns = INT64_MAX;

    for (int i = 0; i < 20 && least_ns > 45 * MS; i++) { /* on a busy machine waking up may wait */
        struct ts_runqueue mark = ts_runqueue_mark();
        sleep_ms(50);
        least_ns = at_most(least_ns, ts_runqueue_since(&mark, 50 * MS));
        ts_runqueue_free(&mark);
    }
    assert_in_range(least_ns, 0, 45 * MS);
}

/* A thread that polls runs all the time: it does not wait, and nobody waits for it. On a busy
 * machine it does wait, as long as the system counts: no more is told, but for a look that falls
 * into a long wait. */
static void who_polls_does_not_wait(void **state)
{
    (void)state;
    pthread_t thread;
    int64_t least_ns = INT64_MAX;

    rest = end = false;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    for (int i = 0; i < 20; i++) {
        struct ts_runqueue mark = ts_runqueue_mark(), now;
        sleep_ms(20);
        int64_t told_ns = ts_runqueue_since(&mark, 50 * MS);
        now = ts_runqueue_mark();
        int64_t counted_ns = ts_runqueue_between(&mark, &now, 50 * MS, ts_runqueue_processors());
        least_ns = at_most(least_ns, told_ns > counted_ns ? told_ns - counted_ns : 0);
        ts_runqueue_free(&mark);
        ts_runqueue_free(&now);
    }
    rest = end = true;
    pthread_join(thread, NULL);
    double load = 0;
    if (least_ns > 10 * MS && getloadavg(&load, 1) == 1 && load > ts_runqueue_processors())
        skip(); /* more want to run than can: it did wait every time */
    assert_in_range(least_ns, 0, 10 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_are_told_apart_from_waking_up),
        cmocka_unit_test(two_threads_on_one_processor_wait),
        cmocka_unit_test(who_sleeps_does_not_wait),
        cmocka_unit_test(who_polls_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
