/* judge.h: did a row's time change? The arithmetic of `compare`, from log times of two sides to a
 * verdict each. Floor 1; knows no files. docs/comparing.md explains the method to users.
 *
 * Evidence comes in clusters: what varies between clusters (a night, a process, a visit) is noise,
 * and a row's noise is moderated by that of all others. Rows that run the same code on both sides
 * (the control) tell how much the machine itself moved. */
#ifndef TS_JUDGE_H
#define TS_JUDGE_H

#include "stats.h"

/* What one run or process or visit says of a row: the median log time in it. */
struct ts_cluster {
    double log_ns;
    size_t run; /* index of its run within the group, over both sides */
};

/* What is a cluster: the highest level of which a side has two, for whatever varies below it is
 * then in the spread between clusters. */
enum ts_level { TS_BY_VISIT, TS_BY_PROCESS, TS_BY_RUN };
const char *ts_level_name(enum ts_level level); /* "visit", "process", "run" */

struct ts_judge_visit {
    double log_ns; /* of the visit's median */
    size_t run;    /* index within the group */
    int process;   /* ordinal within the run */
};
/* Folds visits of one row and side into at most count clusters, each the median of its visits;
 * returns how many. Visits of a run, and of a process within it, stand together. */
size_t ts_judge_fold(const struct ts_judge_visit *visits, size_t count, enum ts_level level,
                     struct ts_cluster *clusters);

enum ts_side { TS_BASE, TS_NEW };

enum ts_judged {
    TS_SLOWER,
    TS_FASTER,
    TS_SAME, /* the interval of the ratio lies within the threshold */
    TS_INCONCLUSIVE,
    TS_JUDGED_COUNT,
};

/* Why a pair could not be judged; TS_WHY_NONE for the others. */
enum ts_why {
    TS_WHY_NONE,
    TS_WHY_NOISE,     /* the interval reaches beyond the threshold */
    TS_WHY_SINGLE,    /* one cluster on either side, and no others to learn the noise from */
    TS_WHY_SHIFT,     /* the control moved too much to be trusted */
    TS_WHY_CLOCK,     /* an event clock against a host clock */
    TS_WHY_WORK,      /* a launch does another amount of work */
    TS_WHY_CACHE,     /* a warm cache against a cold one */
    TS_WHY_THRESHOLD, /* a change is shown, but whether beyond the threshold is not */
};

struct ts_judge_pair {
    /* in; clusters are borrowed, at least one a side. Of visits made in pairs: BASE has none, and a
     * cluster of NEW is the log ratio within a pair, free of what changed over time */
    struct ts_judge_side {
        const struct ts_cluster *clusters;
        size_t count;
    } side[2];
    double least_variance; /* of a cluster, from the clock's tick: no row is more exact than that */
    bool control;          /* the same code on both sides */
    enum ts_why unlike;    /* not NONE: the pair cannot be compared and stays out of everything */
    /* out */
    enum ts_judged verdict;
    enum ts_why why;
    double own_variance;      /* of a cluster, before moderation; NaN with one cluster a side */
    double log_ratio;         /* NEW over BASE, the shift taken out */
    double error, df;         /* its standard error and degrees of freedom; NaN: not known */
    struct ts_interval ratio; /* 95 % */
    double p, p_adjusted;     /* two-sided, "no change"; adjusted over all pairs; NaN: not tested */
    double found, evidence;   /* smallest slow-downs (0.05: 5 %) that would have been told `slower`,
                               * or shown by evidence alone, with probability 0.9; INFINITY: none */
};

/* The pairs of one device. */
struct ts_judge_group {
    /* in */
    struct ts_judge_pair *pairs;
    size_t count;
    size_t run_count;
    const enum ts_side *run_side; /* of each run */
    bool paired;                  /* its pairs' clusters are log ratios */
    /* out */
    struct ts_variance_prior prior;
    size_t control_count;                /* control rows seen in every run; paired: all */
    double shift_low, shift, shift_high; /* log ratio NEW over BASE of the control, 95 %; of all
                                          * pairs where there is none; NaN: no pairs */
    bool shift_taken_out, shift_too_large;
    double
        scale; /* the control's spread over the one expected, at least 1: errors are multiplied */
};

struct ts_judge_rule {
    double threshold; /* 0.05: an effect counts beyond 1.05 or 1/1.05 */
    double fdr;       /* share of false discoveries admitted */
};

/* Fewest control rows from which a shift is taken out, and from which a scale is learnt. */
enum { TS_CONTROL_LEAST = 5, TS_CONTROL_SCALE_LEAST = 10 };
/* A machine that moved by more than this share is not the same machine. */
#define TS_SHIFT_LIMIT 0.10
#define TS_POWER 0.9

/* offset[r], run_count of them: by how much the control's rows are slower in run r than on average;
 * all 0 and false where the control is too small. */
bool ts_judge_offsets(const struct ts_judge_group *group, double *offset);

void ts_judge(struct ts_judge_group *groups, size_t count, const struct ts_judge_rule *rule);

#endif
