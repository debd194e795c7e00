/* run_options.c: see run_options.h. */
#include "run_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* "1%", "0.5%". */
static int take_precision(void *target, const char *value, struct ts_err *err)
{
    struct ts_run_options *o = target;
    return ts_share_parse(value, 10.0, &o->sweep.precision, err);
}

static int take_cache(void *target, const char *value, struct ts_err *err)
{
    struct ts_run_options *o = target;
    if (strcmp(value, "warm") != 0 && strcmp(value, "cold") != 0)
        return ts_err_set(err, TS_EXIT_USAGE, "expected warm or cold, got \"%s\"", value);
    o->sweep.cold = strcmp(value, "cold") == 0;
    o->sweep.cache_given = true;
    return 0;
}

static int take_context(void *target, const char *value, struct ts_err *err)
{
    return ts_cli_list_add_pair(&((struct ts_run_options *)target)->context, value, "KEY=VALUE",
                                err);
}

#define AT(member) offsetof(struct ts_run_options, member)
static const struct ts_option options[] = {
    {"device", 'd', "D", TS_OPTION_LIST, AT(devices),
     .help =
         "P:D index as 'tilesweep devices' prints it, or a part of the device's or platform's "
         "name, case ignored; repeatable; 'all'. Default: the first GPU, else the first device"},
    {"output", 'o', "FILE", TS_OPTION_TEXT, AT(sweep.output),
     .help = "where the results go, in a folder that is there (default "
             "results/local/BENCHMARK-DEVICE-TIME.json, "
             "of ab BENCHMARK-ab-DEVICE-TIME.json); '-' is "
             "standard output, and the table then goes to standard error"},
    {"set", 's', "NAME=V[,V]...", TS_OPTION_CALL, .call = ts_chosen_set,
     .help = "restrict or replace an axis: TX=8,16  TX=8:64:8 (stop included)  TX=8:128:x2; "
             "repeatable"},
    {"size", 0, "NAME=V,NAME=V...", TS_OPTION_CALL, .call = ts_chosen_size,
     .help = "time this size instead of the spec's; repeatable"},
    {"rows", 0, "FILE[:WHICH]", TS_OPTION_CALL, .call = ts_chosen_rows,
     .help = "only the configurations that a results file or a comparison names, with their "
             "sizes; WHICH: best, failed, suspects (of a comparison)"},
    {"variant", 0, "NAME[,NAME]...", TS_OPTION_CALL, .call = ts_chosen_variants,
     .help = "only these variants, and the baseline"},
    {"no-baseline", 0, NULL, TS_OPTION_FLAG, AT(chosen.selection.no_baseline),
     .help = "leave the baseline out when --variant does not name it"},
    {"quick", 0, NULL, TS_OPTION_FLAG, AT(chosen.selection.quick),
     .help = "the spec's quick sizes and axes, 3 visits of 3 samples: an answer in seconds"},
    {"budget", 0, "T", TS_OPTION_DURATION, AT(sweep.budget_ns),
     .help = "wall-clock limit of the whole run (90s, 10m), shared evenly over cases; what is not "
             "reached is skipped"},
    {"timeout", 0, "T", TS_OPTION_DURATION, AT(sweep.timeout_ns),
     .help = "deadline of one job: build and prove, or one visit (default 60s)"},
    {"visits", 0, "N", TS_OPTION_INT, AT(sweep.visits), .low = 1, .high = 100000,
     .help = "at least so many visits to each configuration (default 5)"},
    {"samples", 0, "N", TS_OPTION_INT, AT(sweep.samples), .low = 1, .high = 100000,
     .help = "at least so many samples a visit (default 5)"},
    {"precision", 0, "P", TS_OPTION_CALL, .call = take_precision,
     .help =
         "visit a configuration until its 95 % interval is so narrow to either side (default 1%), "
         "as far as half again the time allows"},
    {"cache", 0, "STATE", TS_OPTION_CALL, .call = take_cache,
     .help =
         "warm (default): a timed launch finds in the device's caches what the one before left; "
         "cold: none of its data, the launches go over many sets of them in turn"},
    {"seed", 0, "N", TS_OPTION_SEED, AT(sweep.seed), .also = AT(sweep.seed_given),
     .help = "order and inputs; stored in the results, so that a run can be repeated"},
    {"jobs", 'j', "N", TS_OPTION_INT, AT(sweep.jobs), .low = 1, .high = 1024,
     .help = "processes that build and prove side by side (default: by processors, number of "
             "configurations and device memory); timing is always alone on the device"},
    {"no-wait", 0, NULL, TS_OPTION_FLAG, AT(sweep.no_wait),
     .help = "refuse instead of waiting when another tilesweep times on the device"},
    {"resume", 0, "FILE", TS_OPTION_TEXT, AT(sweep.resume),
     .help = "go on with an interrupted run; what is final is not measured again"},
    {"context", 0, "KEY=VALUE", TS_OPTION_CALL, .call = take_context,
     .help = "stored in the run (commit, branch, role of the host); repeatable"},
    {"setup", 0, "CMD", TS_OPTION_TEXT, AT(sweep.setup),
     .help = "shell command to run before (lock clocks)"},
    {"cleanup", 0, "CMD", TS_OPTION_TEXT, AT(sweep.cleanup),
     .help = "shell command to run after, on every exit"},
    {"worker", 0, "COMMAND", TS_OPTION_TEXT, AT(sweep.worker),
     .help = "start workers by /bin/sh -c \"exec COMMAND\", for remote hosts: 'ssh box tilesweep "
             "worker'"},
    {"digest", 0, NULL, TS_OPTION_FLAG, AT(sweep.digest),
     .help =
         "after the timing, store a digest of each configuration's device binary: 'compare' then "
         "knows equal code (0.2 s a configuration on PoCL)"},
    {"anonymous", 0, NULL, TS_OPTION_FLAG, AT(sweep.anonymous),
     .help = "no host name, no paths, no environment values in the results"},
    {"yes", 0, NULL, TS_OPTION_FLAG, AT(sweep.yes),
     .help = "sweep even more than a million configurations"},
    {"quiet", 'q', NULL, TS_OPTION_FLAG, AT(sweep.quiet),
     .help = "no progress line; all else is said"},
    {"verbose", 'v', NULL, TS_OPTION_COUNT, AT(sweep.verbose),
     .help = "say more; twice: what workers print"},
};

const struct ts_option_table ts_run_option_table = {options, TS_COUNT(options)};

void ts_run_options_finish(struct ts_run_options *o, const struct ts_cli_args *args)
{
    ts_chosen_finish(&o->chosen);
    o->sweep.selection = o->chosen.selection;
    o->sweep.rows_file = o->chosen.rows_file;
    o->sweep.rows_which = o->chosen.rows_which;
    o->sweep.specs = args->items;
    o->sweep.spec_count = args->count;
    o->sweep.devices = o->devices.items;
    o->sweep.device_count = o->devices.count;
    o->sweep.context = o->context.items;
    o->sweep.context_count = o->context.count;
}

void ts_run_options_free(struct ts_run_options *o)
{
    ts_chosen_free(&o->chosen);
    ts_cli_list_free(&o->devices);
    ts_cli_list_free(&o->context);
}
