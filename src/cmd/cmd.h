/* cmd.h: the command table's row. Floor 4: one subcommand a file, ending in its row. */
#ifndef TS_CMD_H
#define TS_CMD_H

#include "../err.h"

struct ts_command {
    const char *name;
    const char *summary; /* one line for the list of commands */
    bool hidden;
    /* argv[0] is the subcommand's name. Returns an exit status; with err set it is printed by main.
     */
    int (*run)(int argc, char **argv, struct ts_err *err);
};

extern const struct ts_command ts_command_ab, ts_command_check, ts_command_compare,
    ts_command_devices, ts_command_export, ts_command_list, ts_command_merge, ts_command_run,
    ts_command_report, ts_command_worker;

#endif
