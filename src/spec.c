/* spec.c: a spec file from its keys to the finished struct ts_spec; see spec_read.h for the parts.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "file.h"
#include "spec_read.h"

#define SPEC_SCHEMA "tilesweep.spec/"
#define SPEC_VERSION 1
static const char extension[] = ".json";

#define DEFAULT_TOLERANCE 4.0

/* ---- memory ---- */

const struct ts_timed_row ts_timed_table[TS_TIMED_COUNT] = {
    [TS_TIMED_FULL] = {"sizes", TS_TIMED_FULL},
    [TS_TIMED_QUICK] = {"quick_sizes", TS_TIMED_FULL},
    [TS_TIMED_GPU] = {"gpu_sizes", TS_TIMED_FULL},
    [TS_TIMED_GPU_QUICK] = {"gpu_quick_sizes", TS_TIMED_QUICK},
};

const struct ts_sizes *ts_spec_timed(const struct ts_spec *spec, bool quick, const char *type)
{
    bool gpu = type && !strcmp(type, "gpu");
    enum ts_timed timed = gpu ? (quick ? TS_TIMED_GPU_QUICK : TS_TIMED_GPU)
                              : (quick ? TS_TIMED_QUICK : TS_TIMED_FULL);

    while (spec->timed[timed].count == 0 && ts_timed_table[timed].fallback != timed)
        timed = ts_timed_table[timed].fallback;
    return &spec->timed[timed];
}

static void free_sizes(struct ts_sizes *sizes)
{
    for (size_t i = 0; sizes->items && i < sizes->count; i++)
        ts_values_free(&sizes->items[i]);
    free(sizes->items);
}

static void free_axes(struct ts_axis *axes, size_t count)
{
    for (size_t i = 0; axes && i < count; i++)
        ts_axis_free(&axes[i]);
    free(axes);
}

static void free_exprs(struct ts_spec *spec)
{
    for (size_t i = 0; i < spec->expr_count; i++) {
        ts_expr_free(spec->exprs[i].expr);
        free(spec->exprs[i].place);
    }
    free(spec->exprs);
}

void ts_spec_free(struct ts_spec *spec)
{
    if (!spec)
        return;
    free(spec->path);
    free(spec->name);
    free(spec->doc);
    free(spec->digest);
    free(spec->reference_name);
    free(spec->reference_variant);
    for (size_t i = 0; i < spec->size_name_count; i++)
        free(spec->size_names[i]);
    free(spec->size_names);
    for (size_t i = 0; i < TS_TIMED_COUNT; i++)
        free_sizes(&spec->timed[i]);
    free_sizes(&spec->check_sizes);
    free_axes(spec->problem, spec->problem_count);
    free_axes(spec->params, spec->param_count);
    free_axes(spec->quick_params, spec->quick_params ? spec->param_count : 0);
    for (size_t i = 0; i < spec->variant_count; i++)
        ts_spec_free_variant(&spec->variants[i]);
    free(spec->variants);
    for (size_t i = 0; i < spec->swap_count; i++) {
        free(spec->swaps[i].a);
        free(spec->swaps[i].b);
    }
    free(spec->swaps);
    free_exprs(spec);
    free(spec);
}

/* ---- questions ---- */

bool ts_spec_has_axis(const struct ts_spec *spec, const char *name)
{
    return ts_spec_axis(spec, name) != NULL; /* every parameter is some variant's */
}

bool ts_spec_has_variant(const struct ts_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->variant_count; i++)
        if (strcmp(spec->variants[i].name, name) == 0)
            return true;
    return false;
}

/* ---- plain keys ---- */

/* A file of another version is told as that; only then are its keys looked at. */
static int read_schema(struct ts_spec_reader *r, bool may_miss, struct ts_err *err)
{
    TS_MEMBER(value, at, &r->root, r->document, "schema");
    if (!value && may_miss)
        return 0;
    return ts_place_schema(&at, value, SPEC_SCHEMA, SPEC_VERSION, err);
}

/* A benchmark's name stands in file names and keys, so it is a little freer than a name of C. */
static bool is_benchmark_name(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    return *text && *text != '-' && *text != '.' && text[strspn(text, allowed)] == '\0';
}

static int read_names(struct ts_spec_reader *r, struct ts_err *err)
{
    const char *name, *doc = "";
    TS_MEMBER(name_value, name_at, &r->root, r->document, "name");
    TS_MEMBER(doc_value, doc_at, &r->root, r->document, "doc");
    TS_MEMBER(options, options_at, &r->root, r->document, "options");
    if (ts_place_string(&name_at, name_value, &name, err) != 0)
        return -1;
    if (!is_benchmark_name(name))
        return ts_place_expected(&name_at, name_value, "letters, digits, '_', '-' and '.'", err);
    if (doc_value && ts_place_string(&doc_at, doc_value, &doc, err) != 0)
        return -1;
    r->spec->name = ts_strdup(name);
    r->spec->doc = ts_strdup(doc);
    r->options = "";
    return options ? ts_place_string(&options_at, options, &r->options, err) : 0;
}

