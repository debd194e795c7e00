/* list.c: `tilesweep list`: what a spec holds, without touching a device. */
#include "../cli.h"
#include "../json.h"
#include "../reference_spec.h"
#include "../space.h"
#include "../table.h"
#include "cmd.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting ---- */

struct variant_count {
    size_t configs;              /* variant, problem and parameters: built and proven once */
    size_t rows;                 /* configurations times the timed sizes that admit them */
    size_t unchecked;            /* configurations that no check size admits */
    const struct ts_config *one; /* the first of those */
};

/* A spec opened with its full or its quick sets, and what is in it. */
struct counted {
    struct ts_space *space;
    struct variant_count *variants, all;
    size_t cases; /* sizes with problem axes that at least one row has */
};

static bool any(const bool *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (flags[i])
            return true;
    return false;
}

static int count_space(struct counted *c, const struct ts_spec *spec, bool quick,
                       struct ts_err *err)
{
    const struct ts_selection selection = {.quick = quick};
    c->space = ts_space_open(spec, &selection, NULL, false, err);
    if (!c->space)
        return -1;
    c->variants = ts_alloc(spec->variant_count, sizeof(*c->variants));
    bool *met = ts_alloc(c->space->size_count * c->space->problem_count, sizeof(*met));
    for (size_t i = 0; i < c->space->config_count; i++) {
        const struct ts_config *config = &c->space->configs[i];
        struct variant_count *v = &c->variants[config->variant];
        size_t rows = 0;
        for (size_t s = 0; s < c->space->size_count; s++) {
            bool *here = &met[config->problem * c->space->size_count + s];
            rows += config->admitted[s];
            c->cases += config->admitted[s] && !*here;
            *here = *here || config->admitted[s];
        }
        v->configs++;
        v->rows += rows;
        c->all.configs++;
        c->all.rows += rows;
        if (!any(config->admitted_check, spec->check_sizes.count)) {
            v->unchecked++;
            c->all.unchecked++;
            if (!v->one)
                v->one = config;
        }
    }
    free(met);
    return 0;
}

static void free_counted(struct counted *c)
{
    ts_space_close(c->space);
    free(c->variants);
}

/* ---- for people ---- */

static void add_axis_values(const struct ts_axis *axis, struct ts_text *out)
{
    for (size_t i = 0; i < axis->count; i++) {
        ts_text_puts(out, i ? ", " : "");
        if (axis->words)
            ts_text_puts(out, axis->texts[i]);
        else
            ts_text_printf(out, "%lld", (long long)axis->numbers[i]);
    }
}

static void add_axes(struct ts_table *t, const char *title, const struct ts_axis *axes,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ts_text values = {0};
        ts_text_puts(&values, "");
        add_axis_values(&axes[i], &values);
        ts_table_cell(t, "%s", i ? "" : title);
        ts_table_cell(t, "%s = %s", axes[i].name, values.text);
        ts_text_free(&values);
    }
}

static void add_sizes(struct ts_table *t, const char *title, const struct ts_sizes *sizes)
{
    struct ts_text text = {0};
    for (size_t i = 0; i < sizes->count; i++) {
        ts_text_puts(&text, i ? "; " : "");
        ts_values_print(&sizes->items[i], "", " ", &text);
    }
    ts_table_cell(t, "%s", title);
    ts_table_cell(t, "%s", text.text ? text.text : "");
    ts_text_free(&text);
}

static void print_facts(const struct ts_spec *spec, struct ts_text *out)
{
    struct ts_table t = {0};
    ts_table_column(&t, NULL, TS_LEFT);
    ts_table_column(&t, NULL, TS_LEFT);
    add_sizes(&t, "sizes", ts_spec_timed(spec, false, NULL));
    add_sizes(&t, "quick sizes", ts_spec_timed(spec, true, NULL));
    if (spec->timed[TS_TIMED_GPU].count)
        add_sizes(&t, "sizes on a GPU", ts_spec_timed(spec, false, "gpu"));
    if (spec->timed[TS_TIMED_GPU_QUICK].count)
        add_sizes(&t, "quick sizes on a GPU", ts_spec_timed(spec, true, "gpu"));
    add_sizes(&t, "check sizes", &spec->check_sizes);
    ts_table_cell(&t, "reference");
    if (spec->reference_variant)
        ts_table_cell(&t, "variant %s, tolerance %g", spec->reference_variant, spec->tolerance);
    else
        ts_table_cell(&t, "%s, tolerance %g", spec->reference_name, spec->tolerance);
    add_axes(&t, "problem", spec->problem, spec->problem_count);
    add_axes(&t, "parameters", spec->params, spec->param_count);
    add_axes(&t, "quick", spec->quick_params, spec->param_count);
    ts_table_print(&t, "  ", out);
    ts_table_free(&t);
}

