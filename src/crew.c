/* crew.c: workers: starting, sending, waiting; crew_deadline.c and crew_reply.c do the rest. */
#include "crew_private.h"

#include "hide.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_MS 200

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

void ts_crew_close(struct ts_crew *crew)
{
    if (!crew)
        return;
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        ts_child_close(crew->hands[i].child);
        ts_crew_clear_hand(&crew->hands[i]);
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
    ts_crew_start_deadline(crew, hand);
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
    ts_crew_start_deadline(crew, hand);
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
    ts_crew_clear_hand(hand);
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
    ts_crew_clear_hand(hand);
}

bool ts_crew_is_hired(const struct ts_crew *crew, size_t seat)
{
    return crew->hands[seat].child != NULL;
}

bool ts_crew_is_idle(const struct ts_crew *crew, size_t seat)
{
    return crew->hands[seat].child && crew->hands[seat].job_id == 0;
}

/* ---- waiting ---- */

static bool check_deadlines(struct ts_crew *crew, struct ts_reply *reply)
{
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        struct hand *hand = &crew->hands[i];
        if (hand->child && (hand->job_id || hand->opening_id) &&
            hand->deadline_ns <= crew->looked_ns && ts_crew_lose_late(crew, i, reply))
            return true;
    }
    return false;
}

static bool take_event(struct ts_crew *crew, const struct ts_event *event, struct ts_reply *reply)
{
    switch (event->kind) {
    case TS_EVENT_LINE:
        return ts_crew_take_line(crew, event->child, event, reply);
    case TS_EVENT_TALK:
        ts_crew_take_talk(&crew->hands[event->child], event);
        return false;
    case TS_EVENT_END:
        return ts_crew_lose_ended(crew, event->child, event, reply);
    case TS_EVENT_SIGNAL:
        reply->kind = TS_REPLY_SIGNAL;
        return true;
    case TS_EVENT_TIMEOUT:
        break;
    }
    return false;
}

static void hide(const struct ts_crew *crew, struct ts_reply *reply)
{
    const char *host = crew->hidden_host;

    if (!host)
        return;
    ts_hide_in(&reply->text, host);
    ts_hide_in(&reply->talk, host);
    ts_hide_json(ts_json_get(reply->line, "build"), host);
    ts_hide_json(ts_json_get(ts_json_get(reply->line, "geometry"), "limit_rule"), host);
    ts_hide_json(ts_json_get(ts_json_get(reply->line, "reason"), "text"), host);
}

void ts_crew_wait(struct ts_crew *crew, int64_t until_ns, struct ts_reply *reply)
{
    struct ts_child *children[TS_CREW_SEATS];
    struct ts_event event;

    memset(reply, 0, sizeof(*reply));
    for (;;) {
        int64_t asked_ns;

        ts_crew_look_at_clock(crew, 0); /* nobody slept since the last */
        asked_ns = ts_crew_next_deadline(crew, until_ns);
        for (size_t i = 0; i < TS_CREW_SEATS; i++)
            children[i] = crew->hands[i].child;
        ts_child_wait(children, TS_CREW_SEATS, asked_ns, &event);
        ts_crew_look_at_clock(crew, asked_ns);
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