static int read_tolerance(struct ts_spec_reader *r, struct ts_err *err)
{
    TS_MEMBER(value, at, &r->root, r->document, "tolerance");
    r->spec->tolerance = DEFAULT_TOLERANCE;
    if (value && ts_place_real(&at, value, &r->spec->tolerance, err) != 0)
        return -1;
    if (r->spec->tolerance < 0)
        return ts_place_expected(&at, value, "a number of at least 0", err);
    return 0;
}

/* {"variant": NAME}; other kinds are announced by the contract, but not there yet. */
static int read_reference_object(struct ts_spec_reader *r, const struct ts_place *at,
                                 const cJSON *object, struct ts_err *err)
{
    static const char *const keys[] = {"variant", "file", "library", "symbol"};
    static const char *const later[] = {"file", "library"};
    const char *name;
    if (ts_place_keys(at, object, keys, TS_COUNT(keys), err) != 0)
        return -1;
    for (size_t i = 0; i < TS_COUNT(later); i++)
        if (ts_json_get(object, later[i]))
            return ts_place_error(at, err,
                                  "kind \"%s\" is not supported by this version; use the name of a "
                                  "built-in or {\"variant\": NAME}",
                                  later[i]);
    TS_MEMBER(value, place, at, object, "variant");
    if (ts_place_string(&place, value, &name, err) != 0)
        return -1;
    r->spec->reference_variant = ts_strdup(name);
    return 0;
}

static int read_reference(struct ts_spec_reader *r, struct ts_err *err)
{
    TS_MEMBER(value, at, &r->root, r->document, "reference");
    if (cJSON_IsObject(value))
        return read_reference_object(r, &at, value, err);
    if (!cJSON_IsString(value))
        return ts_place_expected(&at, value, "the name of a built-in or {\"variant\": NAME}", err);
    r->spec->reference_name = ts_strdup(value->valuestring);
    return 0;
}

/* After the variants: the one that is the reference exists, and every device has it. */
static int check_reference(struct ts_spec_reader *r, struct ts_err *err)
{
    const struct ts_spec *spec = r->spec;
    const char *name = spec->reference_variant;
    const struct ts_place up = ts_place_key(&r->root, "reference"),
                          at = ts_place_key(&up, "variant");
    for (size_t i = 0; name && i < spec->variant_count; i++) {
        if (strcmp(spec->variants[i].name, name) != 0)
            continue;
        return spec->variants[i].need_count == 0
                   ? 0
                   : ts_place_error(
                         &at, err,
                         "\"%s\" needs %s: where a device lacks it, nothing could be proven", name,
                         spec->variants[i].needs[0]);
    }
    if (!name)
        return 0;
    struct ts_text text = {0};
    const char **known = ts_alloc(spec->variant_count, sizeof(*known));
    for (size_t i = 0; i < spec->variant_count; i++)
        known[i] = spec->variants[i].name;
    ts_text_printf(&text, "no variant \"%s\"", name);
    ts_nearest_add(name, known, spec->variant_count, &text);
    ts_place_error(&at, err, "%s", text.text);
    ts_text_free(&text);
    free(known);
    return -1;
}

/* ---- iterate ---- */

/* Both names are arrays of every variant, of one type and number of dimensions. (That their shapes
 * are equal is known once there are sizes.) */
static int check_swap(const struct ts_spec *spec, const struct ts_place *at,
                      const struct ts_swap *swap, struct ts_err *err)
{
    const char *const names[2] = {swap->a, swap->b};
    for (size_t v = 0; v < spec->variant_count; v++) {
        const struct ts_variant *variant = &spec->variants[v];
        const struct ts_arg *sides[2];
        for (size_t k = 0; k < 2; k++) {
            size_t i = ts_spec_find_arg(variant->args, variant->arg_count, names[k]);
            if (i == variant->arg_count || !variant->args[i].shape)
                return ts_place_error(at, err, "variant \"%s\" has no array \"%s\"", variant->name,
                                      names[k]);
            sides[k] = &variant->args[i];
        }
        if (sides[0]->type != sides[1]->type || sides[0]->dims != sides[1]->dims)
            return ts_place_error(at, err,
                                  "\"%s\" and \"%s\" of variant \"%s\" differ in type or shape",
                                  swap->a, swap->b, variant->name);
    }
    return 0;
}

static bool is_swapped(const struct ts_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->swap_count; i++)
        if (strcmp(spec->swaps[i].a, name) == 0 || strcmp(spec->swaps[i].b, name) == 0)
            return true;
    return false;
}

