/* separable.c: a (2R+1) x (2R+1) filter that is the product of a column and a row, over a 2-D image
 * whose edge is continued outwards. The sum is over the product's taps, as of any filter: it knows
 * nothing of passes. */
#include "reference_rows.h"

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
    struct ts_ref_filter *filter = ts_ref_filter_new(radius);
    for (int64_t j = 0; j < side; j++) {
        for (int64_t i = 0; i < side; i++)
            filter->taps[j * side + i] = ts_ref_at(filters, j) * ts_ref_at(filters, side + i);
    }
    *state = filter;
    return 0;
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
    .cost = ts_ref_filter_cost,
    .open = open_case,
    .slice = ts_ref_filter_slice,
    .close = ts_ref_filter_close,
};
