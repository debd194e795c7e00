/* spec.h: a spec file (contract.md section 5) as plain data, every key checked. Floor 1; reads JSON
 * and source files, knows no device.
 *
 * Everything a spec says that can be checked without a device is checked at load: unknown, repeated
 * and missing keys (with the nearest known key), types, names, expressions (syntax and that every
 * name exists where it is used), empty axes, that kernels' argument names exist, that no source
 * defines the name of an axis itself. Messages: `FILE: params.TX[1]: expected a whole number,
 * got 16.5`, exit status 2. Expressions' values are checked by space.h, once sizes and device facts
 * are known. */
#ifndef TS_SPEC_H
#define TS_SPEC_H

#include "elem.h"
#include "expr.h"
#include "nearest.h"
#include "values.h"

/* An axis: a problem axis or a parameter. All values are numbers, or all are words. */
struct ts_axis {
    char *name;
    bool words;
    int64_t *numbers; /* NULL for words */
    char **texts;     /* NULL for numbers */
    size_t count;
};

enum ts_arg_kind {
    TS_ARG_IN,
    TS_ARG_OUT,
    TS_ARG_INOUT,
    TS_ARG_SCRATCH,
    TS_ARG_SCALAR,
    TS_ARG_LOCAL
};
const char *ts_arg_kind_name(enum ts_arg_kind kind);
bool ts_arg_kind_by_name(const char *name, enum ts_arg_kind *out);

enum ts_fill_kind { TS_FILL_ZERO, TS_FILL_RANDOM, TS_FILL_INDEX, TS_FILL_NUMBER };
struct ts_fill {
    enum ts_fill_kind kind;
    double low, high; /* random: [low, high); number: low */
};

struct ts_arg {
    char *name;
    enum ts_arg_kind kind;
    enum ts_elem type;
    char *type_axis;        /* not NULL: the type is the word of this axis (REAL) */
    struct ts_expr **shape; /* slowest dimension first; arrays */
    size_t dims;            /* 1..4 */
    struct ts_fill fill;
    struct ts_expr *value; /* scalar, whole-number expression; NULL: real_value */
    double real_value;
    struct ts_expr *bytes; /* local */
};

struct ts_ndrange {
    struct ts_expr *size[3];
    int dims; /* 0: not given here (inherits) */
};

#define TS_LAUNCHES_MOST 1024 /* of a chain: a worker keeps an event of each */

struct ts_launch {
    char *kernel;
    struct ts_ndrange global,
        local;    /* resolved inheritance: dims >= 1 for global; local same dims */
    size_t *args; /* indices into the variant's args, in the kernel's order */
    size_t arg_count;
};

struct ts_source {
    char *text;   /* files joined in order, #include "x" expanded */
    char *digest; /* "xxh3:0123456789abcdef" over text */
    char **files; /* where they and what they include lie; one may be there twice */
    size_t file_count, file_capacity;
};

struct ts_work_exprs {
    struct ts_expr *elements, *flops, *bytes, *requested_bytes; /* NULL: not stated */
};

/* A variant with all inheritance resolved: everything the spec gives and the variant does not
 * override. */
struct ts_variant {
    char *name;
    bool baseline;
    size_t *params; /* indices into spec.params, in the variant's order */
    size_t param_count;
    struct ts_source source;
    char *options;
    struct ts_arg *args;
    size_t arg_count;
    struct ts_launch *launches; /* one for `kernel` */
    size_t launch_count;
    struct ts_expr **where; /* the spec's that concern it, and its own */
    size_t where_count;
    struct ts_expr *local_bytes; /* NULL: not declared */
    struct ts_expr *staged;      /* NULL: by local_bytes > 0 or a local argument */
    char **needs;                /* extensions, each of which the device must have */
    size_t need_count;
    struct ts_work_exprs work; /* each of the spec's that the variant does not state itself */
};

/* A compiled expression and where it stands in the file ("variants[1].where[0]"). The spec owns all
 * of them; everything else borrows, so that variants share what they inherit. */
struct ts_spec_expr {
    struct ts_expr *expr;
    char *place;
};

