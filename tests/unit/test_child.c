/* test_child.c: children that speak lines: order, ends, signals, deadlines, and that nothing spins.
 */
#define _GNU_SOURCE
#include "child.h"
#include "signals.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000LL
#define SOON_NS (300000 * MS) /* what never takes that long, on a loaded machine under valgrind */

static struct ts_child *start(const char *script)
{
    struct ts_err err = {0};
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct ts_child *child = ts_child_open(argv, NULL, 0, &err);
    if (!child)
        fail_msg("%s", err.text);
    return child;
}

static struct ts_event next(struct ts_child *child)
{
    struct ts_event event;
    ts_child_wait(&child, 1, ts_now_ns() + SOON_NS, &event);
    return event;
}

static void expect_line(struct ts_child *child, const char *text)
{
    struct ts_event event = next(child);
    assert_int_equal(event.kind, TS_EVENT_LINE);
    assert_string_equal(event.text, text);
    assert_int_equal(event.length, strlen(text));
}

static void expect_end(struct ts_child *child, int exit_code, int number)
{
    struct ts_event event = next(child);
    assert_int_equal(event.kind, TS_EVENT_END);
    assert_int_equal(event.exit_code, exit_code);
    assert_int_equal(event.signal, number);
}

static void pause_ms(long ms)
{
    struct timespec rest = {ms / 1000, ms % 1000 * MS};
    while (nanosleep(&rest, &rest) != 0)
        ;
}

/* A zombie that nobody reaps is not running. */
static bool is_running(long pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return false;
    size_t got = fread(text, 1, sizeof(text) - 1, stat);
    fclose(stat);
    text[got] = '\0';
    const char *after_name = strrchr(text, ')');
    return after_name && after_name[1] && after_name[2] != 'Z';
}

/* A process that was killed a moment ago. */
static void expect_gone(long pid)
{
    for (int i = 0; i < 300 && is_running(pid); i++)
        pause_ms(10);
    assert_false(is_running(pid));
}

static int64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void echoes_lines(void **state)
{
    (void)state;
    struct ts_child *child = start("while read -r x; do echo \"<$x>\"; done; exit 7");
    ts_child_send(child, "one");
    ts_child_send(child, "two");
    expect_line(child, "<one>");
    expect_line(child, "<two>");
    ts_child_send(child, "");
    expect_line(child, "<>");
    ts_child_close(child);
}

static void tells_how_it_ended(void **state)
{
    (void)state;
    struct ts_child *child = start("exit 7");
    expect_end(child, 7, 0);
    struct ts_event event; /* nothing follows */
    ts_child_wait(&child, 1, ts_now_ns() + 20 * MS, &event);
    assert_int_equal(event.kind, TS_EVENT_TIMEOUT);
    ts_child_close(child);

    child = start("kill -SEGV $$");
    expect_end(child, -1, SIGSEGV);
    ts_child_close(child);
}

static void end_comes_after_all_output(void **state)
{
    (void)state;
    struct ts_child *child = start("i=0; while [ $i -lt 2000 ]; do echo line$i; i=$((i+1)); done;"
                                   "printf half");
    pause_ms(50);
    for (int i = 0; i < 2000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "line%d", i);
        expect_line(child, text);
    }
    expect_end(child, 0, 0); /* half a line is no line */
    ts_child_close(child);
}

static void talk_comes_before_the_line_after_it(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct ts_child *child = start("echo talk >&2; echo done; read -r x; exit 0");
        if (i % 2)
            pause_ms(10);
        struct ts_event event = next(child);
        assert_int_equal(event.kind, TS_EVENT_TALK);
        assert_int_equal(event.length, 5);
        assert_memory_equal(event.text, "talk\n", 5);
        expect_line(child, "done");
        ts_child_close(child);
    }
}

static void grandchild_does_not_delay_the_end(void **state)
{
    (void)state;
    /* One holds the pipes and is silent, one goes on writing. */
    struct ts_child *child = start("(while :; do echo noise; done) & sleep 60 & echo $!; exit 3");
    int64_t before = ts_now_ns();
    long sleeper = 0;
    struct ts_event event;
    while ((event = next(child)).kind == TS_EVENT_LINE)
        if (strcmp(event.text, "noise") != 0)
            sleeper = strtol(event.text, NULL, 10);
    assert_int_equal(event.kind, TS_EVENT_END);
    assert_int_equal(event.exit_code, 3);
    assert_true(ts_now_ns() - before < SOON_NS);
    assert_true(is_running(sleeper));
    ts_child_close(child);
    expect_gone(sleeper);
}

