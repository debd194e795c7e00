/* worker.c: serving jobs: streams, the reading thread, one `done` line a job. */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metric.h"
#include "pause.h"
#include "row_json.h"
#include "version.h"
#include "worker_private.h"

/* Between jobs, at most so much of inputs and expected values is kept. */
#define TRUTH_BYTES ((int64_t)3 << 30)

/* ---- lines in: a thread reads, so that end of file is seen while the driver hangs ---- */

struct line {
    char *text;
    struct line *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct line *first, **last;
    bool ended;
} inbox = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &inbox.first, false};

static void inbox_put(char *text)
{
    struct line *line = ts_alloc(1, sizeof(*line));

    line->text = text;
    pthread_mutex_lock(&inbox.lock);
    *inbox.last = line;
    inbox.last = &line->next;
    pthread_cond_signal(&inbox.filled);
    pthread_mutex_unlock(&inbox.lock);
}

/* NULL when there are no more. */
static char *inbox_take(void)
{
    struct line *line;
    char *text = NULL;

    pthread_mutex_lock(&inbox.lock);
    while (!inbox.first && !inbox.ended)
        pthread_cond_wait(&inbox.filled, &inbox.lock);
    line = inbox.first;
    if (line) {
        inbox.first = line->next;
        if (!inbox.first)
            inbox.last = &inbox.first;
        text = line->text;
    }
    pthread_mutex_unlock(&inbox.lock);
    free(line);
    return text;
}

static void *read_lines(void *unused)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    struct stat status;

    (void)unused;
    while ((length = getline(&text, &room, stdin)) >= 0) {
        while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
            length--;
        if (length > 0)
            inbox_put(ts_strndup(text, (size_t)length));
    }
    free(text);
    /* The parent is gone. Only jobs from a file outlive the file's end. */
    if (fstat(STDIN_FILENO, &status) < 0 || !S_ISREG(status.st_mode))
        _exit(0);
    pthread_mutex_lock(&inbox.lock);
    inbox.ended = true;
    pthread_cond_signal(&inbox.filled);
    pthread_mutex_unlock(&inbox.lock);
    return NULL;
}

/* ---- lines out ---- */

static void write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            _exit(0); /* nobody listens any more */
        bytes += written;
        length -= (size_t)written;
    }
}

/* Takes line. */
static void send_line(struct ts_worker *worker, cJSON *line)
{
    char *text = ts_json_print(line);
    size_t length = strlen(text);

    text[length] = '\n'; /* in place of the NUL: one write, one line */
    write_all(worker->out, text, length + 1);
    free(text);
    cJSON_Delete(line);
}

static const char *const stage_names[TS_STAGE_COUNT] = {
    [TS_STAGE_NONE] = "",       [TS_STAGE_BUILD] = "build", [TS_STAGE_REFERENCE] = "reference",
    [TS_STAGE_PROVE] = "prove", [TS_STAGE_TIME] = "time",
};

static void enter_stage(struct ts_worker *worker, enum ts_stage stage)
{
    int64_t now = ts_now_ns();

    worker->spent_ns[worker->stage] += now - worker->stage_began_ns;
    worker->stage = stage;
    worker->stage_began_ns = now;
}

void ts_worker_stage(struct ts_worker *worker, enum ts_stage stage)
{
    cJSON *line;

    if (stage == worker->stage)
        return;
    enter_stage(worker, stage);
    line = cJSON_CreateObject();
    ts_json_add_int(line, "job", worker->job_id);
    ts_json_add_string(line, "stage", stage_names[stage]);
    send_line(worker, line);
}

static void computing(void *context, bool begins)
{
    ts_worker_stage(context, begins ? TS_STAGE_REFERENCE : TS_STAGE_PROVE);
}

