/* sweep_calm.c: how long a run waits for processors that others keep busy. */
#include "sweep_private.h"

/* Waiting for calm takes at most so many times what the rest of the time phase takes, and this. */
#define PATIENCE_TIMES 2
#define PATIENCE_LEAST_NS (3 * (int64_t)SECOND_NS)
/* One visit, at most; and this part of a budget's rest and of a job's deadline. */
#define PATIENCE_MOST_NS (5 * (int64_t)SECOND_NS)
#define PATIENCE_PART 4
/* After so long in vain, and of a budget after this part of it, no more is waited. */
#define IN_VAIN_PART 10

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void ts_sweep_calm_begin(struct sweep *s, int64_t visits)
{
    int64_t now_ns = ts_now_ns(), in_vain_most_ns = PATIENCE_MOST_NS;

    if (s->end_ns != INT64_MAX)
        in_vain_most_ns = least(in_vain_most_ns, (s->end_ns - now_ns) / IN_VAIN_PART);
    s->calm = (struct calm){
        .began_ns = now_ns, .spare_visits = visits, .in_vain_most_ns = in_vain_most_ns};
}

int64_t ts_sweep_patience_ns(const struct sweep *s)
{
    const struct calm *c = &s->calm;
    int64_t now_ns = ts_now_ns(), measured_ns = now_ns - c->began_ns - c->waited_ns;
    int64_t patience_ns = PATIENCE_LEAST_NS + PATIENCE_TIMES * measured_ns - c->waited_ns;

    if (c->never)
        return 0;
    patience_ns = least(patience_ns, least(PATIENCE_MOST_NS, s->timeout_ns / PATIENCE_PART));
    if (s->end_ns != INT64_MAX)
        patience_ns = least(patience_ns, (s->end_ns - now_ns) / PATIENCE_PART);
    return patience_ns > 0 ? patience_ns : 0;
}

void ts_sweep_book_wait(struct sweep *s, const cJSON *told, int64_t dropped_ns)
{
    struct calm *c = &s->calm;
    /* A worker can say anything. */
    int64_t waited_ns = least(ts_json_int(told, "waited_ns", 0), PATIENCE_MOST_NS) + dropped_ns;

    c->waited_ns += waited_ns;
    c->in_vain_ns = ts_json_bool(told, "starved", false) ? c->in_vain_ns + waited_ns : 0;
    /* No burst of work but a machine that is always busy: no use, until a visit is calm by luck. */
    c->never = c->in_vain_ns >= c->in_vain_most_ns;
}
