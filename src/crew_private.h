/* crew_private.h: shared by crew*.c alone.
 *
 *   crew.c           workers started, given jobs, waited for
 *   crew_deadline.c  how long each may take
 *   crew_reply.c     what they say, or that they are gone, into replies */
#ifndef TS_CREW_PRIVATE_H
#define TS_CREW_PRIVATE_H

#include "crew.h"

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

/* ---- crew_deadline.c: no function of it ends a worker ---- */

/* Of what the hand does now. */
int64_t ts_crew_timeout_of(const struct ts_crew *crew, const struct hand *hand);
int64_t ts_crew_reference_timeout_ns(const struct ts_crew *crew);
void ts_crew_start_deadline(struct ts_crew *crew, struct hand *hand);
/* The job in flight has reached a stage: the reference has a deadline of its own. */
void ts_crew_take_stage(const struct ts_crew *crew, struct hand *hand, const char *stage);
/* The earliest deadline of any hand, at most until_ns. */
int64_t ts_crew_next_deadline(const struct ts_crew *crew, int64_t until_ns);
void ts_crew_look_at_clock(struct ts_crew *crew, int64_t expected_ns);

/* ---- crew_reply.c: those that return bool have filled reply when it is true ---- */

void ts_crew_clear_hand(struct hand *hand);
/* A line of the worker in the seat. */
bool ts_crew_take_line(struct ts_crew *crew, size_t seat, const struct ts_event *event,
                       struct ts_reply *reply);
/* What it printed meanwhile. */
void ts_crew_take_talk(struct hand *hand, const struct ts_event *event);
/* It has ended by itself; it is past its deadline: it is ended now. */
bool ts_crew_lose_ended(struct ts_crew *crew, size_t seat, const struct ts_event *event,
                        struct ts_reply *reply);
bool ts_crew_lose_late(struct ts_crew *crew, size_t seat, struct ts_reply *reply);

#endif
