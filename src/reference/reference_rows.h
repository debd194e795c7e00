/* reference_rows.h: the built-in references, one a file beside this one; the table in reference.c
 * lists them. A new family adds one line here and one there. Floor 2. */
#ifndef TS_REFERENCE_ROWS_H
#define TS_REFERENCE_ROWS_H

#include "../reference.h"

extern const struct ts_reference ts_reference_laplacian;
extern const struct ts_reference ts_reference_laplacian3d;
extern const struct ts_reference ts_reference_gray_scott;
extern const struct ts_reference ts_reference_matmul;
extern const struct ts_reference ts_reference_transpose;
extern const struct ts_reference ts_reference_convolution;
extern const struct ts_reference ts_reference_separable;
extern const struct ts_reference ts_reference_reduction;
extern const struct ts_reference ts_reference_scan;

/* For `open` of the references: 0 when every size and every input that `reference` reads is there,
 * else -1 and exit status 2 naming the one that is missing. Problem axes have defaults and are not
 * asked for. */
int ts_ref_need(const struct ts_ref_case *c, const struct ts_reference *reference,
                struct ts_err *err);
/* 0 when the input called name holds exactly count elements, else -1 and exit status 2: `slice`
 * then cannot read past its end. */
int ts_ref_need_count(const struct ts_ref_case *c, const char *name, int64_t count,
                      struct ts_err *err);

/* ---- filters of an image `src` of size W x H, whose edge goes on outwards (convolution.c) ---- */

/* The state of such a reference: (2R+1) x (2R+1) taps, row by row. Its `open` fills it. */
struct ts_ref_filter {
    int64_t radius;
    double taps[];
};
struct ts_ref_filter *ts_ref_filter_new(int64_t radius);
/* For the table's row. */
int64_t ts_ref_filter_cost(const struct ts_ref_case *c);
void ts_ref_filter_slice(const struct ts_ref_case *c, void *filter, const char *output,
                         int64_t first, int64_t count, double *value, double *scale);
void ts_ref_filter_close(void *filter);
/* The case's RADIUS (default 1); -1 and exit status 2 when it is not 0 .. 64, or W, H or an input
 * that `reference` reads is missing, or src is of another size. */
int64_t ts_ref_filter_radius(const struct ts_ref_case *c, const struct ts_reference *reference,
                             struct ts_err *err);

#endif
