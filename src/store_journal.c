/* store_journal.c: writing FILE.part. */
#define _POSIX_C_SOURCE 200809L
#include "row_json.h"
#include "store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define SYNC_EVERY_NS 1000000000LL

struct ts_journal {
    char *path; /* with .part */
    int fd;
    off_t length;
    int64_t synced_ns;
    bool failed; /* a line is missing */
};

static int cannot_write(const struct ts_journal *journal, struct ts_err *err)
{
    return ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot write: %s", journal->path, strerror(errno));
}

static int open_locked(struct ts_journal *journal, struct ts_err *err);

/* Does its name still lead to the file? */
static bool is_named(const struct ts_journal *journal)
{
    struct stat ours, named;
    return fstat(journal->fd, &ours) == 0 && stat(journal->path, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/* 0, or the system's word. */
static int copy_lines(int from, int to, off_t length)
{
    char block[4096];
    for (off_t at = 0; at < length;) {
        ssize_t got = pread(from, block, sizeof(block), at);
        if (got <= 0)
            return got < 0 ? errno : EIO;
        int failed = ts_file_write_fd(to, block, (size_t)got);
        if (failed)
            return failed;
        at += got;
    }
    return 0;
}

/* Somebody removed the file, or its folder: what we hold open is lost once we end, so it is written
 * again. Best effort: without it the run goes on all the same, and its document is still to come. A
 * file that another run has put there meanwhile is left alone. */
static void make_again(struct ts_journal *journal)
{
    struct ts_err ignored = {0};
    struct stat found;
    int old = journal->fd;
    if (ts_file_make_parents(journal->path, &ignored) == 0 && open_locked(journal, &ignored) == 0 &&
        fstat(journal->fd, &found) == 0 && found.st_size == 0 &&
        copy_lines(old, journal->fd, journal->length) == 0) {
        close(old);
        return;
    }
    if (journal->fd >= 0 && journal->fd != old)
        close(journal->fd);
    journal->fd = old;
}

/* A file system without fsync is not a broken one. */
static bool is_broken_sync(int why)
{
    return why != EINVAL && why != ENOSYS && why != ENOTSUP && why != EROFS && why != EINTR;
}

/* Once a second. 0, or the system's word. */
static int keep_safe(struct ts_journal *journal)
{
    int64_t now_ns = ts_now_ns();
    if (now_ns - journal->synced_ns < SYNC_EVERY_NS)
        return 0;
    journal->synced_ns = now_ns;
    if (!is_named(journal))
        make_again(journal);
    return fsync(journal->fd) != 0 && is_broken_sync(errno) ? errno : 0;
}

/* One object as one line by one write, so that a kill leaves whole lines. A disk that fills up in
 * the middle of a line leaves none of it. */
static int put_line(struct ts_journal *journal, const cJSON *object, struct ts_err *err)
{
    struct ts_text line = {0};
    char *text = ts_json_print(object);
    ts_text_puts(&line, text);
    ts_text_puts(&line, "\n");
    free(text);
    int failed = ts_file_write_fd(journal->fd, line.text, line.length);
    if (!failed)
        journal->length += (off_t)line.length;
    else if (ftruncate(journal->fd, journal->length) != 0)
        failed = errno; /* then the line is torn; readers drop it */
    ts_text_free(&line);
    if (!failed)
        failed = keep_safe(journal);
    if (!failed)
        return 0;
    journal->failed = true;
    errno = failed;
    return cannot_write(journal, err);
}

/* {"key": item}; takes item. */
static int put(struct ts_journal *journal, const char *key, cJSON *item, struct ts_err *err)
{
    cJSON *line = cJSON_CreateObject();
    ts_json_add_item(line, key, item);
    int result = put_line(journal, line, err);
    cJSON_Delete(line);
    return result;
}

static int put_opening(struct ts_journal *journal, struct ts_err *err)
{
    cJSON *line = cJSON_CreateObject();
    char *schema = ts_printf("%s%d", TS_JOURNAL_SCHEMA, TS_STORE_VERSION);
    ts_json_add_string(line, "journal", schema);
    ts_json_add_int(line, "pid", (int64_t)getpid());
    int result = put_line(journal, line, err);
    cJSON_Delete(line);
    free(schema);
    return result;
}

/* The process that wrote the last opening line; 0 when it is not known. */
static long journal_writer(const char *path)
{
    struct ts_err ignored = {0};
    size_t length = 0;
    long pid = 0;
    char *text = ts_file_read(path, &length, &ignored);
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (strncmp(line, "{\"journal\"", strlen("{\"journal\"")) == 0 && end) {
            cJSON *opening = ts_json_parse(line, (size_t)(end - line), path, 1, &ignored);
            pid = (long)ts_json_int(opening, "pid", 0);
            cJSON_Delete(opening);
        }
        line = end ? end + 1 : NULL;
    }
    free(text);
    return pid;
}

static int lock_journal(const struct ts_journal *journal, struct ts_err *err)
{
    if (flock(journal->fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot lock: %s", journal->path,
                          strerror(errno));
    long pid = journal_writer(journal->path);
    if (pid > 0)
        return ts_err_set(err, TS_EXIT_SYSTEM, "%s: process %ld is writing these results",
                          journal->path, pid);
    return ts_err_set(err, TS_EXIT_SYSTEM, "%s: another process is writing these results",
                      journal->path);
}

/* Opens and locks. A holder that finishes just now removes the file: then what we locked has no
 * name any more, and we try again. */
static int open_locked(struct ts_journal *journal, struct ts_err *err)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (journal->fd < 0)
            return cannot_write(journal, err);
        if (lock_journal(journal, err) != 0)
            return -1;
        if (is_named(journal))
            return 0;
        close(journal->fd);
        journal->fd = -1;
    }
    return ts_err_set(err, TS_EXIT_SYSTEM, "%s: is removed again and again", journal->path);
}

