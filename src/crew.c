/* crew.c: workers: starting, deadlines, replies. */
#include "crew.h"

#include "hide.h"
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TALK_BYTES (64 * 1024)
#define GRACE_MS 200
/* The reference's time does not count against the deadline, but one that takes so many deadlines is
 * stuck. */
#define REFERENCE_TIMEOUTS 10
/* At least so long a worker may take to say its first line and to take its device. */
#define START_NS 10000000000LL
/* A wait that returns so late was not asleep but stopped. */
#define STOPPED_NS 500000000

struct hand {
    struct ts_child *child; /* NULL: the seat is free */
    int ordinal;
    bool hello;         /* its first line has come */
    int64_t opening_id; /* the crew's own `open` job, while it is in flight */
    int64_t job_id;     /* the caller's job in flight, 0: none */
    int64_t deadline_ns;
    int64_t left_ns; /* while the reference computes, which has a deadline of its own: what was left
                      * of the job's; else -1 */
    int done;        /* prove and time jobs */
    bool began;      /* the worker has told a stage of the job in flight */
    enum ts_job_verb verb;
    char stage[16];
    struct ts_text talk;
    char **sources; /* digests it has */
    size_t source_count, source_capacity;
};

struct ts_crew {
    char *command;
    int64_t timeout_ns;
    const struct ts_device *device;
    struct hand hands[TS_CREW_SEATS];
    char *const *assigned; /* of its workers' environment */
    size_t assigned_count;
    int *next_ordinal;
    int64_t last_id;
    int64_t looked_ns; /* the last look at the clock; 0: none yet */
    char *hidden_host; /* NULL: replies come as they are */
};

struct ts_crew *ts_crew_open(const struct ts_launcher *launcher, int64_t timeout_ns,
                             int *next_ordinal)
{
    struct ts_crew *crew = ts_alloc(1, sizeof(*crew));

    crew->command = launcher->command ? ts_strdup(launcher->command) : NULL;
    crew->assigned = launcher->assigned;
    crew->assigned_count = launcher->assigned_count;
    crew->timeout_ns = timeout_ns;
    crew->next_ordinal = next_ordinal;
    return crew;
}

static void clear_hand(struct hand *hand)
{
    for (size_t i = 0; i < hand->source_count; i++)
        free(hand->sources[i]);
    free(hand->sources);
    ts_text_free(&hand->talk);
    memset(hand, 0, sizeof(*hand));
}

void ts_crew_close(struct ts_crew *crew)
{
    if (!crew)
        return;
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        ts_child_close(crew->hands[i].child);
        clear_hand(&crew->hands[i]);
    }
    free(crew->hidden_host);
    free(crew->command);
    free(crew);
}

void ts_crew_use_device(struct ts_crew *crew, const struct ts_device *device)
{
    crew->device = device;
}

void ts_crew_use_command(struct ts_crew *crew, const char *command)
{
    free(crew->command);
    crew->command = ts_strdup(command);
}

void ts_crew_hide(struct ts_crew *crew, const char *host)
{
    free(crew->hidden_host);
    crew->hidden_host = ts_strdup(host ? host : "");
}

/* ---- sending ---- */

static bool has_source(const struct hand *hand, const char *digest)
{
    for (size_t i = 0; i < hand->source_count; i++) {
        if (!strcmp(hand->sources[i], digest))
            return true;
    }
    return false;
}

static void send_source(struct hand *hand, const char *digest, const char *text)
{
    cJSON *line = cJSON_CreateObject();
    char *printed;

    ts_json_add_string(line, "source", digest);
    ts_json_add_string(line, "text", text);
    printed = ts_json_print(line);
    ts_child_send(hand->child, printed);
    free(printed);
    cJSON_Delete(line);
    TS_GROW(hand->sources, hand->source_count, hand->source_capacity);
    hand->sources[hand->source_count++] = ts_strdup(digest);
}

static void send_job(struct ts_crew *crew, struct hand *hand, struct ts_job *job)
{
    char *line;

    job->id = ++crew->last_id;
    line = ts_job_print(job);
    ts_child_send(hand->child, line);
    free(line);
}

/* A process that starts and a driver that wakes up are no job: a short --timeout is not meant for
 * them. */
