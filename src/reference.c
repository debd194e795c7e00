/* reference.c: the table of the CPU references, and what they share. */
#include "reference.h"

#include <math.h>
#include <string.h>

#include "reference/reference_rows.h"

const struct ts_reference *const ts_reference_table[] = {
    &ts_reference_laplacian, &ts_reference_laplacian3d, &ts_reference_gray_scott,
    &ts_reference_matmul,    &ts_reference_transpose,   &ts_reference_convolution,
    &ts_reference_separable, &ts_reference_reduction,   &ts_reference_scan,
};

const size_t ts_reference_count = TS_COUNT(ts_reference_table);

const struct ts_reference *ts_reference_find(const char *name)
{
    for (size_t i = 0; i < ts_reference_count; i++) {
        if (strcmp(ts_reference_table[i]->name, name) == 0)
            return ts_reference_table[i];
    }
    return NULL;
}

const struct ts_ref_arg *ts_ref_find_arg(const struct ts_ref_case *c, const char *name)
{
    for (size_t i = 0; i < c->arg_count; i++) {
        if (strcmp(c->args[i].name, name) == 0)
            return &c->args[i];
    }
    return NULL;
}

int ts_ref_need(const struct ts_ref_case *c, const struct ts_reference *reference,
                struct ts_err *err)
{
    for (const char *const *size = reference->sizes; *size; size++) {
        const struct ts_value *v = ts_values_find(c->size, *size);
        if (!v || v->word || v->number < 1)
            return ts_err_set(err, TS_EXIT_USAGE,
                              "reference \"%s\" reads size \"%s\", a whole number of at least 1",
                              reference->name, *size);
    }
    for (const char *const *input = reference->inputs; *input; input++) {
        if (!ts_ref_find_arg(c, *input))
            return ts_err_set(err, TS_EXIT_USAGE,
                              "reference \"%s\" reads an argument \"%s\", which is missing",
                              reference->name, *input);
    }
    return 0;
}

int ts_ref_need_count(const struct ts_ref_case *c, const char *name, int64_t count,
                      struct ts_err *err)
{
    const struct ts_ref_arg *arg = ts_ref_find_arg(c, name);
    if (arg && arg->count == count)
        return 0;
    return ts_err_set(err, TS_EXIT_USAGE,
                      "argument \"%s\": the reference reads %lld elements, not %lld", name,
                      (long long)count, (long long)(arg ? arg->count : 0));
}

double ts_ref_sum_factor(int64_t terms)
{
    return fmax(1.0, sqrt((double)terms) / 4.0);
}
