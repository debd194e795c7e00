/* space_instance.c: a configuration at one size with every expression evaluated. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space_eval.h"

#define MAX_BYTES ((int64_t)1 << 62) /* of one array */

/* ---- names ---- */

static bool is_device_name(const char *name)
{
    return strncmp(name, "DEVICE_", strlen("DEVICE_")) == 0;
}

static bool device_fact(const struct ts_device *device, const char *name, int64_t *value)
{
    return device && ts_device_fact(device, name, value) && *value >= 0;
}

/* sizeof_REAL: the bytes of the word that the axis has here. */
static bool type_size(const struct ts_value *axis, int64_t *value)
{
    *value = axis && axis->word ? ts_type_bytes(axis->word) : 0;
    return *value > 0;
}

static bool look_up(void *context, const char *name, int64_t *value)
{
    static const char prefix[] = "sizeof_";
    const struct ts_scope *scope = context;
    const struct ts_values *const lists[] = {scope->size, scope->problem, &scope->config->params};
    for (size_t i = 0; i < TS_COUNT(lists); i++) {
        const struct ts_value *found = ts_values_find(lists[i], name);
        if (found && !found->word) {
            *value = found->number;
            return true;
        }
    }
    if (strncmp(name, prefix, sizeof(prefix) - 1) == 0) {
        const char *axis = name + sizeof(prefix) - 1;
        return type_size(ts_values_find(scope->problem, axis), value) ||
               type_size(ts_values_find(&scope->config->params, axis), value);
    }
    return device_fact(scope->device, name, value);
}

/* The first device fact of the expression that is not known, or NULL. */
static const char *unknown_fact(const struct ts_expr *expr, const struct ts_device *device)
{
    size_t count;
    int64_t ignored;
    const char *const *names = ts_expr_names(expr, &count);
    for (size_t i = 0; i < count; i++)
        if (is_device_name(names[i]) && !device_fact(device, names[i], &ignored))
            return names[i];
    return NULL;
}

/* ---- evaluating ---- */

int ts_scope_error(const struct ts_scope *scope, const char *place, struct ts_err *err,
                   const char *format, ...)
{
    char message[sizeof(err->text)];
    struct ts_text where = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    ts_text_printf(&where, "%s ", scope->spec->variants[scope->config->variant].name);
    ts_values_print(scope->problem, NULL, " ", &where);
    ts_text_puts(&where, scope->problem->count ? " " : "");
    ts_values_print(&scope->config->params, NULL, " ", &where);
    ts_text_puts(&where, scope->config->params.count ? " at " : "at ");
    ts_values_print(scope->size, NULL, " ", &where);
    ts_err_set(err, TS_EXIT_USAGE, "%s: %s: %s (%s)", scope->spec->path, place, message,
               where.text);
    ts_text_free(&where);
    return -1;
}

int ts_scope_eval(const struct ts_scope *scope, const struct ts_expr *expr, int64_t *value,
                  struct ts_err *err)
{
    struct ts_err inner = {0};
    struct ts_scope copy = *scope; /* the callback's context is not const */
    const char *place = ts_spec_place(scope->spec, expr);
    const char *fact = unknown_fact(expr, scope->device);
    if (fact)
        return ts_scope_error(scope, place, err, "%s is not known %s", fact,
                              scope->device ? "for this device" : "without a device");
    if (ts_expr_eval(expr, look_up, &copy, value, &inner) == 0)
        return 0;
    return ts_scope_error(scope, place, err, "%s", inner.text);
}

int ts_scope_eval_least(const struct ts_scope *scope, const struct ts_expr *expr, int64_t least,
                        int64_t *value, struct ts_err *err)
{
    if (ts_scope_eval(scope, expr, value, err) != 0)
        return -1;
    if (*value >= least)
        return 0;
    return ts_scope_error(scope, ts_spec_place(scope->spec, expr), err,
                          "expected at least %lld, got %lld", (long long)least, (long long)*value);
}

