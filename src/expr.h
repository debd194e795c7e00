/* expr.h: exact whole-number arithmetic in C syntax and precedence (contract.md section 5). Floor
 * 0.
 *
 *   + - * / %   comparisons   && || !   ? :   ( )   unary + -
 *   min(a,b,...) max(a,b,...) abs(a) round_up(a,b) ceil_div(a,b) floor_div(a,b) is_pow2(a)
 *
 * Numbers are decimal or 0x..., without a leading zero (no octal) or suffix. Comparisons, && || !
 * and is_pow2 give 0 or 1. round_up(a,b): the smallest multiple of b not below a, b > 0. ceil_div
 * and floor_div round the exact quotient up and down, for negative numbers too.
 *
 * int64; overflow, division by zero and a `/` that does not divide are errors; the last suggests
 * floor_div or ceil_div. && || ? : evaluate only the side they need. Nesting is bounded (64), text
 * length too (4096 bytes), so no expression can loop or allocate without bound. `%` takes the sign
 * of the dividend, as C. Messages give the column (bytes, from 1): `column 4: unknown name "TZ"`.
 *
 * Compile once, evaluate often. */
#ifndef TS_EXPR_H
#define TS_EXPR_H

#include "err.h"

struct ts_expr; /* opaque */

/* Where names get their values: returns true and sets *value, or false when there is no such name.
 */
typedef bool (*ts_expr_lookup)(void *context, const char *name, int64_t *value);

/* NULL and exit status 2 with the column on a syntax error. */
struct ts_expr *ts_expr_compile(const char *text, struct ts_err *err);
void ts_expr_free(struct ts_expr *expr);
const char *ts_expr_text(const struct ts_expr *expr);

/* The distinct names used, in order of first appearance; *count of them; owned by expr. */
const char *const *ts_expr_names(const struct ts_expr *expr, size_t *count);

/* 0 and *value, or -1 and exit status 2: `column N: ...`. */
int ts_expr_eval(const struct ts_expr *expr, ts_expr_lookup lookup, void *context, int64_t *value,
                 struct ts_err *err);

#endif