static void closing_kills_the_group(void **state)
{
    (void)state;
    struct ts_child *child = start("trap '' TERM INT; sleep 60 & echo $!; sleep 60");
    struct ts_event event = next(child);
    assert_int_equal(event.kind, TS_EVENT_LINE);
    long grandchild = strtol(event.text, NULL, 10), pid = ts_child_pid(child);
    assert_true(is_running(grandchild));
    ts_child_close(child);
    assert_false(is_running(pid));
    expect_gone(grandchild);
    ts_child_close(NULL);
}

static void finish_lets_it_end_by_itself(void **state)
{
    (void)state;
    char path[] = "/tmp/ts-child-XXXXXX", script[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    /* It must be able to write more than a pipe holds before it ends. */
    snprintf(script, sizeof(script), "cat; head -c 300000 /dev/zero; echo end >%s", path);
    struct ts_child *child = start(script);
    ts_child_finish(child, 5000);
    char text[8] = "";
    assert_int_equal(read(fd, text, 4), 4);
    assert_string_equal(text, "end\n");
    close(fd);
    unlink(path);

    child = start("sleep 60");
    int64_t before = ts_now_ns();
    ts_child_finish(child, 50);
    assert_true(ts_now_ns() - before < 3000 * MS);
    ts_child_finish(NULL, 50);
}

static void times_out_without_spinning(void **state)
{
    (void)state;
    /* A child that closed its stdout, one that is silent, one that reads nothing of a full queue.
     */
    struct ts_child *children[] = {start("exec >&-; sleep 60"), NULL, start("sleep 60"),
                                   start("sleep 60")};
    char *big = ts_alloc(1 << 20, 1);
    memset(big, 'x', (1 << 20) - 1);
    ts_child_send(children[3], big);
    free(big);
    struct ts_event event;
    int64_t before = ts_now_ns(), cpu_before = cpu_ns();
    ts_child_wait(children, 4, before + 500 * MS, &event);
    assert_int_equal(event.kind, TS_EVENT_TIMEOUT);
    int64_t took = ts_now_ns() - before;
    assert_true(took >= 499 * MS && took < 3000 * MS);
    assert_true(cpu_ns() - cpu_before < 100 * MS);
    for (size_t i = 0; i < 4; i++)
        ts_child_close(children[i]);
}

static void sends_more_than_a_pipe_holds_both_ways(void **state)
{
    (void)state;
    struct ts_child *child = start("exec cat");
    size_t length = 3 << 20;
    char *big = ts_alloc(length + 1, 1);
    for (size_t i = 0; i < length; i++)
        big[i] = (char)('a' + i % 26);
    ts_child_send(child, big);
    ts_child_send(child, "tail");
    struct ts_event event = next(child);
    assert_int_equal(event.kind, TS_EVENT_LINE);
    assert_int_equal(event.length, length);
    assert_memory_equal(event.text, big, length);
    expect_line(child, "tail");
    free(big);
    ts_child_close(child);
}

static void children_take_turns(void **state)
{
    (void)state;
    struct ts_child *children[] = {start("yes noise"), start("sleep 0.2; echo quiet")};
    bool heard = false;
    struct ts_event event;
    for (long i = 0; i < 100000000 && !heard; i++) {
        ts_child_wait(children, 2, ts_now_ns() + SOON_NS, &event);
        assert_int_equal(event.kind, TS_EVENT_LINE);
        heard = event.child == 1;
    }
    assert_true(heard);
    assert_string_equal(event.text, "quiet");
    ts_child_close(children[0]);
    ts_child_close(children[1]);
}

static void flood_does_not_hide_the_deadline(void **state)
{
    (void)state;
    struct ts_child *child = start("yes noise >&2");
    struct ts_event event;
    int64_t until = ts_now_ns() + 100 * MS;
    do
        ts_child_wait(&child, 1, until, &event);
    while (event.kind == TS_EVENT_TALK && ts_now_ns() < until + SOON_NS);
    assert_int_equal(event.kind, TS_EVENT_TIMEOUT);
    ts_child_close(child);
}

static void a_line_at_the_deadline_counts(void **state)
{
    (void)state;
    struct ts_child *child = start("echo late; read -r x");
    pause_ms(100);
    struct ts_event event;
    ts_child_wait(&child, 1, ts_now_ns() - 1, &event);
    assert_int_equal(event.kind, TS_EVENT_LINE);
    ts_child_close(child);
}

static void a_line_without_end_ends_the_child(void **state)
{
    (void)state;
    struct ts_child *child = start("exec tr '\\0' x </dev/zero");
    expect_end(child, -1, 0);
    ts_child_close(child);
}

static void an_end_wakes_a_wait_without_deadline(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) { /* a missed wake-up would hang here */
        struct ts_child *child = start("sleep 60 <&- & exec sleep 0.0$$");
        struct ts_event event;
        ts_child_wait(&child, 1, INT64_MAX, &event);
        assert_int_equal(event.kind, TS_EVENT_END);
        ts_child_close(child);
    }
}