static void add_parameters(const struct ts_spec *spec, const struct ts_variant *variant,
                           struct ts_text *out)
{
    ts_text_puts(out, "");
    for (size_t i = 0; i < variant->param_count; i++)
        ts_text_printf(out, "%s%s", i ? " " : "", spec->params[variant->params[i]].name);
}

static void print_variants(const struct ts_spec *spec, const struct counted *full,
                           const struct counted *quick, struct ts_text *out)
{
    struct ts_table t = {0};
    ts_table_column(&t, "variant", TS_LEFT);
    ts_table_column(&t, "parameters", TS_LEFT);
    ts_table_column(&t, "configurations", TS_RIGHT);
    ts_table_column(&t, "rows", TS_RIGHT);
    ts_table_column(&t, "quick rows", TS_RIGHT);
    for (size_t i = 0; i < spec->variant_count; i++) {
        const struct ts_variant *variant = &spec->variants[i];
        struct ts_text parameters = {0};
        add_parameters(spec, variant, &parameters);
        ts_table_cell(&t, "%s%s", variant->name, variant->baseline ? " (baseline)" : "");
        ts_table_cell(&t, "%s", parameters.text);
        ts_table_cell(&t, "%zu", full->variants[i].configs);
        ts_table_cell(&t, "%zu", full->variants[i].rows);
        ts_table_cell(&t, "%zu", quick->variants[i].rows);
        ts_text_free(&parameters);
    }
    ts_table_cell(&t, "all");
    ts_table_cell(&t, "%s", "");
    ts_table_cell(&t, "%zu", full->all.configs);
    ts_table_cell(&t, "%zu", full->all.rows);
    ts_table_cell(&t, "%zu", quick->all.rows);
    ts_table_print(&t, "  ", out);
    ts_table_free(&t);
}

static void print_unchecked(const struct ts_spec *spec, const struct counted *full,
                            struct ts_text *out)
{
    for (size_t i = 0; i < spec->variant_count; i++) {
        const struct variant_count *v = &full->variants[i];
        if (!v->unchecked)
            continue;
        ts_text_printf(out,
                       "  proven on the timed size alone, because no check size admits it: %s ",
                       spec->variants[i].name);
        ts_values_print(&v->one->params, "", " ", out);
        if (v->unchecked > 1)
            ts_text_printf(out, " and %zu more of this variant", v->unchecked - 1);
        ts_text_puts(out, "\n");
    }
}

static void print_spec(const struct ts_spec *spec, const struct counted *full,
                       const struct counted *quick, struct ts_text *out)
{
    char *doc = ts_text_printable(spec->doc ? spec->doc : "");
    ts_text_printf(out, "%s%s%s\n", spec->name, doc[0] ? ": " : "", doc);
    free(doc);
    print_facts(spec, out);
    print_variants(spec, full, quick, out);
    ts_text_printf(out, "  %zu case%s, quick %zu; %lld refused by 'where', quick %lld\n",
                   full->cases, full->cases == 1 ? "" : "s", quick->cases,
                   (long long)full->space->excluded, (long long)quick->space->excluded);
    print_unchecked(spec, full, out);
}

/* ---- for programs ---- */

static void json_sizes(cJSON *into, const char *key, const struct ts_sizes *sizes)
{
    cJSON *list = ts_json_add_array(into, key);
    for (size_t i = 0; i < sizes->count; i++)
        ts_json_add_item(list, NULL, ts_values_to_json(&sizes->items[i]));
}

static void json_axes(cJSON *into, const char *key, const struct ts_axis *axes, size_t count)
{
    cJSON *object = ts_json_add_object(into, key);
    for (size_t i = 0; i < count; i++) {
        cJSON *values = ts_json_add_array(object, axes[i].name);
        for (size_t k = 0; k < axes[i].count; k++) {
            if (axes[i].words)
                ts_json_add_string(values, NULL, axes[i].texts[k]);
            else
                ts_json_add_int(values, NULL, axes[i].numbers[k]);
        }
    }
}

static void json_count(cJSON *into, const char *key, const struct variant_count *count)
{
    cJSON *object = ts_json_add_object(into, key);
    ts_json_add_int(object, "configurations", (int64_t)count->configs);
    ts_json_add_int(object, "rows", (int64_t)count->rows);
    ts_json_add_int(object, "timed_size_only", (int64_t)count->unchecked);
}

static void json_set(cJSON *into, const char *key, const struct counted *counted)
{
    json_count(into, key, &counted->all);
    cJSON *object = ts_json_get(into, key);
    ts_json_add_int(object, "cases", (int64_t)counted->cases);
    ts_json_add_int(object, "excluded", counted->space->excluded);
}

