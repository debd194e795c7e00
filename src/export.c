/* export.c: what is exported, in which form, and where to. */
#include "export_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "progress.h"

/* ---- forms ---- */

struct ts_export_format {
    const char *name, *help;
    int (*write)(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err);
    bool one_space; /* holds one variant of one case of one run */
};

static const struct ts_export_format formats[] = {
    {"csv", "a table, one line a configuration", ts_export_csv, false},
    {"google-benchmark", "its JSON: compare.py reads it", ts_export_google_benchmark, false},
    {"action", "customSmallerIsBetter of github-action-benchmark", ts_export_action, false},
    {"kernel-tuner", "a cache file of Kernel Tuner", ts_export_kernel_tuner, true},
    {"t4", "results of the autotuning community's T4 schema", ts_export_t4, true},
};

const struct ts_export_format *ts_export_format_find(const char *name)
{
    for (size_t i = 0; i < TS_COUNT(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

char *ts_export_format_words(bool names_only)
{
    struct ts_text words = {0};
    for (size_t i = 0; i < TS_COUNT(formats); i++) {
        ts_text_printf(&words, "%s%s", i ? ", " : "", formats[i].name);
        if (!names_only)
            ts_text_printf(&words, " (%s)", formats[i].help);
    }
    return words.text;
}

bool ts_export_is_timed(const struct ts_row *row)
{
    return row->status == TS_OK && row->time.visit_count > 0;
}

bool ts_export_is_tried(const struct ts_row *row)
{
    return row->status == TS_OK ? ts_export_is_timed(row)
                                : row->status != TS_SKIPPED || strcmp(row->reason.code, "budget");
}

void ts_export_add_date(cJSON *object, const char *key, const char *utc)
{
    size_t length = strlen(utc);
    bool zulu = length > 0 && utc[length - 1] == 'Z';
    char *text = ts_printf("%.*s%s", (int)(length - zulu), utc, zulu ? "+00:00" : "");
    ts_json_add_string(object, key, text);
    free(text);
}

/* ---- what is chosen ---- */

struct work {
    const struct ts_export_options *o;
    struct ts_results results;
    struct ts_export_row *rows;
    size_t row_count, row_capacity, space_count;
};

static bool admits_run(const struct ts_export_options *o, const struct ts_run *run)
{
    if (o->run && strcmp(run->id, o->run) != 0)
        return false;
    return !o->device || ts_device_is_named(&run->device, o->device);
}

static bool axis_has(const struct ts_axis *axis, const struct ts_value *value)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->words ? value->word && strcmp(axis->texts[i], value->word) == 0
                        : !value->word && axis->numbers[i] == value->number)
            return true;
    return false;
}

/* As with `run -s`: a row that lacks the name is not restricted by it. */
static bool admits_values(const struct ts_selection *s, const struct ts_values *values)
{
    for (size_t i = 0; i < s->set_count; i++) {
        const struct ts_value *value = ts_values_find(values, s->sets[i].name);
        if (value && !axis_has(&s->sets[i], value))
            return false;
    }
    return true;
}

static bool admits_size(const struct ts_selection *s, const struct ts_values *size)
{
    for (size_t i = 0; i < s->size_count; i++)
        if (ts_values_equal(&s->sizes[i], size))
            return true;
    return s->size_count == 0;
}

static bool admits_variant(const struct ts_selection *s, const char *variant)
{
    for (size_t i = 0; i < s->variant_count; i++)
        if (strcmp(s->variants[i], variant) == 0)
            return true;
    return s->variant_count == 0;
}

static bool admits_row(const struct ts_export_options *o, const struct ts_row *row)
{
    return (!o->benchmark || strcmp(row->benchmark, o->benchmark) == 0) &&
           admits_size(&o->selection, &row->size) && admits_variant(&o->selection, row->variant) &&
           admits_values(&o->selection, &row->problem) &&
           admits_values(&o->selection, &row->params);
}

static bool same_space(const struct ts_export_row *a, const struct ts_export_row *b)
{
    return a->run == b->run && strcmp(a->row->variant, b->row->variant) == 0 &&
           ts_row_same_case(a->row, b->row);
}

/* A row of each space stands in firsts. */
static void keep(struct work *w, const struct ts_run *run, const struct ts_row *row, size_t *firsts)
{
    TS_GROW(w->rows, w->row_count, w->row_capacity);
    struct ts_export_row *item = &w->rows[w->row_count];
    *item = (struct ts_export_row){run, row, w->space_count};
    for (size_t s = w->space_count; s-- > 0;) /* a space's rows mostly stand together */
        if (same_space(&w->rows[firsts[s]], item)) {
            item->space = s;
            break;
        }
    if (item->space == w->space_count)
        firsts[w->space_count++] = w->row_count;
    w->row_count++;
}

static size_t count_rows(const struct ts_results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->run_count; i++)
        count += results->runs[i].row_count;
    return count;
}

