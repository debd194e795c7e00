/* run_options.h: the options of `run`, which `ab` takes, too. Floor 4. */
#ifndef TS_RUN_OPTIONS_H
#define TS_RUN_OPTIONS_H

#include "../cli.h"
#include "../sweep.h"
#include "selection.h"

/* As the parser fills them. Lists own their arrays, not the words (they lie in argv). */
struct ts_run_options {
    struct ts_chosen chosen; /* first: selection.h */
    struct ts_sweep_options sweep;
    struct ts_cli_list devices, context;
};

extern const struct ts_option_table ts_run_option_table;

/* Once all options are read: sweep is whole. args and options must outlive it. */
void ts_run_options_finish(struct ts_run_options *options, const struct ts_cli_args *args);
void ts_run_options_free(struct ts_run_options *options);

#endif
