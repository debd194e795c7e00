/* compare_ci.c: a comparison for CI services: JUnit's XML (Jenkins, GitLab), and the workflow
 * commands of GitHub. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "table.h"

/* "words; what they count for" of a row. */
static void add_words(const struct ts_compare *compare, const struct ts_compare_row *row,
                      struct ts_text *out)
{
    struct ts_text counts = {0};
    ts_compare_row_words(compare, row, out);
    ts_compare_row_counts(compare, row, &counts);
    if (counts.length > 0)
        ts_text_printf(out, "; %s", counts.text);
    ts_text_free(&counts);
}

/* ---- JUnit ----
 *
 * A suite is a device and benchmark, a test case a configuration. What fails is what makes the exit
 * status 1, and nothing else; what is bad and does not count (waived, not in the gate), or says
 * neither yes nor no (inconclusive, not measured, failing on both sides), is skipped. Jenkins takes
 * the class name apart at its last dot. */

enum junit_mark { PASSED, FAILED, SKIPPED };

static enum junit_mark mark_of(const struct ts_compare_row *row)
{
    if (row->fails)
        return FAILED;
    switch (row->outcome) {
    case TS_OUT_INCONCLUSIVE:
    case TS_OUT_NOT_MEASURED:
    case TS_OUT_STILL_FAILING:
    case TS_OUT_SKIPPED:
        return SKIPPED;
    default:
        return ts_outcome_kinds[row->outcome].bad ? SKIPPED : PASSED;
    }
}

static bool same_suite(const struct ts_compare_row *a, const struct ts_compare_row *b)
{
    return a->device == b->device && strcmp(a->names->benchmark, b->names->benchmark) == 0;
}

static void add_attribute(struct ts_text *out, const char *name, const char *value)
{
    char *line = ts_text_printable(value); /* a newline in an attribute would be read as a space */
    ts_text_printf(out, " %s=\"", name);
    ts_text_add_markup(out, line);
    ts_text_puts(out, "\"");
    free(line);
}

/* <failure type="slower" message="..."/> */
static void add_mark(const char *element, const char *type, const char *message,
                     struct ts_text *out)
{
    ts_text_printf(out, "<%s", element);
    if (type)
        add_attribute(out, "type", type);
    add_attribute(out, "message", message);
    ts_text_puts(out, "/>");
}

static void add_class(const struct ts_compare *compare, const struct ts_compare_row *row,
                      struct ts_text *out)
{
    struct ts_text name = {0};
    ts_compare_case_name(compare, &compare->cases[row->in_case], &name);
    char *blank = strchr(name.text, ' ');
    if (blank)
        *blank = '.';
    add_attribute(out, "classname", name.text);
    ts_text_free(&name);
}

static void add_test(const struct ts_compare *compare, const struct ts_compare_row *row,
                     struct ts_text *out)
{
    struct ts_text name = {0}, words = {0};
    enum junit_mark mark = mark_of(row);
    const struct ts_compare_half *fresh = row->side[TS_NEW];
    double ns = fresh ? ts_compare_time_ns(fresh) : NAN;
    ts_text_puts(out, "    <testcase");
    add_class(compare, row, out);
    ts_text_puts(&name, row->names->variant);
    ts_text_puts(&name, row->names->params.count > 0 ? " " : "");
    ts_values_print(&row->names->params, NULL, " ", &name);
    add_attribute(out, "name", name.text);
    int64_t whole_ns = isfinite(ns) ? (int64_t)llround(ns) : 0;
    ts_text_printf(out, " time=\"%lld.%09lld\">", (long long)(whole_ns / 1000000000),
                   (long long)(whole_ns % 1000000000));
    ts_text_printf(&words, "%s: ", ts_outcome_kinds[row->outcome].name);
    add_words(compare, row, &words);
    if (mark == PASSED) {
        ts_text_puts(out, "<system-out>");
        ts_text_add_markup(out, words.text);
        ts_text_puts(out, "</system-out>");
    } else {
        add_mark(mark == FAILED ? "failure" : "skipped",
                 mark == FAILED ? ts_outcome_kinds[row->outcome].name : NULL, words.text, out);
    }
    ts_text_puts(out, "</testcase>\n");
    ts_text_free(&name);
    ts_text_free(&words);
}

