/* check.c: `tilesweep check`: races, barriers, bounds and uninitialised memory, by Oclgrind. */
#include "../check.h"
#include "../choice.h"
#include "cmd.h"
#include "selection.h"

#include <stddef.h>
#include <string.h>

struct check_options {
    struct ts_chosen chosen; /* first: selection.h */
    struct ts_check_options check;
    bool seed_given;
};

static int take_format(void *target, const char *value, struct ts_err *err)
{
    struct check_options *o = target;
    o->check.json = !strcmp(value, "json");
    if (!o->check.json && strcmp(value, "text") != 0)
        return ts_err_set(err, TS_EXIT_USAGE, "expected text or json, got \"%s\"", value);
    return 0;
}

#define AT(member) offsetof(struct check_options, member)
static const struct ts_option options[] = {
    {"set", 's', "NAME=V[,V]...", TS_OPTION_CALL, .call = ts_chosen_set,
     .help = "restrict or replace an axis: TX=8,16  TX=8:64:8 (stop included)  TX=8:128:x2; "
             "repeatable"},
    {"size", 0, "NAME=V,NAME=V...", TS_OPTION_CALL, .call = ts_chosen_size,
     .help = "check at this size instead of the spec's check sizes; repeatable"},
    {"rows", 0, "FILE[:WHICH]", TS_OPTION_CALL, .call = ts_chosen_rows,
     .help = "only the configurations that a results file names; WHICH: best, failed, suspects"},
    {"variant", 0, "NAME[,NAME]...", TS_OPTION_CALL, .call = ts_chosen_variants,
     .help = "only these variants, and the baseline"},
    {"no-baseline", 0, NULL, TS_OPTION_FLAG, AT(chosen.selection.no_baseline),
     .help = "leave the baseline out when --variant does not name it"},
    {"quick", 0, NULL, TS_OPTION_FLAG, AT(chosen.selection.quick),
     .help = "the spec's quick axes: fewer configurations"},
    {"output", 'o', "FILE", TS_OPTION_TEXT, AT(check.output),
     .help = "where the rows go, in a folder that is there; '-' is standard output, as without it"},
    {"format", 0, "F", TS_OPTION_CALL, .call = take_format,
     .help = "text (default) or json, which is tilesweep.check/1"},
    {"budget", 0, "T", TS_OPTION_DURATION, AT(check.budget_ns),
     .help = "wall-clock limit of the whole check (90s, 10m); what is not reached is not checked"},
    {"timeout", 0, "T", TS_OPTION_DURATION, AT(check.timeout_ns),
     .help = "deadline of one size in one pass (default 60s)"},
    {"seed", 0, "N", TS_OPTION_SEED, AT(check.seed), .also = AT(seed_given),
     .help = "random inputs (default 1)"},
    {"jobs", 'j', "N", TS_OPTION_INT, AT(check.jobs), .low = 1, .high = 64,
     .help = "Oclgrind processes side by side (default: the number of processors)"},
    {"yes", 0, NULL, TS_OPTION_FLAG, AT(check.yes),
     .help = "check even more than a million configurations"},
    {"quiet", 'q', NULL, TS_OPTION_FLAG, AT(check.quiet),
     .help = "no progress, and no row for what is clean"},
    {"verbose", 'v', NULL, TS_OPTION_COUNT, AT(check.verbose),
     .help = "also what Oclgrind and the kernels printed"},
};

static const struct ts_cli cli = {
    .command = "check",
    .usage = "[OPTION]... SPEC...",
    .about =
        "Look for data races, barriers that not all work-items reach, accesses out of bounds and "
        "reads of uninitialised memory: each configuration runs on the spec's small check sizes "
        "under Oclgrind, twice (uninitialised memory needs code without optimisation). Needs "
        "oclgrind, no device. A row that Oclgrind cannot run is 'not checked', which is no "
        "finding; one such case: Oclgrind 21.10 dies of vectors composed from parts of vectors, "
        "(float4)(l.w, c.xyz).\n\n"
        "Exit status: 0 nothing found; 1 a finding, a kernel that does not build or launch, or a "
        "case of which nothing could be checked; 2 wrong usage or a bad spec; 4 oclgrind is "
        "missing, or the output cannot be written; 130, "
        "143 interrupted, the rows so far printed.",
    .options = options,
    .option_count = TS_COUNT(options),
    .max_args = SIZE_MAX,
};

static int check(struct check_options *o, const struct ts_cli_args *args, struct ts_err *err)
{
    const struct ts_selection *selection;

    ts_chosen_finish(&o->chosen);
    selection = &o->chosen.selection;
    o->check.selection = *selection;
    o->check.rows_file = o->chosen.rows_file;
    o->check.rows_which = o->chosen.rows_which;
    o->check.specs = args->items;
    o->check.spec_count = args->count;
    if (args->count == 0 && !o->check.rows_file)
        return ts_err_set(err, TS_EXIT_USAGE, "check: expected at least one SPEC, or --rows FILE");
    if (o->check.rows_file && ts_selection_restricts(selection))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "check: --rows says which configurations; leave out -s, --size, "
                          "--variant and --quick");
    return ts_check_run(&o->check, err);
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct check_options o = {0};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status == 0)
        status = check(&o, &args, err);
    else if (status == 1)
        status = TS_EXIT_OK; /* --help */
    ts_chosen_free(&o.chosen);
    return status;
}

const struct ts_command ts_command_check = {
    .name = "check",
    .summary = "races, out-of-bounds and uninitialised accesses, by Oclgrind",
    .run = run,
};
