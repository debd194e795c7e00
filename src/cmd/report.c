/* report.c: `tilesweep report`: results files into one page with pictures. */
#include "../report.h"
#include "../cli.h"
#include "cmd.h"

#include <stddef.h>
#include <stdio.h>

struct report_options {
    const char *dir;
};

static const struct ts_option options[] = {
    {"output", 'o', "DIR", TS_OPTION_TEXT, offsetof(struct report_options, dir),
     .help = "folder to write index.html and figures/ to; made when missing"},
};

static const struct ts_cli cli = {
    .command = "report",
    .usage = "RESULTS... -o DIR",
    .about =
        "Write a page with the verdicts and the pictures of one or several results files. Needs "
        "gnuplot, no device and no spec. Pictures that earlier reports, ended or not, wrote into "
        "the folder and this one does not show are removed, unless they were changed; nothing else "
        "is.",
    .options = options,
    .option_count = TS_COUNT(options),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .arg_name = "RESULTS file",
};

static int write_report(const struct report_options *o, const struct ts_cli_args *args,
                        struct ts_err *err)
{
    struct ts_results results = {0};
    int status = 0;
    for (size_t i = 0; i < args->count && status == 0; i++)
        status = ts_results_load(&results, args->items[i], err);
    if (status == 0)
        status = ts_results_split(&results, err);
    if (status == 0)
        status = ts_report_write(&results, o->dir, err);
    ts_results_free(&results);
    if (status < 0)
        return -1;
    printf("%s/index.html\n", o->dir);
    return TS_EXIT_OK;
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct report_options o = {0};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status)
        return status == 1 ? TS_EXIT_OK : -1;
    if (!o.dir || !o.dir[0])
        return ts_err_set(err, TS_EXIT_USAGE, "report: option --output DIR is needed");
    return write_report(&o, &args, err);
}

const struct ts_command ts_command_report = {
    .name = "report",
    .summary = "a page with verdicts and pictures from results files",
    .run = run,
};