/* Length up to and with the last newline. */
static off_t whole_lines(int fd)
{
    char block[4096];
    struct stat about;
    if (fstat(fd, &about) != 0)
        return 0;
    for (off_t end = about.st_size; end > 0;) {
        size_t size = end < (off_t)sizeof(block) ? (size_t)end : sizeof(block);
        off_t start = end - (off_t)size;
        if (pread(fd, block, size, start) != (ssize_t)size)
            return 0;
        for (size_t i = size; i > 0; i--)
            if (block[i - 1] == '\n')
                return start + (off_t)i;
        end = start;
    }
    return 0;
}

struct ts_journal *ts_journal_open(const char *path, bool append, struct ts_err *err)
{
    struct ts_journal *journal = ts_alloc(1, sizeof(*journal));
    journal->path = ts_printf("%s.part", path);
    journal->fd = -1;
    if (ts_file_make_parents(journal->path, err) != 0 || open_locked(journal, err) != 0)
        goto failed;
    journal->length = append ? whole_lines(journal->fd) : 0;
    if (ftruncate(journal->fd, journal->length) != 0) {
        cannot_write(journal, err);
        goto failed;
    }
    if (put_opening(journal, err) == 0)
        return journal;
failed:
    ts_journal_close(journal, false);
    return NULL;
}

int ts_journal_run(struct ts_journal *journal, const struct ts_run *run, struct ts_err *err)
{
    cJSON *object = ts_store_header_to_json(run, false);
    cJSON *counts = ts_json_add_object(object, "counts");
    ts_json_add_int(counts, "excluded", run->excluded);
    return put(journal, "run", object, err);
}

int ts_journal_row(struct ts_journal *journal, const struct ts_row *row, struct ts_err *err)
{
    if (row->status == TS_PENDING)
        return 0; /* nothing is known yet */
    struct ts_row view = *row;
    view.time.visit_count = 0; /* visits have lines of their own */
    return put(journal, "row", ts_row_to_json(&view, NULL), err);
}

static cJSON *key_to_json(const struct ts_row *row)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "benchmark", row->benchmark);
    ts_json_add_item(object, "size", ts_values_to_json(&row->size));
    ts_json_add_item(object, "problem", ts_values_to_json(&row->problem));
    ts_json_add_string(object, "variant", row->variant);
    if (row->side != TS_AB_NONE)
        ts_json_add_string(object, "side", ts_ab_name(row->side));
    ts_json_add_item(object, "params", ts_values_to_json(&row->params));
    return object;
}

