/* export.c: `tilesweep export`: results in the forms of other programs. */
#include "../export.h"
#include "cmd.h"
#include "selection.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct export_options {
    struct ts_chosen chosen; /* first: the calls of selection.h get the whole */
    const struct ts_export_format *format;
    const char *output, *run, *device, *benchmark;
};

static int take_format(void *target, const char *value, struct ts_err *err)
{
    struct export_options *o = target;
    o->format = ts_export_format_find(value);
    if (o->format)
        return 0;
    char *names = ts_export_format_words(true);
    ts_err_set(err, TS_EXIT_USAGE, "expected one of %s, got \"%s\"", names, value);
    free(names);
    return -1;
}

#define AT(member) offsetof(struct export_options, member)
static struct ts_option options[] = {
    /* the help comes from the table of formats, see run() */
    {"format", 0, "FORMAT", TS_OPTION_CALL, .call = take_format},
    {"output", 'o', "FILE", TS_OPTION_TEXT, AT(output),
     .help =
         "file to write, in a folder that is there; - is standard output (default). kernel-tuner "
         "and t4 hold one search space, a variant of a case: of several, a folder (FOLDER/, "
         "made when missing) gets a file each"},
    {"run", 0, "ID", TS_OPTION_TEXT, AT(run), .help = "only the run with this id"},
    {"device", 'd', "NAME", TS_OPTION_TEXT, AT(device),
     .help = "only runs of devices whose name or platform has this part, case ignored"},
    {"benchmark", 0, "NAME", TS_OPTION_TEXT, AT(benchmark), .help = "only this benchmark"},
    {"set", 's', "NAME=V[,V]...", TS_OPTION_CALL, .call = ts_chosen_set,
     .help = "only these values of a problem axis or parameter: POINTS=9, TX=16:64:x2; repeatable"},
    {"size", 0, "NAME=V,NAME=V...", TS_OPTION_CALL, .call = ts_chosen_size,
     .help = "only this size; repeatable"},
    {"variant", 0, "NAME[,NAME]...", TS_OPTION_CALL, .call = ts_chosen_variants,
     .help = "only these variants"},
};

static const struct ts_cli cli = {
    .command = "export",
    .usage = "RESULTS... --format FORMAT [-o FILE] [OPTION]...",
    .about = "Write the configurations of results files in the form of another program. What a "
             "form cannot hold is told; docs/exporting.md says who reads what.",
    .options = options,
    .option_count = TS_COUNT(options),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .arg_name = "RESULTS file",
};

static int export(const struct export_options *o, const struct ts_cli_args *args,
                  struct ts_err *err)
{
    if (!o->format) {
        char *names = ts_export_format_words(true);
        ts_err_set(err, TS_EXIT_USAGE, "export: option --format is needed: one of %s", names);
        free(names);
        return -1;
    }
    const struct ts_export_options chosen = {
        .files = args->items,
        .file_count = args->count,
        .format = o->format,
        .output = o->output,
        .run = o->run,
        .device = o->device,
        .benchmark = o->benchmark,
        .selection = o->chosen.selection,
    };
    return ts_export(&chosen, err);
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct export_options o = {.output = "-"};
    struct ts_cli_args args;
    char *formats = ts_export_format_words(false);
    options[0].help = formats;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status == 0) {
        ts_chosen_finish(&o.chosen);
        status = export(&o, &args, err);
    }
    ts_chosen_free(&o.chosen);
    free(formats);
    return status < 0 ? -1 : TS_EXIT_OK;
}

const struct ts_command ts_command_export = {
    .name = "export",
    .summary = "results in the forms of other programs: csv, google-benchmark, Kernel Tuner, ...",
    .run = run,
};
