/* check.h: the engine of `check`: races, barriers, accesses out of bounds and reads of
 * uninitialised memory, found by Oclgrind. Floor 3, parent's side.
 *
 * Oclgrind is an OpenCL device that interprets each work-item and watches it. Every configuration
 * runs on the spec's check sizes in fresh workers under `oclgrind`, two for each size: one watches
 * races, barriers and bounds, the other, which builds without optimisation, uninitialised values.
 * Buffers are plain and outputs are left as they are made (docs/protocol.md, `check`). What
 * Oclgrind writes to its log is a finding, unless it dies in that process: that it dies, refuses or
 * does not end is none, and such a row is not checked, and says why. A kernel that does not build,
 * or cannot be launched as it is, is not checked either, but fails the check: nobody looked at it.
 */
#ifndef TS_CHECK_H
#define TS_CHECK_H

#include "space.h"

/* What `check` was asked for; plain data, borrowed for the call. Times in ns; 0 or NULL: the
 * default. */
struct ts_check_options {
    char **specs; /* names or paths; none: those of rows_file */
    size_t spec_count;
    struct ts_selection selection;      /* its sizes replace the check sizes */
    const char *rows_file, *rows_which; /* --rows */
    int64_t timeout_ns;                 /* of one size in one pass; default 60 s */
    int64_t budget_ns;                  /* of the whole; default: none */
    uint64_t seed;                      /* of the inputs; default 1 */
    int jobs;                           /* processes side by side; default: the processors */
    bool json;                          /* tilesweep.check/1 instead of text */
    const char *output;                 /* NULL: standard output */
    bool yes;                           /* more than a million configurations, too */
    bool quiet;                         /* no progress, no clean rows */
    int verbose;                        /* what Oclgrind and the kernels printed, too */
};

/* Checks, and prints one row a configuration. Returns the exit status: 0 all clean; 1 a finding, a
 * kernel that does not build or launch, or a case without any row that could be checked; 130, 143.
 * -1 with err for what stops the program: 4 when Oclgrind is missing. */
int ts_check_run(const struct ts_check_options *options, struct ts_err *err);

#endif
