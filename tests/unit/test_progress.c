/* test_progress.c: the progress line on a pseudo-terminal and in a log file. */
#define _GNU_SOURCE
#include "progress.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Standard error goes to fd while the test talks; nothing may fail in between, it would not be
 * seen. */
static int redirect(int fd)
{
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    return kept;
}

static void restore(int kept)
{
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
}

static void talk(bool quiet)
{
    struct ts_progress *p = ts_progress_open(quiet);
    ts_progress_phase(p, "prove", 4);
    for (int i = 1; i <= 4; i++) {
        nanosleep(&(struct timespec){0, 120000000}, NULL);
        ts_progress_update(p, i, i == 2 ? "local TX=32 1.2 ms" : NULL);
        if (i == 3)
            ts_progress_say(p, "a warning of %d", 7);
    }
    ts_progress_extend(p, "confirm", 4);
    nanosleep(&(struct timespec){0, 120000000}, NULL);
    ts_progress_update(p, 6, NULL);
    ts_progress_close(p);
}

/* What a terminal shows in the end: carriage return and "erase to the end of line" carried out. */
static void screen(const char *bytes, char *out, size_t room)
{
    size_t start = 0, used = 0;
    for (; *bytes && used + 1 < room; bytes++) {
        if (*bytes == '\r') {
            used = start;
        } else if (!strncmp(bytes, "\033[K", 3)) {
            bytes += 2;
        } else {
            out[used++] = *bytes;
            if (*bytes == '\n')
                start = used;
        }
        /* Shorter text over longer text is only right because the line's end is erased. */
    }
    out[used] = '\0';
}

static size_t read_all(int fd, char *buffer, size_t room)
{
    size_t used = 0;
    ssize_t got;
    while (used + 1 < room && (got = read(fd, buffer + used, room - used - 1)) > 0)
        used += (size_t)got;
    buffer[used] = '\0';
    return used;
}

static void test_terminal(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    struct termios mode;
    assert_int_equal(tcgetattr(slave, &mode), 0);
    mode.c_oflag &= (tcflag_t)~OPOST; /* newlines arrive as they are */
    assert_int_equal(tcsetattr(slave, TCSANOW, &mode), 0);

    setenv("TERM", "xterm", 1);
    int kept = redirect(slave);
    talk(false);
    restore(kept);
    static char raw[8192], shown[8192];
    read_all(master, raw, sizeof(raw));
    screen(raw, shown, sizeof(shown));
    assert_non_null(strstr(raw, "prove   50 %  2 of 4  best local TX=32 1.2 ms\033[K"));
    assert_non_null(strstr(raw, "confirm   75 %  6 of 8  best local TX=32 1.2 ms\033[K"));
    assert_string_equal(shown, "a warning of 7\n");

    setenv("TERM", "dumb", 1);
    kept = redirect(slave);
    talk(false);
    restore(kept);
    read_all(master, raw, sizeof(raw));
    assert_string_equal(raw, "a warning of 7\n");
    close(slave);
    close(master);
}

static void test_log_file(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    setenv("TERM", "xterm", 1);
    int kept = redirect(fileno(file));
    talk(false);
    talk(true);
    restore(kept);
    char raw[512];
    rewind(file);
    read_all(fileno(file), raw, sizeof(raw));
    assert_string_equal(raw, "a warning of 7\na warning of 7\n");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_log_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
