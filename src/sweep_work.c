/* sweep_work.c: what both phases do with a reply, and the device at the start. */
#include <stdlib.h>
#include <string.h>

#include "row_json.h"
#include "sweep_private.h"

/* So many workers in a row that end before doing anything: the driver or the launcher is broken. */
#define LOST_LIMIT 5
/* A timing worker serves at least so many times as long as a process costs. */
#define SERVICE_TIMES 8
#define PROCESS_COST_MOST_NS (SECOND_NS / 2)
/* So many times as long as the first look took, or as the run lasts by now, is waited for the next:
 * shorter runs are under the same conditions all along, and of long ones it is a small part. */
#define PEAKS_PART 10

struct team *ts_sweep_team(struct sweep *s, size_t space)
{
    return &s->teams[s->own_workers && space == 1];
}

struct team *ts_sweep_team_of_row(struct sweep *s, size_t row)
{
    return ts_sweep_team(s, s->units[s->row_unit[row]].space);
}

int ts_sweep_need_seat(struct team *team, struct ts_err *err)
{
    if (team->has_seat && ts_crew_is_hired(team->crew, team->seat))
        return 0;
    if (ts_crew_hire(team->crew, &team->seat, err) < 0)
        return -1;
    team->has_seat = true;
    team->hired_ns = ts_now_ns();
    return 0;
}

void ts_sweep_change_workers(struct sweep *s)
{
    for (size_t i = 0; i < TS_COUNT(s->teams); i++) {
        struct team *team = &s->teams[i];
        if (team->has_seat && ts_crew_is_hired(team->crew, team->seat))
            ts_crew_dismiss(team->crew, team->seat);
        team->has_seat = false;
    }
}

void ts_sweep_renew_workers(struct sweep *s)
{
    if (s->teams[0].has_seat &&
        ts_now_ns() - s->teams[0].hired_ns > SERVICE_TIMES * s->process_cost_ns)
        ts_sweep_change_workers(s);
}

int ts_sweep_count_lost(struct sweep *s, const struct ts_reply *reply, struct ts_err *err)
{
    if (!ts_sweep_is_unanswered(reply)) {
        s->lost_in_a_row = 0;
        return 0;
    }
    if (++s->lost_in_a_row < LOST_LIMIT)
        return 0;
    return ts_err_set(err, TS_EXIT_NO_DEVICE,
                      "no worker can be kept: %d in a row were lost: %s%s%s", LOST_LIMIT,
                      reply->text, reply->talk ? "\n" : "", reply->talk ? reply->talk : "");
}

/* ---- facts ---- */

/* Adds what a proof found. A size that was proven before (a last look after timing, a resumed run)
 * tells no sizes and no elements anew, only its worst deviation. */
static void merge_check(struct ts_check *into, const cJSON *object, bool timed_size)
{
    struct ts_row row;

    if (!object || cJSON_IsNull(object))
        return;
    ts_row_init(&row);
    ts_check_from_json(&row.check, object);
    if (!timed_size) {
        ts_values_free(&into->at_size);
        *into = row.check;
        return;
    }
    into->sizes = (into->sizes > 0 ? into->sizes : 0) + row.check.sizes;
    into->elements = (into->elements > 0 ? into->elements : 0) + row.check.elements;
    if (row.check.worst < into->worst || row.check.at_count == 0) {
        ts_values_free(&row.check.at_size);
        return;
    }
    into->worst = row.check.worst;
    into->at_count = row.check.at_count;
    memcpy(into->at, row.check.at, sizeof(into->at));
    ts_values_free(&into->at_size);
    into->at_size = row.check.at_size;
}

