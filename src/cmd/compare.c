/* compare.c: `tilesweep compare`: did anything get slower? */
#include "../compare.h"
#include "../file.h"
#include "cmd.h"
#include "compare_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int take_threshold(void *target, const char *value, struct ts_err *err)
{
    return ts_share_parse(value, 10.0, &((struct ts_judging_options *)target)->compare.threshold,
                          err);
}

static int take_fdr(void *target, const char *value, struct ts_err *err)
{
    return ts_share_parse(value, 0.5, &((struct ts_judging_options *)target)->compare.fdr, err);
}

static int take_power(void *target, const char *value, struct ts_err *err)
{
    return ts_share_parse(value, 10.0,
                          &((struct ts_judging_options *)target)->compare.require_power, err);
}

static int take_fail_on(void *target, const char *value, struct ts_err *err)
{
    return ts_fail_on_parse(value, &((struct ts_judging_options *)target)->compare.fail_on, err);
}

static int take_gate(void *target, const char *value, struct ts_err *err)
{
    struct ts_judging_options *o = target;
    for (size_t i = 0; i < TS_COUNT(ts_gate_names); i++)
        if (strcmp(ts_gate_names[i], value) == 0) {
            o->compare.gate = (enum ts_gate)i;
            return 0;
        }
    return ts_err_set(err, TS_EXIT_USAGE, "expected best, deployed or all, got \"%s\"", value);
}

/* ---- formats ---- */

static void print_json(const struct ts_compare *compare, bool all, bool colour,
                       struct ts_text *text)
{
    (void)all;
    (void)colour;
    ts_json_add_document(text, ts_compare_json(compare));
}

static void print_markdown(const struct ts_compare *compare, bool all, bool colour,
                           struct ts_text *text)
{
    (void)colour;
    ts_compare_markdown(compare, all, text);
}

static void print_junit(const struct ts_compare *compare, bool all, bool colour,
                        struct ts_text *text)
{
    (void)all;
    (void)colour;
    ts_compare_junit(compare, text);
}

static void print_github(const struct ts_compare *compare, bool all, bool colour,
                         struct ts_text *text)
{
    (void)colour;
    ts_compare_github(compare, all, text);
}

static void print_history_json(const struct ts_history *history, struct ts_text *text)
{
    ts_json_add_document(text, ts_history_json(history));
}

static const struct ts_compare_format {
    const char *name;
    void (*print)(const struct ts_compare *compare, bool all, bool colour, struct ts_text *text);
    void (*print_history)(const struct ts_history *history, struct ts_text *text); /* or NULL */
} formats[] = {
    {"text", ts_compare_text, ts_history_text},
    {"json", print_json, print_history_json},
    {"markdown", print_markdown, NULL},
    {"junit", print_junit, NULL},
    {"github", print_github, NULL},
};

static const struct ts_compare_format *format_of(const struct ts_judging_options *o)
{
    return o->format ? o->format : &formats[0];
}

void ts_compare_print(const struct ts_compare *compare, const struct ts_judging_options *o,
                      FILE *to)
{
    struct ts_text text = {0};
    const char *none = getenv("NO_COLOR"); /* no-color.org: empty is as if it were not there */
    bool colour = isatty(fileno(to)) && !(none && none[0]);
    format_of(o)->print(compare, o->verbose > 0, colour, &text);
    fputs(text.text, to);
    ts_text_free(&text);
}

static int take_format(void *target, const char *value, struct ts_err *err)
{
    struct ts_judging_options *o = target;
    for (size_t i = 0; i < TS_COUNT(formats); i++)
        if (strcmp(formats[i].name, value) == 0) {
            o->format = &formats[i];
            return 0;
        }
    return ts_err_set(err, TS_EXIT_USAGE,
                      "expected text, json, markdown, junit or github, got \"%s\"", value);
}

#define AT(member) offsetof(struct ts_judging_options, member)
static const struct ts_option judging[] = {
    {"gate", 0, "GATE", TS_OPTION_CALL, .call = take_gate,
     .help = "whose findings decide the exit status: best (default: of every case the best "
             "configuration of either side and the baseline), deployed, all; the others are told"},
    {"deployed", 0, "FILE", TS_OPTION_TEXT, AT(compare.deployed),
     .help = "with --gate deployed: a tuned or results file that names the configurations"},
    {"fail-on", 0, "WORD[,WORD]...", TS_OPTION_CALL, .call = take_fail_on,
     .help = "what is a finding: slower, failed, vanished, inconclusive (default "
             "slower,failed,vanished)"},
    {"threshold", 0, "P", TS_OPTION_CALL, .call = take_threshold,
     .help = "smallest change that counts (default 5%)"},
    {"fdr", 0, "P", TS_OPTION_CALL, .call = take_fdr,
     .help = "share of false ones admitted among the changes that are told (default 5%)"},
    {"require-power", 0, "P", TS_OPTION_CALL, .call = take_power,
     .help = "exit 1 unless a slow-down of P in any configuration of the gate would have been "
             "shown in 9 of 10 comparisons: a blind night is no good night"},
    {"waivers", 0, "FILE", TS_OPTION_TEXT, AT(compare.waivers),
     .help = "accepted findings: exact row, ceiling, reason, last day"},
    {"format", 0, "FORMAT", TS_OPTION_CALL, .call = take_format,
     .help = "text (default), json (tilesweep.compare/1), markdown (for a comment in CI), junit "
             "(XML for Jenkins and GitLab), github (annotations of a step of GitHub Actions)"},
};