int ts_scope_admits(const struct ts_scope *scope, bool *admitted, struct ts_err *err)
{
    const struct ts_variant *variant = &scope->spec->variants[scope->config->variant];
    *admitted = true;
    for (size_t i = 0; i < variant->where_count && *admitted; i++) {
        int64_t value;
        if (unknown_fact(variant->where[i], scope->device))
            continue;
        if (ts_scope_eval(scope, variant->where[i], &value, err) != 0)
            return -1;
        *admitted = value != 0;
    }
    return 0;
}

static bool needs_device(const struct ts_expr *expr)
{
    return expr && unknown_fact(expr, NULL);
}

static bool any_needs_device(struct ts_expr *const *exprs, size_t count)
{
    for (size_t i = 0; exprs && i < count; i++)
        if (needs_device(exprs[i]))
            return true;
    return false;
}

bool ts_variant_needs_device(const struct ts_variant *variant)
{
    struct ts_expr *const others[] = {
        variant->local_bytes, variant->staged,     variant->work.elements,
        variant->work.flops,  variant->work.bytes, variant->work.requested_bytes,
    };
    for (size_t i = 0; i < variant->arg_count; i++) {
        const struct ts_arg *arg = &variant->args[i];
        if (needs_device(arg->value) || needs_device(arg->bytes) ||
            any_needs_device(arg->shape, arg->dims))
            return true;
    }
    for (size_t i = 0; i < variant->launch_count; i++) {
        const struct ts_launch *launch = &variant->launches[i];
        if (any_needs_device(launch->global.size, (size_t)launch->global.dims) ||
            any_needs_device(launch->local.size, (size_t)launch->local.dims))
            return true;
    }
    return any_needs_device(others, TS_COUNT(others));
}

/* ---- arguments ---- */

/* The place of an argument's own fault, which belongs to no single expression. */
static int arg_error(const struct ts_scope *scope, const struct ts_arg *arg, struct ts_err *err,
                     const char *text)
{
    char *place = ts_printf("argument \"%s\"", arg->name);
    ts_scope_error(scope, place, err, "%s", text);
    free(place);
    return -1;
}

static int eval_type(const struct ts_scope *scope, const struct ts_arg *from,
                     struct ts_job_arg *arg, struct ts_err *err)
{
    arg->type = from->type;
    if (!from->type_axis)
        return 0;
    const struct ts_value *value = ts_values_find(scope->problem, from->type_axis);
    if (value && value->word && ts_elem_by_name(value->word, &arg->type))
        return 0;
    return arg_error(scope, from, err, "the value of its axis is not a type");
}

/* Does a whole number fit the type? */
static bool fits(enum ts_elem type, int64_t value)
{
    const size_t bits = 8 * ts_elem_table[type].bytes;
    if (ts_elem_table[type].name[0] == 'u') /* uchar, ushort, uint, ulong */
        return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
    return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
}

static int eval_scalar(const struct ts_scope *scope, const struct ts_arg *from,
                       struct ts_job_arg *arg, struct ts_err *err)
{
    const bool real = ts_elem_table[arg->type].real;
    int64_t whole = 0;
    if (from->value && ts_scope_eval(scope, from->value, &whole, err) != 0)
        return -1;
    if (real) {
        arg->real_value = from->value ? (double)whole : from->real_value;
        return 0;
    }
    if (!from->value) {
        /* The reader of JSON admits no whole number beyond 2^53, so this is exact. */
        if (fabs(from->real_value) > 0x1p53 || trunc(from->real_value) < from->real_value ||
            trunc(from->real_value) > from->real_value)
            return arg_error(scope, from, err, "its value is no whole number, but its type is");
        whole = (int64_t)from->real_value;
    }
    arg->whole_value = whole;
    return fits(arg->type, whole) ? 0 : arg_error(scope, from, err, "its value is beyond its type");
}

