/* laplacian.c: the Laplacian of a periodic 2-D grid, 5-point or isotropic 9-point. */
#include "reference_rows.h"

#include <math.h>

struct sums {
    double value, magnitude;
};

static void add(struct sums *s, double weight, double x)
{
    s->value += weight * x;
    s->magnitude += fabs(weight * x);
}

/* The rows and columns around one cell, as flat row starts and columns. */
struct around {
    int64_t north, here, south; /* index of the first cell of the row */
    int64_t west, x, east;      /* columns */
};

static struct sums five_points(const struct ts_ref_arg *src, const struct around *a)
{
    struct sums s = {0, 0};
    add(&s, 1, ts_ref_at(src, a->north + a->x));
    add(&s, 1, ts_ref_at(src, a->here + a->west));
    add(&s, -4, ts_ref_at(src, a->here + a->x));
    add(&s, 1, ts_ref_at(src, a->here + a->east));
    add(&s, 1, ts_ref_at(src, a->south + a->x));
    return s;
}

static struct sums nine_points(const struct ts_ref_arg *src, const struct around *a)
{
    const int64_t row[3] = {a->north, a->here, a->south};
    const int64_t column[3] = {a->west, a->x, a->east};
    static const double weight[3][3] = {{1, 4, 1}, {4, -20, 4}, {1, 4, 1}};
    struct sums s = {0, 0};
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            add(&s, weight[j][i], ts_ref_at(src, row[j] + column[i]));
    }
    s.value /= 6;
    s.magnitude /= 6;
    return s;
}

static int64_t cost(const struct ts_ref_case *c)
{
    return 2 * ts_values_number(c->problem, "POINTS", 5);
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_laplacian, err) != 0)
        return -1;
    const int64_t points = ts_values_number(c->problem, "POINTS", 5);
    if (points != 5 && points != 9)
        return ts_err_set(err, TS_EXIT_USAGE, "reference \"laplacian\": POINTS is 5 or 9, not %lld",
                          (long long)points);
    return ts_ref_need_count(
        c, "src", ts_values_number(c->size, "W", 1) * ts_values_number(c->size, "H", 1), err);
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)state;
    (void)output;
    const struct ts_ref_arg *src = ts_ref_find_arg(c, "src");
    const int64_t w = ts_values_number(c->size, "W", 1);
    const int64_t h = ts_values_number(c->size, "H", 1);
    const int64_t points = ts_values_number(c->problem, "POINTS", 5);
    const double factor = ts_ref_sum_factor(points);
    int64_t x = first % w;
    int64_t y = first / w;
    for (int64_t i = 0; i < count; i++) {
        const struct around a = {
            .north = (y == 0 ? h - 1 : y - 1) * w,
            .here = y * w,
            .south = (y == h - 1 ? 0 : y + 1) * w,
            .west = x == 0 ? w - 1 : x - 1,
            .x = x,
            .east = x == w - 1 ? 0 : x + 1,
        };
        const struct sums s = points == 9 ? nine_points(src, &a) : five_points(src, &a);
        value[i] = s.value;
        scale[i] = s.magnitude * factor;
        if (++x == w) {
            x = 0;
            y++;
        }
    }
}

static void close_case(void *state)
{
    (void)state;
}

const struct ts_reference ts_reference_laplacian = {
    .name = "laplacian",
    .doc =
        "Laplacian of src (H x W, periodic) into dst: POINTS 5 (the default), or 9: (1 4 1; 4 -20 "
        "4; 1 4 1)/6",
    .sizes = (const char *const[]){"W", "H", NULL},
    .problem = (const char *const[]){"POINTS", NULL},
    .inputs = (const char *const[]){"src", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