const struct ts_option_table ts_judging_table = {judging, TS_COUNT(judging)};

static const struct ts_option others[] = {
    {"across-devices", 0, NULL, TS_OPTION_FLAG, AT(compare.across_devices),
     .help = "compare one device with another"},
    {"history", 0, NULL, TS_OPTION_FLAG, AT(history),
     .help = "all files are dated runs: find the run from which on a configuration was slower for "
             "good, by a step or by slow creep; needs six runs of a device"},
    {"verbose", 'v', NULL, TS_OPTION_COUNT, AT(verbose),
     .help = "every row and case, not the worst 20"},
};
static const struct ts_option_table others_table = {others, TS_COUNT(others)};

static const struct ts_cli cli = {
    .command = "compare",
    .usage =
        "[OPTION]... BASE... -- NEW...   (or BASE NEW, a file of 'ab', or --history RESULTS...)",
    .about =
        "Did anything get slower? Pairs the configurations of two sides of results files and "
        "judges each by effect and evidence. Several runs on a side put the noise between runs "
        "into the intervals.\n\n"
        "Exit status: 0 nothing worse; 1 a finding of the gate, or blind by --require-power; 2 "
        "wrong usage, a bad file, or nothing in common.",
    .options = judging,
    .option_count = TS_COUNT(judging),
    .parts = {{&others_table, 0}},
    .min_args = 1,
    .max_args = SIZE_MAX,
    .arg_name = "results file",
};

/* BASE... -- NEW..., two files, or one of `ab`. */
static int split_sides(struct ts_compare_options *o, const struct ts_cli_args *args,
                       struct ts_err *err)
{
    size_t base = args->split < args->count ? args->split : 1;
    if (args->split == args->count && args->count > 2)
        return ts_err_set(
            err, TS_EXIT_USAGE,
            "compare: expected BASE NEW, or BASE... -- NEW..., got %zu files and no --",
            args->count);
    if (base == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "compare: expected a results file before --");
    for (size_t i = base; i < args->count; i++)
        if (!strncmp(args->items[i], "--", 2) && !ts_file_exists(args->items[i]))
            return ts_err_set(err, TS_EXIT_USAGE,
                              "compare: %s comes after --, where only results files of NEW are: "
                              "options go before it",
                              args->items[i]);
    o->files[0] = args->items;
    o->file_count[0] = base;
    o->files[1] = args->items + base;
    o->file_count[1] = args->count - base;
    return 0;
}

int ts_judging_check(const struct ts_compare_options *o, struct ts_err *err)
{
    if (o->gate == TS_GATE_DEPLOYED && !o->deployed)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "--gate deployed needs --deployed FILE, which names the "
                          "deployed configurations");
    if (o->gate != TS_GATE_DEPLOYED && o->deployed)
        return ts_err_set(err, TS_EXIT_USAGE, "--deployed needs --gate deployed");
    return 0;
}

static int print_history(struct ts_judging_options *o, const struct ts_cli_args *args,
                         struct ts_err *err)
{
    struct ts_text text = {0};
    if (!format_of(o)->print_history || o->compare.waivers)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "compare: --history goes with --format text or json, and without "
                          "--waivers");
    o->compare.files[0] = args->items;
    o->compare.file_count[0] = args->count;
    struct ts_history *history = ts_history_open(&o->compare, err);
    if (!history)
        return -1;
    format_of(o)->print_history(history, &text);
    fputs(text.text, stdout);
    ts_text_free(&text);
    int status = ts_history_exit_status(history);
    ts_history_free(history);
    return status;
}

static int print_comparison(struct ts_judging_options *o, const struct ts_cli_args *args,
                            struct ts_err *err)
{
    if (split_sides(&o->compare, args, err) != 0)
        return -1;
    struct ts_compare *compare = ts_compare_open(&o->compare, err);
    if (!compare)
        return -1;
    ts_compare_print(compare, o, stdout);
    int status = ts_compare_exit_status(compare);
    ts_compare_free(compare);
    return status;
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct ts_judging_options o = {.compare = TS_COMPARE_DEFAULTS};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status)
        return status == 1 ? TS_EXIT_OK : -1;
    if (ts_judging_check(&o.compare, err) != 0)
        return -1;
    return o.history ? print_history(&o, &args, err) : print_comparison(&o, &args, err);
}

const struct ts_command ts_command_compare = {
    .name = "compare",
    .summary = "did anything get slower? a regression gate on two sides of results",
    .run = run,
};