static int64_t timeout_of(const struct ts_crew *crew, const struct hand *hand)
{
    bool starts = !hand->hello || hand->opening_id != 0 || hand->verb == TS_JOB_DEVICES ||
                  hand->verb == TS_JOB_OPEN || hand->verb == TS_JOB_PEAKS;

    return starts && crew->timeout_ns < START_NS ? START_NS : crew->timeout_ns;
}

static void start_deadline(struct ts_crew *crew, struct hand *hand)
{
    hand->deadline_ns = ts_now_ns() + timeout_of(crew, hand);
    hand->left_ns = -1;
}

static int64_t reference_timeout_ns(const struct ts_crew *crew)
{
    return REFERENCE_TIMEOUTS * crew->timeout_ns;
}

void ts_crew_send(struct ts_crew *crew, size_t seat, struct ts_job *job, const char *const *digests,
                  const char *const *texts, size_t source_count)
{
    struct hand *hand = &crew->hands[seat];

    for (size_t i = 0; i < source_count; i++) {
        if (!has_source(hand, digests[i]))
            send_source(hand, digests[i], texts[i]);
    }
    send_job(crew, hand, job);
    hand->job_id = job->id;
    hand->verb = job->verb;
    memcpy(hand->stage, "build", sizeof("build"));
    hand->talk.length = 0;
    hand->began = false;
    start_deadline(crew, hand);
}

/* ---- hiring ---- */

static void open_device(struct ts_crew *crew, struct hand *hand)
{
    struct ts_job job = {
        .verb = TS_JOB_OPEN,
        .platform_index = crew->device->platform_index,
        .device_index = crew->device->device_index,
        .device_id = crew->device->id,
    };

    send_job(crew, hand, &job);
    hand->opening_id = job.id;
    start_deadline(crew, hand);
}

static struct ts_child *start_worker(const struct ts_crew *crew, struct ts_err *err)
{
    struct ts_child *child;

    if (crew->command) {
        char *shell = ts_printf("exec %s", crew->command);
        const char *argv[] = {"/bin/sh", "-c", shell, NULL};
        child = ts_child_open(argv, crew->assigned, crew->assigned_count, err);
        free(shell);
    } else {
        /* By this name a program that is rebuilt during a run still starts itself. */
        const char *argv[] = {"/proc/self/exe", "worker", NULL};
        child = ts_child_open(argv, crew->assigned, crew->assigned_count, err);
    }
    return child;
}

int ts_crew_hire(struct ts_crew *crew, size_t *seat, struct ts_err *err)
{
    struct hand *hand = NULL;

    for (size_t i = 0; i < TS_CREW_SEATS && !hand; i++) {
        if (!crew->hands[i].child) {
            hand = &crew->hands[i];
            *seat = i;
        }
    }
    if (!hand)
        return ts_err_set(err, TS_EXIT_SYSTEM, "more than %d workers", TS_CREW_SEATS);
    clear_hand(hand);
    hand->child = start_worker(crew, err);
    if (!hand->child)
        return -1;
    hand->ordinal = (*crew->next_ordinal)++;
    hand->left_ns = -1;
    if (crew->device)
        open_device(crew, hand);
    return 0;
}

void ts_crew_dismiss(struct ts_crew *crew, size_t seat)
{
    struct hand *hand = &crew->hands[seat];

    if (hand->child)
        ts_child_finish(hand->child, GRACE_MS);
    hand->child = NULL;
    clear_hand(hand);
}

bool ts_crew_is_hired(const struct ts_crew *crew, size_t seat)
{
    return crew->hands[seat].child != NULL;
}

bool ts_crew_is_idle(const struct ts_crew *crew, size_t seat)
{
    return crew->hands[seat].child && crew->hands[seat].job_id == 0;
}

/* ---- replies ---- */

void ts_reply_free(struct ts_reply *reply)
{
    cJSON_Delete(reply->line);
    free(reply->text);
    free(reply->talk);
    memset(reply, 0, sizeof(*reply));
}

static char *take_talk(struct hand *hand)
{
    char *talk = NULL;

    if (hand->talk.length > 0)
        talk = ts_utf8_clean(hand->talk.text, hand->talk.length, TALK_BYTES);
    hand->talk.length = 0;
    return talk;
}