static int put_visit(struct ts_journal *journal, const struct ts_row *row, size_t index,
                     struct ts_err *err)
{
    const struct ts_time *time = &row->time;
    const struct ts_visit *visit = &time->visits[index];
    cJSON *object = key_to_json(row);
    ts_json_add_int(object, "worker", visit->worker);
    ts_json_add_int(object, "batch", time->batch);
    ts_json_add_int_or_null(object, "first_ns", time->first_ns);
    cJSON *samples = ts_json_add_array(object, "sample_ns");
    for (size_t i = 0; i < visit->count; i++)
        ts_json_add_int(samples, NULL, visit->sample_ns[i]);
    ts_json_add_bool(object, "fresh", index >= time->fresh_from);
    ts_json_add_string(object, "clock", time->host_clock ? "host" : "event");
    if (time->cache != TS_CACHE_WARM)
        ts_json_add_string(object, "cache", ts_cache_name(time->cache));
    if (visit->pair >= 0)
        ts_json_add_int(object, "pair", visit->pair);
    if (visit->disturbed)
        ts_json_add_bool(object, "disturbed", true);
    return put(journal, "visit", object, err);
}

int ts_journal_visit(struct ts_journal *journal, const struct ts_row *row, struct ts_err *err)
{
    return row->time.visit_count ? put_visit(journal, row, row->time.visit_count - 1, err) : 0;
}

/* What became of the row's last visits. */
static int put_last(struct ts_journal *journal, const char *key, const struct ts_row *row,
                    size_t visits, struct ts_err *err)
{
    cJSON *object = key_to_json(row);
    ts_json_add_int(object, "visits", (int64_t)visits);
    return put(journal, key, object, err);
}

int ts_journal_drop(struct ts_journal *journal, const struct ts_row *row, size_t visits,
                    struct ts_err *err)
{
    return put_last(journal, "drop", row, visits, err);
}

int ts_journal_disturb(struct ts_journal *journal, const struct ts_row *row, size_t visits,
                       struct ts_err *err)
{
    return put_last(journal, "disturb", row, visits, err);
}

int ts_journal_sentinel(struct ts_journal *journal, const struct ts_sentinel_point *point,
                        struct ts_err *err)
{
    return put(journal, "sentinel", ts_sentinel_point_to_json(point), err);
}

int ts_journal_copy(struct ts_journal *journal, const struct ts_run *run, struct ts_err *err)
{
    if (ts_journal_run(journal, run, err) != 0)
        return -1;
    for (size_t i = 0; i < run->sentinel.count; i++)
        if (ts_journal_sentinel(journal, &run->sentinel.points[i], err) != 0)
            return -1;
    for (size_t i = 0; i < run->row_count; i++) {
        if (ts_journal_row(journal, &run->rows[i], err) != 0)
            return -1;
        for (size_t v = 0; v < run->rows[i].time.visit_count; v++)
            if (put_visit(journal, &run->rows[i], v, err) != 0)
                return -1;
    }
    return 0;
}

int ts_journal_end(struct ts_journal *journal, const struct ts_run *run, struct ts_err *err)
{
    cJSON *object = cJSON_CreateObject();
    ts_json_add_string(object, "finished", run->finished);
    ts_json_add_bool(object, "interrupted", run->interrupted);
    ts_json_add_item(object, "peaks", ts_peaks_to_json(&run->peaks));
    return put(journal, "end", object, err);
}

void ts_journal_close(struct ts_journal *journal, bool remove_file)
{
    if (!journal)
        return;
    if (journal->fd >= 0) {
        if (remove_file)
            (void)unlink(journal->path); /* while it is still locked */
        else
            (void)fsync(journal->fd);
        close(journal->fd);
    }
    free(journal->path);
    free(journal);
}

bool ts_journal_is_whole(const struct ts_journal *journal)
{
    return !journal->failed && is_named(journal);
}