static int read_swap(struct ts_spec_reader *r, const struct ts_place *at, const cJSON *pair,
                     struct ts_err *err)
{
    struct ts_spec *spec = r->spec;
    const char *a, *b;
    const struct ts_place first = ts_place_item(at, 0), second = ts_place_item(at, 1);
    if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2)
        return ts_place_expected(at, pair, "a pair of arguments", err);
    if (ts_place_string(&first, pair->child, &a, err) != 0 ||
        ts_place_string(&second, pair->child->next, &b, err) != 0)
        return -1;
    if (strcmp(a, b) == 0 || is_swapped(spec, a) || is_swapped(spec, b))
        return ts_place_error(at, err, "expected every argument at most once");
    struct ts_swap *swap = &spec->swaps[spec->swap_count++];
    *swap = (struct ts_swap){ts_strdup(a), ts_strdup(b)};
    return check_swap(spec, at, swap, err);
}

static int read_iterate(struct ts_spec_reader *r, struct ts_err *err)
{
    static const char *const keys[] = {"swap", "steps"};
    size_t count = 0, i = 0;
    TS_MEMBER(object, at, &r->root, r->document, "iterate");
    if (!object)
        return 0;
    if (ts_place_keys(&at, object, keys, TS_COUNT(keys), err) != 0)
        return -1;
    r->spec->iterated = true;
    TS_MEMBER(list, swap_at, &at, object, "swap");
    TS_MEMBER(steps, steps_at, &at, object, "steps");
    if (list && ts_place_list(&swap_at, list, &count, err) != 0)
        return -1;
    r->spec->swaps = ts_alloc(count, sizeof(*r->spec->swaps));
    for (const cJSON *item = count ? list->child : NULL; item; item = item->next, i++) {
        const struct ts_place place = ts_place_item(&swap_at, i);
        if (read_swap(r, &place, item, err) != 0)
            return -1;
    }
    return steps ? ts_spec_expr(r, &steps_at, steps, TS_SCOPE_ALL, &r->spec->steps, err) : 0;
}

/* ---- the whole ---- */

static int read_spaces(struct ts_spec_reader *r, struct ts_err *err)
{
    struct ts_spec *spec = r->spec;
    size_t same;
    for (size_t i = 0; i < TS_TIMED_COUNT; i++) {
        const struct ts_timed_row *row = &ts_timed_table[i];
        bool required = row->fallback == (enum ts_timed)i;
        if ((required || ts_json_get(r->document, row->key)) &&
            ts_spec_read_sizes(r, row->key, &spec->timed[i], err) != 0)
            return -1;
    }
    if (ts_spec_read_sizes(r, "check_sizes", &spec->check_sizes, err) != 0)
        return -1;
    if (ts_spec_read_axes(r, "problem", NULL, 0, &spec->problem, &spec->problem_count, err) != 0 ||
        ts_spec_read_axes(r, "params", NULL, 0, &spec->params, &spec->param_count, err) != 0)
        return -1;
    return ts_spec_read_axes(r, "quick_params", spec->params, spec->param_count,
                             &spec->quick_params, &same, err);
}

/* What variants inherit. */
static int read_common(struct ts_spec_reader *r, struct ts_err *err)
{
    TS_MEMBER(args, args_at, &r->root, r->document, "args");
    TS_MEMBER(where, where_at, &r->root, r->document, "where");
    struct ts_arg *list = NULL;
    size_t count = 0;
    int result = ts_spec_read_args(r, &args_at, args, &list, &count, err);
    r->args = list; /* only now: before, texts in the list would be taken for names */
    r->arg_count = count;
    if (result != 0)
        return -1;
    if (where &&
        ts_spec_expr_list(r, &where_at, where, TS_SCOPE_ALL, &r->where, &r->where_count, err) != 0)
        return -1;
    if (ts_spec_read_ndrange(r, &r->root, r->document, "global", &r->global, err) != 0 ||
        ts_spec_read_ndrange(r, &r->root, r->document, "local", &r->local, err) != 0)
        return -1;
    return ts_spec_read_work(r, &r->root, r->document, &r->work, err);
}

/* The sources must be a list even when every variant has its own. */
static int check_sources(struct ts_spec_reader *r, struct ts_err *err)
{
    size_t count;
    TS_MEMBER(list, at, &r->root, r->document, "sources");
    return ts_place_filled(&at, list, &count, err);
}

