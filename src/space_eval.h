/* space_eval.h: the values that expressions of a configuration see; shared by space.c and
 * space_instance.c, nobody else. Floor 1. */
#ifndef TS_SPACE_EVAL_H
#define TS_SPACE_EVAL_H

#include "space.h"

/* A configuration at a size; all borrowed. */
struct ts_scope {
    const struct ts_spec *spec;
    const struct ts_config *config;
    const struct ts_values *problem, *size;
    const struct ts_device *device; /* may be NULL */
};

/* 0 and *value; -1, exit status 2 and `FILE: global[0]: column 3: ... (local TX=8 at W=64)`. */
int ts_scope_eval(const struct ts_scope *scope, const struct ts_expr *expr, int64_t *value,
                  struct ts_err *err);
/* The same, and the value must be at least `least`. */
int ts_scope_eval_least(const struct ts_scope *scope, const struct ts_expr *expr, int64_t least,
                        int64_t *value, struct ts_err *err);
/* Sets the error with that frame around the text; place: "global[0]". Returns -1. */
int ts_scope_error(const struct ts_scope *scope, const char *place, struct ts_err *err,
                   const char *format, ...) TS_PRINTF(4, 5);
/* Do all `where` clauses hold? Those whose device facts are not known do. */
int ts_scope_admits(const struct ts_scope *scope, bool *admitted, struct ts_err *err);
/* Does any expression that makes an instance use a device fact? */
bool ts_variant_needs_device(const struct ts_variant *variant);

#endif