/* How long the job was in each stage. */
static void add_spent(struct ts_worker *worker, cJSON *line)
{
    cJSON *spent = ts_json_add_object(line, "spent_ns");

    enter_stage(worker, TS_STAGE_NONE);
    for (int stage = TS_STAGE_BUILD; stage < TS_STAGE_COUNT; stage++)
        ts_json_add_int(spent, stage_names[stage], worker->spent_ns[stage]);
}

static cJSON *done_line(const struct ts_worker *worker, const char *verb)
{
    cJSON *line = cJSON_CreateObject();

    ts_json_add_int(line, "job", worker->job_id);
    ts_json_add_string(line, "done", verb);
    return line;
}

static void add_fault(cJSON *line, const struct ts_fault *fault)
{
    ts_json_add_string(line, "status", ts_status_name(fault->status));
    if (fault->status == TS_OK) {
        ts_json_add_null(line, "reason");
    } else {
        cJSON *reason = ts_json_add_object(line, "reason");
        ts_json_add_string(reason, "code", fault->code);
        ts_json_add_string(reason, "text", fault->text);
    }
    if (fault->retire)
        ts_json_add_bool(line, "retire", true);
}

static void send_error(struct ts_worker *worker, const char *text)
{
    cJSON *line = done_line(worker, "error");

    ts_json_add_string(line, "text", text);
    send_line(worker, line);
}

/* ---- jobs ---- */

static void serve_devices(struct ts_worker *worker)
{
    cJSON *line = done_line(worker, "devices");
    struct ts_ocl_platforms all;
    cJSON *platforms, *host = ts_worker_host();

    ts_json_add_string(line, "host", ts_json_string(host, "name", ""));
    cJSON_Delete(host);

    ts_ocl_platforms(&all);
    ts_json_add_string(line, "fault", all.fault);
    platforms = ts_json_add_array(line, "platforms");
    for (size_t i = 0; i < all.count; i++) {
        cJSON *platform = ts_json_add_object(platforms, NULL);
        ts_json_add_int(platform, "index", all.items[i].index);
        ts_json_add_string(platform, "name", all.items[i].name);
        ts_json_add_string(platform, "version", all.items[i].version);
        ts_json_add_string(platform, "fault", all.items[i].fault);
        cJSON *devices = ts_json_add_array(platform, "devices");
        for (size_t j = 0; j < all.items[i].device_count; j++)
            ts_device_to_json(&all.items[i].devices[j], ts_json_add_object(devices, NULL));
    }
    ts_ocl_platforms_free(&all);
    send_line(worker, line);
}

static int open_device(struct ts_worker *worker, const struct ts_job *job, struct ts_fault *fault)
{
    if (worker->ocl)
        return ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_OPERATION",
                            "this worker has a device already");
    worker->ocl = ts_ocl_open(job->platform_index, job->device_index, fault);
    if (!worker->ocl)
        return -1;
    if (job->device_id && strcmp(ts_ocl_device(worker->ocl)->id, job->device_id) != 0)
        return ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_DEVICE",
                            "device %d:%d is another one here: id %s, expected %s",
                            job->platform_index, job->device_index, ts_ocl_device(worker->ocl)->id,
                            job->device_id);
    return 0;
}

static void serve_open(struct ts_worker *worker, const struct ts_job *job)
{
    cJSON *line = done_line(worker, "open");
    struct ts_fault fault = {0};
    struct ts_clock clock = {0};
    int result = open_device(worker, job, &fault);

    if (worker->ocl)
        ts_device_to_json(ts_ocl_device(worker->ocl), line);
    if (result == 0) {
        ts_bench_attach(worker->bench, worker->ocl);
        if (job->audit)
            result = ts_worker_audit(worker, &job->code, &clock, &fault);
    }
    add_fault(line, &fault);
    ts_json_add_item(line, "host", ts_worker_host());
    ts_json_add_item(line, "environment", ts_worker_environment());
    if (result == 0 && job->audit)
        ts_json_add_item(line, "clock", ts_clock_to_json(&clock));
    else
        ts_json_add_null(line, "clock");
    ts_clock_free(&clock);
    send_line(worker, line);
}