struct ts_swap {
    char *a, *b; /* argument names */
};

/* The lists of sizes that are timed. A GPU needs larger ones: what takes a processor a second is on
 * it over before the launch itself is. */
enum ts_timed {
    TS_TIMED_FULL,
    TS_TIMED_QUICK,
    TS_TIMED_GPU,
    TS_TIMED_GPU_QUICK,
    TS_TIMED_COUNT,
};
extern const struct ts_timed_row {
    const char *key;        /* in the spec file */
    enum ts_timed fallback; /* the list instead, where the file has none; itself: required */
} ts_timed_table[TS_TIMED_COUNT];

struct ts_sizes {
    struct ts_values *items; /* each with all size_names of the spec in that order */
    size_t count;
};

struct ts_spec {
    char *path; /* as found, for messages */
    char *name, *doc;
    char *digest;            /* over the spec's bytes and all sources */
    char *reference_name;    /* built-in, or NULL */
    char *reference_variant; /* {"variant": ...}, or NULL */
    double tolerance;
    char **size_names;
    size_t size_name_count;
    struct ts_sizes timed[TS_TIMED_COUNT]; /* count 0: the fallback's */
    struct ts_sizes check_sizes;
    struct ts_axis *problem;
    size_t problem_count;
    struct ts_axis *params, *quick_params; /* same axes in the same order */
    size_t param_count;
    struct ts_variant *variants;
    size_t variant_count;
    size_t baseline; /* index of the baseline variant */
    bool iterated;
    struct ts_swap *swaps;
    size_t swap_count;
    struct ts_expr *steps; /* iterate.steps, NULL: 1; a variant without one of its parameters: 1 */
    struct ts_spec_expr *exprs;
    size_t expr_count, expr_capacity;
};

/* name_or_path: a built-in's name (DATA/bench/NAME.json) or a path (contains '/' or ends in .json).
 * Relative source paths are relative to the spec file. NULL and exit status 2 on a fault; an
 * unknown name lists the built-in ones. */
struct ts_spec *ts_spec_load(const char *name_or_path, struct ts_err *err);
void ts_spec_free(struct ts_spec *spec);

/* The sizes to time on a device of that type ("gpu", ...; NULL: no device). */
const struct ts_sizes *ts_spec_timed(const struct ts_spec *spec, bool quick, const char *type);
/* Every variant is built with these options besides its own; named in messages. Exit status 2 when
 * they define an axis. */
int ts_spec_add_options(struct ts_spec *spec, const char *options, const char *named,
                        struct ts_err *err);

/* Where an expression of the spec stands in its file, "" when it is not the spec's; borrowed. */
const char *ts_spec_place(const struct ts_spec *spec, const struct ts_expr *expr);
/* Is every parameter that the expression uses among the variant's? (The spec's `where` clauses that
 * say otherwise do not concern the variant and are not in variant.where.) */
bool ts_variant_knows(const struct ts_spec *spec, const struct ts_variant *variant,
                      const struct ts_expr *expr);
/* Is name a problem axis, or a parameter of any variant? */
bool ts_spec_has_axis(const struct ts_spec *spec, const char *name);
bool ts_spec_has_variant(const struct ts_spec *spec, const char *name);
/* The axis of that name, a problem axis or a parameter, or NULL. */
const struct ts_axis *ts_spec_axis(const struct ts_spec *spec, const char *name);
/* Bytes of an OpenCL type by name, vectors ("float4") included; 0 when there is no such type. */
int64_t ts_type_bytes(const char *name);

/* Names of the built-in benchmarks, sorted; *count; free each and the array. */
char **ts_spec_builtins(size_t *count, struct ts_err *err);

/* "TX=8,16" "TX=8:64:8" (stop included) "TX=8:128:x2" "REAL=float,double": a new axis. Exit
 * status 2. */
int ts_axis_parse(struct ts_axis *axis, const char *text, struct ts_err *err);
void ts_axis_free(struct ts_axis *axis);
/* "W=4096,H=4096" */
int ts_size_parse(struct ts_values *size, const char *text, struct ts_err *err);

#endif
