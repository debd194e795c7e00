/* fuzz.c: see fuzz.h. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ts_fuzz_fail(const char *file, int line, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}

void ts_fuzz_require_usage(const struct ts_err *err, const char *start)
{
    TS_FUZZ_REQUIRE(err->exit_status == TS_EXIT_USAGE, "exit status %d: %s", err->exit_status,
                    err->text);
    TS_FUZZ_REQUIRE(strncmp(err->text, start, strlen(start)) == 0,
                    "the message does not begin with \"%s\": %s", start, err->text);
    TS_FUZZ_REQUIRE(strlen(err->text) > strlen(start), "the message says nothing but its place");
}

void ts_fuzz_require_equal(char *a, char *b, const char *what)
{
    TS_FUZZ_REQUIRE(strcmp(a, b) == 0, "%s changed:\n%s\nbecame\n%s", what, a, b);
    free(a);
    free(b);
}

/* ---- files ---- */

static struct {
    char *folder;
    char *names[16], *paths[16];
    size_t count;
} files;

static void remove_files(void)
{
    for (size_t i = 0; i < files.count; i++) {
        (void)unlink(files.paths[i]);
        free(files.names[i]);
        free(files.paths[i]);
    }
    (void)rmdir(files.folder);
    free(files.folder);
}

/* /dev/shm is memory on Linux: a million small files a minute wear no disk. */
static void make_folder(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    files.folder = ts_printf("%s/ts-fuzz-XXXXXX", base);
    TS_FUZZ_REQUIRE(mkdtemp(files.folder), "cannot make a folder in %s", base);
    atexit(remove_files);
}

const char *ts_fuzz_path(const char *name)
{
    if (!files.folder)
        make_folder();
    for (size_t i = 0; i < files.count; i++)
        if (strcmp(files.names[i], name) == 0)
            return files.paths[i];
    TS_FUZZ_REQUIRE(files.count < TS_COUNT(files.names), "too many names of files");
    files.names[files.count] = ts_strdup(name);
    files.paths[files.count] = ts_printf("%s/%s", files.folder, name);
    return files.paths[files.count++];
}

const char *ts_fuzz_file(const char *name, const char *bytes, size_t length)
{
    const char *path = ts_fuzz_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    TS_FUZZ_REQUIRE(fd >= 0, "cannot open %s", path);
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, bytes + done, length - done);
        TS_FUZZ_REQUIRE(put > 0, "cannot write %s", path);
        done += (size_t)put;
    }
    close(fd);
    return path;
}
