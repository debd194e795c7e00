/* machine.c: faults of the machine on demand: files that cannot be written, clocks that jump.
 * Preloaded (LD_PRELOAD); $TILESWEEP_MACHINE says what goes wrong:
 *
 *     fail CALL N ERRNO       the N-th use of CALL (from 1) fails
 *     full N ERRNO            the disk is full: the N-th write does half, all after it fail
 *     slow CALL N MS          the N-th use of CALL takes so long
 *     jump CLOCK N SECONDS    the N-th reading of CLOCK and all after it are off by so much
 *     blind NAME 0 ERRNO      files called NAME cannot be opened; ERRNO 0: they hold "0 0 0"
 *
 * CALL is write, fsync, close, open (for writing), rename, ftruncate or unlink, and only uses on
 * files below $TILESWEEP_MACHINE_FOLDER count. CLOCK is realtime, monotonic or boottime. It happens
 * in the program itself, or in its workers when $TILESWEEP_MACHINE_IN is "worker"; in no other
 * process. The file $TILESWEEP_MACHINE_MET is made when the fault is met, and
 * $TILESWEEP_MACHINE_USES gets a line `CALL USES` each at the program's end. */
#define _GNU_SOURCE /* RTLD_NEXT, readlink of /proc */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { WRITE, FSYNC, CLOSE, OPEN, RENAME, FTRUNCATE, UNLINK, CALLS };
static const char *const names[CALLS] = {"write",  "fsync",     "close", "open",
                                         "rename", "ftruncate", "unlink"};
static const struct {
    const char *name;
    clockid_t id;
} clocks[] = {
    {"realtime", CLOCK_REALTIME}, {"monotonic", CLOCK_MONOTONIC}, {"boottime", CLOCK_BOOTTIME}};

static struct {
    bool active;
    char verb[16], word[16];
    long at, number;
} fault;

static long uses[CALLS], readings;
static const char *folder;

static void *find(const char *call)
{
    void *real = dlsym(RTLD_NEXT, call);

    if (!real)
        abort();
    return real;
}

#define REAL(type, call, parameters)                                                               \
    type(*real) parameters;                                                                        \
    *(void **)&real = find(#call)

/* argc and argv come by glibc's habit. */
__attribute__((constructor)) static void read_fault(int argc, char **argv)
{
    const char *text = getenv("TILESWEEP_MACHINE"), *in = getenv("TILESWEEP_MACHINE_IN");
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    bool worker = argc > 1 && strcmp(argv[1], "worker") == 0,
         wanted = in && strcmp(in, "worker") == 0;

    path[length > 0 ? length : 0] = '\0';
    if (!text || !strstr(path, "tilesweep") || worker != wanted ||
        sscanf(text, "%15s", fault.verb) != 1)
        return;
    folder = getenv("TILESWEEP_MACHINE_FOLDER");
    if (strcmp(fault.verb, "full") == 0)
        fault.active = sscanf(text, "full %ld %ld", &fault.at, &fault.number) == 2;
    else
        fault.active = sscanf(text, "%*s %15s %ld %ld", fault.word, &fault.at, &fault.number) == 3;
}

static void tell(void)
{
    REAL(int, close, (int));
    const char *path = getenv("TILESWEEP_MACHINE_MET");
    int file = path ? openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644) : -1;

    if (file >= 0)
        real(file);
}

__attribute__((destructor)) static void tell_uses(void)
{
    const char *path = getenv("TILESWEEP_MACHINE_USES");
    FILE *file = fault.active && path ? fopen(path, "w") : NULL;

    for (int i = 0; file && i < CALLS; i++)
        fprintf(file, "%s %ld\n", names[i], uses[i]);
    if (file)
        fclose(file);
}

static bool is(const char *verb)
{
    return fault.active && strcmp(fault.verb, verb) == 0;
}

static bool lies_below(const char *path)
{
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(path, folder, length) == 0;
}

static bool is_ours(int fd)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = fault.active ? readlink(link, path, sizeof(path) - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    return length > 0 && lies_below(path);
}

