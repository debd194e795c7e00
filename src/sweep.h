/* sweep.h: the engine of `run`: prove every configuration right, then time it. Floor 3, parent's
 * side: it speaks to workers over child.h and never to a device.
 *
 * Phase one: several workers side by side build and prove on the check sizes. Phase two: one worker
 * alone on the device, case by case, rounds of visits in seeded random order, in at least two
 * processes; the finalists of each case are then visited again for the verdict. Every proven or
 * failed row and every visit goes to the journal at once. */
#ifndef TS_SWEEP_H
#define TS_SWEEP_H

#include "crew.h"
#include "progress.h"
#include "space.h"
#include "store.h"

/* What `run` was asked for; plain data, borrowed for the call. Times in ns; 0 or NULL: the default.
 */
struct ts_sweep_options {
    char **specs; /* names or paths */
    size_t spec_count;
    struct ts_selection selection;
    char **devices; /* -d, as typed */
    size_t device_count;
    const char *output; /* NULL: results/local/BENCHMARK-DEVICE-TIME.json; "-": standard output */
    const char *resume; /* FILE of --resume */
    const char *rows_file;  /* --rows FILE */
    const char *rows_which; /* NULL, "best", "failed", "suspects" */
    int64_t budget_ns, timeout_ns;
    int visits, samples; /* 0: default (quick: 3 and 3, else 5 and 5) */
    double precision;    /* half-width of a row's interval that ends its visits; 0: 0.01 */
    uint64_t seed;
    bool seed_given;
    int jobs;
    char **context; /* "KEY=VALUE" */
    size_t context_count;
    const char *setup, *cleanup;
    const char *worker; /* --worker COMMAND */
    bool ab;            /* two sides: specs[0] against specs[1], or specs[0] against itself with */
    const char *options_b; /* build options besides the spec's; NULL */
    struct ts_launcher b;  /* what its workers are started by, instead of worker; all zero: the same
                            * processes serve both */
    bool anonymous, no_wait, yes;
    bool cold, cache_given; /* --cache cold; either */
    bool digest;            /* store the digests of device binaries */
    bool quiet;
    int verbose;
};

/* Runs the whole sweep over every chosen device, writes the results, prints a verdict per case (to
 * stdout, or stderr when the results go there). results: gets what was measured, and no verdict is
 * printed; NULL: not wanted. Returns the exit status of contract.md section 3
 * (0, 1, 130, 143); -1 with err for what stops the program. */
int ts_sweep_run(const struct ts_sweep_options *options, struct ts_results *results,
                 struct ts_err *err);

/* What the worker tells of all platforms and devices; used by `devices` and to choose by -d. */
struct ts_platform_fault {
    char *platform, *text;
};
struct ts_device_list {
    struct ts_device *devices;
    struct ts_clock *clocks; /* one a device when audited, else NULL */
    size_t count;
    struct ts_platform_fault *faults;
    size_t fault_count;
    char *host; /* of the worker; "" when it does not tell */
};
/* timeout_ns: of one question; 0: the default. audit: also open each device and audit its event
 * clock, but for those that another tilesweep measures on. Exit status 3 with every platform and a
 * hint when there is no usable device. */
int ts_devices_list(struct ts_device_list *list, const struct ts_launcher *launcher,
                    int64_t timeout_ns, bool audit, struct ts_err *err);
void ts_devices_free(struct ts_device_list *list);
/* The file whose lock keeps a second tilesweep off the device; free() it. */
char *ts_devices_lock_path(const struct ts_device_list *list, const struct ts_device *device);
/* The first device of the list that is the same one (two ICD files that name one library); index
 * itself when it is the first. */
size_t ts_devices_twin(const struct ts_device_list *list, size_t index);
/* The devices that `-d` names ("P:D", part of a name, "all"; none: the default) as indices into the
 * list, each once; at most room; exit status 2 with the list when a name matches none or several.
 */
int ts_devices_choose(const struct ts_device_list *list, char **wanted, size_t wanted_count,
                      size_t *index, size_t room, size_t *chosen, struct ts_err *err);

#endif
