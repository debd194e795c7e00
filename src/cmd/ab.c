/* ab.c: `tilesweep ab`: two versions in one run, and what changed from one to the other. */
#include "cmd.h"
#include "compare_options.h"
#include "run_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct ab_options {
    struct ts_run_options run;
    struct ts_judging_options judging;
    struct ts_cli_list env_b;
    const char *options_b, *worker_b;
};

static int take_env(void *target, const char *value, struct ts_err *err)
{
    return ts_cli_list_add_pair(&((struct ab_options *)target)->env_b, value, "VAR=VALUE", err);
}

#define AT(member) offsetof(struct ab_options, member)
static const struct ts_option options[] = {
    {"options-b", 0, "OPTIONS", TS_OPTION_TEXT, AT(options_b),
     .help = "build options of B, after those of its spec: '-cl-fast-relaxed-math'"},
    {"env-b", 0, "VAR=VALUE", TS_OPTION_CALL, .call = take_env,
     .help = "set in the environment of B's workers, which are then processes of their own; "
             "repeatable"},
    {"worker-b", 0, "COMMAND", TS_OPTION_TEXT, AT(worker_b),
     .help = "start B's workers by this command, as --worker does: another driver, a container"},
};

static const struct ts_cli cli = {
    .command = "ab",
    .usage = "[OPTION]... SPEC_A SPEC_B   (or SPEC with --options-b, --env-b, --worker-b)",
    .about =
        "Is B slower than A? Proves every configuration of both sides, then times them in one run: "
        "the visits to both sides of a configuration stand next to each other, in random order, "
        "every round of them in a fresh process. So what comes over the machine meets both, and "
        "the ratio within a pair of visits tells more than two runs can. Configurations are paired "
        "by case, variant and parameters; the names of the benchmarks may differ. Judges and "
        "prints as 'compare' does, which says it again from the results file: 'compare FILE'.\n\n"
        "Exit status: 0 nothing worse; 1 a finding of the gate or a configuration that fails on B "
        "alone, or blind by --require-power; 2 "
        "wrong usage, a bad spec, or nothing in common; 3 no usable device; 4 results cannot be "
        "written; 130, 143 interrupted, with the results so far saved.",
    .options = options,
    .option_count = TS_COUNT(options),
    .parts = {{&ts_run_option_table, AT(run)}, {&ts_judging_table, AT(judging)}},
    .max_args = 2,
};

static int check(const struct ab_options *o, const struct ts_cli_args *args, struct ts_err *err)
{
    bool differs = o->options_b || o->worker_b || o->env_b.count > 0;
    if (ts_judging_check(&o->judging.compare, err) != 0)
        return -1;
    if (o->run.sweep.resume)
        return 0;
    if (args->count == 0)
        return ts_err_set(err, TS_EXIT_USAGE, "ab: expected SPEC_A SPEC_B, or one SPEC");
    if (args->count == 1 && !differs)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "ab: expected SPEC_A SPEC_B, or with one SPEC what B does otherwise: "
                          "--options-b, --env-b or --worker-b");
    return 0;
}

static void finish(struct ab_options *o, const struct ts_cli_args *args)
{
    struct ts_sweep_options *sweep = &o->run.sweep;
    ts_run_options_finish(&o->run, args);
    sweep->ab = true;
    sweep->options_b = o->options_b;
    sweep->b.assigned = o->env_b.items;
    sweep->b.assigned_count = o->env_b.count;
    /* In an environment of its own B is started as A is. */
    sweep->b.command = o->worker_b ? o->worker_b : o->env_b.count > 0 ? sweep->worker : NULL;
    o->judging.verbose = sweep->verbose;
}

/* What was measured, judged. */
static int judge(struct ab_options *o, struct ts_results *results, struct ts_err *err)
{
    const char *output = o->run.sweep.output ? o->run.sweep.output : o->run.sweep.resume;
    struct ts_compare *compare =
        ts_compare_open_ab(&o->judging.compare, results, output ? output : "ab", err);
    if (!compare)
        return -1;
    ts_compare_print(compare, &o->judging, output && strcmp(output, "-") == 0 ? stderr : stdout);
    int status = ts_compare_exit_status(compare);
    ts_compare_free(compare);
    return status;
}

static int measure(struct ab_options *o, const struct ts_cli_args *args, struct ts_err *err)
{
    struct ts_results results = {0};
    if (check(o, args, err) != 0)
        return -1;
    finish(o, args);
    int status = ts_sweep_run(&o->run.sweep, &results, err);
    /* A half is no answer yet; `compare FILE` tells what there is. */
    if (status == TS_EXIT_OK || status == TS_EXIT_FINDING)
        return judge(o, &results, err);
    ts_results_free(&results);
    return status;
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct ab_options o = {.judging = {.compare = TS_COMPARE_DEFAULTS}};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status == 0)
        status = measure(&o, &args, err);
    else if (status == 1)
        status = TS_EXIT_OK; /* --help */
    ts_run_options_free(&o.run);
    ts_cli_list_free(&o.env_b);
    return status;
}

const struct ts_command ts_command_ab = {
    .name = "ab",
    .summary = "two versions timed side by side in one run: did B get slower than A?",
    .run = run,
};