static void choose(struct work *w)
{
    size_t *firsts = ts_alloc(count_rows(&w->results) + 1, sizeof(*firsts));
    for (size_t r = 0; r < w->results.run_count; r++) {
        const struct ts_run *run = &w->results.runs[r];
        if (!admits_run(w->o, run))
            continue;
        for (size_t i = 0; i < run->row_count; i++)
            if (admits_row(w->o, &run->rows[i]))
                keep(w, run, &run->rows[i], firsts);
    }
    free(firsts);
}

/* A name that no row has is a slip of the pen, which would restrict nothing, or too much. */
static int check_names(const struct work *w, struct ts_err *err)
{
    const struct ts_selection *s = &w->o->selection;
    for (size_t n = 0; n < s->set_count + s->variant_count; n++) {
        bool axis = n < s->set_count, known = false;
        const char *name = axis ? s->sets[n].name : s->variants[n - s->set_count];
        for (size_t r = 0; r < w->results.run_count && !known; r++)
            for (size_t i = 0; i < w->results.runs[r].row_count && !known; i++) {
                const struct ts_row *row = &w->results.runs[r].rows[i];
                known =
                    axis ? ts_values_find(&row->problem, name) || ts_values_find(&row->params, name)
                         : strcmp(row->variant, name) == 0;
            }
        if (!known)
            return ts_err_set(err, TS_EXIT_USAGE, "export: %s %s: no row has it",
                              axis ? "-s" : "--variant", name);
    }
    return 0;
}

static int choose_rows(struct work *w, struct ts_err *err)
{
    if (check_names(w, err) != 0)
        return -1;
    choose(w);
    if (w->row_count > 0)
        return 0;
    return ts_err_set(err, TS_EXIT_USAGE, "export: %s%s: no row is chosen of the %zu there",
                      w->o->files[0], w->o->file_count > 1 ? " and the others" : "",
                      count_rows(&w->results));
}

/* ---- words for a space ---- */

static void add_options(const struct ts_values *values, const char *option, struct ts_text *out)
{
    for (size_t i = 0; i < values->count; i++) {
        ts_text_printf(out, " %s %s=", option, values->items[i].name);
        ts_value_print(&values->items[i], out);
    }
}

/* The options that choose it. */
static void add_space_options(const struct work *w, const struct ts_export_row *row,
                              struct ts_text *out)
{
    if (w->results.run_count > 1)
        ts_text_printf(out, " --run %s", row->run->id);
    const char *side = ts_run_side_words(row->run);
    if (side) /* both have the run's id */
        ts_text_printf(out, " -d \"%s\"", side);
    ts_text_printf(out, " --benchmark %s", row->row->benchmark);
    add_options(&row->row->problem, "-s", out);
    if (row->row->size.count > 0) {
        ts_text_puts(out, " --size ");
        ts_values_print(&row->row->size, NULL, ",", out);
    }
    ts_text_printf(out, " --variant %s", row->row->variant);
}

static const struct ts_export_row *first_of(const struct work *w, size_t space)
{
    size_t i = 0;
    while (w->rows[i].space != space)
        i++;
    return &w->rows[i];
}

/* ---- where to ---- */

enum { SPACES_NAMED = 5 };

static int refuse_several(const struct work *w, struct ts_err *err)
{
    struct ts_text named = {0};
    for (size_t s = 0; s < w->space_count && s < SPACES_NAMED; s++) {
        ts_text_puts(&named, "\n ");
        add_space_options(w, first_of(w, s), &named);
    }
    if (w->space_count > SPACES_NAMED)
        ts_text_printf(&named, "\n  and %zu more", w->space_count - SPACES_NAMED);
    ts_err_set(err, TS_EXIT_USAGE,
               "export: %s holds one search space, that of one variant in one case of one run; "
               "chosen are %zu: give a folder (-o FOLDER/: a file each), or choose one:%s",
               w->o->format->name, w->space_count, named.text);
    ts_text_free(&named);
    return -1;
}

