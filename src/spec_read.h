/* spec_read.h: what the files that read a spec share; nobody else includes it. Floor 1.
 *
 * spec.c          the document, from its keys to the finished struct ts_spec
 * spec_expr.c     expressions: compiled, owned, every name checked
 * spec_axis.c     axes and sizes, also those of the command line
 * spec_args.c     arguments
 * spec_variant.c  variants: what they inherit and what they override
 * spec_source.c   source files: #include expanded, #define of an axis refused
 *
 * All functions that return int give 0, or -1 with err set (exit status 2 and the place). */
#ifndef TS_SPEC_READ_H
#define TS_SPEC_READ_H

#include "place.h"
#include "spec.h"

/* The document while it is read, and what the spec gives for variants to inherit. */
struct ts_spec_reader {
    struct ts_spec *spec;
    struct ts_place root;
    const cJSON *document;
    char *folder; /* of the spec file */
    struct ts_arg *args;
    size_t arg_count;
    struct ts_ndrange global, local;
    struct ts_expr **where;
    size_t where_count;
    struct ts_work_exprs work;
    const char *options; /* borrowed from the document */
};

/* Looks up a key of an object and makes its place. */
#define TS_MEMBER(value, place, at, object, key)                                                   \
    const struct ts_place place = ts_place_key((at), (key));                                       \
    const cJSON *value = ts_json_get((object), (key))

/* ---- spec_expr.c ---- */

/* What an expression may use beside sizes and problem axes. */
enum { TS_SCOPE_PARAMS = 1, TS_SCOPE_DEVICE = 2, TS_SCOPE_ALL = 3 };

/* A text or a whole number -> *expr, owned by the spec; its names must exist in `scope`. */
int ts_spec_expr(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *value,
                 unsigned scope, struct ts_expr **expr, struct ts_err *err);
/* A list of expressions -> a new array. */
int ts_spec_expr_list(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *value,
                      unsigned scope, struct ts_expr ***exprs, size_t *count, struct ts_err *err);
/* The parameters that the expression (NULL: nothing) uses must be among the variant's. */
int ts_spec_check_params(const struct ts_spec *spec, const struct ts_variant *variant,
                         const struct ts_expr *expr, struct ts_err *err);

/* ---- spec_axis.c ---- */

/* An object of axes -> a new array; place "params". like: the axes that it may restrict
 * (quick_params; all of them are in the result, in that order), or NULL. */
int ts_spec_read_axes(struct ts_spec_reader *r, const char *key, const struct ts_axis *like,
                      size_t like_count, struct ts_axis **axes, size_t *count, struct ts_err *err);
/* A list of size tuples; the first one read decides names and order (spec.size_names). */
int ts_spec_read_sizes(struct ts_spec_reader *r, const char *key, struct ts_sizes *sizes,
                       struct ts_err *err);
/* A name that may be used for a size or an axis: well formed, not reserved, not taken. */
int ts_spec_check_name(const struct ts_spec *spec, const struct ts_place *at, const char *name,
                       struct ts_err *err);

/* ---- spec_args.c ---- */

/* The spec's arguments (a list of objects), or a variant's (objects, and names of the spec's). */
int ts_spec_read_args(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *list,
                      struct ts_arg **args, size_t *count, struct ts_err *err);
struct ts_arg *ts_spec_copy_args(const struct ts_arg *args, size_t count);
void ts_spec_free_args(struct ts_arg *args, size_t count);
/* Index of the argument, or count. */
size_t ts_spec_find_arg(const struct ts_arg *args, size_t count, const char *name);

/* ---- spec_variant.c ---- */

int ts_spec_read_ndrange(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                         const char *key, struct ts_ndrange *range, struct ts_err *err);
int ts_spec_read_work(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                      struct ts_work_exprs *work, struct ts_err *err);
int ts_spec_read_variants(struct ts_spec_reader *r, struct ts_err *err);
void ts_spec_free_variant(struct ts_variant *variant);

/* ---- spec_source.c ---- */

/* A list of paths relative to folder -> their text in order, #include "x" expanded, with #line
 * directives that name files as the spec does; and its digest. */
int ts_spec_read_source(const struct ts_place *at, const cJSON *list, const char *folder,
                        struct ts_source *source, struct ts_err *err);
/* Refuses a #define or #undef of `names` (the axes that reach the kernel) in the text of a variant.
 * A default (#ifndef NAME / #define NAME 1 / #endif) is fine, and so is what #ifdef VARIANT_<other>
 * hides. */
int ts_spec_check_defines(const struct ts_place *at, const struct ts_source *source,
                          const char *folder, const char *variant, const char *const *names,
                          size_t count, struct ts_err *err);

#endif
