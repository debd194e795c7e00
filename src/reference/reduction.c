/* reduction.c: the sum of N numbers. */
#include "reference_rows.h"

#include <math.h>

static int64_t cost(const struct ts_ref_case *c)
{
    return ts_values_number(c->size, "N", 1);
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_reduction, err) != 0)
        return -1;
    return ts_ref_need_count(c, "src", ts_values_number(c->size, "N", 1), err);
}

/* The one element of dst. */
static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)state;
    (void)output;
    (void)first;
    if (count == 0)
        return;
    const struct ts_ref_arg *src = ts_ref_find_arg(c, "src");
    *value = *scale = 0;
    for (int64_t i = 0; i < src->count; i++) {
        const double term = ts_ref_at(src, i);
        *value += term;
        *scale += fabs(term);
    }
    *scale *= ts_ref_sum_factor(src->count);
}

static void close_case(void *state)
{
    (void)state;
}

const struct ts_reference ts_reference_reduction = {
    .name = "reduction",
    .doc = "dst(0) = the sum of src(0) .. src(N-1)",
    .sizes = (const char *const[]){"N", NULL},
    .problem = (const char *const[]){NULL},
    .inputs = (const char *const[]){"src", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
