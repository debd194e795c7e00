/* sweep_sentinel.c: looks at what the device is doing between the visits, and takes back what was
 * disturbed.
 */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

/* A look after so many visits, unless it would take more than a twentieth of the time. */
#define LOOK_EVERY 4
#define LOOK_COST 20
#define FIRST_LOOKS 3
#define STARVED_LOOKS 3
/* So many of the visits are made again at most: on a machine that is never quiet, that is no use.
 */
#define BACK_SHARE 4

static void give_up(struct sweep *s, const struct ts_reply *reply)
{
    const char *why = reply->kind == TS_REPLY_LOST
                          ? reply->text
                          : ts_json_string(ts_json_get(reply->line, "reason"), "text", "?");

    s->watch.off = true;
    ts_progress_say(s->progress,
                    "warning: %s: the sentinel cannot be timed, so disturbances are not seen: %s",
                    s->run->device.name, why);
}

static int add_point(struct sweep *s, const struct ts_sentinel_point *point, bool *excursion,
                     struct ts_err *err)
{
    struct ts_sentinel_series *series = &s->run->sentinel;

    *excursion = ts_sentinel_add(series, point);
    return s->journal ? ts_journal_sentinel(s->journal, &series->points[series->count - 1], err)
                      : 0;
}

/* Times the sentinel; *excursion by its judgement; *starved: it had to wait for a processor and
 * says nothing of the device. No row is blamed for what goes wrong here. */
static int look(struct sweep *s, bool *excursion, bool *starved, struct ts_err *err)
{
    const char *digest = s->probe.digest, *text = s->probe.text;
    struct team *team = &s->teams[0];
    struct ts_job job = {.verb = TS_JOB_SENTINEL};
    struct ts_reply reply = {0};
    int64_t begin_ns = ts_now_ns(), waited_ns = s->calm.waited_ns;
    int result = 0;

    *excursion = *starved = false;
    if (ts_sweep_need_seat(team, err) < 0)
        return -1;
    job.code.source = ts_strdup(digest);
    job.code.options = ts_strdup(TS_PROBE_OPTIONS);
    job.patience_ns = ts_sweep_patience_ns(s);
    job.clock = (struct ts_clock){.event = s->run->clock.event, .tick_ns = s->run->clock.tick_ns};
    ts_crew_call(team->crew, team->seat, &job, &digest, &text, 1, &reply);
    ts_job_free(&job);
    if (reply.kind == TS_REPLY_DONE && !strcmp(ts_json_string(reply.line, "status", ""), "ok")) {
        const cJSON *told = ts_json_get(reply.line, "sentinel");
        struct ts_sentinel_point point = {
            .at_ms = (begin_ns - s->begin_ns) / 1000000,
            .copy_ns = ts_json_int(told, "copy_ns", 1),
            .fma_ns = ts_json_int(told, "fma_ns", 1),
            .worker = reply.ordinal,
        };
        ts_sweep_book_wait(s, told, 0);
        *starved = ts_json_bool(told, "starved", false);
        if (!*starved)
            result = add_point(s, &point, excursion, err);
    } else if (reply.kind != TS_REPLY_SIGNAL) {
        give_up(s, &reply);
    }
    ts_reply_free(&reply);
    s->watch.looked_ns = ts_now_ns();
    s->watch.cost_ns = s->watch.looked_ns - begin_ns - (s->calm.waited_ns - waited_ns);
    s->timing.time_ns += s->watch.cost_ns;
    return result;
}

/* What was measured since the last look is not believed. */
static int take_back(struct sweep *s, bool again, struct ts_err *err)
{
    struct watch *w = &s->watch;
    int result = 0;

    for (size_t i = 0; i < w->count && result == 0; i++) {
        struct ts_row *row = &s->run->rows[w->rows[i]];

        if (row->status != TS_OK || row->time.visit_count == 0)
            continue;
        if (!again || w->taken_back >= w->most_back) {
            if (ts_row_mark_disturbed(row, 1) > 0 && s->journal)
                result = ts_journal_disturb(s->journal, row, 1, err);
            continue;
        }
        w->taken_back++;
        ts_row_drop_visits(row, 1);
        if (s->journal)
            result = ts_journal_drop(s->journal, row, 1, err);
    }
    return result;
}

/* Two: a pair of visits stays together. */
static bool is_full(const struct watch *w)
{
    return w->count + 2 > TS_WATCH_VISITS;
}

/* Once, after some looks that all had to wait. */
static void tell_starved(struct sweep *s, bool starved)
{
    struct watch *w = &s->watch;

    w->starved = starved ? w->starved + 1 : 0;
    if (w->starved != STARVED_LOOKS || w->told_starved)
        return;
    w->told_starved = true;
    ts_progress_say(s->progress,
                    "warning: %s: the sentinel had to wait for a processor %d times in a row: "
                    "disturbances of the device are not seen meanwhile",
                    s->run->device.name, STARVED_LOOKS);
}

/* again: what is taken back can be measured again. */
static int look_now(struct sweep *s, bool again, struct ts_err *err)
{
    bool excursion, starved;
    int result;

    if (s->watch.off)
        return 0;
    result = look(s, &excursion, &starved, err);
    if (result == 0 && excursion)
        result = take_back(s, again, err);
    tell_starved(s, starved);
    /* After a starved look the visits wait for the next one, while there is room. */
    if (!starved || is_full(&s->watch))
        s->watch.count = 0;
    return result;
}

int ts_sweep_watch_begin(struct sweep *s, int64_t visits, struct ts_err *err)
{
    int result = 0;

    memset(&s->watch, 0, sizeof(s->watch));
    s->watch.most_back = visits / BACK_SHARE;
    for (int i = 0; i < FIRST_LOOKS && result == 0 && visits > 0 && !ts_signal_pending(); i++)
        result = look_now(s, true, err);
    return result;
}

int ts_sweep_watch(struct sweep *s, const size_t *rows, size_t count, struct ts_err *err)
{
    struct watch *w = &s->watch;

    if (w->off || ts_signal_pending())
        return 0;
    for (size_t i = 0; i < count; i++)
        w->rows[w->count++] = rows[i];
    if (!is_full(w) &&
        (w->count < LOOK_EVERY || ts_now_ns() - w->looked_ns < LOOK_COST * w->cost_ns))
        return 0;
    return look_now(s, true, err);
}

int ts_sweep_watch_settle(struct sweep *s, bool again, struct ts_err *err)
{
    return s->watch.count > 0 && !ts_signal_pending() ? look_now(s, again, err) : 0;
}

void ts_sweep_watch_believe(struct sweep *s)
{
    s->watch.count = 0;
}