/* Ends the worker in the seat. Returns true when that is an answer to the caller's job. */
static bool lose(struct ts_crew *crew, size_t seat, enum ts_status status, const char *code,
                 char *text, struct ts_reply *reply)
{
    struct hand *hand = &crew->hands[seat];
    bool waited_for = hand->job_id != 0;

    if (waited_for) {
        reply->kind = TS_REPLY_LOST;
        reply->seat = seat;
        reply->ordinal = hand->ordinal;
        reply->status = status;
        snprintf(reply->code, sizeof(reply->code), "%s", code);
        reply->text = text;
        reply->talk = take_talk(hand);
    } else {
        free(text);
    }
    ts_child_close(hand->child);
    hand->child = NULL;
    clear_hand(hand);
    return waited_for;
}

static bool lose_ended(struct ts_crew *crew, size_t seat, const struct ts_event *event,
                       struct ts_reply *reply)
{
    const struct hand *hand = &crew->hands[seat];

    if (!hand->hello)
        return lose(crew, seat, TS_CRASHED, "connection",
                    ts_printf("the worker ended before its first line (%s %d)",
                              event->signal ? "signal" : "exit status",
                              event->signal ? event->signal : event->exit_code),
                    reply);
    /* What ended it happened between jobs: an earlier kernel's late effect, or somebody's kill. */
    if (hand->job_id && !hand->began && event->exit_code != 0)
        return lose(crew, seat, TS_CRASHED, "connection",
                    ts_printf("the worker ended before it began the job (%s %d)",
                              event->signal ? "signal" : "exit status",
                              event->signal ? event->signal : event->exit_code),
                    reply);
    if (event->signal)
        return lose(crew, seat, TS_CRASHED, "signal",
                    ts_printf("the worker died of signal %d (%s) while its stage was \"%s\"",
                              event->signal, strsignal(event->signal), hand->stage),
                    reply);
    /* ssh's own status for a connection that broke. */
    if (crew->command && event->exit_code == 255)
        return lose(crew, seat, TS_CRASHED, "connection",
                    ts_printf("the connection to the worker was lost while its stage was \"%s\"",
                              hand->stage),
                    reply);
    if (event->exit_code < 0)
        return lose(crew, seat, TS_CRASHED, "protocol",
                    ts_strdup("the worker sent a line without end"), reply);
    return lose(crew, seat, TS_CRASHED, "exit",
                ts_printf("the worker exited with status %d while its stage was \"%s\"",
                          event->exit_code, hand->stage),
                reply);
}

static bool lose_late(struct ts_crew *crew, size_t seat, struct ts_reply *reply)
{
    const struct hand *hand = &crew->hands[seat];
    const char *stage = hand->stage;
    const char *code = !strcmp(stage, "time")    ? "time"
                       : !strcmp(stage, "build") ? "build"
                                                 : "prove";
    double limit_s = (double)timeout_of(crew, hand) * 1e-9;

    if (!hand->hello)
        return lose(crew, seat, TS_CRASHED, "connection",
                    ts_printf("no first line from the worker within %g s", limit_s), reply);
    if (hand->opening_id)
        return lose(crew, seat, TS_CRASHED, "connection",
                    ts_printf("the worker did not take its device within %g s", limit_s), reply);
    if (hand->job_id && hand->verb == TS_JOB_OPEN)
        return lose(crew, seat, TS_CRASHED, "connection",
                    ts_printf("the device was not taken and its clock not audited within %g s; a "
                              "longer --timeout gives it more time to wake up and to build",
                              limit_s),
                    reply);
    if (ts_child_is_stopped(hand->child))
        return lose(
            crew, seat, TS_CRASHED, "connection",
            ts_printf("the worker is stopped (SIGSTOP) and did not go on within %g s", limit_s),
            reply);
    if (hand->left_ns >= 0)
        return lose(crew, seat, TS_TIMEOUT, code,
                    ts_printf("the reference was not done after %g s",
                              (double)reference_timeout_ns(crew) * 1e-9),
                    reply);
    return lose(crew, seat, TS_TIMEOUT, code, ts_printf("not done after %g s", limit_s), reply);
}

static bool protocol_error(struct ts_crew *crew, size_t seat, const char *line,
                           struct ts_reply *reply)
{
    char *clean = ts_utf8_clean(line, strlen(line), 200);
    char *text = ts_printf("unexpected line from the worker: %s", clean);

    free(clean);
    return lose(crew, seat, TS_CRASHED, "protocol", text, reply);
}

/* ---- lines ---- */

