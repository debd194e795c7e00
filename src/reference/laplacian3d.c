/* laplacian3d.c: the Laplacian of a periodic 3-D grid, 7-point, or 27-point after O'Reilly and Beck
 * (2006). */
#include "reference_rows.h"

#include <math.h>

/* Weight of a neighbour by the number of axes along which it differs from the cell: itself, over a
 * face, an edge, a corner. */
struct stencil {
    double weight[4];
    double divisor;
};

static const struct stencil seven = {{-6, 1, 0, 0}, 1};
static const struct stencil twenty_seven = {{-88, 6, 3, 2}, 26};

static const struct stencil *stencil_of(const struct ts_ref_case *c)
{
    return ts_values_number(c->problem, "POINTS", 7) == 27 ? &twenty_seven : &seven;
}

/* Along one axis: the index before, at and after i, each times stride. */
struct three {
    int64_t at[3];
};

static struct three around(int64_t i, int64_t n, int64_t stride)
{
    return (struct three){
        {(i == 0 ? n - 1 : i - 1) * stride, i * stride, (i == n - 1 ? 0 : i + 1) * stride}};
}

static void one_cell(const struct stencil *stencil, const struct ts_ref_arg *src, struct three x,
                     struct three y, struct three z, double *value, double *magnitude)
{
    double sum = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 3; i++) {
                const double weight = stencil->weight[(i != 1) + (j != 1) + (k != 1)];
                const double term = weight * ts_ref_at(src, z.at[k] + y.at[j] + x.at[i]);
                sum += term;
                size += fabs(term);
            }
        }
    }
    *value = sum / stencil->divisor;
    *magnitude = size / stencil->divisor;
}

static int64_t cost(const struct ts_ref_case *c)
{
    (void)c;
    return 2 * 27;
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_laplacian3d, err) != 0)
        return -1;
    const int64_t points = ts_values_number(c->problem, "POINTS", 7);
    if (points != 7 && points != 27)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "reference \"laplacian3d\": POINTS is 7 or 27, not %lld",
                          (long long)points);
    return ts_ref_need_count(c, "src",
                             ts_values_number(c->size, "W", 1) * ts_values_number(c->size, "H", 1) *
                                 ts_values_number(c->size, "D", 1),
                             err);
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)state;
    (void)output;
    const struct ts_ref_arg *src = ts_ref_find_arg(c, "src");
    const struct stencil *stencil = stencil_of(c);
    const int64_t w = ts_values_number(c->size, "W", 1);
    const int64_t h = ts_values_number(c->size, "H", 1);
    const int64_t d = ts_values_number(c->size, "D", 1);
    const double factor = ts_ref_sum_factor(ts_values_number(c->problem, "POINTS", 7));
    for (int64_t i = 0; i < count; i++) {
        const int64_t x = (first + i) % w, y = (first + i) / w % h, z = (first + i) / w / h;
        one_cell(stencil, src, around(x, w, 1), around(y, h, w), around(z, d, w * h), &value[i],
                 &scale[i]);
        scale[i] *= factor;
    }
}

static void close_case(void *state)
{
    (void)state;
}

const struct ts_reference ts_reference_laplacian3d = {
    .name = "laplacian3d",
    .doc =
        "Laplacian of src (D x H x W, periodic) into dst: POINTS 7 (the default), or 27: (2 3 2; 3 "
        "6 3; 2 3 2 | 3 6 3; 6 -88 6; 3 6 3 | 2 3 2; 3 6 3; 2 3 2)/26",
    .sizes = (const char *const[]){"W", "H", "D", NULL},
    .problem = (const char *const[]){"POINTS", NULL},
    .inputs = (const char *const[]){"src", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