static void json_variant(cJSON *list, const struct ts_spec *spec, size_t index,
                         const struct counted *full, const struct counted *quick)
{
    const struct ts_variant *variant = &spec->variants[index];
    cJSON *object = ts_json_add_object(list, NULL);
    ts_json_add_string(object, "name", variant->name);
    ts_json_add_bool(object, "baseline", variant->baseline);
    cJSON *kernels = ts_json_add_array(object, "kernels");
    for (size_t i = 0; i < variant->launch_count; i++)
        ts_json_add_string(kernels, NULL, variant->launches[i].kernel);
    cJSON *params = ts_json_add_array(object, "params");
    for (size_t i = 0; i < variant->param_count; i++)
        ts_json_add_string(params, NULL, spec->params[variant->params[i]].name);
    json_count(object, "full", &full->variants[index]);
    json_count(object, "quick", &quick->variants[index]);
}

static void json_spec(cJSON *benchmarks, const struct ts_spec *spec, const struct counted *full,
                      const struct counted *quick)
{
    cJSON *object = ts_json_add_object(benchmarks, NULL);
    ts_json_add_string(object, "name", spec->name);
    ts_json_add_string(object, "doc", spec->doc);
    ts_json_add_string(object, "path", spec->path);
    ts_json_add_string(object, "digest", spec->digest);
    if (spec->reference_variant)
        ts_json_add_string(ts_json_add_object(object, "reference"), "variant",
                           spec->reference_variant);
    else
        ts_json_add_string(object, "reference", spec->reference_name);
    ts_json_add_real(object, "tolerance", spec->tolerance);
    json_sizes(object, "sizes", ts_spec_timed(spec, false, NULL));
    json_sizes(object, "quick_sizes", ts_spec_timed(spec, true, NULL));
    json_sizes(object, "gpu_sizes", ts_spec_timed(spec, false, "gpu"));
    json_sizes(object, "gpu_quick_sizes", ts_spec_timed(spec, true, "gpu"));
    json_sizes(object, "check_sizes", &spec->check_sizes);
    json_axes(object, "problem", spec->problem, spec->problem_count);
    json_axes(object, "params", spec->params, spec->param_count);
    json_axes(object, "quick_params", spec->quick_params, spec->param_count);
    cJSON *variants = ts_json_add_array(object, "variants");
    for (size_t i = 0; i < spec->variant_count; i++)
        json_variant(variants, spec, i, full, quick);
    json_set(object, "full", full);
    json_set(object, "quick", quick);
}

/* ---- the command ---- */

struct list_options {
    bool json;
};

static const struct ts_option options[] = {
    {"json", 0, NULL, TS_OPTION_FLAG, offsetof(struct list_options, json),
     .help = "print one JSON document (tilesweep.list/1)"},
};

static const struct ts_cli cli = {
    .command = "list",
    .usage = "[OPTION]... [SPEC]...",
    .about = "Show the built-in benchmarks, or those of the given spec files: sizes, axes, "
             "variants, and how many configurations a run would visit. Needs no device, so limits "
             "of a device are not applied. A spec with a fault is exit status 2.",
    .options = options,
    .option_count = TS_COUNT(options),
    .max_args = SIZE_MAX,
};

/* Loads one spec and adds it to the document or the text. */
static int show(const char *name, cJSON *benchmarks, struct ts_text *text, struct ts_err *err)
{
    struct ts_spec *spec = ts_spec_load(name, err);
    if (!spec)
        return -1;
    struct counted full = {0}, quick = {0};
    int status = ts_reference_check(spec, err);
    if (status == 0)
        status = count_space(&full, spec, false, err);
    if (status == 0)
        status = count_space(&quick, spec, true, err);
    if (status == 0 && benchmarks)
        json_spec(benchmarks, spec, &full, &quick);
    if (status == 0 && !benchmarks) {
        ts_text_puts(text, text->length ? "\n" : "");
        print_spec(spec, &full, &quick, text);
    }
    free_counted(&full);
    free_counted(&quick);
    ts_spec_free(spec);
    return status;
}

static int show_all(char *const *names, size_t count, bool json, struct ts_err *err)
{
    struct ts_text text = {0};
    cJSON *document = json ? cJSON_CreateObject() : NULL, *benchmarks = NULL;
    if (json) {
        ts_json_add_string(document, "schema", "tilesweep.list/1");
        benchmarks = ts_json_add_array(document, "benchmarks");
    }
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = show(names[i], benchmarks, &text, err);
    if (status == 0 && json)
        ts_json_add_document(&text, document);
    else
        cJSON_Delete(document);
    if (status == 0 && text.text)
        fputs(text.text, stdout);
    ts_text_free(&text);
    return status;
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct list_options o = {0};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status)
        return status == 1 ? TS_EXIT_OK : -1;
    if (args.count)
        return show_all(args.items, args.count, o.json, err);
    size_t count = 0;
    char **names = ts_spec_builtins(&count, err);
    if (!names)
        return -1;
    status = show_all(names, count, o.json, err);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

const struct ts_command ts_command_list = {
    .name = "list",
    .summary = "built-in benchmarks or the given ones: cases, variants, configurations",
    .run = run,
};
