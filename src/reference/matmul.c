/* matmul.c: C = A * B, row-major: c M x N; TRANS 0: a M x K, b K x N; 1: a transposed, K x M; 2: b
 * transposed, N x K. */
#include "reference_rows.h"

#include <math.h>

struct shape {
    int64_t m, n, k;
};

/* The value of TRANS, named as in BLAS: N as it is, T transposed; first a, then b. */
enum trans { NN, TN, NT, TRANS_COUNT };

static struct shape shape_of(const struct ts_ref_case *c)
{
    return (struct shape){ts_values_number(c->size, "M", 1), ts_values_number(c->size, "N", 1),
                          ts_values_number(c->size, "K", 1)};
}

static int64_t trans_of(const struct ts_ref_case *c)
{
    return ts_values_number(c->problem, "TRANS", NN);
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
    if (trans_of(c) < 0 || trans_of(c) >= TRANS_COUNT)
        return ts_err_set(err, TS_EXIT_USAGE, "reference \"matmul\": TRANS is 0 to %d, not %lld",
                          TRANS_COUNT - 1, (long long)trans_of(c));
    const struct shape s = shape_of(c);
    if (ts_ref_need_count(c, "a", s.m * s.k, err) != 0)
        return -1;
    return ts_ref_need_count(c, "b", s.k * s.n, err);
}

/* A matrix by its row and column in the product, wherever that element lies in memory. */
struct matrix {
    const struct ts_ref_arg *data;
    int64_t row_step, column_step;
};

static double at(const struct matrix *m, int64_t row, int64_t column)
{
    return ts_ref_at(m->data, row * m->row_step + column * m->column_step);
}

/* Elements (row, column .. column+count) of c. The inner loop runs along a row of b, as b mostly
 * lies in memory; each element still adds its terms in the order of k. */
static void run(const struct matrix *a, const struct matrix *b, int64_t terms, int64_t row,
                int64_t column, int64_t count, double *value, double *scale)
{
    for (int64_t i = 0; i < count; i++)
        value[i] = scale[i] = 0;
    for (int64_t k = 0; k < terms; k++) {
        const double left = at(a, row, k);
        for (int64_t i = 0; i < count; i++) {
            const double term = left * at(b, k, column + i);
            value[i] += term;
            scale[i] += fabs(term);
        }
    }
    const double factor = ts_ref_sum_factor(terms);
    for (int64_t i = 0; i < count; i++)
        scale[i] *= factor;
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)state;
    (void)output;
    const struct shape s = shape_of(c);
    const bool a_turned = trans_of(c) == TN, b_turned = trans_of(c) == NT;
    const struct matrix a = {ts_ref_find_arg(c, "a"), a_turned ? 1 : s.k, a_turned ? s.m : 1};
    const struct matrix b = {ts_ref_find_arg(c, "b"), b_turned ? 1 : s.n, b_turned ? s.k : 1};
    for (int64_t done = 0; done < count;) {
        const int64_t row = (first + done) / s.n;
        const int64_t column = (first + done) % s.n;
        const int64_t rest = count - done;
        const int64_t length = s.n - column < rest ? s.n - column : rest;
        run(&a, &b, s.k, row, column, length, value + done, scale + done);
        done += length;
    }
}

static void close_case(void *state)
{
    (void)state;
}

const struct ts_reference ts_reference_matmul = {
    .name = "matmul",
    .doc = "Matrix product c = a * b, row-major: a M x K (TRANS 1: K x M), b K x N (TRANS 2: N x "
           "K), c M x "
           "N; TRANS is 0 by default",
    .sizes = (const char *const[]){"M", "N", "K", NULL},
    .problem = (const char *const[]){"TRANS", NULL},
    .inputs = (const char *const[]){"a", "b", NULL},
    .outputs = (const char *const[]){"c", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
