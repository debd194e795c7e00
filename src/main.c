/* main.c: dispatches to a command, prints the error once, makes sure that the output arrived. */
#include "cli.h"
#include "cmd/cmd.h"
#include "nearest.h"
#include "progress.h"
#include "signals.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In the order of the help text. */
static const struct ts_command *const commands[] = {
    &ts_command_devices, &ts_command_list,    &ts_command_run,    &ts_command_ab,
    &ts_command_report,  &ts_command_compare, &ts_command_export, &ts_command_merge,
    &ts_command_check,   &ts_command_worker,
};

static const struct ts_command *find(const char *name)
{
    for (size_t i = 0; i < TS_COUNT(commands); i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static void print_help(FILE *to)
{
    fputs("Usage: tilesweep [--help|--version] COMMAND [OPTION]... [ARGUMENT]...\n\n"
          "Does staging through local memory pay on this OpenCL device, and with which\n"
          "tile? Sweeps naive against local-memory kernels, proves each one right against\n"
          "a serial CPU reference, times it, and answers per case.\n\nCommands:\n",
          to);
    for (size_t i = 0; i < TS_COUNT(commands); i++)
        if (!commands[i]->hidden)
            fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'tilesweep help COMMAND' tells a command's options. Start with 'tilesweep run "
          "--quick'.\n",
          to);
}

static int unknown_command(const char *name, struct ts_err *err)
{
    const char *known[TS_COUNT(commands) + 1];
    size_t count = 0;
    for (size_t i = 0; i < TS_COUNT(commands); i++)
        if (!commands[i]->hidden)
            known[count++] = commands[i]->name;
    known[count++] = "help";
    struct ts_text text = {0};
    ts_text_printf(&text, "unknown command \"%s\"", name);
    ts_nearest_add(name, known, count, &text);
    if (!strchr(text.text, ';'))
        ts_text_puts(&text, "; 'tilesweep --help' lists the commands");
    ts_err_set(err, TS_EXIT_USAGE, "%s", text.text);
    ts_text_free(&text);
    return -1;
}

static int help(int argc, char **argv, struct ts_err *err)
{
    if (argc < 2) {
        print_help(stdout);
        return TS_EXIT_OK;
    }
    const struct ts_command *command = find(argv[1]);
    if (!command)
        return unknown_command(argv[1], err);
    char dashed[] = "--help";
    char *words[] = {argv[1], dashed, NULL};
    return command->run(2, words, err);
}

static int dispatch(int argc, char **argv, struct ts_err *err)
{
    if (argc < 2) {
        print_help(stderr);
        return TS_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        return help(argc - 1, argv + 1, err);
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        printf("tilesweep %s (%s)\n", ts_version(), ts_revision());
        return TS_EXIT_OK;
    }
    if (word[0] == '-')
        return ts_err_set(err, TS_EXIT_USAGE,
                          "unknown option %s; options of a command follow its name", word);
    const struct ts_command *command = find(word);
    if (!command)
        return unknown_command(word, err);
    return command->run(argc - 1, argv + 1, err);
}

/* Descriptors 0 to 2 that the caller closed would be given to the first files we open, and talk
 * would end up in them. Opened the wrong way round, so that using one still fails. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    ts_signals_ignore_limit();
    struct ts_err err = {0};
    int status = dispatch(argc, argv, &err);
    if (err.exit_status) {
        status = err.exit_status;
        fflush(stdout);
        ts_say("tilesweep: %s", err.text);
    }
    /* Output that was lost (disk full) is a failure, even when all else went well. */
    errno = 0;
    bool lost = ferror(stdout) != 0;
    if ((fflush(stdout) != 0 || lost) && (status == TS_EXIT_OK || status == TS_EXIT_FINDING)) {
        ts_say("tilesweep: cannot write standard output: %s",
               errno ? strerror(errno) : "earlier output was lost");
        status = TS_EXIT_SYSTEM;
    }
    return status;
}
