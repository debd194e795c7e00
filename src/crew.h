/* crew.h: the workers as the parent sees them: started, given jobs, watched, replaced. Floor 3,
 * parent's side: child.h moves the lines, this file knows the protocol (docs/protocol.md) and its
 * deadlines.
 *
 * A hand is one worker process with a seat number that stays while the process in it is replaced.
 * One job at a time a hand. Whatever becomes of the job ends in exactly one reply. */
#ifndef TS_CREW_H
#define TS_CREW_H

#include "child.h"
#include "device.h"
#include "job.h"
#include "row.h"

/* Seats are numbered from 0 to this, exclusive. */
#define TS_CREW_SEATS 64

struct ts_crew;

/* How a worker is started; borrowed. All zero: this program itself. */
struct ts_launcher {
    const char *command;   /* --worker's */
    char *const *assigned; /* "NAME=VALUE" in its environment */
    size_t assigned_count;
};

/* timeout_ns: deadline of one job; time that the CPU reference takes does not count, up to ten
 * deadlines; starting a process, taking a device and measuring its ceilings may take 10 s in any
 * case. next_ordinal: the number of the next process; borrowed, and counted up: two crews of one
 * run share it. */
struct ts_crew *ts_crew_open(const struct ts_launcher *launcher, int64_t timeout_ns,
                             int *next_ordinal);
/* Ends every worker at once. Accepts NULL. */
void ts_crew_close(struct ts_crew *crew);

/* Every worker hired from now on takes this device before its first job; device is borrowed. */
void ts_crew_use_device(struct ts_crew *crew, const struct ts_device *device);

/* Every worker hired from now on is started by this command; copied. */
void ts_crew_use_command(struct ts_crew *crew, const char *command);

/* From now on no reply tells paths or the host's name (--anonymous): neither the log and options of
 * a build, nor a reason, nor what a worker printed. host: see hide.h; copied. */
void ts_crew_hide(struct ts_crew *crew, const char *host);

/* Starts a worker in a free seat. Exit status 4 when it cannot be started. */
int ts_crew_hire(struct ts_crew *crew, size_t *seat, struct ts_err *err);
/* Lets the worker in the seat end by itself, within moments. */
void ts_crew_dismiss(struct ts_crew *crew, size_t seat);
bool ts_crew_is_hired(const struct ts_crew *crew, size_t seat);
bool ts_crew_is_idle(const struct ts_crew *crew, size_t seat);

/* Sends a job to an idle hand, its sources before it where this worker has not got them yet:
 * texts[i] is the source of digests[i]. The crew numbers the job. */
void ts_crew_send(struct ts_crew *crew, size_t seat, struct ts_job *job, const char *const *digests,
                  const char *const *texts, size_t source_count);

enum ts_reply_kind {
    TS_REPLY_NONE,   /* until_ns passed */
    TS_REPLY_SIGNAL, /* SIGINT or SIGTERM is pending */
    TS_REPLY_DONE,   /* line is the `done` line */
    TS_REPLY_LOST,   /* the worker is gone: status, code and text say how; its seat is free */
};
struct ts_reply {
    enum ts_reply_kind kind;
    size_t seat;
    int ordinal;           /* which process: counts up over the crew's life */
    cJSON *line;           /* done; freed by ts_reply_free */
    enum ts_status status; /* lost: timeout or crashed */
    char code[32];
    char *text;
    char *talk;  /* what the worker printed during the job; NULL: nothing */
    bool retire; /* done: the worker asks to be replaced; the caller dismisses it */
};
void ts_crew_wait(struct ts_crew *crew, int64_t until_ns, struct ts_reply *reply);
void ts_reply_free(struct ts_reply *reply);

/* Sends one job and waits for its end. The same replies, never NONE. */
void ts_crew_call(struct ts_crew *crew, size_t seat, struct ts_job *job, const char *const *digests,
                  const char *const *texts, size_t source_count, struct ts_reply *reply);

#endif
