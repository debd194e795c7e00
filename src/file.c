/* file.c: see file.h. */
#define _XOPEN_SOURCE 700 /* realpath, mkdtemp */
#include "file.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READ_LIMIT ((size_t)1 << 30)
#define READ_CHUNK ((size_t)64 << 10)
#define SLUG_BYTES 60
#define LOCK_POLL_NS 100000000L

/* ---- reading ---- */

/* Reads to the end whatever the size said (a pipe says 0, a growing file too little). */
static char *read_all(int fd, const char *path, size_t guess, size_t *length, struct ts_err *err)
{
    size_t capacity = guess + READ_CHUNK, used = 0;
    char *bytes = ts_alloc(capacity + 1, 1);
    for (;;) {
        ssize_t got = read(fd, bytes + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            ts_err_set(err, TS_EXIT_USAGE, "%s: cannot read: %s", path, strerror(errno));
            break;
        }
        if (got == 0) {
            bytes[used] = '\0';
            *length = used;
            return bytes;
        }
        used += (size_t)got;
        if (used > READ_LIMIT) {
            ts_err_set(err, TS_EXIT_USAGE, "%s: larger than 1 GiB", path);
            break;
        }
        if (used == capacity) {
            capacity *= 2;
            bytes = ts_realloc(bytes, capacity + 1, 1);
        }
    }
    free(bytes);
    return NULL;
}

char *ts_file_read(const char *path, size_t *length, struct ts_err *err)
{
    char *bytes = NULL;
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        ts_err_set(err, TS_EXIT_USAGE, "%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    if (fstat(fd, &about) != 0)
        ts_err_set(err, TS_EXIT_USAGE, "%s: cannot read: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        ts_err_set(err, TS_EXIT_USAGE, "%s: expected a file, got a folder", path);
    else if (about.st_size > (off_t)READ_LIMIT)
        ts_err_set(err, TS_EXIT_USAGE, "%s: larger than 1 GiB", path);
    else
        bytes = read_all(fd, path, (size_t)about.st_size, length, err);
    close(fd);
    return bytes;
}

/* ---- writing ---- */

static int cannot_write(const char *path, struct ts_err *err)
{
    return ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
}

int ts_file_write_fd(int fd, const char *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, bytes + done, length - done);
        if (put > 0)
            done += (size_t)put;
        else if (put == 0 || errno != EINTR)
            return put == 0 ? ENOSPC : errno;
    }
    return 0;
}

/* All bytes, to the medium where there is one. Closes fd in every case. A full disk may show at any
 * of write, fsync and close. */
static int write_and_close(int fd, bool regular, const char *bytes, size_t length)
{
    int failed = ts_file_write_fd(fd, bytes, length);
    if (!failed && regular && fsync(fd) != 0)
        failed = errno;
    if (close(fd) != 0 && !failed && errno != EINTR)
        failed = errno;
    errno = failed;
    return failed ? -1 : 0;
}

/* After a rename: makes the folder's entry last, too. Best effort: some file systems refuse. */
static void sync_folder_of(const char *path)
{
    char *folder = ts_path_dir(path);
    int fd = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* mode: of the file that is replaced, or 0. */
static int replace_file(const char *path, mode_t mode, const char *bytes, size_t length,
                        struct ts_err *err)
{
    int result = -1;
    /* Not made of the file's name, which may be as long as names can be. */
    char *folder = ts_path_dir(path);
    char *temporary = ts_printf("%s/.tilesweep-tmp-%ld", folder, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        cannot_write(path, err);
        goto out;
    }
    if (mode)
        (void)fchmod(fd, mode & 07777);
    if (write_and_close(fd, true, bytes, length) != 0 || rename(temporary, path) != 0) {
        cannot_write(path, err);
        (void)unlink(temporary);
        goto out;
    }
    sync_folder_of(path);
    result = 0;
out:
    free(folder);
    free(temporary);
    return result;
}

int ts_file_replace(const char *path, const char *bytes, size_t length, struct ts_err *err)
{
    struct stat about;
    bool regular = lstat(path, &about) == 0 && S_ISREG(about.st_mode);
    return replace_file(path, regular ? about.st_mode : 0, bytes, length, err);
}

/* A device or a pipe (/dev/null, /dev/full) is written into: a rename would put a file in its
 * place. */
static int write_special(const char *path, const char *bytes, size_t length, struct ts_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write_and_close(fd, false, bytes, length) != 0)
        return cannot_write(path, err);
    return 0;
}

int ts_file_write(const char *path, const char *bytes, size_t length, struct ts_err *err)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        if (ts_file_make_parents(path, err) != 0)
            return -1;
        return replace_file(path, 0, bytes, length, err);
    }
    if (S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return cannot_write(path, err);
    }
    if (!S_ISREG(about.st_mode))
        return write_special(path, bytes, length, err);
    struct stat link;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
        return replace_file(path, about.st_mode, bytes, length, err);
    /* Through symbolic links, so that the link stays and its target changes. */
    char *target = realpath(path, NULL);
    if (!target)
        return cannot_write(path, err);
    int result = replace_file(target, about.st_mode, bytes, length, err);
    free(target);
    return result;
}