static int eval_shape(const struct ts_scope *scope, const struct ts_arg *from,
                      struct ts_job_arg *arg, struct ts_err *err)
{
    const int64_t most = MAX_BYTES / (int64_t)ts_elem_table[arg->type].bytes;
    arg->dims = (int)from->dims;
    arg->count = 1;
    for (int d = 0; d < arg->dims; d++) {
        if (ts_scope_eval_least(scope, from->shape[d], 1, &arg->shape[d], err) != 0)
            return -1;
        if (arg->shape[d] > most / arg->count)
            return arg_error(scope, from, err, "an array of over 2^62 bytes");
        arg->count *= arg->shape[d];
    }
    return 0;
}

static int eval_arg(const struct ts_scope *scope, const struct ts_arg *from, struct ts_job_arg *arg,
                    struct ts_err *err)
{
    arg->name = ts_strdup(from->name);
    arg->kind = from->kind;
    arg->fill = from->fill;
    if (eval_type(scope, from, arg, err) != 0)
        return -1;
    if (from->kind == TS_ARG_SCALAR)
        return eval_scalar(scope, from, arg, err);
    if (from->kind == TS_ARG_LOCAL)
        return ts_scope_eval_least(scope, from->bytes, 1, &arg->local_bytes, err);
    return eval_shape(scope, from, arg, err);
}

/* ---- launches ---- */

static int eval_launch(const struct ts_scope *scope, const struct ts_launch *from,
                       struct ts_job_launch *launch, struct ts_err *err)
{
    launch->kernel = ts_strdup(from->kernel);
    launch->dims = from->global.dims;
    launch->args = ts_alloc(from->arg_count, sizeof(*launch->args));
    launch->arg_count = from->arg_count;
    memcpy(launch->args, from->args, from->arg_count * sizeof(*launch->args));
    for (int d = 0; d < launch->dims; d++) {
        if (ts_scope_eval_least(scope, from->local.size[d], 1, &launch->local[d], err) != 0 ||
            ts_scope_eval_least(scope, from->global.size[d], 1, &launch->global[d], err) != 0)
            return -1;
        if (launch->global[d] % launch->local[d] != 0)
            return ts_scope_error(scope, ts_spec_place(scope->spec, from->global.size[d]), err,
                                  "%lld is no multiple of the local size %lld; use round_up",
                                  (long long)launch->global[d], (long long)launch->local[d]);
    }
    return 0;
}

/* ---- the rest ---- */

static int eval_local_bytes(const struct ts_scope *scope, const struct ts_variant *variant,
                            struct ts_instance *instance, struct ts_err *err)
{
    instance->local_bytes = -1;
    if (variant->local_bytes)
        return ts_scope_eval_least(scope, variant->local_bytes, 0, &instance->local_bytes, err);
    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i];
        if (arg->kind != TS_ARG_LOCAL)
            continue;
        int64_t before = instance->local_bytes < 0 ? 0 : instance->local_bytes;
        if (arg->local_bytes > MAX_BYTES - before)
            return arg_error(scope, &variant->args[i], err, "over 2^62 bytes of local memory");
        instance->local_bytes = before + arg->local_bytes;
    }
    return 0;
}

static int eval_work(const struct ts_scope *scope, const struct ts_work_exprs *from,
                     struct ts_work *work, struct ts_err *err)
{
    const struct {
        const struct ts_expr *expr;
        int64_t *into;
        int64_t least;
    } parts[] = {
        {from->elements, &work->elements, 1},
        {from->flops, &work->flops, 0},
        {from->bytes, &work->bytes, 0},
        {from->requested_bytes, &work->requested_bytes, 0},
    };
    for (size_t i = 0; i < TS_COUNT(parts); i++) {
        *parts[i].into = -1;
        if (parts[i].expr &&
            ts_scope_eval_least(scope, parts[i].expr, parts[i].least, parts[i].into, err) != 0)
            return -1;
    }
    return 0;
}