static void serve_digest(struct ts_worker *worker, const struct ts_job *job)
{
    cJSON *line = done_line(worker, "digest");
    const char *text = ts_bench_source(worker->bench, job->code.source);
    struct ts_fault fault = {0};
    char *digest = NULL;

    if (text)
        digest = ts_ocl_binary_digest(worker->ocl, text, job->code.options, &fault);
    else
        ts_fault_set(&fault, TS_BUILD_FAILED, "compiler", "source %s was never sent",
                     job->code.source);
    add_fault(line, &fault);
    ts_json_add_string(line, "binary", digest);
    send_line(worker, line);
    free(digest);
}

static void serve_sentinel(struct ts_worker *worker, const struct ts_job *job)
{
    cJSON *line = done_line(worker, "sentinel"), *object;
    struct ts_fault fault = {0};
    struct ts_sentinel_point point = {0};
    struct ts_calm calm;
    int result;

    ts_worker_calm_begin(&calm, worker, &job->clock, job->patience_ns);
    do
        result = ts_worker_sentinel(worker, &job->code, &job->clock, &point, &fault);
    while (result == 0 && ts_worker_calm_again(&calm));
    ts_worker_calm_end(&calm);

    add_fault(line, &fault);
    if (result == 0) {
        object = ts_json_add_object(line, "sentinel");
        ts_json_add_int(object, "copy_ns", point.copy_ns);
        ts_json_add_int(object, "fma_ns", point.fma_ns);
        ts_worker_calm_tell(&calm, object);
    }
    send_line(worker, line);
}

static void serve_peaks(struct ts_worker *worker, const struct ts_job *job)
{
    cJSON *line = done_line(worker, "peaks");
    struct ts_fault fault = {0};
    struct ts_peaks peaks = {0};

    ts_worker_peaks(worker, &job->code, &peaks, &fault);
    add_fault(line, &fault);
    ts_json_add_item(line, "peaks", ts_peaks_to_json(&peaks));
    send_line(worker, line);
}

static void add_visit(cJSON *line, const struct ts_outcome *outcome)
{
    cJSON *visit, *samples;

    if (!outcome->has_visit) {
        ts_json_add_null(line, "visit");
        return;
    }
    visit = ts_json_add_object(line, "visit");
    ts_json_add_int_or_null(visit, "first_ns",
                            outcome->first_ns >= 0 ? outcome->first_ns : outcome->visit.first_ns);
    ts_json_add_string(visit, "cache", ts_cache_name(outcome->cache));
    ts_json_add_int(visit, "batch", outcome->visit.batch);
    if (outcome->paused)
        ts_json_add_bool(visit, "paused", true);
    ts_worker_calm_tell(&outcome->calm, visit);
    samples = ts_json_add_array(visit, "sample_ns");
    for (size_t i = 0; i < outcome->visit.count; i++)
        ts_json_add_int(samples, NULL, outcome->visit.sample_ns[i]);
}

static void serve_configuration(struct ts_worker *worker, const struct ts_job *job)
{
    cJSON *line = done_line(worker, ts_job_verb_name(job->verb));
    struct ts_outcome outcome;
    struct ts_row empty;

    memset(&outcome, 0, sizeof(outcome));
    ts_row_init(&empty);
    outcome.check = empty.check;
    outcome.check.sizes = outcome.check.elements = 0;
    outcome.first_ns = -1;
    memset(worker->spent_ns, 0, sizeof(worker->spent_ns));
    worker->stage_began_ns = ts_now_ns();
    ts_rig_facts_init(&outcome.facts);
    if (job->verb == TS_JOB_PROVE)
        ts_worker_prove(worker, job, &outcome);
    else if (job->verb == TS_JOB_TIME)
        ts_worker_time(worker, job, &outcome);
    else
        ts_worker_check(worker, job, &outcome);
    add_fault(line, &outcome.fault);
    ts_json_add_item(line, "geometry", ts_geometry_to_json(&outcome.facts.geometry));
    ts_json_add_item(line, "build", ts_build_to_json(&outcome.facts.build));
    if (job->verb != TS_JOB_CHECK)
        ts_json_add_item(line, "check", ts_check_to_json(&outcome.check));
    if (job->verb == TS_JOB_TIME)
        add_visit(line, &outcome);
    if (job->verb == TS_JOB_TIME && outcome.right)
        ts_json_add_string(line, "right", outcome.right);
    add_spent(worker, line);
    send_line(worker, line);
    ts_rig_facts_free(&outcome.facts);
    ts_values_free(&outcome.check.at_size);
    free(outcome.visit.sample_ns);
    free(outcome.right);
    ts_truth_trim(worker->truth, TRUTH_BYTES);
}

