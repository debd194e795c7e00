/* scan.c: inclusive prefix sums of N numbers. */
#include "reference_rows.h"

#include <math.h>
#include <stdlib.h>

/* Elements between two marks. */
enum { STRIDE = 1024 };

/* What has been summed before elements 0, STRIDE, 2*STRIDE, ...: a slice goes on from the last mark
 * before it, and so adds in the same order as the whole. */
struct mark {
    double value, magnitude;
};

static int64_t cost(const struct ts_ref_case *c)
{
    (void)c;
    return 2;
}

static void add(struct mark *sum, const struct ts_ref_arg *src, int64_t i)
{
    const double term = ts_ref_at(src, i);
    sum->value += term;
    sum->magnitude += fabs(term);
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_scan, err) != 0)
        return -1;
    const int64_t n = ts_values_number(c->size, "N", 1);
    if (ts_ref_need_count(c, "src", n, err) != 0)
        return -1;
    struct mark *marks = calloc((size_t)((n + STRIDE - 1) / STRIDE), sizeof(*marks));
    if (!marks)
        return ts_err_set(err, TS_EXIT_SYSTEM, "out of memory for the prefix sums");
    const struct ts_ref_arg *src = ts_ref_find_arg(c, "src");
    struct mark sum = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        if (i % STRIDE == 0)
            marks[i / STRIDE] = sum;
        add(&sum, src, i);
    }
    *state = marks;
    return 0;
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)output;
    const struct ts_ref_arg *src = ts_ref_find_arg(c, "src");
    const struct mark *marks = state;
    if (count == 0)
        return;
    struct mark sum = marks[first / STRIDE];
    for (int64_t i = first / STRIDE * STRIDE; i < first + count; i++) {
        add(&sum, src, i);
        if (i >= first) {
            value[i - first] = sum.value;
            scale[i - first] = sum.magnitude * ts_ref_sum_factor(i + 1);
        }
    }
}

const struct ts_reference ts_reference_scan = {
    .name = "scan",
    .doc = "dst(i) = src(0) + ... + src(i), for i in 0 .. N-1",
    .sizes = (const char *const[]){"N", NULL},
    .problem = (const char *const[]){NULL},
    .inputs = (const char *const[]){"src", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = free,
};