int ts_file_put(const char *path, const char *bytes, size_t length, struct ts_err *err)
{
    if (strcmp(path, "-") != 0)
        return ts_file_write(path, bytes, length, err);
    errno = 0;
    if (fwrite(bytes, 1, length, stdout) != length || fflush(stdout) != 0)
        return ts_err_set(err, TS_EXIT_SYSTEM, "standard output: cannot write: %s",
                          strerror(errno));
    return 0;
}

/* ---- before writing ---- */

/* main.c holds a closed descriptor by one that cannot be written. */
static int check_stdout(struct ts_err *err)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return ts_err_set(err, TS_EXIT_SYSTEM, "standard output: cannot write: it is closed");
    return 0;
}

static bool is_one_of(const struct stat *file, char *const *inputs, size_t count)
{
    struct stat input;
    for (size_t i = 0; i < count; i++)
        if (stat(inputs[i], &input) == 0 && input.st_dev == file->st_dev &&
            input.st_ino == file->st_ino)
            return true;
    return false;
}

/* Where the file that is renamed over path will be made. */
static int check_folder(const char *path, bool exists, struct ts_err *err)
{
    struct stat about;
    char *target = exists ? realpath(path, NULL) : NULL; /* the link stays */
    char *folder = ts_path_dir(target ? target : path);
    int result = 0;
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        result = ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot be written: there is no folder %s",
                            path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        result = cannot_write(path, err);
    free(folder);
    free(target);
    return result;
}

int ts_file_check_output(const char *path, char *const *inputs, size_t count, struct ts_err *err)
{
    struct stat about;
    if (path[0] == '\0')
        return ts_err_set(err, TS_EXIT_USAGE, "-o: expected the name of a file, got \"\"");
    if (strcmp(path, "-") == 0)
        return check_stdout(err);
    bool exists = stat(path, &about) == 0;
    if (!exists && errno != ENOENT && errno != ENOTDIR)
        return cannot_write(path, err);
    if (exists && S_ISDIR(about.st_mode))
        return ts_err_set(err, TS_EXIT_SYSTEM, "%s: is a folder, expected a file", path);
    if (exists && !S_ISREG(about.st_mode))
        return access(path, W_OK) == 0 ? 0 : cannot_write(path, err);
    if (exists && is_one_of(&about, inputs, count))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "%s: is one of the files that are read; write to another one", path);
    return check_folder(path, exists, err);
}

/* ---- folders and paths ---- */

/* 0, or the system's reason why there is no such folder now. */
static int make_one(const char *path)
{
    struct stat about;
    if (mkdir(path, 0777) == 0)
        return 0;
    int why = errno;
    if (stat(path, &about) == 0)
        return S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
    return why;
}

int ts_dir_make(const char *path, struct ts_err *err)
{
    int why = 0;
    char *partial = ts_strdup(path);
    for (char *end = partial; !why; end++) {
        if (*end != '/' && *end != '\0')
            continue;
        char kept = *end;
        *end = '\0';
        if (*partial)
            why = make_one(partial);
        if (why)
            ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot make the folder: %s", partial,
                       strerror(why));
        *end = kept;
        if (kept == '\0')
            break;
    }
    free(partial);
    return why ? -1 : 0;
}

int ts_file_make_parents(const char *path, struct ts_err *err)
{
    char *folder = ts_path_dir(path);
    int result = ts_dir_make(folder, err);
    free(folder);
    return result;
}

char *ts_dir_temporary(const char *name, struct ts_err *err)
{
    const char *chosen = getenv("TMPDIR");
    const char *const bases[] = {chosen && *chosen ? chosen : "/tmp", "/tmp"};
    char *absolute = NULL;
    int why = 0;
    for (size_t i = 0; i < TS_COUNT(bases) && !absolute; i++) {
        char *folder = ts_printf("%s/%s-XXXXXX", bases[i], name);
        absolute = mkdtemp(folder) ? realpath(folder, NULL) : NULL;
        if (!absolute && !why)
            why = errno;
        free(folder);
    }
    if (!absolute)
        ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot make a folder for temporary files: %s",
                   bases[0], strerror(why));
    return absolute;
}

bool ts_file_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

char *ts_path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ts_strdup(".");
    while (slash > path && slash[-1] == '/')
        slash--;
    return ts_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

char *ts_path_join(const char *base, const char *relative)
{
    if (relative[0] == '/' || base[0] == '\0')
        return ts_strdup(relative);
    size_t length = strlen(base);
    return ts_printf(base[length - 1] == '/' ? "%s%s" : "%s/%s", base, relative);
}

static bool is_slug_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