/* tests="3" failures="1" errors="0" skipped="0" */
static void add_counts(size_t tests, size_t failures, size_t skipped, struct ts_text *out)
{
    ts_text_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", tests,
                   failures, skipped);
}

/* What was compared, the differences, the control: the head of the text. */
static void add_system_out(const struct ts_compare *compare, struct ts_text *out)
{
    struct ts_text head = {0};
    ts_compare_head(compare, &head);
    ts_compare_end_words(compare, &head);
    ts_text_puts(out, "    <system-out>");
    ts_text_add_markup(out, head.text);
    ts_text_puts(out, "</system-out>\n  </testsuite>\n");
    ts_text_free(&head);
}

/* The suite of the rows that are like rows[first]. */
static void add_suite(const struct ts_compare *compare, size_t first, struct ts_text *out)
{
    const struct ts_compare_row *like = &compare->rows[first];
    const struct ts_compare_device *device = &compare->devices[like->device];
    const struct ts_run *run =
        device->example[TS_NEW] ? device->example[TS_NEW] : device->example[TS_BASE];
    struct ts_text started = {0};
    size_t marks[SKIPPED + 1] = {0};
    for (size_t i = first; i < compare->row_count; i++)
        if (same_suite(&compare->rows[i], like))
            marks[mark_of(&compare->rows[i])]++;
    char *name = ts_printf("%s: %s", run->device.name, like->names->benchmark);
    ts_text_puts(out, "  <testsuite");
    add_attribute(out, "name", name);
    ts_text_puts(&started, run->started);
    if (started.length > 19) /* the published form has no time zone */
        started.text[19] = '\0';
    add_attribute(out, "timestamp", started.text);
    add_counts(marks[PASSED] + marks[FAILED] + marks[SKIPPED], marks[FAILED], marks[SKIPPED], out);
    ts_text_puts(out, ">\n");
    for (size_t i = first; i < compare->row_count; i++)
        if (same_suite(&compare->rows[i], like))
            add_test(compare, &compare->rows[i], out);
    add_system_out(compare, out);
    ts_text_free(&started);
    free(name);
}

/* What --require-power asks for is a test of its own. */
static void add_power(const struct ts_compare *compare, struct ts_text *out)
{
    struct ts_text words = {0};
    ts_compare_power_words(compare, &words);
    ts_text_puts(out, "  <testsuite name=\"power\"");
    add_counts(1, compare->blind, 0, out);
    ts_text_puts(out, ">\n    <testcase classname=\"power\" name=\"require-power\" time=\"0\">");
    if (compare->blind)
        add_mark("failure", "blind", words.text, out);
    ts_text_puts(out, "</testcase>\n");
    add_system_out(compare, out);
    ts_text_free(&words);
}

static bool is_first_of_suite(const struct ts_compare *compare, size_t index)
{
    for (size_t i = index; i-- > 0;) /* a suite's rows mostly stand together */
        if (same_suite(&compare->rows[i], &compare->rows[index]))
            return false;
    return true;
}

void ts_compare_junit(const struct ts_compare *compare, struct ts_text *out)
{
    bool power = compare->options.require_power > 0.0;
    size_t failed = 0, skipped = 0;
    for (size_t i = 0; i < compare->row_count; i++) {
        failed += mark_of(&compare->rows[i]) == FAILED;
        skipped += mark_of(&compare->rows[i]) == SKIPPED;
    }
    ts_text_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuites name=\"tilesweep compare\"");
    add_counts(compare->row_count + power, failed + compare->blind, skipped, out);
    ts_text_puts(out, ">\n");
    for (size_t i = 0; i < compare->row_count; i++)
        if (is_first_of_suite(compare, i))
            add_suite(compare, i, out);
    if (power)
        add_power(compare, out);
    ts_text_puts(out, "</testsuites>\n");
}

