/* sweep_calm.c: how long a run waits for processors that others keep busy. */
#include "sweep_private.h"

/* Waiting for calm takes at most so many times what the rest of the time phase takes, and this. */
#define PATIENCE_TIMES 2
#define PATIENCE_LEAST_NS (3 * (int64_t)SECOND_NS)
/* One visit, at most; and this part of a budget's rest and of a job's deadline. */
#define PATIENCE_MOST_NS (5 * (int64_t)SECOND_NS)
#define PATIENCE_PART 4

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t ts_sweep_patience_ns(const struct sweep *s)
{
    int64_t now_ns = ts_now_ns(), measured_ns = now_ns - s->timing_began_ns - s->waited_ns;
    int64_t patience_ns = PATIENCE_LEAST_NS + PATIENCE_TIMES * measured_ns - s->waited_ns;

    if (s->never_calm)
        return 0;
    patience_ns = least(patience_ns, least(PATIENCE_MOST_NS, s->timeout_ns / PATIENCE_PART));
    if (s->end_ns != INT64_MAX)
        patience_ns = least(patience_ns, (s->end_ns - now_ns) / PATIENCE_PART);
    return patience_ns > 0 ? patience_ns : 0;
}

bool ts_sweep_was_starved(struct sweep *s, const cJSON *measured)
{
    int64_t waited_ns = ts_json_int(measured, "waited_ns", 0), most_ns = PATIENCE_MOST_NS;

    bool starved = ts_json_bool(measured, "starved", false);

    waited_ns = least(waited_ns, most_ns); /* a worker can say anything */
    s->waited_ns += waited_ns;
    s->waited_in_vain_ns = starved ? s->waited_in_vain_ns + waited_ns : 0;
    /* No burst of work but a machine that is always busy: no use, until a visit is calm by luck. */
    s->never_calm = s->waited_in_vain_ns >= PATIENCE_MOST_NS;
    return starved;
}
