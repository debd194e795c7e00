/* test_file.c: reads, atomic writes, paths, where the data lies, locks. */
#define _XOPEN_SOURCE 700 /* mkdtemp, realpath */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "signals.h"

static char folder[] = "/tmp/tilesweep-file-XXXXXX";

static void put(const char *path, const char *text)
{
    struct ts_err err = {0};
    if (ts_file_write(path, text, strlen(text), &err) != 0)
        fail_msg("%s", err.text);
}

static void expect_content(const char *path, const char *text)
{
    struct ts_err err = {0};
    size_t length;
    char *got = ts_file_read(path, &length, &err);
    if (!got)
        fail_msg("%s", err.text);
    assert_string_equal(got, text);
    assert_int_equal(length, strlen(text));
    free(got);
}

/* Files of the folder, "." and ".." not counted. */
static int count_files(const char *path)
{
    int count = 0;
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

/* ---- reading and writing ---- */

static void test_read(void **state)
{
    (void)state;
    struct ts_err err = {0}, none = {0};
    size_t length = 0;
    assert_null(ts_file_read("none", &length, &none));
    assert_string_equal(none.text, "none: cannot open: No such file or directory");
    assert_int_equal(none.exit_status, TS_EXIT_USAGE);
    assert_null(ts_file_read(".", &length, &err));
    assert_string_equal(err.text, ".: expected a file, got a folder");
    put("empty", "");
    expect_content("empty", "");
    /* A file of the kernel's tells the size 0. */
    struct ts_err good = {0};
    char *status = ts_file_read("/proc/self/status", &length, &good);
    assert_non_null(status);
    assert_true(length > 100 && strlen(status) == length);
    free(status);
}

static void test_read_larger_than_a_chunk(void **state)
{
    (void)state;
    struct ts_err err = {0};
    const size_t size = 1000003;
    char *bytes = ts_alloc(size, 1), *got;
    size_t length;
    memset(bytes, 'x', size);
    assert_int_equal(ts_file_write("large", bytes, size, &err), 0);
    got = ts_file_read("large", &length, &err);
    assert_int_equal(length, size);
    assert_memory_equal(got, bytes, size);
    free(got);
    free(bytes);
}

static void test_write_replaces(void **state)
{
    (void)state;
    struct stat about;
    put("deep/er/file", "one");
    assert_int_equal(chmod("deep/er/file", 0600), 0);
    put("deep/er/file", "two");
    expect_content("deep/er/file", "two");
    assert_int_equal(stat("deep/er/file", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(count_files("deep/er"), 1);
}

static void test_write_through_a_link(void **state)
{
    (void)state;
    struct stat about;
    put("target", "one");
    assert_int_equal(symlink("target", "link"), 0);
    put("link", "two");
    expect_content("target", "two");
    assert_int_equal(lstat("link", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
}

static void test_write_failures(void **state)
{
    (void)state;
    struct ts_err folder_err = {0}, under_file = {0}, full = {0}, good = {0};
    put("plain", "kept");
    assert_int_equal(ts_file_write("deep", "x", 1, &folder_err), -1);
    assert_string_equal(folder_err.text, "deep: cannot write: Is a directory");
    assert_int_equal(folder_err.exit_status, TS_EXIT_SYSTEM);
    assert_int_equal(ts_file_write("plain/file", "x", 1, &under_file), -1);
    assert_string_equal(under_file.text, "plain: cannot make the folder: Not a directory");
    expect_content("plain", "kept");
    assert_int_equal(ts_file_write("/dev/full", "x", 1, &full), -1);
    assert_string_equal(full.text, "/dev/full: cannot write: No space left on device");
    assert_int_equal(ts_file_write("/dev/null", "x", 1, &good), 0);
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
}

/* Behind a link lies what is not ours. */
static void test_replace_a_link(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct stat about;
    put("behind", "kept");
    assert_int_equal(symlink("behind", "in-front"), 0);
    assert_int_equal(ts_file_replace("in-front", "two", 3, &err), 0);
    expect_content("behind", "kept");
    expect_content("in-front", "two");
    assert_int_equal(lstat("in-front", &about), 0);
    assert_true(S_ISREG(about.st_mode));
    assert_int_equal(chmod("in-front", 0640), 0);
    assert_int_equal(ts_file_replace("in-front", "three", 5, &err), 0);
    expect_content("in-front", "three");
    assert_int_equal(stat("in-front", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_int_equal(ts_file_replace("none/file", "x", 1, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
}

static void test_temporary_folder(void **state)
{
    (void)state;
    struct ts_err err = {0};
    const char *was = getenv("TMPDIR");
    char *kept = was ? ts_strdup(was) : NULL;
    setenv("TMPDIR", ".", 1);
    char *here = ts_dir_temporary("made", &err), *other = ts_dir_temporary("made", &err);
    assert_non_null(here);
    assert_string_not_equal(here, other);
    assert_int_equal(here[0], '/');
    assert_non_null(strstr(here, "tilesweep-file-")); /* the working folder of this test */
    setenv("TMPDIR", "/nonexistent", 1);
    char *fallback = ts_dir_temporary("made", &err);
    assert_int_equal(strncmp(fallback, "/tmp/made-", 10), 0);
    char *none = ts_dir_temporary("no/such", &err);
    assert_null(none);
    assert_string_equal(
        err.text,
        "/nonexistent: cannot make a folder for temporary files: No such file or directory");
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
    assert_int_equal(rmdir(here) | rmdir(other) | rmdir(fallback), 0);
    kept ? setenv("TMPDIR", kept, 1) : unsetenv("TMPDIR");
    free(here);
    free(other);
    free(fallback);
    free(kept);
}

static void expect_refused(const char *path, int status, const char *text)
{
    char input[] = "kept/input", *const inputs[] = {input};
    struct ts_err err = {0};
    if (!text) {
        assert_int_equal(ts_file_check_output(path, inputs, 1, &err), 0);
        return;
    }
    assert_int_equal(ts_file_check_output(path, inputs, 1, &err), -1);
    assert_string_equal(err.text, text);
    assert_int_equal(err.exit_status, status);
}

static void test_check_output(void **state)
{
    (void)state;
    put("kept/input", "in");
    put("kept/other", "out");
    assert_int_equal(symlink("input", "kept/link"), 0);
    expect_refused("-", 0, NULL);
    expect_refused("new", 0, NULL);
    expect_refused("kept/new", 0, NULL);
    expect_refused("kept/other", 0, NULL);
    expect_refused("/dev/null", 0, NULL);
    expect_refused("", TS_EXIT_USAGE, "-o: expected the name of a file, got \"\"");
    expect_refused("kept/link", TS_EXIT_USAGE,
                   "kept/link: is one of the files that are read; write to another one");
    expect_refused("kept", TS_EXIT_SYSTEM, "kept: is a folder, expected a file");
    expect_refused("none/new", TS_EXIT_SYSTEM,
                   "none/new: cannot be written: there is no folder none");
    expect_refused("kept/other/new", TS_EXIT_SYSTEM,
                   "kept/other/new: cannot be written: there is no folder kept/other");
    expect_refused("none/", TS_EXIT_SYSTEM, "none/: cannot be written: there is no folder none");
    assert_int_equal(access("none", F_OK), -1);
    expect_content("kept/input", "in");
}

/* root may write everywhere, but not where nobody may. */
static void test_check_output_of_read_only_folder(void **state)
{
    (void)state;
    struct ts_err err = {0};
    if (access("/proc/self", W_OK) == 0 || access("/proc/self", F_OK) != 0)
        skip();
    assert_int_equal(ts_file_check_output("/proc/self/new", NULL, 0, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
    assert_non_null(strstr(err.text, "/proc/self/new: cannot write: "));
}

/* A limit on file sizes stands for a full disk: the write stops half way. */
static void test_short_write_keeps_the_old_file(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct rlimit old, small;
    const size_t size = 100000;
    char *bytes = ts_alloc(size, 1);
    put("full/file", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int result = ts_file_write("full/file", bytes, size, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(result, -1);
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
    assert_string_equal(err.text, "full/file: cannot write: File too large");
    expect_content("full/file", "old");
    assert_int_equal(count_files("full"), 1);
    free(bytes);
}

/* ---- paths ---- */

static void expect_owned(char *got, const char *want)
{
    assert_string_equal(got, want);
    free(got);
}

static void test_paths(void **state)
{
    (void)state;
    expect_owned(ts_path_dir("a/b/c"), "a/b");
    expect_owned(ts_path_dir("a//c"), "a");
    expect_owned(ts_path_dir("c"), ".");
    expect_owned(ts_path_dir("/c"), "/");
    expect_owned(ts_path_dir("//c"), "/");
    expect_owned(ts_path_join("a", "b"), "a/b");
    expect_owned(ts_path_join("a/", "b"), "a/b");
    expect_owned(ts_path_join("a", "/b"), "/b");
    expect_owned(ts_path_join("", "b"), "b");
    expect_owned(ts_path_slug("NVIDIA H200 (no. 3)"), "NVIDIA-H200-no.-3");
    expect_owned(ts_path_slug("../../etc"), "etc");
    expect_owned(ts_path_slug("--help"), "help");
    expect_owned(ts_path_slug("\xc3\xbc/"), "unnamed");
    char *slug =
        ts_path_slug("abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-abcdef-abcdef");
    assert_int_equal(strlen(slug), 60);
    free(slug);
}

static void test_folders(void **state)
{
    (void)state;
    struct ts_err err = {0};
    assert_int_equal(ts_dir_make("x/y//z/", &err), 0);
    assert_int_equal(ts_dir_make("x/y/z", &err), 0); /* again */
    assert_true(ts_file_exists("x/y/z"));
    assert_int_equal(ts_file_make_parents("p/q/r", &err), 0);
    assert_true(ts_file_exists("p/q"));
    assert_false(ts_file_exists("p/q/r"));
    char *absolute = ts_path_join(folder, "abs/olute");
    assert_int_equal(ts_dir_make(absolute, &err), 0);
    assert_true(ts_file_exists("abs/olute"));
    free(absolute);
}

/* ---- data ---- */

static void test_data_dir(void **state)
{
    (void)state;
    struct ts_err err = {0}, none = {0};
    assert_int_equal(ts_dir_make("data/bench", &err), 0);
    assert_int_equal(setenv("TILESWEEP_DATA", "data", 1), 0);
    expect_owned(ts_data_dir(&err), "data");
    assert_int_equal(setenv("TILESWEEP_DATA", "p", 1), 0);
    assert_null(ts_data_dir(&none));
    assert_string_equal(none.text, "p: no folder bench here, where TILESWEEP_DATA says that the "
                                   "built-in benchmarks are");
    assert_int_equal(none.exit_status, TS_EXIT_SYSTEM);
    assert_int_equal(unsetenv("TILESWEEP_DATA"), 0);
    char *program = ts_program_path();
    assert_int_equal(program[0], '/');
    assert_true(ts_file_exists(program));
    free(program);
#ifdef TS_BUILD_ROOT
    /* This test lies in the build folder, so the source tree serves it. */
    expect_owned(ts_data_dir(&err), TS_SOURCE_ROOT);
#endif
}

/* ---- locks ---- */

static void tell(void *context, long holder)
{
    *(long *)context = holder;
}

/* A child that holds the lock until it is killed; returns once it does. */
static pid_t start_holder(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ts_err err = {0};
        if (ts_lock_take("locks/one", false, NULL, NULL, &err) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_lock(void **state)
{
    (void)state;
    struct ts_err err = {0}, held = {0};
    pid_t holder = start_holder();
    assert_int_equal(ts_lock_take("locks/one", false, NULL, NULL, &held), -1);
    char *message = ts_printf("locks/one: held by process %ld", (long)holder);
    assert_string_equal(held.text, message);
    assert_int_equal(held.exit_status, TS_EXIT_SYSTEM);
    free(message);
    end(holder);
    int lock = ts_lock_take("locks/one", false, NULL, NULL, &err); /* a dead holder holds nothing */
    assert_true(lock >= 0);
    message = ts_printf("%ld\n", (long)getpid());
    expect_content("locks/one", message);
    free(message);
    ts_lock_release(lock);
    expect_content("locks/one", "");
    ts_lock_release(-1);
}

static void on_alarm(int number)
{
    (void)number;
    kill(getpid(), SIGTERM);
}

/* Last of the tests: the flag stays. */
static void test_waiting_for_a_lock(void **state)
{
    (void)state;
    struct ts_err err = {0};
    long told = 0;
    pid_t holder = start_holder();
    /* The holder ends while we wait. */
    pid_t killer = fork();
    if (killer == 0) {
        nanosleep(&(struct timespec){0, 150000000}, NULL);
        kill(holder, SIGKILL);
        _exit(0);
    }
    int lock = ts_lock_take("locks/one", true, tell, &told, &err);
    assert_true(lock >= 0);
    assert_int_equal(told, holder);
    ts_lock_release(lock);
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    /* A signal ends the wait, and says which one it was. */
    holder = start_holder();
    ts_signals_install();
    signal(SIGALRM, on_alarm);
    alarm(1);
    assert_int_equal(ts_lock_take("locks/one", true, NULL, NULL, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_SIGTERM);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
}

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    char *command = ts_printf("rm -rf '%s'", folder);
    int result = chdir("/") == 0 && system(command) == 0 ? 0 : -1;
    free(command);
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_larger_than_a_chunk),
        cmocka_unit_test(test_write_replaces),
        cmocka_unit_test(test_write_through_a_link),
        cmocka_unit_test(test_write_failures),
        cmocka_unit_test(test_replace_a_link),
        cmocka_unit_test(test_temporary_folder),
        cmocka_unit_test(test_check_output),
        cmocka_unit_test(test_check_output_of_read_only_folder),
        cmocka_unit_test(test_short_write_keeps_the_old_file),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_data_dir),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_waiting_for_a_lock),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
