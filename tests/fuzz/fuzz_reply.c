/* fuzz_reply.c: what a worker says, as the parent reads it: the crew, and what a sweep takes from a
 * `done` line. The input is what the worker does, a line each:
 *
 *     ! TEXT     it talks on standard error
 *     = N        it exits with status N
 *     ~ N        it dies of signal N
 *     @          nothing comes before the deadline
 *     TEXT       a protocol line; 4711 in it becomes the number of the job in flight
 *
 * The child processes of child.h are played by this file, so that nothing is started. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row_json.h"
#include "sweep_private.h"

/* ---- child.h, played ---- */

struct ts_child {
    int unused;
};

static struct {
    const char *at, *end;
    struct ts_text line;
    int64_t job; /* the last one sent */
} script;

struct ts_child *ts_child_open(const char *const *argv, char *const *assigned, size_t count,
                               struct ts_err *err)
{
    (void)argv, (void)assigned, (void)count, (void)err;
    return ts_alloc(1, sizeof(struct ts_child));
}

void ts_child_close(struct ts_child *child)
{
    free(child);
}

void ts_child_finish(struct ts_child *child, int grace_ms)
{
    (void)grace_ms;
    free(child);
}

long ts_child_pid(const struct ts_child *child)
{
    (void)child;
    return 1;
}

void ts_child_send(struct ts_child *child, const char *line)
{
    (void)child;
    if (sscanf(line, "{\"job\":%lld", (long long *)&script.job) != 1)
        return; /* a source */
}

bool ts_child_is_stopped(const struct ts_child *child)
{
    (void)child;
    return false;
}

void ts_signals_install(void)
{
}

int ts_signal_pending(void)
{
    return 0;
}

int ts_signal_count(void)
{
    return 0;
}

int ts_child_shell(const char *command, bool to_the_end)
{
    (void)command;
    (void)to_the_end;
    return -1;
}

/* The next line of the script with the job's number filled in. */
static void next_line(void)
{
    static const char job[] = "4711";
    size_t digits = sizeof(job) - 1;
    size_t length = (size_t)(script.end - script.at);
    const char *line_end = memchr(script.at, '\n', length);
    const char *stop = line_end ? line_end : script.end;
    script.line.length = 0;
    ts_text_puts(&script.line, "");
    for (const char *c = script.at; c < stop; c++)
        if ((size_t)(stop - c) >= digits && !memcmp(c, job, digits))
            ts_text_printf(&script.line, "%lld", (long long)script.job), c += digits - 1;
        else
            ts_text_add(&script.line, c, 1);
    script.at = line_end ? line_end + 1 : script.end;
}

void ts_child_wait(struct ts_child *const *children, size_t count, int64_t until_ns,
                   struct ts_event *event)
{
    size_t child = 0;
    while (child < count && !children[child])
        child++;
    *event = (struct ts_event){.kind = TS_EVENT_END, .child = child};
    if (script.at == script.end) {
        event->exit_code = 3;
        return;
    }
    next_line();
    const char *text = script.line.text;
    event->text = text;
    event->length = script.line.length;
    switch (text[0]) {
    case '!':
        event->kind = TS_EVENT_TALK;
        break;
    case '=':
        event->exit_code = atoi(text + 1) & 255;
        break;
    case '~':
        event->exit_code = -1;
        event->signal = 1 + (atoi(text + 1) & 31);
        break;
    case '@':
        event->kind = until_ns == INT64_MAX ? TS_EVENT_END : TS_EVENT_TIMEOUT;
        break;
    default:
        event->kind = TS_EVENT_LINE;
    }
}

/* ---- what a sweep does with a reply ---- */

/* A row that is written can be read, whatever a worker told. */
static void check_row(const struct ts_row *row)
{
    const struct ts_place root = ts_place_root("row");
    struct ts_row again;
    struct ts_err err = {0};
    cJSON *object = ts_row_to_json(row, NULL);
    char *text = ts_json_print(object);
    cJSON_Delete(object);
    object = ts_json_parse(text, strlen(text), "row", 1, &err);
    TS_FUZZ_REQUIRE(object && ts_row_from_json(&again, &root, object, &err) == 0, "%s\n%s",
                    err.text, text);
    cJSON_Delete(object);
    object = ts_row_to_json(&again, NULL);
    ts_fuzz_require_equal(text, ts_json_print(object), "the row");
    cJSON_Delete(object);
    ts_row_free(&again);
}

static void take_reply(const struct ts_reply *reply, bool timed_size)
{
    struct ts_row row;
    struct ts_device device;
    struct ts_err err = {0};
    struct phase_time phase = {0};
    ts_row_init(&row);
    row.benchmark = ts_strdup("b");
    row.variant = ts_strdup("v");
    if (reply->kind == TS_REPLY_DONE) {
        ts_sweep_merge(&row, reply->line, timed_size);
        ts_sweep_merge(&row, reply->line, true); /* a second size, a last look */
        ts_sweep_book(&phase, reply);
        if (ts_device_from_json(&device, reply->line, &err) == 0)
            ts_device_free(&device);
    } else {
        TS_FUZZ_REQUIRE(reply->text && reply->text[0] && reply->code[0], "lost without a reason");
    }
    ts_sweep_take_talk(&row, reply->talk);
    if (!ts_sweep_take_failure(&row, reply))
        ts_row_set_status(&row, TS_OK, NULL, "%s", "");
    check_row(&row);
    ts_row_free(&row);
}

static void work(struct ts_crew *crew)
{
    static const char *const digest = "xxh3:0123456789abcdef", *const text = "kernel";
    struct ts_err err = {0};
    size_t seat;
    for (int round = 0; round < 3; round++) {
        struct ts_job job = {.verb = TS_JOB_PEAKS, .code = {ts_strdup(digest), ts_strdup("-DX=1")}};
        struct ts_reply reply = {0};
        TS_FUZZ_REQUIRE(ts_crew_hire(crew, &seat, &err) == 0, "%s", err.text);
        ts_crew_call(crew, seat, &job, &digest, &text, 1, &reply);
        TS_FUZZ_REQUIRE(reply.kind == TS_REPLY_DONE || reply.kind == TS_REPLY_LOST, "reply %d",
                        (int)reply.kind);
        TS_FUZZ_REQUIRE(ts_crew_is_hired(crew, seat) == (reply.kind == TS_REPLY_DONE),
                        "a seat that does not know whether it is free");
        take_reply(&reply, round > 0);
        ts_crew_dismiss(crew, seat);
        ts_reply_free(&reply);
        ts_job_free(&job);
    }
}

void ts_fuzz_one(const char *text, size_t length)
{
    static char name[] = "D", id[] = "1";
    const struct ts_device device = {.name = name, .id = id};
    script.at = text;
    script.end = text + length;
    /* The number of bytes decides: remote workers, such that are late, that take a device first. */
    const struct ts_launcher launcher = {.command =
                                             length % 3 ? "ssh host tilesweep worker" : NULL};
    int ordinal = 1;
    struct ts_crew *crew = ts_crew_open(&launcher, length % 5 ? 60000000000 : 0, &ordinal);
    if (length % 2)
        ts_crew_use_device(crew, &device);
    work(crew);
    ts_crew_close(crew);
    ts_text_free(&script.line);
}