static void take_stage(const struct ts_crew *crew, struct hand *hand, const char *stage)
{
    int64_t now = crew->looked_ns;
    bool reference = !strcmp(stage, "reference");

    hand->began = true;
    snprintf(hand->stage, sizeof(hand->stage), "%s", stage);
    if (reference && hand->left_ns < 0) {
        hand->left_ns = hand->deadline_ns > now ? hand->deadline_ns - now : 0;
        hand->deadline_ns = now + reference_timeout_ns(crew);
    } else if (!reference && hand->left_ns >= 0) {
        hand->deadline_ns = now + hand->left_ns;
        hand->left_ns = -1;
    }
}

/* The answer to the crew's own `open`. */
static bool take_opened(struct ts_crew *crew, size_t seat, const cJSON *line,
                        struct ts_reply *reply)
{
    struct hand *hand = &crew->hands[seat];
    const cJSON *reason = ts_json_get(line, "reason");

    if (!strcmp(ts_json_string(line, "status", "?"), "ok")) {
        hand->opening_id = 0;
        start_deadline(crew, hand);
        return false;
    }
    return lose(crew, seat, TS_CRASHED, "connection",
                ts_printf("the worker cannot take its device: %s",
                          ts_json_string(reason, "text", ts_json_string(line, "text", "?"))),
                reply);
}

static bool take_done(struct ts_crew *crew, size_t seat, cJSON *line, struct ts_reply *reply)
{
    struct hand *hand = &crew->hands[seat];
    const char *done = ts_json_string(line, "done", "");
    struct ts_err damage = {0};

    if (!strcmp(done, "error"))
        return lose(crew, seat, TS_CRASHED, "protocol",
                    ts_printf("the worker does not understand its job: %.1000s",
                              ts_json_string(line, "text", "?")),
                    reply);
    if (strcmp(done, ts_job_verb_name(hand->verb)) != 0)
        return lose(crew, seat, TS_CRASHED, "protocol",
                    ts_printf("the worker answered \"%.100s\" to \"%s\"", done,
                              ts_job_verb_name(hand->verb)),
                    reply);
    if (ts_reply_check(line, hand->verb, &damage) < 0)
        return lose(crew, seat, TS_CRASHED, "protocol",
                    ts_printf("the worker's answer is damaged: %s", damage.text), reply);
    reply->kind = TS_REPLY_DONE;
    reply->seat = seat;
    reply->ordinal = hand->ordinal;
    reply->line = cJSON_Duplicate(line, true);
    reply->retire = ts_json_bool(line, "retire", false);
    reply->talk = take_talk(hand);
    hand->job_id = 0;
    return true;
}

static bool take_parsed(struct ts_crew *crew, size_t seat, cJSON *line, const char *text,
                        struct ts_reply *reply)
{
    struct hand *hand = &crew->hands[seat];
    int64_t id = ts_json_int(line, "job", 0);
    const char *stage = ts_json_string(line, "stage", NULL);

    if (!ts_json_get(line, "job") || (id != hand->job_id && id != hand->opening_id) || id == 0)
        return protocol_error(crew, seat, text, reply);
    if (stage && id == hand->job_id) {
        take_stage(crew, hand, stage);
        return false;
    }
    if (!ts_json_string(line, "done", NULL))
        return stage ? false : protocol_error(crew, seat, text, reply);
    if (id == hand->opening_id)
        return take_opened(crew, seat, line, reply);
    return take_done(crew, seat, line, reply);
}

/* Before the hello anything is talk: an ssh banner, a motd. */
static bool take_line(struct ts_crew *crew, size_t seat, const struct ts_event *event,
                      struct ts_reply *reply)
{
    struct hand *hand = &crew->hands[seat];
    struct ts_err err = {0};
    cJSON *line = ts_json_parse(event->text, event->length, "worker", 1, &err);
    const char *hello = line ? ts_json_string(line, "hello", NULL) : NULL;
    bool replied = false;

    if (!hand->hello && hello && !strcmp(hello, "tilesweep.worker/1"))
        hand->hello = true;
    else if (!hand->hello && hello)
        replied = lose(
            crew, seat, TS_CRASHED, "connection",
            ts_printf("the worker speaks \"%s\", expected \"tilesweep.worker/1\"", hello), reply);
    else if (hand->hello && line)
        replied = take_parsed(crew, seat, line, event->text, reply);
    else if (hand->hello)
        replied = protocol_error(crew, seat, event->text, reply);
    cJSON_Delete(line);
    return replied;
}

