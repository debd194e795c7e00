/* check_private.h: shared by check*.c alone. */
#ifndef TS_CHECK_PRIVATE_H
#define TS_CHECK_PRIVATE_H

#include "check.h"

/* ---- check_log.c: what Oclgrind writes ---- */

enum ts_finding_kind {
    TS_FINDING_RACE,
    TS_FINDING_BARRIER,
    TS_FINDING_BOUNDS,
    TS_FINDING_UNINITIALISED,
    TS_FINDING_UNALIGNED,
    TS_FINDING_KIND_COUNT
};
const char *ts_finding_kind_name(enum ts_finding_kind kind); /* "data-race", "out-of-bounds" */

/* One side of a finding: who did what and where. */
struct ts_access {
    const char *action;   /* "reads", "writes", "updates", "reaches"; NULL: not told */
    char *file;           /* as the spec names it; NULL: no place told */
    int64_t line, column; /* from 1 */
    bool has_item, has_group;
    int64_t global[3], local[3], group[3]; /* ids, dimension 0 first */
};

struct ts_finding {
    enum ts_finding_kind kind;
    char *message; /* Oclgrind's own first line, without the address */
    char *space;   /* "global", "local", "private", "constant"; NULL: not told */
    char *kernel;  /* NULL: not told */
    int64_t bytes; /* of the access, -1: not told */
    /* of a barrier: so many of the work-items of the work-group reached it; -1: not told */
    int64_t reached, group_items;
    struct ts_access access[2]; /* both sides of a race */
    int access_count;
    int64_t times;         /* how often the same was seen: other work-items, other sizes */
    struct ts_values size; /* where it was seen first */
};

struct ts_findings {
    struct ts_finding *items;
    size_t count, capacity;
    bool cut; /* Oclgrind stopped telling: there are more */
    char *
        fatal; /* what Oclgrind said when it gave up or said what this reader does not know; NULL */
};
/* Adds the findings of a log, those that differ in nothing but work-items, columns and addresses as
 * one. size: the one that was checked, copied. Any bytes are a log: what is not understood is
 * fatal. */
void ts_findings_read(struct ts_findings *findings, const char *log, size_t length,
                      const struct ts_values *size);
/* Adds the findings of `from`, which is empty afterwards, to those of `into`. */
void ts_findings_move(struct ts_findings *into, struct ts_findings *from);
void ts_findings_free(struct ts_findings *findings);

/* Appends the finding in one line of words: "data race in local memory: work-item (8,0,0) reads at
 * x.cl:12 what work-item (7,0,0) writes at x.cl:10; kernel bad; N=257; 530 times". */
void ts_finding_print(const struct ts_finding *finding, struct ts_text *out);

/* ---- check_build.c: what Oclgrind's compiler says ---- */

/* A build log with the files and lines that `source`, an expanded text with #line marks, was made
 * of; free() it. */
char *ts_check_build_log(const char *log, const char *source);

/* ---- rows ---- */

enum ts_check_status {
    TS_CHECK_CLEAN,
    TS_CHECK_FINDING,
    TS_CHECK_NOT_CHECKED,
    TS_CHECK_STATUS_COUNT
};
const char *
ts_check_status_name(enum ts_check_status status); /* "clean", "finding", "not-checked" */

/* What is watched together. */
enum ts_check_pass { TS_PASS_RACES, TS_PASS_UNINITIALISED, TS_PASS_COUNT };
const char *ts_check_pass_name(enum ts_check_pass pass);

struct ts_check_row {
    size_t space, config;
    struct ts_pass_result {
        size_t sizes;       /* checked */
        bool done;          /* all of them */
        char *code, *why;   /* not done: "crash", "timeout", "compiler", ...; in words */
        const char *failed; /* not done through a fault of the kernel: "build-failed",
                               "launch-failed"; NULL: Oclgrind's limits, or time */
    } passes[TS_PASS_COUNT];
    struct ts_findings findings;
    char *talk; /* what Oclgrind and the kernels printed; NULL */
};
enum ts_check_status ts_check_row_status(const struct ts_check_row *row);
/* A row that is not checked because its kernel does not build, or cannot be launched as it is. */
bool ts_check_row_failed(const struct ts_check_row *row);

/* One invocation of `check`. */
struct ts_checking {
    const struct ts_check_options *options;
    struct ts_spec **specs;
    size_t spec_count;
    struct ts_space **spaces; /* one a spec */
    struct ts_check_row *rows;
    size_t row_count, row_capacity;
    char started[32];
    char *checker; /* "Oclgrind 21.10" */
    bool interrupted;
};

/* ---- check_watch.c ---- */
/* The command of a worker that Oclgrind watches for the pass, its log in a file; free() it. */
char *ts_check_command(enum ts_check_pass pass, const char *log);
/* Goes through every row's passes, workers side by side, until all is done, the budget or a signal
 * ends it; what was not reached then says so. folder: for logs, which are removed. -1 when workers
 * cannot be had. */
int ts_check_watch(struct ts_checking *c, const struct ts_device *device, const char *folder,
                   struct ts_err *err);

/* ---- check_print.c ---- */
void ts_check_print_text(const struct ts_checking *c, struct ts_text *out);
cJSON *ts_check_to_document(const struct ts_checking *c);

#endif
