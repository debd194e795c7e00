/* compare_private.h: what the parts of compare share. Everything is owned by struct ts_compare. */
#ifndef TS_COMPARE_PRIVATE_H
#define TS_COMPARE_PRIVATE_H

#include "compare.h"
#include "judge.h"
#include "store.h"
#include "verdict.h"

/* ---- what becomes of a configuration ---- */

enum ts_outcome {
    TS_OUT_FAILED,   /* fails in NEW, did not in BASE */
    TS_OUT_VANISHED, /* ok in BASE, and not tried, or not possible any more, in NEW */
    TS_OUT_SLOWER,   /* from here to inconclusive: ok and timed on both sides */
    TS_OUT_FASTER,
    TS_OUT_SAME,
    TS_OUT_INCONCLUSIVE,
    TS_OUT_NOT_MEASURED, /* for want of budget, on either side */
    TS_OUT_APPEARED,     /* ok in NEW, was not there or not possible in BASE */
    TS_OUT_FIXED,        /* ok in NEW, failed in BASE */
    TS_OUT_STILL_FAILING,
    TS_OUT_SKIPPED, /* not possible on either side */
    TS_OUTCOME_COUNT,
};

struct ts_outcome_kind {
    const char *name;
    int rank;         /* 0 is told first */
    unsigned fail_on; /* the bit that makes it fail, or 0 */
    bool bad, good;   /* for colours and marks */
    bool listed;      /* a line each; the others are only counted */
};
extern const struct ts_outcome_kind ts_outcome_kinds[TS_OUTCOME_COUNT];

/* Why a configuration is in the gate; bits. */
enum ts_gated {
    TS_GATED_BEST_BASE = 1 << 0,
    TS_GATED_BEST_NEW = 1 << 1,
    TS_GATED_BASELINE = 1 << 2,
    TS_GATED_DEPLOYED = 1 << 3,
    TS_GATED_ALL = 1 << 4,
    TS_GATED_BROKEN = 1 << 5, /* fails in NEW alone: in the gate `best`, in every one of `ab` */
    TS_GATED_END = 1 << 6,
};
/* "best of its case in BASE", ...: of the lowest bit set; "" for 0. ab: in A. */
const char *ts_gated_words(unsigned gated, bool ab);

/* ---- inputs ---- */

struct ts_compare_run {
    const struct ts_run *run;
    const char *file;
    enum ts_side side;
    size_t device;   /* index of its group */
    size_t in_group; /* index of the run within its group */
};

/* One configuration on one side: the rows of all its runs made one. */
struct ts_compare_half {
    struct ts_row row; /* names and facts are borrowed from the last run's row; visits: those of all
                        * runs, the sweep's before the confirmation's; array owned */
    struct ts_judge_visit *visits; /* what is compared */
    struct ts_cluster *clusters;
    size_t visit_count, cluster_count, run_count;
    double least_variance; /* of a visit's log time, by the clock's tick */
    bool confirmed;        /* in every run, at least two visits of the confirmation */
};

struct ts_waiver;

struct ts_compare_row {
    const struct ts_row *names;      /* of the side where it is */
    size_t device, in_case;          /* indices */
    struct ts_compare_half *side[2]; /* NULL: no row */
    bool asked[2];                   /* side's runs were to have it */
    enum ts_outcome outcome;
    struct ts_judge_pair *judged; /* NULL: not timed on both sides */
    struct ts_judge_visit *pairs; /* of `ab`: log ratio within each pair of visits */
    struct ts_cluster *pair_clusters;
    size_t pair_count;
    bool same_binary, same_build;   /* why it is in the control */
    unsigned gated;                 /* enum ts_gated */
    const struct ts_waiver *waiver; /* applies and holds */
    bool fails;
};

/* One device of BASE against one of NEW. */
struct ts_compare_device {
    const struct ts_run *example[2]; /* the last run of each side */
    size_t run_count[2];
    enum ts_level level;
    struct ts_judge_group group;
    enum ts_side *run_side;
    size_t same_binary, same_build; /* rows of the control, by what says so */
    bool partial[2]; /* every run of the side was asked for some rows only (run --rows): a row that
                      * it lacks says nothing */
};

struct ts_compare_case {
    const struct ts_row *names;
    size_t device, first_row, row_count; /* its rows, in compare->rows */
    struct ts_row *side_rows[2];         /* shallow copies, for the verdicts */
    size_t side_count[2];
    struct ts_verdict verdict[2];
    const struct ts_compare_row *best[2]; /* NULL: none */
    enum ts_outcome outcome;              /* slower, faster, same, inconclusive; not-measured */
    double best_ratio;                    /* best of NEW over best of BASE; NaN */
    bool other_best;
    double found, evidence; /* power over its gated rows; INFINITY: blind */
    char *words;            /* a sentence */
};

/* Something that is not alike on both sides, worth knowing before reading on. */
struct ts_difference {
    char *what, *base, *fresh; /* values; of several runs, joined by "; " */
};

/* ---- what is deployed (compare_deployed.c) ---- */

/* A configuration that a tuned file (docs/tuned.schema.json) or a results file names. */
struct ts_deployed {
    char *benchmark, *variant;
    struct ts_values params, size, problem;
    bool any_size, any_problem; /* not told: all of them */
};
/* At least one; free them also after -1. */
int ts_deployed_load(struct ts_deployed **items, size_t *count, const char *path,
                     struct ts_err *err);