static void cannot_start(void **state)
{
    (void)state;
    if (getenv("TILESWEEP_UNDER_VALGRIND"))
        skip(); /* there posix_spawn does not tell that exec failed */
    struct ts_err err = {0};
    const char *argv[] = {"/nonexistent/worker", NULL};
    assert_null(ts_child_open(argv, NULL, 0, &err));
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
    assert_string_equal(err.text, "/nonexistent/worker: cannot start: No such file or directory");
}

static void child_has_clean_signals(void **state)
{
    (void)state;
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, &before);
    struct ts_child *child = start("grep -E '^Sig(Blk|Ign):' /proc/self/status");
    sigprocmask(SIG_SETMASK, &before, NULL);
    expect_line(child, "SigBlk:\t0000000000000000");
    struct ts_event event = next(child);
    assert_int_equal(event.kind, TS_EVENT_LINE);
    unsigned long ignored = strtoul(event.text + strlen("SigIgn:\t"), NULL, 16);
    assert_false(ignored & (1UL << (SIGPIPE - 1) | 1UL << (SIGTERM - 1)));
    ts_child_close(child);
}

static void child_has_no_pipe_of_another(void **state)
{
    (void)state;
    long pipes[2];
    struct ts_child *other = NULL;
    for (int i = 0; i < 2; i++) {
        struct ts_child *child = start("ls -l /proc/self/fd | grep -c pipe:");
        struct ts_event event = next(child);
        assert_int_equal(event.kind, TS_EVENT_LINE);
        pipes[i] = strtol(event.text, NULL, 10);
        ts_child_close(child);
        ts_child_close(other);
        other = start("sleep 60");
    }
    ts_child_close(other);
    assert_true(pipes[0] >= 3);
    assert_int_equal(pipes[0], pipes[1]);
}

