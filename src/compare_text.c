/* compare_text.c: a comparison for people at terminals, and for comments in CI. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compare_private.h"
#include "table.h"

enum { ROWS_SHOWN = 20, WIDTH = 100 };

/* ---- text ---- */

/* "label    sentence", wrapped under the sentence. */
static void add_line(struct ts_text *out, const char *label, struct ts_text *sentence)
{
    char *clean = ts_text_printable(sentence->text ? sentence->text : "");
    ts_text_printf(out, "%-10s", label);
    ts_wrap(out, clean, 10, 10, WIDTH);
    ts_text_puts(out, "\n");
    free(clean);
    ts_text_free(sentence);
    *sentence = (struct ts_text){0};
}

static void add_differences(const struct ts_compare *compare, struct ts_text *out)
{
    for (size_t i = 0; i < compare->difference_count; i++) {
        const struct ts_difference *d = &compare->differences[i];
        struct ts_text words = {0};
        ts_text_printf(&words, "%s: %s%s%s", d->what, d->base, d->base[0] ? " -> " : "", d->fresh);
        add_line(out, "differs", &words);
    }
}

void ts_compare_head(const struct ts_compare *compare, struct ts_text *out)
{
    struct ts_text words = {0};
    for (size_t d = 0; d < compare->device_count; d++) {
        ts_compare_sides_words(compare, d, &words);
        add_line(out, "compared", &words);
    }
    add_differences(compare, out);
    for (size_t d = 0; d < compare->device_count; d++) {
        if (compare->devices[d].group.count == 0)
            continue;
        ts_compare_control_words(compare, d, &words);
        add_line(out, "control", &words);
    }
}

static const char *colour_of(const struct ts_compare_row *row, bool colour)
{
    const struct ts_outcome_kind *kind = &ts_outcome_kinds[row->outcome];
    if (!colour)
        return "";
    return row->fails   ? "\033[1;31m"
           : kind->bad  ? "\033[31m"
           : kind->good ? "\033[32m"
                        : "\033[33m";
}

/* One line a row, however long: what, which, by how much, why it counts. */
static void add_row(const struct ts_compare *compare, const struct ts_compare_row *row, bool colour,
                    struct ts_text *out)
{
    struct ts_text words = {0};
    ts_compare_row_name(compare, row, &words);
    ts_text_puts(&words, ": ");
    ts_compare_row_words(compare, row, &words);
    size_t length = words.length;
    ts_text_puts(&words, "; ");
    ts_compare_row_counts(compare, row, &words);
    if (words.length == length + 2)
        words.text[length] = '\0';
    char *clean = ts_text_printable(words.text);
    ts_text_printf(out, "%s%s%s  %s\n", colour_of(row, colour), ts_outcome_kinds[row->outcome].name,
                   colour ? "\033[0m" : "", clean);
    free(clean);
    ts_text_free(&words);
}

static void add_rows(const struct ts_compare *compare, bool all, bool colour, struct ts_text *out)
{
    size_t count, *order = ts_compare_order(compare, all, &count);
    size_t shown = all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
    if (count > 0)
        ts_text_puts(out, "\n");
    for (size_t i = 0; i < shown; i++)
        add_row(compare, &compare->rows[order[i]], colour, out);
    if (shown < count)
        ts_text_printf(out, "... and %zu more: -v\n", count - shown);
    free(order);
}

static void add_case_power(const struct ts_compare_case *c, struct ts_text *out)
{
    if (isnan(c->found)) /* nothing of it is in the gate and was timed on both sides */
        return;
    ts_text_puts(out, "; ");
    ts_compare_found_words(c->found, out);
}

/* A case whose answer is as before, or as unknown, is told with -v only. */
static bool is_news(const struct ts_compare_case *c)
{
    return c->outcome == TS_OUT_SLOWER || c->outcome == TS_OUT_FASTER || c->other_best ||
           strstr(c->words, "staging");
}

/* "2 slower, 19 same" */
static void add_case_counts(const struct ts_compare *compare, struct ts_text *out)
{
    const char *joint = "";
    for (size_t kind = 0; kind < TS_OUTCOME_COUNT; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < compare->case_count; i++)
            count += compare->cases[i].outcome == (enum ts_outcome)kind;
        if (count > 0)
            ts_text_printf(out, "%s%zu %s", joint, count, ts_outcome_kinds[kind].name);
        joint = count > 0 ? ", " : joint;
    }
}

static void add_cases(const struct ts_compare *compare, bool all, struct ts_text *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < compare->case_count; i++) {
        const struct ts_compare_case *c = &compare->cases[i];
        struct ts_text words = {0};
        if (!all && (!is_news(c) || shown >= ROWS_SHOWN))
            continue;
        if (shown++ == 0)
            ts_text_puts(out, "\n");
        ts_compare_case_name(compare, c, &words);
        ts_text_printf(&words, ": %s", c->words);
        add_case_power(c, &words);
        add_line(out, "case", &words);
    }
}

