/* spec_variant.c: the variants: what they inherit from the spec and what they override. */
#include <stdlib.h>
#include <string.h>

#include "spec_read.h"

void ts_spec_free_variant(struct ts_variant *variant)
{
    free(variant->name);
    free(variant->params);
    free(variant->source.text);
    free(variant->source.digest);
    for (size_t i = 0; i < variant->source.file_count; i++)
        free(variant->source.files[i]);
    free(variant->source.files);
    free(variant->options);
    ts_spec_free_args(variant->args, variant->arg_count);
    for (size_t i = 0; i < variant->launch_count; i++) {
        free(variant->launches[i].kernel);
        free(variant->launches[i].args);
    }
    free(variant->launches);
    free(variant->where); /* the expressions are the spec's */
    for (size_t i = 0; i < variant->need_count; i++)
        free(variant->needs[i]);
    free(variant->needs);
}

/* ---- parts that the spec and its variants share ---- */

int ts_spec_read_ndrange(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                         const char *key, struct ts_ndrange *range, struct ts_err *err)
{
    size_t length = 0, i = 0;
    TS_MEMBER(list, at, up, object, key);
    if (ts_place_filled(&at, list, &length, err) != 0)
        return -1;
    if (length > TS_COUNT(range->size))
        return ts_place_error(&at, err, "expected at most 3 dimensions, got %zu", length);
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (ts_spec_expr(r, &place, item, TS_SCOPE_ALL, &range->size[i], err) != 0)
            return -1;
    }
    range->dims = (int)length;
    return 0;
}

int ts_spec_read_work(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                      struct ts_work_exprs *work, struct ts_err *err)
{
    static const char *const keys[] = {"elements", "flops", "bytes", "requested_bytes"};
    struct ts_expr **const into[] = {&work->elements, &work->flops, &work->bytes,
                                     &work->requested_bytes};
    TS_MEMBER(from, at, up, object, "work");
    if (!from)
        return 0;
    if (ts_place_keys(&at, from, keys, TS_COUNT(keys), err) != 0)
        return -1;
    for (size_t i = 0; i < TS_COUNT(keys); i++) {
        TS_MEMBER(value, place, &at, from, keys[i]);
        if (value && ts_spec_expr(r, &place, value, TS_SCOPE_ALL, into[i], err) != 0)
            return -1;
    }
    return 0;
}

/* ---- name, params ---- */

static int read_name(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                     struct ts_variant *variant, struct ts_err *err)
{
    const char *name;
    TS_MEMBER(value, at, up, object, "name");
    if (ts_place_string(&at, value, &name, err) != 0)
        return -1;
    if (!ts_is_name(name))
        return ts_place_expected(&at, value, "a name made of letters, digits and _", err);
    if (ts_spec_has_variant(r->spec, name))
        return ts_place_error(&at, err, "a second variant \"%s\"", name);
    variant->name = ts_strdup(name);
    return 0;
}

static int read_param(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *item,
                      struct ts_variant *variant, struct ts_err *err)
{
    const struct ts_spec *spec = r->spec;
    const char *name;
    if (ts_place_string(at, item, &name, err) != 0)
        return -1;
    size_t index = 0;
    while (index < spec->param_count && strcmp(spec->params[index].name, name) != 0)
        index++;
    for (size_t i = 0; i < variant->param_count; i++)
        if (variant->params[i] == index)
            return ts_place_error(at, err, "\"%s\" a second time", name);
    variant->params[variant->param_count++] = index;
    if (index < spec->param_count)
        return 0;
    variant->param_count--;
    struct ts_text text = {0};
    const char **known = ts_alloc(spec->param_count, sizeof(*known));
    for (size_t i = 0; i < spec->param_count; i++)
        known[i] = spec->params[i].name;
    ts_text_printf(&text, "unknown parameter \"%s\"", name);
    ts_nearest_add(name, known, spec->param_count, &text);
    ts_place_error(at, err, "%s", text.text);
    ts_text_free(&text);
    free(known);
    return -1;
}