/* One more use: 0, or the error that it meets. */
static int meet(int call)
{
    long use = ++uses[call];
    bool mine = strcmp(fault.word, names[call]) == 0 && use == fault.at;

    if (is("full") && call == WRITE && use >= fault.at) {
        tell();
        return (int)fault.number;
    }
    if (mine && is("slow")) {
        const struct timespec rest = {fault.number / 1000, fault.number % 1000 * 1000000};
        tell();
        nanosleep(&rest, NULL);
    }
    if (!mine || !is("fail"))
        return 0;
    tell();
    return (int)fault.number;
}

/* A call that returns 0 or -1 and an error. */
#define CALL(index, call, parameters, ours, arguments)                                             \
    int call parameters                                                                            \
    {                                                                                              \
        REAL(int, call, parameters);                                                               \
        int failed = (ours) ? meet(index) : 0;                                                     \
        if (!failed)                                                                               \
            return real arguments;                                                                 \
        errno = failed;                                                                            \
        return -1;                                                                                 \
    }

CALL(FSYNC, fsync, (int fd), is_ours(fd), (fd))
CALL(FTRUNCATE, ftruncate64, (int fd, off64_t length), is_ours(fd), (fd, length))
CALL(RENAME, rename, (const char *from, const char *to), fault.active &&lies_below(to), (from, to))
CALL(UNLINK, unlink, (const char *path), fault.active &&lies_below(path), (path))

ssize_t write(int fd, const void *bytes, size_t length)
{
    REAL(ssize_t, write, (int, const void *, size_t));
    int failed = is_ours(fd) ? meet(WRITE) : 0;

    if (!failed)
        return real(fd, bytes, length);
    if (is("full") && uses[WRITE] == fault.at && length > 1)
        return real(fd, bytes, length / 2);
    errno = failed;
    return -1;
}

/* Closed all the same, as by the system. */
int close(int fd)
{
    REAL(int, close, (int));
    int failed = is_ours(fd) ? meet(CLOSE) : 0, result = real(fd);

    if (!failed)
        return result;
    errno = failed;
    return -1;
}

int open64(const char *path, int flags, ...)
{
    REAL(int, open64, (const char *, int, ...));
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    int failed = writes && fault.active && lies_below(path) ? meet(OPEN) : 0;
    va_list rest;

    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (!failed)
        return real(path, flags, mode);
    errno = failed;
    return -1;
}

/* schedstat, for example: without /proc, or of a kernel that counts nothing. */
int openat64(int dir, const char *path, int flags, ...)
{
    static const char nothing[] = "0 0 0\n";
    REAL(int, openat64, (int, const char *, int, ...));
    size_t length = strlen(path), name = strlen(fault.word);
    va_list rest;
    int fd;

    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (!is("blind") || length < name || strcmp(path + length - name, fault.word) != 0)
        return real(dir, path, flags, mode);
    fault.active = false; /* the file that tells is opened here, too */
    tell();
    fault.active = true;
    errno = (int)fault.number;
    fd = fault.number ? -1 : memfd_create("nothing", MFD_CLOEXEC);
    if (fd >= 0 && pwrite(fd, nothing, sizeof(nothing) - 1, 0) < 0)
        abort();
    return fd;
}

/* ---- clocks ---- */

static long offset_s(clockid_t clock)
{
    for (size_t i = 0; is("jump") && i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        if (clocks[i].id != clock || strcmp(clocks[i].name, fault.word) != 0)
            continue;
        if (++readings == fault.at)
            tell();
        return readings >= fault.at ? fault.number : 0;
    }
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    REAL(int, clock_gettime, (clockid_t, struct timespec *));
    int result = real(clock, now);

    if (result == 0)
        now->tv_sec += offset_s(clock);
    return result;
}

time_t time(time_t *told)
{
    REAL(time_t, time, (time_t *));
    time_t now = real(NULL) + offset_s(CLOCK_REALTIME);

    if (told)
        *told = now;
    return now;
}