/* Of a proof on check sizes only what does not depend on the size is the row's. */
static void merge_geometry(struct ts_geometry *into, const cJSON *object, bool timed_size)
{
    struct ts_geometry told, *from = &told;

    if (!object || cJSON_IsNull(object))
        return;
    ts_geometry_init(from);
    ts_geometry_from_json(from, object);
    if (timed_size && from->dims > 0) {
        into->dims = from->dims;
        memcpy(into->global, from->global, sizeof(into->global));
        memcpy(into->local, from->local, sizeof(into->local));
    }
    if (into->local_bytes < 0)
        into->local_bytes = from->local_bytes;
    if (from->local_bytes_reported >= 0)
        into->local_bytes_reported = from->local_bytes_reported;
    if (from->work_group_limit >= 0)
        into->work_group_limit = from->work_group_limit;
    if (from->preferred_multiple >= 0)
        into->preferred_multiple = from->preferred_multiple;
    if (from->private_bytes >= 0)
        into->private_bytes = from->private_bytes;
    if (from->limit_rule) {
        free(into->limit_rule);
        into->limit_rule = ts_strdup(from->limit_rule);
    }
    ts_geometry_free(from);
}

/* The first build's time and log stay: later ones come from a cache. */
static void merge_build(struct ts_build *into, const cJSON *object)
{
    if (!object || cJSON_IsNull(object) || into->build_ns >= 0)
        return;
    ts_build_from_json(into, object);
}

void ts_sweep_merge(struct ts_row *row, const cJSON *line, bool timed_size)
{
    merge_geometry(&row->geometry, ts_json_get(line, "geometry"), timed_size);
    merge_build(&row->build, ts_json_get(line, "build"));
    merge_check(&row->check, ts_json_get(line, "check"), timed_size);
}

void ts_sweep_take_talk(struct ts_row *row, const char *talk)
{
    if (!talk || row->talk)
        return;
    row->talk = ts_strdup(talk);
}

bool ts_sweep_is_unanswered(const struct ts_reply *reply)
{
    return reply->kind == TS_REPLY_LOST && !strcmp(reply->code, "connection");
}

bool ts_sweep_take_failure(struct ts_row *row, const struct ts_reply *reply)
{
    const cJSON *reason;
    enum ts_status status;

    if (reply->kind == TS_REPLY_LOST) {
        ts_row_set_status(row, reply->status, reply->code, "%s", reply->text);
        return true;
    }
    if (!ts_status_by_name(ts_json_string(reply->line, "status", ""), &status)) {
        ts_row_set_status(row, TS_CRASHED, "protocol", "the worker told no known status");
        return true;
    }
    if (status == TS_OK)
        return false;
    reason = ts_json_get(reply->line, "reason");
    ts_row_set_status(row, status, ts_json_string(reason, "code", "protocol"), "%s",
                      ts_json_string(reason, "text", ""));
    return true;
}

/* ---- where the time went ---- */

void ts_sweep_book(struct phase_time *phase, const struct ts_reply *reply)
{
    const cJSON *spent = ts_json_get(reply->line, "spent_ns");

    phase->build_ns += ts_json_int(spent, "build", 0);
    phase->reference_ns += ts_json_int(spent, "reference", 0);
    phase->prove_ns += ts_json_int(spent, "prove", 0);
    phase->time_ns += ts_json_int(spent, "time", 0);
}

static void add_phase(cJSON *into, const char *key, const struct phase_time *phase)
{
    cJSON *object = ts_json_add_object(into, key);

    ts_json_add_int(object, "workers", phase->workers);
    ts_json_add_int(object, "wall_ns", phase->wall_ns);
    ts_json_add_int(object, "build_ns", phase->build_ns);
    ts_json_add_int(object, "reference_ns", phase->reference_ns);
    ts_json_add_int(object, "prove_ns", phase->prove_ns);
    ts_json_add_int(object, "time_ns", phase->time_ns);
}

cJSON *ts_sweep_spent_to_json(const struct sweep *s)
{
    cJSON *spent = cJSON_CreateObject();

    add_phase(spent, "prove", &s->proving);
    add_phase(spent, "time", &s->timing);
    return spent;
}

/* ---- the device ---- */

static void call_probe(struct sweep *s, struct team *team, struct ts_job *job, int64_t until_ns,
                       struct ts_reply *reply)
{
    const char *digest = s->probe.digest, *text = s->probe.text;