static void serve_job(struct ts_worker *worker, const struct ts_job *job)
{
    if (job->verb != TS_JOB_DEVICES && job->verb != TS_JOB_OPEN && !worker->ocl) {
        send_error(worker, "no device: an \"open\" job must come first");
        return;
    }
    switch (job->verb) {
    case TS_JOB_DEVICES:
        serve_devices(worker);
        break;
    case TS_JOB_OPEN:
        serve_open(worker, job);
        break;
    case TS_JOB_PEAKS:
        serve_peaks(worker, job);
        break;
    case TS_JOB_SENTINEL:
        serve_sentinel(worker, job);
        break;
    case TS_JOB_DIGEST:
        serve_digest(worker, job);
        break;
    case TS_JOB_PROVE:
    case TS_JOB_TIME:
    case TS_JOB_CHECK:
        serve_configuration(worker, job);
        break;
    case TS_JOB_VERB_COUNT:
        break;
    }
}

static void serve_line(struct ts_worker *worker, const char *text)
{
    struct ts_err err = {0};
    struct ts_job job;
    cJSON *line = ts_json_parse(text, strlen(text), "job", 1, &err);
    const char *digest = line ? ts_json_string(line, "source", NULL) : NULL;

    worker->job_id = line ? ts_json_int(line, "job", 0) : 0;
    if (digest) {
        ts_bench_add_source(worker->bench, digest, ts_json_string(line, "text", ""));
    } else if (!line || ts_job_read(&job, line, &err) < 0) {
        send_error(worker, err.text);
    } else {
        serve_job(worker, &job);
        ts_job_free(&job);
    }
    cJSON_Delete(line);
}

/* ---- start ---- */

static int take_streams(struct ts_worker *worker, struct ts_err *err)
{
    worker->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (worker->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return ts_err_set(err, TS_EXIT_SYSTEM, "worker: cannot set up its streams: %s",
                          strerror(errno));
    return 0;
}

static void leave(void)
{
    _exit(TS_EXIT_SYSTEM); /* as below */
}

int ts_worker_serve(struct ts_err *err)
{
    struct ts_worker worker = {0};
    cJSON *hello;
    pthread_t reader;
    char *text;

    if (take_streams(&worker, err) < 0)
        return -1;
    ts_on_no_memory(leave);
    ts_pause_install();
    ts_worker_pin_threads();
    worker.bench = ts_bench_open();
    worker.truth = ts_truth_open(computing, &worker);
    hello = cJSON_CreateObject();
    ts_json_add_string(hello, "hello", "tilesweep.worker/1");
    ts_json_add_string(hello, "version", ts_version());
    ts_json_add_int(hello, "pid", getpid());
    send_line(&worker, hello);
    if (pthread_create(&reader, NULL, read_lines, NULL) != 0)
        return ts_err_set(err, TS_EXIT_SYSTEM, "worker: cannot start a thread");
    while ((text = inbox_take()) != NULL) {
        serve_line(&worker, text);
        free(text);
    }
    _exit(0); /* drivers hang in their atexit handlers */
}