static void add_waivers(const struct ts_compare *compare, struct ts_text *out)
{
    for (size_t i = 0; i < compare->waiver_count; i++) {
        struct ts_text words = {0};
        if (!ts_compare_waiver_words(&compare->waivers[i], &words))
            continue;
        char *clean = ts_text_printable(words.text);
        ts_text_printf(out, "%s\n", clean);
        free(clean);
        ts_text_free(&words);
    }
}

void ts_compare_text(const struct ts_compare *compare, bool all, bool colour, struct ts_text *out)
{
    struct ts_text words = {0};
    ts_compare_head(compare, out);
    add_rows(compare, all, colour, out);
    add_cases(compare, all, out);
    ts_text_puts(out, "\n");
    add_case_counts(compare, &words);
    add_line(out, "cases", &words);
    ts_compare_counts_words(compare, &words);
    add_line(out, "rows", &words);
    ts_compare_power_words(compare, &words);
    add_line(out, "power", &words);
    add_waivers(compare, out);
    ts_compare_end_words(compare, &words);
    if (colour)
        ts_text_puts(out, ts_compare_exit_status(compare) ? "\033[1;31m" : "\033[1;32m");
    ts_text_printf(out, "%s%s\n", words.text, colour ? "\033[0m" : "");
    ts_text_free(&words);
}

/* ---- Markdown ---- */

/* Text from outside inside a table: no cell ends, no markup, no HTML begins. */
static void add_escaped(struct ts_text *out, const char *text)
{
    char *clean = ts_text_printable(text);
    for (const char *c = clean; *c; c++) {
        if (strchr("\\`*_{}[]<>|#~@&", *c))
            ts_text_puts(out, "\\");
        ts_text_add(out, c, 1);
    }
    free(clean);
}

static void add_sentence(struct ts_text *out, const char *before, struct ts_text *sentence)
{
    ts_text_puts(out, before);
    add_escaped(out, sentence->text ? sentence->text : "");
    ts_text_puts(out, "\n");
    ts_text_free(sentence);
    *sentence = (struct ts_text){0};
}

static void add_table_row(const struct ts_compare *compare, const struct ts_compare_row *row,
                          struct ts_text *out)
{
    struct ts_text name = {0}, words = {0}, counts = {0};
    ts_compare_row_name(compare, row, &name);
    ts_compare_row_words(compare, row, &words);
    ts_compare_row_counts(compare, row, &counts);
    ts_text_printf(out, "| %s%s%s | ", row->fails ? "**" : "", ts_outcome_kinds[row->outcome].name,
                   row->fails ? "**" : "");
    add_escaped(out, name.text);
    ts_text_puts(out, " | ");
    add_escaped(out, words.text);
    ts_text_puts(out, " | ");
    add_escaped(out, counts.text ? counts.text : "");
    ts_text_puts(out, " |\n");
    ts_text_free(&name);
    ts_text_free(&words);
    ts_text_free(&counts);
}

static void add_table(const struct ts_compare *compare, bool all, struct ts_text *out)
{
    size_t count, *order = ts_compare_order(compare, all, &count);
    size_t shown = all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
    if (count > 0)
        ts_text_printf(out, "\n| | configuration | %s against %s | |\n| --- | --- | --- | --- |\n",
                       ts_compare_side_name(compare, TS_NEW),
                       ts_compare_side_name(compare, TS_BASE));
    for (size_t i = 0; i < shown; i++)
        add_table_row(compare, &compare->rows[order[i]], out);
    if (shown < count)
        ts_text_printf(out, "\n... and %zu more.\n", count - shown);
    free(order);
}

void ts_compare_markdown(const struct ts_compare *compare, bool all, struct ts_text *out)
{
    struct ts_text words = {0};
    ts_compare_end_words(compare, &words);
    add_sentence(out, "### tilesweep: ", &words);
    ts_text_puts(out, "\n");
    for (size_t d = 0; d < compare->device_count; d++) {
        ts_compare_sides_words(compare, d, &words);
        add_sentence(out, "- ", &words);
    }
    ts_compare_counts_words(compare, &words);
    add_sentence(out, "- ", &words);
    ts_compare_power_words(compare, &words);
    add_sentence(out, "- Power: ", &words);
    for (size_t i = 0; i < compare->difference_count; i++) {
        const struct ts_difference *d = &compare->differences[i];
        ts_text_printf(&words, "%s: %s%s%s", d->what, d->base, d->base[0] ? " → " : "", d->fresh);
        add_sentence(out, "- Differs: ", &words);
    }
    for (size_t d = 0; d < compare->device_count; d++) {
        if (compare->devices[d].group.count == 0)
            continue;
        ts_compare_control_words(compare, d, &words);
        add_sentence(out, "- Control: ", &words);
    }
    for (size_t i = 0; i < compare->waiver_count; i++)
        if (ts_compare_waiver_words(&compare->waivers[i], &words))
            add_sentence(out, "- ", &words);
    add_table(compare, all, out);
    for (size_t i = 0; i < compare->case_count; i++) {
        const struct ts_compare_case *c = &compare->cases[i];
        if (!all && !is_news(c))
            continue;
        ts_compare_case_name(compare, c, &words);
        ts_text_printf(&words, ": %s", c->words);
        add_sentence(out, "\nCase ", &words);
    }
}
