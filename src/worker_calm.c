/* worker_calm.c: measuring again where threads of this process had to wait for a processor. */
#include <time.h>

#include "worker_private.h"

/* A wait of this part of what was measured spoils more than a sample or two of it. */
#define STARVED_SHARE 0.2
/* The scheduler parts two threads that share a processor only while they run, so some tries follow
 * each other at once; a busy neighbour is waited for. */
#define TRIES_AT_ONCE 3
#define FIRST_NAP_NS 20000000
#define LONGEST_NAP_NS 320000000

static bool is_concerned(const struct ts_worker *worker, const struct ts_clock *clock)
{
    return ts_worker_is_cpu(worker) || !clock->event;
}

void ts_worker_calm_audit(const struct ts_worker *worker, struct ts_clock *clock)
{
    struct ts_runqueue now = ts_runqueue_mark();

    if (is_concerned(worker, clock) && now.count == 0)
        ts_clock_warn(clock, ts_strdup("the system does not tell how long a thread waits for a "
                                       "processor (schedstat in its proc file system): visits that "
                                       "other processes disturb are not seen"));
    ts_runqueue_free(&now);
}

/* What is measured begins only now. */
static void mark(struct ts_calm *calm)
{
    if (!calm->concerned)
        return;
    ts_runqueue_free(&calm->mark);
    calm->mark = ts_runqueue_mark();
    calm->marked_ns = ts_now_ns();
    calm->waited_ns = calm->marked_ns - calm->began_ns;
    calm->starved = false;
}

void ts_worker_calm_begin(struct ts_calm *calm, const struct ts_worker *worker,
                          const struct ts_clock *clock, int64_t patience_ns)
{
    *calm = (struct ts_calm){
        .concerned = is_concerned(worker, clock),
        .patience_ns = patience_ns,
        .nap_ns = FIRST_NAP_NS,
        .began_ns = ts_now_ns(),
    };
    mark(calm);
}

/* Sleeps after every few tries, longer each time, but not beyond the patience. */
static void nap(struct ts_calm *calm, int64_t left_ns)
{
    int64_t nap_ns = calm->nap_ns < left_ns ? calm->nap_ns : left_ns;
    const struct timespec time = {(time_t)(nap_ns / 1000000000), (long)(nap_ns % 1000000000)};

    if (calm->tries % TRIES_AT_ONCE != 0)
        return;
    (void)nanosleep(&time, NULL);
    if (calm->nap_ns < LONGEST_NAP_NS)
        calm->nap_ns *= 2;
}

bool ts_worker_calm_again(struct ts_calm *calm)
{
    int64_t now_ns = ts_now_ns(), left_ns = calm->began_ns + calm->patience_ns - now_ns;
    int64_t span_ns;

    if (!calm->concerned)
        return false;
    span_ns = now_ns - calm->marked_ns;
    calm->starved =
        (double)ts_runqueue_since(&calm->mark, span_ns) > STARVED_SHARE * (double)span_ns;
    if (!calm->starved || left_ns <= 0)
        return false;
    calm->tries++;
    nap(calm, left_ns);
    mark(calm);
    return true;
}

void ts_worker_calm_end(struct ts_calm *calm)
{
    ts_runqueue_free(&calm->mark);
}

void ts_worker_calm_tell(const struct ts_calm *calm, cJSON *object)
{
    if (calm->starved)
        ts_json_add_bool(object, "starved", true);
    if (calm->waited_ns > 0)
        ts_json_add_int(object, "waited_ns", calm->waited_ns);
}
