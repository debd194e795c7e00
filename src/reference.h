/* reference.h: the serial CPU references, one file a family in reference/, one table. Floor 2,
 * worker's side only.
 *
 * A reference computes, in double, value and scale of any slice of an output. scale is the sum of
 * the magnitudes that enter the element, times max(1, sqrt(n)/4) for a sum of n terms, times the
 * number of steps (contract.md, `tolerance`). A new family is one file and one row of
 * ts_reference_table. */
#ifndef TS_REFERENCE_H
#define TS_REFERENCE_H

#include "elem.h"
#include "err.h"
#include "values.h"

/* An input array or scalar as the kernel got it (the start state of an iteration). */
struct ts_ref_arg {
    const char *name;
    enum ts_elem type;
    const void *data; /* arrays; scalars: one element */
    int64_t count;
};

struct ts_ref_case {
    const struct ts_values *size, *problem;
    const struct ts_ref_arg *args;
    size_t arg_count;
    int64_t steps; /* steps the outputs have advanced; 1 where nothing is iterated */
};

struct ts_reference {
    const char *name;
    const char *doc;
    /* What it reads, for the check at spec load: sizes, problem axes (some may be optional: then
     * the file documents the default), arguments in, arguments out. NULL-terminated lists. */
    const char *const *sizes, *const *problem, *const *inputs, *const *outputs;
    /* Operations per output element, for the choice between whole and sampled; rough. */
    int64_t (*cost)(const struct ts_ref_case *c);
    /* Prepare (an iteration computes steps-1 whole steps here). *state is passed on; may stay NULL.
     * -1 with err when memory is short or a name is missing. c and all it points to outlive the
     * state. */
    int (*open)(const struct ts_ref_case *c, void **state, struct ts_err *err);
    /* value[0..count), scale[0..count) of output elements first .. first+count. */
    void (*slice)(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale);
    void (*close)(void *state); /* accepts NULL */
};

extern const struct ts_reference *const ts_reference_table[];
extern const size_t ts_reference_count;
const struct ts_reference *ts_reference_find(const char *name);

/* Element of an input as double: float and double fast, others by ts_elem_read. */
static inline double ts_ref_at(const struct ts_ref_arg *a, int64_t i)
{
    if (a->type == TS_FLOAT)
        return ((const float *)a->data)[i];
    if (a->type == TS_DOUBLE)
        return ((const double *)a->data)[i];
    return ts_elem_read(a->type, a->data, (size_t)i);
}
/* NULL when absent. */
const struct ts_ref_arg *ts_ref_find_arg(const struct ts_ref_case *c, const char *name);
/* sqrt(n)/4 or 1, whichever is larger. */
double ts_ref_sum_factor(int64_t terms);

#endif