    job->code.source = ts_strdup(digest);
    job->code.options = ts_strdup(TS_PROBE_OPTIONS);
    ts_crew_send(team->crew, team->seat, job, &digest, &text, 1);
    ts_crew_wait(team->crew, until_ns, reply);
    ts_job_free(job);
}

/* A resumed run keeps the clock that its first visits were timed by. */
static void take_clock(struct sweep *s, struct ts_clock *into, const char *device,
                       const cJSON *clock)
{
    if (into->tick_ns > 0)
        return;
    ts_clock_free(into);
    memset(into, 0, sizeof(*into));
    ts_clock_from_json(into, clock);
    for (size_t i = 0; i < into->warning_count; i++)
        ts_progress_say(s->progress, "warning: %s: %s", device, into->warnings[i]);
}

/* The probes are known to compile: the driver could not do its work. */
static const char *const build_hint =
    "\nhint: the driver cannot build even this program's own kernels; the folder where it keeps "
    "what it built must be writable and not full (POCL_CACHE_DIR, XDG_CACHE_HOME, HOME, TMPDIR)";

static void take_facts(struct sweep *s, const cJSON *line)
{
    cJSON_Delete(s->run->host);
    cJSON_Delete(s->run->environment);
    s->run->host = cJSON_Duplicate(ts_json_get(line, "host"), true);
    s->run->environment = cJSON_Duplicate(ts_json_get(line, "environment"), true);
    take_clock(s, &s->run->clock, s->run->device.name, ts_json_get(line, "clock"));
}

/* Ceilings are a help to read the times, not a condition: without them the rows have no of_peak. */
static int look_at_peaks(struct sweep *s, struct ts_peaks *peaks, int64_t until_ns,
                         const char *when, struct ts_err *err)
{
    struct ts_job job = {.verb = TS_JOB_PEAKS};
    struct team *team = &s->teams[0];
    struct ts_reply reply;
    const char *why = NULL;

    if (ts_sweep_need_seat(team, err) < 0)
        return -1;
    call_probe(s, team, &job, until_ns, &reply);
    if (reply.kind == TS_REPLY_NONE)
        ts_crew_dismiss(team->crew, team->seat); /* the budget is over in the middle of it */
    if (reply.kind == TS_REPLY_LOST)
        why = reply.text;
    if (reply.kind == TS_REPLY_DONE) {
        ts_peaks_from_json(peaks, ts_json_get(reply.line, "peaks"));
        if (strcmp(ts_json_string(reply.line, "status", ""), "ok") != 0)
            why = ts_json_string(ts_json_get(reply.line, "reason"), "text", "?");
    }
    if (why)
        ts_progress_say(s->progress, "warning: %s: the ceilings could not be measured%s: %s",
                        s->run->device.name, when, why);
    ts_reply_free(&reply);
    return 0;
}

/* The first look of a run, of a resumed one by an earlier process. */
static int measure_peaks(struct sweep *s, struct ts_err *err)
{
    int64_t begin_ns = ts_now_ns();

    s->peaks_look = (struct peaks_look){.first_ns = begin_ns, .next_ns = begin_ns};
    if (s->run->peaks.copy_bytes_per_s > 0)
        return 0;
    if (look_at_peaks(s, &s->run->peaks, INT64_MAX, "", err) < 0)
        return -1;
    s->peaks_look.next_ns = begin_ns + PEAKS_PART * (ts_now_ns() - begin_ns);
    return 0;
}

static void raise_to(double *ceiling, double per_s)
{
    if (per_s > *ceiling)
        *ceiling = per_s;
}

int ts_sweep_peaks_again(struct sweep *s, struct ts_err *err)
{
    struct ts_peaks again = {0}, *peaks = &s->run->peaks;
    int64_t now_ns = ts_now_ns();

    if (now_ns < s->peaks_look.next_ns || now_ns >= s->end_ns || ts_signal_pending())
        return 0;
    s->peaks_look.next_ns = now_ns + PEAKS_PART * (now_ns - s->peaks_look.first_ns);
    if (look_at_peaks(s, &again, s->end_ns, " again", err) < 0)
        return -1;
    raise_to(&peaks->copy_bytes_per_s, again.copy_bytes_per_s);
    raise_to(&peaks->fma_flops_per_s, again.fma_flops_per_s);
    raise_to(&peaks->local_bytes_per_s, again.local_bytes_per_s);
    return 0;
}

