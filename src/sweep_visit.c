/* sweep_visit.c: one visit of the timing worker, and what becomes of its answer. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

/* So often a visit is made again that a stop of its worker or a sleep of the machine spoilt. */
#define PAUSED_LIMIT 3

static int add_samples(struct sweep *s, struct ts_row *row, const struct visit *visit,
                       const cJSON *line, int worker, struct ts_err *err)
{
    const cJSON *object = ts_json_get(line, "visit");
    const cJSON *samples = ts_json_get(object, "sample_ns");
    size_t count = (size_t)cJSON_GetArraySize(samples), i = 0;
    int64_t *sample_ns = ts_alloc(count + 1, sizeof(*sample_ns));
    const cJSON *item;

    cJSON_ArrayForEach(item, samples)
        ts_json_whole(item, &sample_ns[i++]); /* reply.h has looked at them */
    if (count == 0) {
        free(sample_ns);
        ts_row_set_status(row, TS_CRASHED, "protocol", "the worker told no samples");
        return 0;
    }
    row->time.host_clock = !ts_sweep_team_of_row(s, visit->row)->clock->event;
    enum ts_cache cache = ts_cache_by_name(ts_json_string(object, "cache", NULL));
    /* A worker that knows no cold caches leaves them warm. */
    if (s->options->cold && (row->time.visit_count > 0 || cache == TS_CACHE_WARM))
        cache = cache == TS_CACHE_COLD ? row->time.cache : TS_CACHE_PART;
    row->time.cache = cache;
    if (row->time.first_ns < 0)
        row->time.first_ns = ts_json_int(object, "first_ns", -1);
    row->time.batch = ts_json_int(object, "batch", 1);
    if (visit->fresh)
        ts_row_add_fresh_visit(row, sample_ns, count, worker);
    else
        ts_row_add_visit(row, sample_ns, count, worker);
    row->time.visits[row->time.visit_count - 1].pair = visit->pair;
    free(sample_ns);
    if (ts_json_bool(object, "starved", false) || ts_json_bool(object, "paused", false))
        ts_row_mark_disturbed(row, 1);
    return s->journal ? ts_journal_visit(s->journal, row, err) : 0;
}

/* Of `ab` by the pairs that there are, as it decides whether to go on. */
static bool has_visits_enough(const struct sweep *s, size_t row)
{
    size_t partner = s->partner[row];
    const struct entry entry = {{row, partner}, partner == TS_NO_ROW ? 1 : 2};

    return !ts_sweep_wants_visit(s, &entry, s->visits - 1);
}

/* Is it thrown away? Starved, and the row can do without it: it has visits enough (the rounds that
 * make more have a time limit), or gets another one (of which there are so many). The finalists'
 * last ones are as many as they are. */
static bool is_spoilt(struct sweep *s, const struct visit *visit, const cJSON *told)
{
    const struct ts_row *row = &s->run->rows[visit->row];
    bool only_one = s->end_ns != INT64_MAX && row->time.visit_count == 0;

    /* Under a budget there may be no other one. */
    if (!ts_json_bool(told, "starved", false) || visit->fresh || only_one)
        return false;
    return has_visits_enough(s, visit->row) || (!s->calm.never && s->calm.spare_visits-- > 0);
}

static void set_owed(struct sweep *s, size_t row, bool owed)
{
    s->owed.rows += owed - s->proofs[row].owed;
    s->proofs[row].owed = owed;
}

static void note_proofs(struct sweep *s, const struct visit *visit, const struct ts_reply *reply,
                        bool failed)
{
    struct row_proof *proof = &s->proofs[visit->row];
    const cJSON *spent = ts_json_get(reply->line, "spent_ns");
    const char *right = ts_json_string(reply->line, "right", NULL);

    set_owed(s, visit->row, !failed && !visit->last);
    if (failed || !spent || visit->first + visit->last == 0)
        return;
    s->owed.proofs += visit->first + visit->last;
    s->owed.ns += ts_json_int(spent, "build", 0) + ts_json_int(spent, "prove", 0);
    if (!right) /* else a last proof needs none */
        s->owed.ns += ts_json_int(spent, "reference", 0);
    proof->done |= visit->first;
    if (visit->first) {
        free(proof->right);
        proof->right = right ? ts_strdup(right) : NULL;
    }
}