void ts_deployed_free(struct ts_deployed *items, size_t count);
bool ts_deployed_names(const struct ts_deployed *deployed, const struct ts_row *row);
/* Puts the rows that the file names into the gate; that there are none is an error. */
int ts_compare_gate_deployed(struct ts_compare *compare, const char *path, struct ts_err *err);

/* ---- waivers ---- */

struct ts_waiver {
    char *benchmark, *variant, *reason,
        *until;   /* until: YYYY-MM-DD, the last day; NULL: for ever */
    char *device; /* a part of its name; NULL: any */
    struct ts_values size, problem, params;
    double ceiling;   /* accepted up to so many times BASE's time; INFINITY for a failure */
    unsigned accepts; /* enum ts_fail_on */
    bool expired, used;
};
int ts_waivers_load(struct ts_waiver **waivers, size_t *count, const char *path,
                    struct ts_err *err);
void ts_waivers_free(struct ts_waiver *waivers, size_t count);
/* "laplacian POINTS=5 W=4096 H=4096 local TX=32" */
void ts_waiver_key(const struct ts_waiver *waiver, struct ts_text *out);
/* Marks rows whose finding is waived; day: YYYY-MM-DD, the day of the newest run of NEW. */
void ts_waivers_apply(struct ts_compare *compare, const char *day);

/* ---- all ---- */

struct ts_compare {
    struct ts_compare_options options;
    bool paired; /* the sides of `ab` */
    struct ts_results results[2];
    struct ts_compare_run *runs;
    size_t run_count;
    struct ts_compare_device *devices;
    size_t device_count;
    struct ts_compare_half *halves;
    size_t half_count;
    struct ts_compare_row *rows; /* by device and case */
    size_t row_count;
    struct ts_judge_pair *pairs; /* device by device */
    struct ts_compare_case *cases;
    size_t case_count;
    struct ts_difference *differences;
    size_t difference_count, difference_capacity;
    struct ts_waiver *waivers;
    size_t waiver_count;
    /* the end */
    size_t count[TS_OUTCOME_COUNT];
    size_t gated_count, failing_count, waived_count;
    double found, evidence; /* the weakest case; INFINITY: blind */
    double typical_found;   /* half of the cases are at least as strong; NaN: no case */
    bool nothing;           /* no configuration was timed on both sides */
    bool blind;             /* that, or --require-power is not reached */
};

/* compare_pair.c: fills halves, rows, pairs, devices' groups, from runs. */
void ts_compare_pair_rows(struct ts_compare *compare);
/* Of a row's time on a side in ns: the median of what is compared; NaN without. */
double ts_compare_time_ns(const struct ts_compare_half *half);
/* Sets every row's outcome; after ts_judge. */
void ts_compare_set_outcomes(struct ts_compare *compare);

/* compare_case.c: verdicts of cases and what is in the gate; power by case and overall. */
void ts_compare_find_cases(struct ts_compare *compare);
void ts_compare_judge_cases(struct ts_compare *compare);

/* compare_differ.c */
void ts_compare_find_differences(struct ts_compare *compare);

/* compare_words.c: sentences that text and Markdown share; all append. */
/* "BASE", "NEW"; of `ab` "A", "B". */
const char *ts_compare_side_name(const struct ts_compare *compare, enum ts_side side);
/* Indices of the rows that are told (or of all), worst first; free() them. */
size_t *ts_compare_order(const struct ts_compare *compare, bool all, size_t *count);
/* "laplacian POINTS=5 W=4096 H=4096" */
void ts_compare_case_name(const struct ts_compare *compare, const struct ts_compare_case *c,
                          struct ts_text *out);
/* "laplacian POINTS=5 W=4096 H=4096 local TX=32 TY=8" */
void ts_compare_row_name(const struct ts_compare *compare, const struct ts_compare_row *row,
                         struct ts_text *out);
/* "1.10 times as long (95 %: 1.08 to 1.13; threshold 1.05; p 0.0003 of 40), 8.31 ms -> 9.18 ms" */
void ts_compare_row_words(const struct ts_compare *compare, const struct ts_compare_row *row,
                          struct ts_text *out);
/* "counts: best of its case in BASE", "waived until 2027-01-31: ...", "" */
void ts_compare_row_counts(const struct ts_compare *compare, const struct ts_compare_row *row,
                           struct ts_text *out);
/* One sentence each: what was compared, the control, the noise, the power, the end. */
void ts_compare_sides_words(const struct ts_compare *compare, size_t device, struct ts_text *out);
void ts_compare_control_words(const struct ts_compare *compare, size_t device, struct ts_text *out);
/* "9 in 10 slow-downs of 5.6 % or more would have been told" */
void ts_compare_found_words(double found, struct ts_text *out);
void ts_compare_power_words(const struct ts_compare *compare, struct ts_text *out);
void ts_compare_counts_words(const struct ts_compare *compare, struct ts_text *out);
void ts_compare_end_words(const struct ts_compare *compare, struct ts_text *out);
/* That a waiver is expired or unused; false: it is neither. */
bool ts_compare_waiver_words(const struct ts_waiver *waiver, struct ts_text *out);

/* compare_text.c: the lines above the rows: what was compared, what differs, the control. */
void ts_compare_head(const struct ts_compare *compare, struct ts_text *out);

/* compare_json.c: benchmark, size, problem of names into object; context of a run or {}. */
void ts_compare_add_names(cJSON *object, const struct ts_row *names);
void ts_compare_add_run(cJSON *runs, const struct ts_compare_run *run);

#endif