static void take_talk_bytes(struct hand *hand, const struct ts_event *event)
{
    size_t room = hand->talk.length < TALK_BYTES ? TALK_BYTES - hand->talk.length : 0;

    ts_text_add(&hand->talk, event->text, event->length < room ? event->length : room);
}

/* ---- waiting ---- */

static int64_t next_deadline(const struct ts_crew *crew, int64_t until_ns)
{
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        const struct hand *hand = &crew->hands[i];
        if (hand->child && (hand->job_id || hand->opening_id) && hand->deadline_ns < until_ns)
            until_ns = hand->deadline_ns;
    }
    return until_ns;
}

static bool check_deadlines(struct ts_crew *crew, struct ts_reply *reply)
{
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        struct hand *hand = &crew->hands[i];
        if (hand->child && (hand->job_id || hand->opening_id) &&
            hand->deadline_ns <= crew->looked_ns && lose_late(crew, i, reply))
            return true;
    }
    return false;
}

static bool take_event(struct ts_crew *crew, const struct ts_event *event, struct ts_reply *reply)
{
    switch (event->kind) {
    case TS_EVENT_LINE:
        return take_line(crew, event->child, event, reply);
    case TS_EVENT_TALK:
        take_talk_bytes(&crew->hands[event->child], event);
        return false;
    case TS_EVENT_END:
        return lose_ended(crew, event->child, event, reply);
    case TS_EVENT_SIGNAL:
        reply->kind = TS_REPLY_SIGNAL;
        return true;
    case TS_EVENT_TIMEOUT:
        break;
    }
    return false;
}

/* Looks at the clock. When it is much later than expected, we were stopped (Ctrl-Z, a paused
 * machine) while deadlines passed, and what the workers sent meanwhile is still unread: every
 * deadline begins anew. All decisions are made by this one look, so that no stop fits between. */
static void look_at_clock(struct ts_crew *crew, int64_t expected_ns)
{
    int64_t before_ns = crew->looked_ns;

    crew->looked_ns = ts_now_ns();
    if (expected_ns < before_ns)
        expected_ns = before_ns;
    if (expected_ns == INT64_MAX || expected_ns == 0 || crew->looked_ns - expected_ns < STOPPED_NS)
        return;
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        struct hand *hand = &crew->hands[i];
        if (hand->child && hand->left_ns < 0)
            start_deadline(crew, hand);
        else if (hand->child)
            hand->deadline_ns = crew->looked_ns + reference_timeout_ns(crew);
    }
}

static void hide(const struct ts_crew *crew, struct ts_reply *reply)
{
    const char *host = crew->hidden_host;

    if (!host)
        return;
    ts_hide_in(&reply->text, host);
    ts_hide_in(&reply->talk, host);
    ts_hide_json(ts_json_get(reply->line, "build"), host);
    ts_hide_json(ts_json_get(ts_json_get(reply->line, "reason"), "text"), host);
}

void ts_crew_wait(struct ts_crew *crew, int64_t until_ns, struct ts_reply *reply)
{
    struct ts_child *children[TS_CREW_SEATS];
    struct ts_event event;

    memset(reply, 0, sizeof(*reply));
    for (;;) {
        int64_t asked_ns;

        look_at_clock(crew, 0); /* nobody slept since the last */
        asked_ns = next_deadline(crew, until_ns);
        for (size_t i = 0; i < TS_CREW_SEATS; i++)
            children[i] = crew->hands[i].child;
        ts_child_wait(children, TS_CREW_SEATS, asked_ns, &event);
        look_at_clock(crew, asked_ns);
        if (take_event(crew, &event, reply) || check_deadlines(crew, reply)) {
            hide(crew, reply);
            return;
        }
        if (event.kind == TS_EVENT_TIMEOUT && crew->looked_ns >= until_ns)
            return;
    }
}

void ts_crew_call(struct ts_crew *crew, size_t seat, struct ts_job *job, const char *const *digests,
                  const char *const *texts, size_t source_count, struct ts_reply *reply)
{
    ts_crew_send(crew, seat, job, digests, texts, source_count);
    ts_crew_wait(crew, INT64_MAX, reply);
}
