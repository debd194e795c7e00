/* crew_reply.c: what a worker says, or that it is gone, into at most one reply to the caller's job.
 */
#include "crew_private.h"

#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TALK_BYTES (64 * 1024)

void ts_reply_free(struct ts_reply *reply)
{
    cJSON_Delete(reply->line);
    free(reply->text);
    free(reply->talk);
    memset(reply, 0, sizeof(*reply));
}

void ts_crew_clear_hand(struct hand *hand)
{
    for (size_t i = 0; i < hand->source_count; i++)
        free(hand->sources[i]);
    free(hand->sources);
    ts_text_free(&hand->talk);
    memset(hand, 0, sizeof(*hand));
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
    ts_crew_clear_hand(hand);
    return waited_for;
}

bool ts_crew_lose_ended(struct ts_crew *crew, size_t seat, const struct ts_event *event,
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

bool ts_crew_lose_late(struct ts_crew *crew, size_t seat, struct ts_reply *reply)
{
    const struct hand *hand = &crew->hands[seat];
    const char *stage = hand->stage;
    const char *code = !strcmp(stage, "time")    ? "time"
                       : !strcmp(stage, "build") ? "build"
                                                 : "prove";
    double limit_s = (double)ts_crew_timeout_of(crew, hand) * 1e-9;

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
                              (double)ts_crew_reference_timeout_ns(crew) * 1e-9),
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

/* The answer to the crew's own `open`. */
static bool take_opened(struct ts_crew *crew, size_t seat, const cJSON *line,
                        struct ts_reply *reply)
{
    struct hand *hand = &crew->hands[seat];
    const cJSON *reason = ts_json_get(line, "reason");

    if (!strcmp(ts_json_string(line, "status", "?"), "ok")) {
        hand->opening_id = 0;
        ts_crew_start_deadline(crew, hand);
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
        ts_crew_take_stage(crew, hand, stage);
        return false;
    }
    if (!ts_json_string(line, "done", NULL))
        return stage ? false : protocol_error(crew, seat, text, reply);
    if (id == hand->opening_id)
        return take_opened(crew, seat, line, reply);
    return take_done(crew, seat, line, reply);
}

/* Before the hello anything is talk: an ssh banner, a motd. */
bool ts_crew_take_line(struct ts_crew *crew, size_t seat, const struct ts_event *event,
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

void ts_crew_take_talk(struct hand *hand, const struct ts_event *event)
{
    size_t room = hand->talk.length < TALK_BYTES ? TALK_BYTES - hand->talk.length : 0;

    ts_text_add(&hand->talk, event->text, event->length < room ? event->length : room);
}