/* ---- GitHub ---- */

/* Of a step GitHub shows ten annotations of each kind, and drops the others without a word. */
enum { SHOWN_OF_A_KIND = 10 };

enum github_kind { ERROR, WARNING, NOTICE, GITHUB_KINDS };

/* What the runner takes a command apart by: percent and line ends, in properties also : and , */
static void add_encoded(struct ts_text *out, const char *text, bool property)
{
    for (; *text; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ':' || *text == ',')))
            ts_text_printf(out, "%%%02X", (unsigned)*text);
        else
            ts_text_add(out, text, 1);
    }
}

static void add_command(enum github_kind kind, const char *title, const char *message,
                        struct ts_text *out)
{
    static const char *const names[GITHUB_KINDS] = {"error", "warning", "notice"};
    char *line = ts_text_printable(title), *lines = ts_text_printable_lines(message);
    ts_text_printf(out, "::%s title=", names[kind]);
    add_encoded(out, line, true);
    ts_text_puts(out, "::");
    add_encoded(out, lines, false);
    ts_text_puts(out, "\n");
    free(line);
    free(lines);
}

static void add_annotation(const struct ts_compare *compare, const struct ts_compare_row *row,
                           enum github_kind kind, struct ts_text *out)
{
    struct ts_text title = {0}, words = {0};
    ts_text_printf(&title, "%s: ", ts_outcome_kinds[row->outcome].name);
    ts_compare_row_name(compare, row, &title);
    add_words(compare, row, &words);
    add_command(kind, title.text, words.text, out);
    ts_text_free(&title);
    ts_text_free(&words);
}

static enum github_kind kind_of(const struct ts_compare_row *row)
{
    const struct ts_outcome_kind *kind = &ts_outcome_kinds[row->outcome];
    if (row->fails)
        return ERROR;
    return kind->bad || row->outcome == TS_OUT_INCONCLUSIVE ? WARNING : NOTICE;
}

static void add_summary(const struct ts_compare *compare, size_t left, struct ts_text *out)
{
    struct ts_text title = {0}, words = {0};
    ts_text_puts(&title, "tilesweep: ");
    ts_compare_end_words(compare, &title);
    ts_compare_counts_words(compare, &words);
    ts_text_puts(&words, "\nPower: ");
    ts_compare_power_words(compare, &words);
    ts_text_puts(&words, "\n");
    if (left > 0)
        ts_text_printf(&words, "%zu more are not shown here: compare -v\n", left);
    ts_compare_head(compare, &words);
    for (size_t i = 0; i < compare->waiver_count; i++)
        if (ts_compare_waiver_words(&compare->waivers[i], &words))
            ts_text_puts(&words, "\n");
    if (words.text[words.length - 1] == '\n')
        words.text[--words.length] = '\0';
    add_command(NOTICE, title.text, words.text, out);
    ts_text_free(&title);
    ts_text_free(&words);
}

void ts_compare_github(const struct ts_compare *compare, bool all, struct ts_text *out)
{
    /* The summary is one of the notices, and a blind night one of the errors. */
    size_t room[GITHUB_KINDS] = {SHOWN_OF_A_KIND - compare->blind, SHOWN_OF_A_KIND,
                                 SHOWN_OF_A_KIND - 1};
    size_t count, left = 0, *order = ts_compare_order(compare, all, &count);
    struct ts_text words = {0};
    for (size_t i = 0; i < count; i++) {
        const struct ts_compare_row *row = &compare->rows[order[i]];
        enum github_kind kind = kind_of(row);
        if (!all && room[kind] == 0) {
            left++;
            continue;
        }
        room[kind] -= room[kind] > 0;
        add_annotation(compare, row, kind, out);
    }
    if (compare->blind) {
        ts_compare_power_words(compare, &words);
        add_command(ERROR, "blind", words.text, out);
    }
    add_summary(compare, left, out);
    ts_text_free(&words);
    free(order);
}
