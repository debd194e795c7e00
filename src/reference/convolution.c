/* convolution.c: a (2R+1) x (2R+1) filter over a 2-D image whose edge is continued outwards. */
#include "reference_rows.h"

#include <math.h>
#include <stdlib.h>

enum { RADIUS_MAX = 64 };

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

int64_t ts_ref_filter_cost(const struct ts_ref_case *c)
{
    const int64_t side = 2 * ts_values_number(c->problem, "RADIUS", 1) + 1;
    return side * side;
}

int64_t ts_ref_filter_radius(const struct ts_ref_case *c, const struct ts_reference *reference,
                             struct ts_err *err)
{
    if (ts_ref_need(c, reference, err) != 0)
        return -1;
    const int64_t radius = ts_values_number(c->problem, "RADIUS", 1);
    if (radius < 0 || radius > RADIUS_MAX)
        return ts_err_set(err, TS_EXIT_USAGE, "reference \"%s\": RADIUS is 0 to %d, not %lld",
                          reference->name, RADIUS_MAX, (long long)radius);
    const int64_t w = ts_values_number(c->size, "W", 1);
    const int64_t h = ts_values_number(c->size, "H", 1);
    return ts_ref_need_count(c, "src", w * h, err) == 0 ? radius : -1;
}

/* Outputs of one row that are computed together, so that the inner loop runs along x. */
enum { RUN_MAX = 1024 };

struct image {
    const struct ts_ref_arg *src;
    const double *taps;
    int64_t w, h, radius;
};

/* Outputs x .. x+count of row y; count <= RUN_MAX. Terms are added in the filter's order whatever
 * the run, so that a slice equals the same part of the whole bit for bit. */
static void run(const struct image *image, int64_t x, int64_t y, int64_t count, double *value,
                double *scale)
{
    const int64_t radius = image->radius;
    const int64_t side = 2 * radius + 1;
    double line[RUN_MAX + 2 * RADIUS_MAX]; /* what the run sees of one row of src */
    for (int64_t i = 0; i < count; i++)
        value[i] = scale[i] = 0;
    for (int64_t fy = 0; fy < side; fy++) {
        const int64_t row = clamp(y + fy - radius, image->h) * image->w;
        for (int64_t i = 0; i < count + 2 * radius; i++)
            line[i] = ts_ref_at(image->src, row + clamp(x + i - radius, image->w));
        for (int64_t fx = 0; fx < side; fx++) {
            const double tap = image->taps[fy * side + fx];
            for (int64_t i = 0; i < count; i++) {
                const double term = tap * line[i + fx];
                value[i] += term;
                scale[i] += fabs(term);
            }
        }
    }
    const double factor = ts_ref_sum_factor(side * side);
    for (int64_t i = 0; i < count; i++)
        scale[i] *= factor;
}

struct ts_ref_filter *ts_ref_filter_new(int64_t radius)
{
    const size_t side = (size_t)(2 * radius + 1);
    struct ts_ref_filter *filter = ts_alloc(1, sizeof(*filter) + side * side * sizeof(double));
    filter->radius = radius;
    return filter;
}

void ts_ref_filter_close(void *filter)
{
    free(filter);
}

void ts_ref_filter_slice(const struct ts_ref_case *c, void *filter, const char *output,
                         int64_t first, int64_t count, double *value, double *scale)
{
    (void)output;
    const struct ts_ref_filter *of = filter;
    const struct image image = {
        .src = ts_ref_find_arg(c, "src"),
        .taps = of->taps,
        .w = ts_values_number(c->size, "W", 1),
        .h = ts_values_number(c->size, "H", 1),
        .radius = of->radius,
    };
    for (int64_t done = 0; done < count;) {
        const int64_t x = (first + done) % image.w;
        int64_t length = image.w - x;
        length = length < count - done ? length : count - done;
        length = length < RUN_MAX ? length : RUN_MAX;
        run(&image, x, (first + done) / image.w, length, value + done, scale + done);
        done += length;
    }
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    const int64_t radius = ts_ref_filter_radius(c, &ts_reference_convolution, err);
    if (radius < 0)
        return -1;
    const int64_t count = (2 * radius + 1) * (2 * radius + 1);
    if (ts_ref_need_count(c, "filter", count, err) != 0)
        return -1;
    struct ts_ref_filter *filter = ts_ref_filter_new(radius);
    for (int64_t i = 0; i < count; i++)
        filter->taps[i] = ts_ref_at(ts_ref_find_arg(c, "filter"), i);
    *state = filter;
    return 0;
}

const struct ts_reference ts_reference_convolution = {
    .name = "convolution",
    .doc =
        "dst(y,x) = sum over j,i of filter(j,i) * src(y+j-R, x+i-R), indices clamped to the image "
        "(H x W); filter (2R+1) x (2R+1), RADIUS R is 1 by default",
    .sizes = (const char *const[]){"W", "H", NULL},
    .problem = (const char *const[]){"RADIUS", NULL},
    .inputs = (const char *const[]){"src", "filter", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = ts_ref_filter_cost,
    .open = open_case,
    .slice = ts_ref_filter_slice,
    .close = ts_ref_filter_close,
};