static bool is_folder(const char *path)
{
    struct stat about;
    size_t length = strlen(path);
    if (length > 0 && path[length - 1] == '/')
        return true;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int write_rows(const struct work *w, const struct ts_export_row *rows, size_t count,
                      const char *path, struct ts_err *err)
{
    struct ts_export_rows chosen = {rows, count, false};
    struct ts_text text = {0};
    for (size_t i = 1; i < count && !chosen.several_devices; i++)
        chosen.several_devices = strcmp(rows[i].run->device.name, rows[0].run->device.name) != 0;
    int result = ts_file_check_output(path, w->o->files, w->o->file_count, err);
    if (result == 0)
        result = w->o->format->write(&chosen, &text, err);
    if (result == 0)
        result = ts_file_put(path, text.text, text.length, err);
    ts_text_free(&text);
    return result;
}

static bool is_taken(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* "FOLDER/laplacian-naive-POINTS-5-W-4096-H-4096.json": where a space before it has this name, a
 * number stands behind it. */
static char *path_in(const char *folder, const struct work *w, size_t space, char **names)
{
    const struct ts_row *row = first_of(w, space)->row;
    struct ts_text words = {0};
    ts_text_printf(&words, "%s-%s-", row->benchmark, row->variant);
    ts_values_print(&row->problem, NULL, "-", &words);
    ts_text_puts(&words, "-");
    ts_values_print(&row->size, NULL, "-", &words);
    char *slug = ts_path_slug(words.text);
    names[space] = ts_printf("%s.json", slug);
    for (size_t number = space + 1; is_taken(names, space, names[space]); number++) {
        free(names[space]);
        names[space] = ts_printf("%s-%zu.json", slug, number);
    }
    ts_text_free(&words);
    free(slug);
    return ts_path_join(folder, names[space]);
}

static int write_space(const struct work *w, size_t space, const char *path, struct ts_err *err)
{
    struct ts_export_row *rows = ts_alloc(w->row_count, sizeof(*rows));
    size_t count = 0;
    for (size_t i = 0; i < w->row_count; i++)
        if (w->rows[i].space == space)
            rows[count++] = w->rows[i];
    int result = write_rows(w, rows, count, path, err);
    free(rows);
    return result;
}

/* A search space is of what was tried: what was not is told, a space without any left out. */
static int tell_untried(const struct work *w, struct ts_err *err)
{
    size_t untried = 0;
    for (size_t i = 0; i < w->row_count; i++)
        untried += !ts_export_is_tried(w->rows[i].row);
    if (untried == w->row_count)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "export: %s holds what was tried, and none of the %zu configurations was",
                          w->o->format->name, w->row_count);
    if (untried > 0)
        ts_say("note: %zu of %zu configurations are left out: they were not measured", untried,
               w->row_count);
    return 0;
}

static bool is_tried(const struct work *w, size_t space)
{
    for (size_t i = 0; i < w->row_count; i++)
        if (w->rows[i].space == space && ts_export_is_tried(w->rows[i].row))
            return true;
    return false;
}

static int write_folder(const struct work *w, const char *folder, struct ts_err *err)
{
    char **names = ts_alloc(w->space_count, sizeof(*names));
    int result = ts_dir_make(folder, err);
    for (size_t s = 0; s < w->space_count && result == 0; s++) {
        char *path = path_in(folder, w, s, names);
        if (is_tried(w, s))
            result = write_space(w, s, path, err);
        free(path);
    }
    for (size_t s = 0; s < w->space_count; s++)
        free(names[s]);
    free(names);
    return result;
}

static int write_all(const struct work *w, struct ts_err *err)
{
    const struct ts_export_format *format = w->o->format;
    bool folder = is_folder(w->o->output);
    if (folder && !format->one_space)
        return ts_err_set(err, TS_EXIT_USAGE, "export: %s is a folder; %s is one file",
                          w->o->output, format->name);
    if (format->one_space && !folder && w->space_count > 1)
        return refuse_several(w, err);
    if (format->one_space && tell_untried(w, err) != 0)
        return -1;
    if (folder)
        return write_folder(w, w->o->output, err);
    return write_rows(w, w->rows, w->row_count, w->o->output, err);
}

/* ---- the whole ---- */

int ts_export(const struct ts_export_options *options, struct ts_err *err)
{
    struct work w = {.o = options};
    int result = 0;
    for (size_t i = 0; i < options->file_count && result == 0; i++)
        result = ts_results_load(&w.results, options->files[i], err);
    if (result == 0)
        result = ts_results_split(&w.results, err); /* the two sides of `ab` are not one device */
    if (result == 0)
        result = choose_rows(&w, err);
    if (result == 0)
        result = write_all(&w, err);
    free(w.rows);
    ts_results_free(&w.results);
    return result;
}
