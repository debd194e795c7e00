/* separable.c: a (2R+1) x (2R+1) filter that is the product of a column and a row, over a 2-D image
 * whose edge is continued outwards. The sum is over the product's taps, as of any filter: it knows
 * nothing of passes. */
#include "reference_rows.h"

#include <stdlib.h>

/* The taps of the product, in double. */
struct state {
    int64_t radius;
    double taps[];
};

static int64_t cost(const struct ts_ref_case *c)
{
    const int64_t side = 2 * ts_values_number(c->problem, "RADIUS", 1) + 1;
    return side * side;
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    const int64_t radius = ts_ref_filter_radius(c, &ts_reference_separable, err);
    if (radius < 0)
        return -1;
    const int64_t side = 2 * radius + 1;
    if (ts_ref_need_count(c, "filters", 2 * side, err) != 0)
        return -1;
    const struct ts_ref_arg *filters = ts_ref_find_arg(c, "filters");
    struct state *s = ts_alloc(1, sizeof(*s) + (size_t)(side * side) * sizeof(double));
    s->radius = radius;
    for (int64_t j = 0; j < side; j++) {
        for (int64_t i = 0; i < side; i++)
            s->taps[j * side + i] = ts_ref_at(filters, j) * ts_ref_at(filters, side + i);
    }
    *state = s;
    return 0;
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)output;
    const struct state *s = state;
    ts_ref_filter_slice(c, s->radius, s->taps, first, count, value, scale);
}

static void close_case(void *state)
{
    free(state);
}

const struct ts_reference ts_reference_separable = {
    .name = "separable",
    .doc = "dst(y,x) = sum over j,i of column(j) * row(i) * src(y+j-R, x+i-R), indices clamped to "
           "the image (H x W); filters: the 2R+1 taps of the column, then those of the row; "
           "RADIUS R is 1 by default",
    .sizes = (const char *const[]){"W", "H", NULL},
    .problem = (const char *const[]){"RADIUS", NULL},
    .inputs = (const char *const[]){"src", "filters", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
