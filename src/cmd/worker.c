/* worker.c: `tilesweep worker`: serves jobs on standard input and output. */
#include "../worker.h"
#include "../cli.h"
#include "cmd.h"

static const struct ts_cli cli = {
    .command = "worker",
    .usage = "< JOBS",
    .about =
        "Serve jobs, one JSON line each, on standard input; replies go to standard output "
        "(docs/protocol.md). 'run' starts its own workers; by hand this repeats a recorded job.",
    .max_args = 0,
};

static int run(int argc, char **argv, struct ts_err *err)
{
    struct ts_cli_args args;
    char none;
    int status = ts_cli_parse(&cli, argc, argv, &none, &args, err);
    if (status)
        return status == 1 ? TS_EXIT_OK : -1;
    return ts_worker_serve(err);
}

const struct ts_command ts_command_worker = {
    .name = "worker",
    .summary = "serve jobs on standard input and output",
    .hidden = true,
    .run = run,
};
