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

#endif
