/* merge.c: `tilesweep merge`: the runs of several results files in one. */
#include "../cli.h"
#include "../file.h"
#include "../progress.h"
#include "../store.h"
#include "cmd.h"

#include <stddef.h>
#include <string.h>

struct merge_options {
    const char *output;
};

static const struct ts_option options[] = {
    {"output", 'o', "FILE", TS_OPTION_TEXT, offsetof(struct merge_options, output),
     .help = "file to write, in a folder that is there; - is standard output"},
};

static const struct ts_cli cli = {
    .command = "merge",
    .usage = "RESULTS... -o FILE",
    .about = "Write one results file with the runs of several, as they stand and in the order "
             "given. A run that is in two of them is kept once, and so is what stands beside the "
             "runs, the first file's where they differ. FILE is none of those that are "
             "read.",
    .options = options,
    .option_count = TS_COUNT(options),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .arg_name = "RESULTS file",
};

static int merge(const char *output, const struct ts_cli_args *args, struct ts_err *err)
{
    struct ts_text document = {0}, notes = {0};
    int result = 0;
    if (!output || !output[0])
        return ts_err_set(err, TS_EXIT_USAGE, "merge: option --output FILE is needed");
    result = ts_file_check_output(output, args->items, args->count, err);
    if (result == 0)
        result = ts_results_merge(args->items, args->count, &document, &notes, err);
    if (result == 0)
        result = ts_file_put(output, document.text, document.length, err);
    char *rest = NULL;
    for (char *line = notes.text ? strtok_r(notes.text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        ts_say("%s", line);
    ts_text_free(&document);
    ts_text_free(&notes);
    return result;
}

static int run(int argc, char **argv, struct ts_err *err)
{
    struct merge_options o = {0};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status)
        return status == 1 ? TS_EXIT_OK : -1;
    return merge(o.output, &args, err) < 0 ? -1 : TS_EXIT_OK;
}

const struct ts_command ts_command_merge = {
    .name = "merge",
    .summary = "the runs of several results files in one",
    .run = run,
};
