/* transpose.c: the transpose of a rectangular matrix; exact. */
#include "reference_rows.h"

#include <math.h>

static int64_t cost(const struct ts_ref_case *c)
{
    (void)c;
    return 1;
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_transpose, err) != 0)
        return -1;
    return ts_ref_need_count(
        c, "src", ts_values_number(c->size, "W", 1) * ts_values_number(c->size, "H", 1), err);
}

/* Element i of dst (W rows of H) lies in row i / H and column i % H; scale is its magnitude. */
static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)state;
    (void)output;
    const struct ts_ref_arg *src = ts_ref_find_arg(c, "src");
    const int64_t w = ts_values_number(c->size, "W", 1);
    const int64_t h = ts_values_number(c->size, "H", 1);
    int64_t x = first / h;
    int64_t y = first % h;
    for (int64_t i = 0; i < count; i++) {
        value[i] = ts_ref_at(src, y * w + x);
        scale[i] = fabs(value[i]);
        if (++y == h) {
            y = 0;
            x++;
        }
    }
}

static void close_case(void *state)
{
    (void)state;
}

const struct ts_reference ts_reference_transpose = {
    .name = "transpose",
    .doc = "dst (W x H) is the transpose of src (H x W)",
    .sizes = (const char *const[]){"W", "H", NULL},
    .problem = (const char *const[]){NULL},
    .inputs = (const char *const[]){"src", NULL},
    .outputs = (const char *const[]){"dst", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