static int take_reply(struct sweep *s, const struct visit *visit, const struct ts_reply *reply,
                      int64_t took_ns, struct ts_err *err)
{
    struct ts_row *row = &s->run->rows[visit->row];
    const cJSON *told = ts_json_get(reply->line, "visit");
    bool failed, spoilt;

    if (reply->kind == TS_REPLY_DONE)
        ts_sweep_merge(row, reply->line, true);
    ts_sweep_take_talk(row, reply->talk);
    failed = ts_sweep_take_failure(row, reply);
    note_proofs(s, visit, reply, failed);
    if (failed) /* it has no time: what was measured before is not believed */
        ts_row_drop_visits(row, row->time.visit_count);
    else if (row->status == TS_PENDING)
        ts_row_set_status(row, TS_OK, NULL, "%s", "");
    if ((failed || visit->first) && s->journal && ts_journal_row(s->journal, row, err) < 0)
        return -1;
    if (failed || visit->no_samples)
        return 0;
    spoilt = is_spoilt(s, visit, told);
    ts_sweep_book_wait(s, told, spoilt ? took_ns - ts_json_int(told, "waited_ns", 0) : 0);
    return spoilt ? 0 : add_samples(s, row, visit, reply->line, reply->ordinal, err);
}

/* Sends the job for a visit to the timing worker and waits for its answer, *took_ns in all. */
static int ask(struct sweep *s, struct team *team, const struct visit *visit,
               struct ts_reply *reply, int64_t *took_ns, struct ts_err *err)
{
    struct job_sources sources;
    struct ts_job job;
    int64_t begin_ns = ts_now_ns();
    int result;

    memset(reply, 0, sizeof(*reply));
    if (ts_sweep_need_seat(team, err) < 0)
        return -1;
    result = ts_sweep_time_job(s, visit->row, &job, &sources, err);
    if (result == 0) {
        const struct ts_row *row = &s->run->rows[visit->row];
        job.prove_first = visit->first;
        job.samples = visit->no_samples ? 0 : s->samples;
        job.prove_last = visit->last;
        if (visit->last && s->proofs[visit->row].right)
            job.right = ts_strdup(s->proofs[visit->row].right);
        job.patience_ns = ts_sweep_patience_ns(s);
        job.batch = row->time.visit_count > 0 ? row->time.batch : 0;
        ts_crew_send(team->crew, team->seat, &job, sources.digests, sources.texts, sources.count);
        /* A proof that is owed is made also when the time is over. */
        ts_crew_wait(team->crew, visit->no_samples ? INT64_MAX : s->end_ns, reply);
        ts_sweep_book(&s->timing, reply);
    }
    ts_job_free(&job);
    *took_ns = ts_now_ns() - begin_ns;
    return result;
}

/* Its samples hold the time of a stop or a sleep. */
static bool is_paused(const struct ts_reply *reply)
{
    return reply->kind == TS_REPLY_DONE &&
           strcmp(ts_json_string(reply->line, "status", ""), "ok") == 0 &&
           ts_json_bool(ts_json_get(reply->line, "visit"), "paused", false);
}

static void tell_pause(struct sweep *s)
{
    if (!s->told_pause)
        ts_progress_say(s->progress,
                        "warning: %s: the worker was stopped, or the machine slept, during a "
                        "visit; such visits are made again",
                        s->run->device.name);
    s->told_pause = true;
}

/* A visit that was not answered says nothing of the row: it is made again, until no worker can be
 * kept. One that was paused is made again, too; under whatever stops workers all the time (a CPU
 * limiter) it is kept in the end and counted as disturbed. */
int ts_sweep_visit(struct sweep *s, const struct visit *visit, struct ts_err *err)
{
    struct team *team = ts_sweep_team_of_row(s, visit->row);
    struct ts_reply reply;
    int64_t took_ns = 0;
    int result = ask(s, team, visit, &reply, &took_ns, err), paused = 0;

    while (result == 0 &&
           (ts_sweep_is_unanswered(&reply) || (is_paused(&reply) && paused++ < PAUSED_LIMIT))) {
        if (is_paused(&reply))
            tell_pause(s);
        else
            result = ts_sweep_count_lost(s, &reply, err);
        ts_reply_free(&reply);
        if (result == 0)
            result = ask(s, team, visit, &reply, &took_ns, err);
    }
    if (result == 0 && reply.kind == TS_REPLY_NONE) {
        ts_crew_dismiss(team->crew, team->seat); /* the budget is over in the middle of it */
    } else if (result == 0 && reply.kind != TS_REPLY_SIGNAL) {
        result = take_reply(s, visit, &reply, took_ns, err);
        if (result == 0)
            result = ts_sweep_count_lost(s, &reply, err);
        if (reply.kind == TS_REPLY_DONE && reply.retire)
            ts_crew_dismiss(team->crew, team->seat);
    }
    ts_reply_free(&reply);
    return result;
}