char *ts_path_slug(const char *text)
{
    char slug[SLUG_BYTES + 1];
    size_t used = 0;
    for (; *text && used < SLUG_BYTES; text++) {
        char c = is_slug_byte(*text) ? *text : '-';
        /* A slug starts with no '-' (it would look like an option) and no '.' (hidden, "..") . */
        if ((c == '-' && (used == 0 || slug[used - 1] == '-')) || (c == '.' && used == 0))
            continue;
        slug[used++] = c;
    }
    while (used > 0 && slug[used - 1] == '-')
        used--;
    slug[used] = '\0';
    return ts_strdup(used ? slug : "unnamed");
}

/* ---- where the program and its data lie ---- */

char *ts_program_path(void)
{
    static const char gone[] = " (deleted)"; /* Linux's mark once the file was rebuilt under us */
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return ts_strdup("tilesweep"); /* then PATH finds it */
    path[length] = '\0';
    size_t tail = sizeof(gone) - 1, all = (size_t)length;
    if (all > tail && strcmp(path + all - tail, gone) == 0 && !ts_file_exists(path))
        path[all - tail] = '\0';
    return ts_strdup(path);
}

#if defined(TS_SOURCE_ROOT) && defined(TS_BUILD_ROOT)
/* Is path below folder? */
static bool lies_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}
#endif

/* The folder where the data of the program at `program` should lie. */
static char *data_place(const char *program)
{
#if defined(TS_SOURCE_ROOT) && defined(TS_BUILD_ROOT)
    if (lies_below(program, TS_BUILD_ROOT))
        return ts_strdup(TS_SOURCE_ROOT);
#endif
    char *bin = ts_path_dir(program), *prefix = ts_path_dir(bin);
    char *data = ts_path_join(prefix, "share/tilesweep");
    free(bin);
    free(prefix);
    return data;
}

char *ts_data_dir(struct ts_err *err)
{
    const char *given = getenv("TILESWEEP_DATA");
    char *program = ts_program_path();
    char *data = given && *given ? ts_strdup(given) : data_place(program);
    char *bench = ts_path_join(data, "bench");
    if (!ts_file_exists(bench)) {
        ts_err_set(
            err, TS_EXIT_SYSTEM,
            given && *given
                ? "%s: no folder bench here, where TILESWEEP_DATA says that the built-in "
                  "benchmarks are"
                : "%s: the built-in benchmarks are not here; set TILESWEEP_DATA to the folder "
                  "that holds bench and kernels",
            data);
        free(data);
        data = NULL;
    }
    free(bench);
    free(program);
    return data;
}

/* ---- locks ---- */

/* The lock file, made when absent and writable for everyone, since users share the device. A file
 * that only another user may write can still be locked through a read-only descriptor. */
static int open_lock(const char *path)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == EACCES)
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            (void)fchmod(fd, 0666);
            return fd;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* The process id that the holder wrote; 0 when it is not known. */
static long lock_holder(int fd)
{
    char text[32];
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    long pid = strtol(text, NULL, 10);
    return pid > 0 ? pid : 0;
}

static void lock_sign(int fd)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length)
        return; /* a lock without a name is still a lock */
}

/* Polls rather than blocks in flock, so that a signal is seen whenever it comes. */
static int lock_wait(int fd, const char *path, struct ts_err *err)
{
    const struct timespec pause = {0, LOCK_POLL_NS};
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot lock: %s", path, strerror(errno));
        if (ts_signal_pending())
            return ts_err_set(err, 128 + ts_signal_pending(),
                              "%s: interrupted while waiting for the lock", path);
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

static int lock_held(const char *path, long holder, struct ts_err *err)
{
    if (holder)
        return ts_err_set(err, TS_EXIT_SYSTEM, "%s: held by process %ld", path, holder);
    return ts_err_set(err, TS_EXIT_SYSTEM, "%s: held by another process", path);
}

int ts_lock_take(const char *path, bool wait, void (*waiting)(void *context, long holder_pid),
                 void *context, struct ts_err *err)
{
    if (ts_file_make_parents(path, err) != 0)
        return -1;
    int fd = open_lock(path);
    if (fd < 0)
        return ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot open: %s", path, strerror(errno));
    int failed = 0;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int why = errno;
        long holder = lock_holder(fd);
        if (why != EWOULDBLOCK && why != EINTR) {
            failed = ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot lock: %s", path, strerror(why));
        } else if (!wait) {
            failed = lock_held(path, holder, err);
        } else {
            if (waiting)
                waiting(context, holder);
            failed = lock_wait(fd, path, err);
        }
    }
    if (failed) {
        close(fd);
        return -1;
    }
    lock_sign(fd);
    return fd;
}

void ts_lock_release(int lock)
{
    if (lock < 0)
        return;
    if (ftruncate(lock, 0) != 0) {
        /* opened read-only: nothing was signed */
    }
    close(lock);
}
