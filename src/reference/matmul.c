/* matmul.c: C = A * B, row-major: a M x K, b K x N, c M x N. */
#include "reference_rows.h"

#include <math.h>

struct shape {
    int64_t m, n, k;
};

static struct shape shape_of(const struct ts_ref_case *c)
{
    return (struct shape){ts_values_number(c->size, "M", 1), ts_values_number(c->size, "N", 1),
                          ts_values_number(c->size, "K", 1)};
}

static int64_t cost(const struct ts_ref_case *c)
{
    return 2 * shape_of(c).k;
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_matmul, err) != 0)
        return -1;
    const struct shape s = shape_of(c);
    if (ts_ref_need_count(c, "a", s.m * s.k, err) != 0)
        return -1;
    return ts_ref_need_count(c, "b", s.k * s.n, err);
}

/* Elements (row, column .. column+count) of c. The inner loop runs along a row of b, as b lies in
 * memory; each element still adds its terms in the order of k. */
static void run(const struct ts_ref_arg *a, const struct ts_ref_arg *b, const struct shape *s,
                int64_t row, int64_t column, int64_t count, double *value, double *scale)
{
    for (int64_t i = 0; i < count; i++)
        value[i] = scale[i] = 0;
    for (int64_t k = 0; k < s->k; k++) {
        const double left = ts_ref_at(a, row * s->k + k);
        for (int64_t i = 0; i < count; i++) {
            const double term = left * ts_ref_at(b, k * s->n + column + i);
            value[i] += term;
            scale[i] += fabs(term);
        }
    }
    const double factor = ts_ref_sum_factor(s->k);
    for (int64_t i = 0; i < count; i++)
        scale[i] *= factor;
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)state;
    (void)output;
    const struct shape s = shape_of(c);
    const struct ts_ref_arg *a = ts_ref_find_arg(c, "a");
    const struct ts_ref_arg *b = ts_ref_find_arg(c, "b");
    for (int64_t done = 0; done < count;) {
        const int64_t row = (first + done) / s.n;
        const int64_t column = (first + done) % s.n;
        const int64_t rest = count - done;
        const int64_t length = s.n - column < rest ? s.n - column : rest;
        run(a, b, &s, row, column, length, value + done, scale + done);
        done += length;
    }
}

static void close_case(void *state)
{
    (void)state;
}

const struct ts_reference ts_reference_matmul = {
    .name = "matmul",
    .doc = "Matrix product c = a * b, row-major: a M x K, b K x N, c M x N",
    .sizes = (const char *const[]){"M", "N", "K", NULL},
    .problem = (const char *const[]){NULL},
    .inputs = (const char *const[]){"a", "b", NULL},
    .outputs = (const char *const[]){"c", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