static const char *status_of(const struct ts_reply *reply)
{
    return ts_json_string(reply->line, "status", "");
}

/* Opens the team's device and audits its clock. *line: what the worker told; NULL: interrupted. */
static int open_team(struct sweep *s, struct team *team, cJSON **line, struct ts_err *err)
{
    struct ts_job open = {
        .verb = TS_JOB_OPEN,
        .platform_index = team->device->platform_index,
        .device_index = team->device->device_index,
        .device_id = ts_strdup(team->device->id),
        .audit = true,
    };
    const char *name = team->device->name;
    struct ts_reply reply;
    int result = 0;

    *line = NULL;
    /* This worker takes the device by the audit; those after it take it by themselves. */
    ts_crew_use_device(team->crew, NULL);
    if (ts_sweep_need_seat(team, err) < 0) {
        ts_job_free(&open);
        return -1;
    }
    call_probe(s, team, &open, INT64_MAX, &reply);
    if (reply.kind == TS_REPLY_LOST)
        result = ts_err_set(err, TS_EXIT_NO_DEVICE, "%s: %s%s%s", name, reply.text,
                            reply.talk ? "\n" : "", reply.talk ? reply.talk : "");
    else if (reply.kind == TS_REPLY_DONE && strcmp(status_of(&reply), "ok") != 0)
        result = ts_err_set(err, TS_EXIT_NO_DEVICE, "%s: %s%s", name,
                            ts_json_string(ts_json_get(reply.line, "reason"), "text",
                                           "the worker cannot take the device"),
                            strcmp(status_of(&reply), "build-failed") == 0 ? build_hint : "");
    else if (reply.kind == TS_REPLY_DONE) {
        *line = reply.line;
        reply.line = NULL;
    }
    ts_reply_free(&reply);
    ts_crew_use_device(team->crew, team->device);
    return result;
}

/* B's own workers may meet another driver, another host, another clock: what they tell stands with
 * the side. Where one side's events lie both are timed by the host's clock: like with like. */
static int open_b(struct sweep *s, struct ts_err *err)
{
    cJSON *line, *side, *measured;

    if (open_team(s, &s->teams[1], &line, err) < 0)
        return -1;
    if (!line)
        return 0;
    take_clock(s, &s->clock_b, s->device_b.name, ts_json_get(line, "clock"));
    s->clock_b.event = s->run->clock.event = s->clock_b.event && s->run->clock.event;
    side = ts_json_get(s->run->sides, ts_ab_name(TS_AB_B));
    cJSON_DeleteItemFromObjectCaseSensitive(side, "measured");
    measured = ts_json_add_object(side, "measured");
    ts_json_add_item(measured, "host", cJSON_Duplicate(ts_json_get(line, "host"), true));
    ts_json_add_item(measured, "environment",
                     cJSON_Duplicate(ts_json_get(line, "environment"), true));
    ts_device_to_json(&s->device_b, measured);
    ts_json_add_item(measured, "clock", ts_clock_to_json(&s->clock_b));
    cJSON_Delete(line);
    return 0;
}

int ts_sweep_open_device(struct sweep *s, struct ts_err *err)
{
    cJSON *line;
    int64_t begin_ns = ts_now_ns();

    if (open_team(s, &s->teams[0], &line, err) < 0)
        return -1;
    /* With a cold cache this holds seconds of compiling the probes, which the next ones find. */
    s->process_cost_ns = ts_now_ns() - begin_ns;
    if (s->process_cost_ns > PROCESS_COST_MOST_NS)
        s->process_cost_ns = PROCESS_COST_MOST_NS;
    if (line)
        take_facts(s, line);
    cJSON_Delete(line);
    if (ts_signal_pending())
        return 0;
    if (measure_peaks(s, err) < 0)
        return -1;
    return s->own_workers && !ts_signal_pending() ? open_b(s, err) : 0;
}
