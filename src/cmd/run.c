/* run.c: `tilesweep run`: options into struct ts_sweep_options; the engine does the rest. */
#include "cmd.h"
#include "run_options.h"

#include <stdint.h>

static const struct ts_cli cli = {
    .command = "run",
    .usage = "[OPTION]... [SPEC]...",
    .about =
        "Prove every configuration right, then time it, write the results, print a verdict per "
        "case. A SPEC is the name of a built-in benchmark ('tilesweep list') or a path to a "
        "spec file; without one, all built-in benchmarks are run.\n\n"
        "Flags of a row: host-clock, the device's event times lie; coarse-clock, a sample is "
        "shorter than 100 ticks; batched, a sample is the mean of several launches; few-samples; "
        "in-cache, faster than the measured copy ceiling; above-ceiling, than that of "
        "multiply-adds; unstable, an interval wider than 5 % to "
        "either side; bimodal, samples in two groups; drift, the device changed, the worker was "
        "stopped, or its threads had to wait for a processor, meanwhile; part-cold, --cache cold "
        "could not keep all of the data out of the "
        "caches.\n\n"
        "Exit status: 0 all well; 1 a finding (a configuration that is wrong, crashed, timed "
        "out or did not build, or a case without a usable row); 2 wrong usage or a bad spec; 3 "
        "no usable device; 4 results cannot be written; 130, 143 interrupted, with the results "
        "so far saved.",
    .parts = {{&ts_run_option_table, 0}},
    .max_args = SIZE_MAX,
};

static int run(int argc, char **argv, struct ts_err *err)
{
    struct ts_run_options o = {0};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status == 0) {
        ts_run_options_finish(&o, &args);
        status = ts_sweep_run(&o.sweep, NULL, err);
    } else if (status == 1) {
        status = TS_EXIT_OK; /* --help */
    }
    ts_run_options_free(&o);
    return status;
}

const struct ts_command ts_command_run = {
    .name = "run",
    .summary = "prove every configuration right, time it, print a verdict per case",
    .run = run,
};
