/* crew_deadline.c: how long a worker may take, and that we may have been stopped ourselves. */
#include "crew_private.h"

#include <stdio.h>
#include <string.h>

/* The reference's time does not count against the deadline, but one that takes so many deadlines is
 * stuck. */
#define REFERENCE_TIMEOUTS 10
/* At least so long a worker may take to say its first line and to take its device. */
#define START_NS 10000000000LL
/* A wait that returns so late was not asleep but stopped. */
#define STOPPED_NS 500000000

/* A process that starts and a driver that wakes up are no job: a short --timeout is not meant for
 * them. */
int64_t ts_crew_timeout_of(const struct ts_crew *crew, const struct hand *hand)
{
    bool starts = !hand->hello || hand->opening_id != 0 || hand->verb == TS_JOB_DEVICES ||
                  hand->verb == TS_JOB_OPEN || hand->verb == TS_JOB_PEAKS;

    return starts && crew->timeout_ns < START_NS ? START_NS : crew->timeout_ns;
}

void ts_crew_start_deadline(struct ts_crew *crew, struct hand *hand)
{
    hand->deadline_ns = ts_now_ns() + ts_crew_timeout_of(crew, hand);
    hand->left_ns = -1;
}

int64_t ts_crew_reference_timeout_ns(const struct ts_crew *crew)
{
    return REFERENCE_TIMEOUTS * crew->timeout_ns;
}

void ts_crew_take_stage(const struct ts_crew *crew, struct hand *hand, const char *stage)
{
    int64_t now = crew->looked_ns;
    bool reference = !strcmp(stage, "reference");

    hand->began = true;
    snprintf(hand->stage, sizeof(hand->stage), "%s", stage);
    if (reference && hand->left_ns < 0) {
        hand->left_ns = hand->deadline_ns > now ? hand->deadline_ns - now : 0;
        hand->deadline_ns = now + ts_crew_reference_timeout_ns(crew);
    } else if (!reference && hand->left_ns >= 0) {
        hand->deadline_ns = now + hand->left_ns;
        hand->left_ns = -1;
    }
}

int64_t ts_crew_next_deadline(const struct ts_crew *crew, int64_t until_ns)
{
    for (size_t i = 0; i < TS_CREW_SEATS; i++) {
        const struct hand *hand = &crew->hands[i];
        if (hand->child && (hand->job_id || hand->opening_id) && hand->deadline_ns < until_ns)
            until_ns = hand->deadline_ns;
    }
    return until_ns;
}

/* Looks at the clock. When it is much later than expected, we were stopped (Ctrl-Z, a paused
 * machine) while deadlines passed, and what the workers sent meanwhile is still unread: every
 * deadline begins anew. All decisions are made by this one look, so that no stop fits between. */
void ts_crew_look_at_clock(struct ts_crew *crew, int64_t expected_ns)
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
            ts_crew_start_deadline(crew, hand);
        else if (hand->child)
            hand->deadline_ns = crew->looked_ns + ts_crew_reference_timeout_ns(crew);
    }
}