static void starts_with_closed_standard_descriptors(void **state)
{
    (void)state;
    pid_t pid = fork(); /* its own process, for it loses its stdio */
    if (pid == 0) {
        close(0);
        close(1);
        close(2);
        struct ts_err err = {0};
        const char *argv[] = {"/bin/sh", "-c", "read -r x; echo $x; echo e >&2; exit 5", NULL};
        struct ts_child *child = ts_child_open(argv, NULL, 0, &err);
        if (!child)
            _exit(1);
        ts_child_send(child, "word");
        struct ts_event event = next(child);
        if (event.kind == TS_EVENT_TALK)
            event = next(child);
        if (event.kind != TS_EVENT_LINE || strcmp(event.text, "word") != 0)
            _exit(2);
        do
            event = next(child);
        while (event.kind == TS_EVENT_TALK);
        _exit(event.kind == TS_EVENT_END && event.exit_code == 5 ? 0 : 3);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_stopped_child_is_seen(void **state)
{
    (void)state;
    struct ts_child *child = start("kill -STOP $$; echo on; sleep 60");
    while (!ts_child_is_stopped(child))
        usleep(10000);
    assert_true(ts_child_is_stopped(child)); /* asking changes nothing */
    kill((pid_t)ts_child_pid(child), SIGCONT);
    expect_line(child, "on");
    assert_false(ts_child_is_stopped(child));
    ts_child_close(child);
}

static void shell_tells_the_status(void **state)
{
    (void)state;
    assert_int_equal(ts_child_shell("exit 3", false), 3);
    assert_int_equal(ts_child_shell("kill -KILL $$", false), 128 + SIGKILL);
    assert_int_equal(ts_child_shell(":", false), 0);
    assert_int_equal(ts_child_shell("exec /nonexistent/x 2>/dev/null", false), 127);
}

static void raise_in(long ms)
{
    struct itimerval timer = {.it_value = {ms / 1000, ms % 1000 * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_alarm(int number)
{
    (void)number;
    kill(getpid(), SIGTERM);
}

/* Last of the tests: the flag stays. */
static void signals_wake_the_wait(void **state)
{
    (void)state;
    struct ts_child *child = start("sleep 60");
    struct ts_event event;
    signal(SIGALRM, on_alarm);
    ts_signals_install();
    assert_int_equal(ts_signal_pending(), 0);
    raise_in(100);
    ts_child_wait(&child, 1, ts_now_ns() + SOON_NS, &event);
    assert_int_equal(event.kind, TS_EVENT_SIGNAL);
    assert_int_equal(ts_signal_pending(), SIGTERM);
    assert_int_equal(ts_signal_count(), 1);

    /* Told once: the wait after it sleeps again. */
    ts_child_wait(&child, 1, ts_now_ns() + 50 * MS, &event);
    assert_int_equal(event.kind, TS_EVENT_TIMEOUT);

    /* One that came before the wait. */
    kill(getpid(), SIGINT);
    ts_child_wait(&child, 1, INT64_MAX, &event);
    assert_int_equal(event.kind, TS_EVENT_SIGNAL);
    assert_int_equal(ts_signal_pending(), SIGTERM);
    assert_int_equal(ts_signal_count(), 2);

    /* Passed on to a shell command, which takes its time to start under valgrind. */
    raise_in(1000);
    int64_t before = ts_now_ns();
    assert_int_equal(ts_child_shell("exec sleep 30", false), 128 + SIGTERM);
    assert_true(ts_now_ns() - before < SOON_NS);

    /* Not passed on to one that is to end what it does; yet it does not last for ever. */
    raise_in(1000);
    assert_int_equal(ts_child_shell("sleep 1.5; exit 5", true), 5);
    raise_in(1000);
    assert_int_equal(ts_child_shell("exec sleep 30", true), 128 + SIGKILL);

    /* A finish does not take the event away, nor does it spin on it. */
    int64_t cpu_before = cpu_ns();
    ts_child_finish(child, 300);
    assert_true(cpu_ns() - cpu_before < 100 * MS);
    ts_child_wait(NULL, 0, INT64_MAX, &event);
    assert_int_equal(event.kind, TS_EVENT_SIGNAL);
    assert_int_equal(ts_signal_count(), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echoes_lines),
        cmocka_unit_test(tells_how_it_ended),
        cmocka_unit_test(end_comes_after_all_output),
        cmocka_unit_test(talk_comes_before_the_line_after_it),
        cmocka_unit_test(grandchild_does_not_delay_the_end),
        cmocka_unit_test(closing_kills_the_group),
        cmocka_unit_test(finish_lets_it_end_by_itself),
        cmocka_unit_test(times_out_without_spinning),
        cmocka_unit_test(sends_more_than_a_pipe_holds_both_ways),
        cmocka_unit_test(children_take_turns),
        cmocka_unit_test(flood_does_not_hide_the_deadline),
        cmocka_unit_test(a_line_at_the_deadline_counts),
        cmocka_unit_test(a_line_without_end_ends_the_child),
        cmocka_unit_test(an_end_wakes_a_wait_without_deadline),
        cmocka_unit_test(cannot_start),
        cmocka_unit_test(child_has_clean_signals),
        cmocka_unit_test(child_has_no_pipe_of_another),
        cmocka_unit_test(starts_with_closed_standard_descriptors),
        cmocka_unit_test(a_stopped_child_is_seen),
        cmocka_unit_test(shell_tells_the_status),
        cmocka_unit_test(signals_wake_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