static int read_params(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                       struct ts_variant *variant, struct ts_err *err)
{
    size_t count = 0, i = 0;
    TS_MEMBER(list, at, up, object, "params");
    if (!list)
        return 0;
    if (ts_place_list(&at, list, &count, err) != 0)
        return -1;
    variant->params = ts_alloc(count, sizeof(*variant->params));
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_param(r, &place, item, variant, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- source ---- */

/* The name that the next -D or -U among the options is of, *length of it; NULL: no more. *options
 * goes on behind it. */
static const char *next_macro(const char **options, size_t *length)
{
    static const char blank[] = " \t\n\r\v\f\"'"; /* quotes: some compilers take them off */
    const char *p = *options, *name = NULL;

    while (*p && !name) {
        p += strspn(p, blank);
        if (p[0] == '-' && (p[1] == 'D' || p[1] == 'U')) {
            p += 2;
            name = p += strspn(p, blank);
            *length = strcspn(p, "= \t\n\r\v\f(\"'");
        }
        p += strcspn(p, blank);
    }
    *options = p;
    return name;
}

/* No -D or -U of an axis among the options: it would fight with the one that carries the value. */
static int check_options(const struct ts_place *at, const char *options, const char *const *names,
                         size_t count, struct ts_err *err)
{
    const char *name;
    size_t length;

    while ((name = next_macro(&options, &length)) != NULL)
        for (size_t i = 0; i < count; i++)
            if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
                return ts_place_error(at, err, "defines %s, which is an axis", names[i]);
    return 0;
}

/* A variant of a spec may take over another's code by its own -DVARIANT_<other>; options for all
 * variants at once would make each build something else than its name says. */
static int check_no_variant(const struct ts_place *at, const char *options, struct ts_err *err)
{
    static const char prefix[] = "VARIANT_";
    const char *name;
    size_t length;

    while ((name = next_macro(&options, &length)) != NULL)
        if (strncmp(name, prefix, strlen(prefix)) == 0)
            return ts_place_error(at, err,
                                  "defines %.*s, which says what variant is built; choose variants "
                                  "by --variant",
                                  (int)length, name);
    return 0;
}

/* The names that reach the variant's kernels by -D; free() the array. */
static const char **reaching_names(const struct ts_spec *spec, const struct ts_variant *variant,
                                   size_t *count)
{
    const char **names = ts_alloc(spec->problem_count + variant->param_count, sizeof(*names));
    *count = 0;
    for (size_t i = 0; i < spec->problem_count; i++)
        names[(*count)++] = spec->problem[i].name;
    for (size_t i = 0; i < variant->param_count; i++)
        names[(*count)++] = spec->params[variant->params[i]].name;
    return names;
}

int ts_spec_add_options(struct ts_spec *spec, const char *options, const char *named,
                        struct ts_err *err)
{
    const struct ts_place at = ts_place_root(named);
    int result = check_no_variant(&at, options, err);
    for (size_t i = 0; i < spec->variant_count && result == 0; i++) {
        struct ts_variant *variant = &spec->variants[i];
        size_t count;
        const char **names = reaching_names(spec, variant, &count);
        char *own = variant->options;
        variant->options = ts_printf("%s%s%s", own, own[0] ? " " : "", options);
        result = check_options(&at, options, names, count, err);
        free(names);
        free(own);
    }
    return result;
}

static int read_code(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                     struct ts_variant *variant, struct ts_err *err)
{
    const char *options = r->options;
    TS_MEMBER(own_options, options_at, up, object, "options");
    TS_MEMBER(own_sources, own_at, up, object, "sources");
    const struct ts_place spec_at = ts_place_key(&r->root, "sources"),
                          *at = own_sources ? &own_at : &spec_at;
    if (own_options && ts_place_string(&options_at, own_options, &options, err) != 0)
        return -1;
    variant->options = ts_strdup(options);
    if (ts_spec_read_source(at, own_sources ? own_sources : ts_json_get(r->document, "sources"),
                            r->folder, &variant->source, err) != 0)
        return -1;
    size_t count;
    const char **names = reaching_names(r->spec, variant, &count);
    const struct ts_place spec_options = ts_place_key(&r->root, "options");
    int result =
        check_options(own_options ? &options_at : &spec_options, options, names, count, err);
    if (result == 0)
        result = ts_spec_check_defines(at, &variant->source, r->folder, variant->name, names, count,
                                       err);
    free(names);
    return result;
}

/* ---- launches ---- */

static int read_launch_arg(const struct ts_place *at, const cJSON *item,
                           const struct ts_variant *variant, size_t *index, struct ts_err *err)
{
    const char *name;
    if (ts_place_string(at, item, &name, err) != 0)
        return -1;
    *index = ts_spec_find_arg(variant->args, variant->arg_count, name);
    if (*index < variant->arg_count)
        return 0;
    struct ts_text text = {0};
    const char **known = ts_alloc(variant->arg_count, sizeof(*known));
    for (size_t i = 0; i < variant->arg_count; i++)
        known[i] = variant->args[i].name;
    ts_text_printf(&text, "unknown argument \"%s\"", name);
    ts_nearest_add(name, known, variant->arg_count, &text);
    ts_place_error(at, err, "%s", text.text);
    ts_text_free(&text);
    free(known);
    return -1;
}

/* By name and in the kernel's order; absent: all of the variant's. */
static int read_launch_args(const struct ts_place *up, const cJSON *object,
                            const struct ts_variant *variant, struct ts_launch *launch,
                            struct ts_err *err)
{
    size_t i = 0;
    TS_MEMBER(list, at, up, object, "args");
    launch->arg_count = variant->arg_count;
    if (list && ts_place_list(&at, list, &launch->arg_count, err) != 0)
        return -1;
    launch->args = ts_alloc(launch->arg_count, sizeof(*launch->args));
    if (!list) {
        for (; i < launch->arg_count; i++)
            launch->args[i] = i;
        return 0;
    }
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_launch_arg(&place, item, variant, &launch->args[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_kernel(const struct ts_place *up, const cJSON *object, struct ts_launch *launch,
                       struct ts_err *err)
{
    const char *name;
    TS_MEMBER(value, at, up, object, "kernel");
    if (ts_place_string(&at, value, &name, err) != 0)
        return -1;
    if (!ts_is_name(name))
        return ts_place_expected(&at, value, "the name of a kernel", err);
    launch->kernel = ts_strdup(name);
    return 0;
}

static int read_own_range(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *object,
                          const char *key, struct ts_ndrange *range, struct ts_err *err)
{
    return ts_json_get(object, key) ? ts_spec_read_ndrange(r, at, object, key, range, err) : 0;
}

static int check_range(const struct ts_spec *spec, const struct ts_variant *variant,
                       const struct ts_ndrange *range, struct ts_err *err)
{
    for (int d = 0; d < range->dims; d++)
        if (ts_spec_check_params(spec, variant, range->size[d], err) != 0)
            return -1;
    return 0;
}

static int check_launch(const struct ts_spec *spec, const struct ts_place *at,
                        const struct ts_variant *variant, const struct ts_launch *launch,
                        struct ts_err *err)
{
    if (launch->global.dims != launch->local.dims)
        return ts_place_error(at, err, "global has %d dimensions, local has %d",
                              launch->global.dims, launch->local.dims);
    if (check_range(spec, variant, &launch->global, err) != 0)
        return -1;
    return check_range(spec, variant, &launch->local, err);
}

static int read_chain_link(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *object,
                           const struct ts_variant *variant, struct ts_launch *launch,
                           struct ts_err *err)
{
    static const char *const keys[] = {"kernel", "global", "local", "args"};
    if (ts_place_keys(at, object, keys, TS_COUNT(keys), err) != 0 ||
        read_kernel(at, object, launch, err) != 0 ||
        read_own_range(r, at, object, "global", &launch->global, err) != 0 ||
        read_own_range(r, at, object, "local", &launch->local, err) != 0 ||
        read_launch_args(at, object, variant, launch, err) != 0)
        return -1;
    return check_launch(r->spec, at, variant, launch, err);
}

/* `kernel` is a chain of one; links of `launches` inherit global and local from the variant. */
static int read_launches(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                         struct ts_variant *variant, struct ts_err *err)
{
    struct ts_launch common = {.global = r->global, .local = r->local};
    size_t count = 1, i = 0;
    TS_MEMBER(list, at, up, object, "launches");
    if (read_own_range(r, up, object, "global", &common.global, err) != 0 ||
        read_own_range(r, up, object, "local", &common.local, err) != 0)
        return -1;
    if (list && ts_json_get(object, "kernel"))
        return ts_place_error(&at, err, "expected either kernel or launches, got both");
    if (!list && !ts_json_get(object, "kernel"))
        return ts_place_error(up, err, "expected kernel or launches, got neither");
    if (list && ts_place_filled(&at, list, &count, err) != 0)
        return -1;
    if (count > TS_LAUNCHES_MOST)
        return ts_place_error(&at, err, "expected at most %d launches, got %zu", TS_LAUNCHES_MOST,
                              count);
    variant->launches = ts_alloc(count, sizeof(*variant->launches));
    variant->launch_count = count;
    for (i = 0; i < count; i++)
        variant->launches[i] = common;
    if (!list) {
        if (read_kernel(up, object, &variant->launches[0], err) != 0 ||
            read_launch_args(up, NULL, variant, &variant->launches[0], err) != 0)
            return -1;
        return check_launch(r->spec, up, variant, &variant->launches[0], err);
    }
    i = 0;
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        if (read_chain_link(r, &place, item, variant, &variant->launches[i], err) != 0)
            return -1;
    }
    return 0;
}

/* ---- the rest of a variant ---- */

/* The spec's clauses that concern the variant, then its own. */
static int read_where(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                      struct ts_variant *variant, struct ts_err *err)
{
    struct ts_expr **own = NULL;
    size_t own_count = 0;
    int result = 0;
    TS_MEMBER(list, at, up, object, "where");
    if (list)
        result = ts_spec_expr_list(r, &at, list, TS_SCOPE_ALL, &own, &own_count, err);
    variant->where = ts_alloc(r->where_count + own_count, sizeof(struct ts_expr *));
    for (size_t i = 0; i < r->where_count; i++)
        if (ts_variant_knows(r->spec, variant, r->where[i]))
            variant->where[variant->where_count++] = r->where[i];
    for (size_t i = 0; i < own_count && result == 0; i++) {
        result = ts_spec_check_params(r->spec, variant, own[i], err);
        variant->where[variant->where_count++] = own[i];
    }
    free(own);
    return result;
}

static int read_args(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                     struct ts_variant *variant, struct ts_err *err)
{
    TS_MEMBER(list, at, up, object, "args");
    if (list) {
        if (ts_spec_read_args(r, &at, list, &variant->args, &variant->arg_count, err) != 0)
            return -1;
    } else {
        variant->args = ts_spec_copy_args(r->args, r->arg_count);
        variant->arg_count = r->arg_count;
    }
    for (size_t i = 0; i < variant->arg_count; i++) {
        const struct ts_arg *arg = &variant->args[i];
        if (ts_spec_check_params(r->spec, variant, arg->value, err) != 0 ||
            ts_spec_check_params(r->spec, variant, arg->bytes, err) != 0)
            return -1;
        for (size_t d = 0; arg->shape && d < arg->dims; d++)
            if (ts_spec_check_params(r->spec, variant, arg->shape[d], err) != 0)
                return -1;
    }
    return 0;
}

static int read_needs(const struct ts_place *up, const cJSON *object, struct ts_variant *variant,
                      struct ts_err *err)
{
    size_t count = 0, i = 0;
    TS_MEMBER(list, at, up, object, "needs");
    if (!list)
        return 0;
    if (ts_place_list(&at, list, &count, err) != 0)
        return -1;
    variant->needs = ts_alloc(count, sizeof(*variant->needs));
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        const char *name;
        if (ts_place_string(&place, item, &name, err) != 0)
            return -1;
        if (!ts_is_name(name))
            return ts_place_expected(&place, item, "an extension's name, such as cl_khr_fp16", err);
        variant->needs[variant->need_count++] = ts_strdup(name);
    }
    return 0;
}

/* true and false read better than 1 and 0. */
static int read_staged(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *value,
                       struct ts_variant *variant, struct ts_err *err)
{
    cJSON *number = cJSON_IsBool(value) ? cJSON_CreateNumber(cJSON_IsTrue(value)) : NULL;
    int result = ts_spec_expr(r, at, number ? number : value, TS_SCOPE_ALL, &variant->staged, err);
    cJSON_Delete(number);
    return result;
}

static int read_measures(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                         struct ts_variant *variant, struct ts_err *err)
{
    TS_MEMBER(bytes, bytes_at, up, object, "local_bytes");
    TS_MEMBER(staged, staged_at, up, object, "staged");
    if (bytes && ts_spec_expr(r, &bytes_at, bytes, TS_SCOPE_ALL, &variant->local_bytes, err) != 0)
        return -1;
    if (staged && read_staged(r, &staged_at, staged, variant, err) != 0)
        return -1;
    variant->work = r->work;
    if (ts_spec_read_work(r, up, object, &variant->work, err) != 0)
        return -1;
    const struct ts_expr *const all[] = {
        variant->local_bytes, variant->staged,     variant->work.elements,
        variant->work.flops,  variant->work.bytes, variant->work.requested_bytes,
    };
    for (size_t i = 0; i < TS_COUNT(all); i++)
        if (ts_spec_check_params(r->spec, variant, all[i], err) != 0)
            return -1;
    return 0;
}

static int read_baseline(struct ts_spec_reader *r, const struct ts_place *up, const cJSON *object,
                         size_t index, bool *found, struct ts_err *err)
{
    struct ts_variant *variant = &r->spec->variants[index];
    TS_MEMBER(value, at, up, object, "baseline");
    if (value && ts_place_bool(&at, value, &variant->baseline, err) != 0)
        return -1;
    if (!variant->baseline)
        return 0;
    if (*found)
        return ts_place_error(&at, err, "\"%s\" is the baseline already",
                              r->spec->variants[r->spec->baseline].name);
    *found = true;
    r->spec->baseline = index;
    return 0;
}

static int read_variant(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *object,
                        struct ts_variant *variant, struct ts_err *err)
{
    static const char *const keys[] = {
        "name",  "kernel", "launches", "params", "baseline",    "sources", "options", "global",
        "local", "args",   "work",     "where",  "local_bytes", "staged",  "needs",
    };
    if (ts_place_keys(at, object, keys, TS_COUNT(keys), err) != 0 ||
        read_name(r, at, object, variant, err) != 0 ||
        read_params(r, at, object, variant, err) != 0 ||
        read_args(r, at, object, variant, err) != 0 ||
        read_launches(r, at, object, variant, err) != 0 ||
        read_where(r, at, object, variant, err) != 0 || read_needs(at, object, variant, err) != 0 ||
        read_measures(r, at, object, variant, err) != 0)
        return -1;
    return read_code(r, at, object, variant, err);
}

/* A parameter that reaches no kernel is a slip: most often, its name is missing in a variant's
 * list. */
static int check_listed(const struct ts_spec_reader *r, struct ts_err *err)
{
    const struct ts_spec *spec = r->spec;
    const struct ts_place up = ts_place_key(&r->root, "params");
    for (size_t p = 0; p < spec->param_count; p++) {
        const struct ts_place at = ts_place_key(&up, spec->params[p].name);
        bool listed = false;
        for (size_t v = 0; v < spec->variant_count; v++)
            for (size_t i = 0; i < spec->variants[v].param_count; i++)
                listed = listed || spec->variants[v].params[i] == p;
        if (!listed)
            return ts_place_error(&at, err, "no variant lists it");
    }
    return 0;
}

int ts_spec_read_variants(struct ts_spec_reader *r, struct ts_err *err)
{
    struct ts_spec *spec = r->spec;
    bool found = false;
    size_t length = 0, i = 0;
    TS_MEMBER(list, at, &r->root, r->document, "variants");
    if (ts_place_filled(&at, list, &length, err) != 0)
        return -1;
    spec->variants = ts_alloc(length, sizeof(*spec->variants));
    for (const cJSON *item = list->child; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&at, i);
        int result = read_variant(r, &place, item, &spec->variants[i], err);
        spec->variant_count++;
        if (result != 0 || read_baseline(r, &place, item, i, &found, err) != 0)
            return -1;
    }
    if (!found)
        return ts_place_error(&at, err, "no baseline; set \"baseline\": true in one variant");
    return check_listed(r, err);
}