static size_t find_arg(const struct ts_instance *instance, const char *name)
{
    size_t i = 0;
    while (i < instance->arg_count && strcmp(instance->args[i].name, name) != 0)
        i++;
    return i;
}

static int eval_iterate(const struct ts_scope *scope, const struct ts_variant *variant,
                        struct ts_instance *instance, struct ts_err *err)
{
    const struct ts_spec *spec = scope->spec;
    instance->iterated = spec->iterated;
    instance->steps = 1;
    instance->swaps = ts_alloc(spec->swap_count, sizeof(*instance->swaps));
    instance->swap_count = spec->swap_count;
    for (size_t i = 0; i < spec->swap_count; i++) {
        size_t a = find_arg(instance, spec->swaps[i].a), b = find_arg(instance, spec->swaps[i].b);
        instance->swaps[i].a = a; /* the spec's reader has seen that both exist */
        instance->swaps[i].b = b;
        if (instance->args[a].type != instance->args[b].type ||
            instance->args[a].count != instance->args[b].count)
            return arg_error(scope, &variant->args[a], err,
                             "swapped with an argument of another type or size");
    }
    if (!spec->steps || !ts_variant_knows(spec, variant, spec->steps))
        return 0;
    return ts_scope_eval_least(scope, spec->steps, 1, &instance->steps, err);
}

static int eval_instance(const struct ts_scope *scope, struct ts_instance *instance,
                         struct ts_err *err)
{
    const struct ts_variant *variant = &scope->spec->variants[scope->config->variant];
    ts_values_copy(&instance->size, scope->size);
    ts_values_copy(&instance->problem, scope->problem);
    instance->args = ts_alloc(variant->arg_count, sizeof(*instance->args));
    instance->arg_count = variant->arg_count;
    for (size_t i = 0; i < variant->arg_count; i++)
        if (eval_arg(scope, &variant->args[i], &instance->args[i], err) != 0)
            return -1;
    instance->launches = ts_alloc(variant->launch_count, sizeof(*instance->launches));
    instance->launch_count = variant->launch_count;
    for (size_t i = 0; i < variant->launch_count; i++)
        if (eval_launch(scope, &variant->launches[i], &instance->launches[i], err) != 0)
            return -1;
    if (eval_local_bytes(scope, variant, instance, err) != 0 ||
        eval_iterate(scope, variant, instance, err) != 0)
        return -1;
    return eval_work(scope, &variant->work, &instance->work, err);
}

int ts_space_instance(const struct ts_space *space, const struct ts_config *config,
                      const struct ts_values *size, const struct ts_device *device,
                      struct ts_instance *instance, struct ts_err *err)
{
    const struct ts_scope scope = {space->spec, config, &space->problems[config->problem], size,
                                   device};
    *instance = (struct ts_instance){0};
    if (eval_instance(&scope, instance, err) == 0)
        return 0;
    ts_instance_free(instance);
    return -1;
}

const char *ts_space_lacks(const struct ts_space *space, const struct ts_config *config,
                           const struct ts_device *device, struct ts_text *why)
{
    const struct ts_variant *variant = &space->spec->variants[config->variant];
    const char *code = NULL;

    for (size_t i = 0; i < variant->need_count && !code; i++)
        code = ts_device_lacks_extension(device, variant->needs[i], why);
    return code;
}

bool ts_space_staged(const struct ts_space *space, const struct ts_config *config,
                     const struct ts_instance *instance)
{
    const struct ts_variant *variant = &space->spec->variants[config->variant];
    const struct ts_scope scope = {space->spec, config, &instance->problem, &instance->size,
                                   space->device};
    if (variant->staged) {
        struct ts_err ignored = {0}; /* evaluated before: see check_instances */
        int64_t value;
        return ts_scope_eval(&scope, variant->staged, &value, &ignored) == 0 && value != 0;
    }
    for (size_t i = 0; i < instance->arg_count; i++)
        if (instance->args[i].kind == TS_ARG_LOCAL)
            return true;
    return instance->local_bytes > 0;
}