static int read_document(struct ts_spec_reader *r, struct ts_err *err)
{
    static const char *const keys[] = {
        "schema",      "name",    "doc",       "sources",         "options", "reference",
        "tolerance",   "sizes",   "params",    "quick_sizes",     "where",   "args",
        "check_sizes", "problem", "local",     "quick_params",    "work",    "variants",
        "global",      "iterate", "gpu_sizes", "gpu_quick_sizes",
    };
    if (ts_place_object(&r->root, r->document, err) != 0 || read_schema(r, true, err) != 0 ||
        ts_place_keys(&r->root, r->document, keys, TS_COUNT(keys), err) != 0 ||
        read_schema(r, false, err) != 0 || read_names(r, err) != 0 || check_sources(r, err) != 0 ||
        read_reference(r, err) != 0 || read_tolerance(r, err) != 0 || read_spaces(r, err) != 0 ||
        read_common(r, err) != 0 || ts_spec_read_variants(r, err) != 0 ||
        check_reference(r, err) != 0)
        return -1;
    return read_iterate(r, err);
}

/* Over the spec's bytes and the digests of all sources. */
static char *digest_of(const struct ts_spec *spec, const char *bytes, size_t length)
{
    struct ts_text all = {0};
    ts_text_add(&all, bytes, length);
    for (size_t i = 0; i < spec->variant_count; i++)
        ts_text_printf(&all, "\n%s", spec->variants[i].source.digest);
    char *digest = ts_digest(all.text, all.length);
    ts_text_free(&all);
    return digest;
}

/* path is taken. */
static struct ts_spec *load(char *path, struct ts_err *err)
{
    struct ts_spec *spec = ts_alloc(1, sizeof(*spec));
    struct ts_spec_reader r = {.spec = spec, .root = ts_place_root(path)};
    size_t length = 0;
    char *bytes = ts_file_read(path, &length, err);
    cJSON *document = bytes ? ts_json_parse(bytes, length, path, 1, err) : NULL;
    spec->path = path;
    r.document = document;
    r.folder = ts_path_dir(path);
    bool good = document && read_document(&r, err) == 0;
    if (good)
        spec->digest = digest_of(spec, bytes, length);
    ts_spec_free_args(r.args, r.arg_count);
    free(r.where);
    free(r.folder);
    cJSON_Delete(document);
    free(bytes);
    if (!good) {
        ts_spec_free(spec);
        return NULL;
    }
    return spec;
}

/* ---- built-in benchmarks ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "laplacian" of "laplacian.json"; free() it; NULL for other files. */
static char *stem_of(const char *file)
{
    size_t length = strlen(file), tail = sizeof(extension) - 1;
    if (length <= tail || file[0] == '.' || strcmp(file + length - tail, extension) != 0)
        return NULL;
    return ts_strndup(file, length - tail);
}

char **ts_spec_builtins(size_t *count, struct ts_err *err)
{
    char **names = NULL;
    size_t used = 0, capacity = 0;
    char *data = ts_data_dir(err);
    if (!data)
        return NULL;
    char *bench = ts_path_join(data, "bench");
    DIR *folder = opendir(bench);
    if (folder) {
        names = ts_alloc(1, sizeof(*names));
        capacity = 1;
        for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
            char *name = stem_of(entry->d_name);
            if (!name)
                continue;
            TS_GROW(names, used, capacity);
            names[used++] = name;
        }
        closedir(folder);
        qsort(names, used, sizeof(*names), by_name);
        *count = used;
    } else {
        ts_err_set(err, TS_EXIT_SYSTEM, "%s: cannot read the folder", bench);
    }
    free(bench);
    free(data);
    return names;
}

/* `no built-in benchmark "x"; did you mean "y"? (built in: ...)` */
static void unknown_builtin(const char *name, struct ts_err *err)
{
    size_t count = 0;
    char **names = ts_spec_builtins(&count, err);
    if (!names)
        return;
    struct ts_text text = {0};
    ts_text_printf(&text, "no built-in benchmark \"%s\"", name);
    ts_nearest_add(name, (const char *const *)names, count, &text);
    ts_text_puts(&text, " (built in:");
    for (size_t i = 0; i < count; i++)
        ts_text_printf(&text, "%s %s", i ? "," : "", names[i]);
    ts_text_puts(&text, "; a path holds a '/' or ends in .json)");
    ts_err_set(err, TS_EXIT_USAGE, "%s", text.text);
    ts_text_free(&text);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static bool is_path(const char *text)
{
    size_t length = strlen(text), tail = sizeof(extension) - 1;
    return strchr(text, '/') || (length > tail && strcmp(text + length - tail, extension) == 0);
}

struct ts_spec *ts_spec_load(const char *name_or_path, struct ts_err *err)
{
    if (is_path(name_or_path))
        return load(ts_strdup(name_or_path), err);
    char *data = ts_data_dir(err);
    if (!data)
        return NULL;
    char *file = ts_printf("bench/%s%s", name_or_path, extension);
    char *path = ts_path_join(data, file);
    struct ts_spec *spec = NULL;
    if (*name_or_path && ts_file_exists(path))
        spec = load(ts_strdup(path), err);
    else
        unknown_builtin(name_or_path, err);
    free(path);
    free(file);
    free(data);
    return spec;
}
