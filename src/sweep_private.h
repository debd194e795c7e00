/* sweep_private.h: shared by sweep*.c alone. */
#ifndef TS_SWEEP_PRIVATE_H
#define TS_SWEEP_PRIVATE_H

#include "choice.h"
#include "crew.h"
#include "probe.h"
#include "signals.h"
#include "sweep.h"

#define SECOND_NS 1000000000LL
#define TS_WATCH_VISITS 64
#define TS_NO_ROW SIZE_MAX

/* One build: a configuration, for all its sizes. */
struct unit {
    size_t space, config;
    bool timed_size_only; /* no check size admits it: its proof is the one at the timed size */
    int unanswered;       /* times that its proof was lost with the worker's connection */
    size_t *rows;         /* of the run, one a timed size that admits it */
    size_t row_count;
};

/* Rows first .. first+count of the run are one case. */
struct case_span {
    size_t first, count;
};

/* What a phase's workers were busy with, in ns, summed over them. */
struct phase_time {
    int64_t wall_ns, build_ns, reference_ns, prove_ns, time_ns;
    int workers; /* side by side */
};

/* The command line's options (borrowed) and what a resumed run adds to them. */
struct merged_options {
    struct ts_sweep_options options;
    struct ts_sweep_options read; /* the part of it that is ours to free */
};

/* What the sentinel knows of the visits since its last look. */
struct watch {
    bool off;                     /* it could not be timed */
    size_t rows[TS_WATCH_VISITS]; /* visited since, in order */
    size_t count;
    int64_t looked_ns, cost_ns;    /* the last look: when it ended, how long it took */
    int64_t taken_back, most_back; /* visits */
    int starved;                   /* looks in a row that had to wait for a processor */
    bool told_starved;
};

/* What this process of the sweep knows of a row's proofs at the timed size. */
struct row_proof {
    bool done;   /* before the first visit */
    bool owed;   /* the last visit was not followed by one */
    char *right; /* what a worker told of the outputs that it found right; NULL */
};

/* Rows of the case at hand that owe a proof, and what proofs took so far. */
struct owed {
    int64_t rows, proofs, ns;
};

/* How long phase two waited for processors that others kept busy. */
struct calm {
    int64_t began_ns, waited_ns;
    int64_t in_vain_ns, in_vain_most_ns; /* since the last calm visit; then it is never calm */
    int64_t spare_visits;                /* so many more starved ones are made again */
    bool never;                          /* waiting was of no use */
};

/* When the ceilings are measured, CLOCK_MONOTONIC. */
struct peaks_look {
    int64_t first_ns, next_ns;
};

/* Workers that are started alike, and the device as they see it. */
struct team {
    struct ts_crew *crew;
    size_t seat; /* of the timing worker, when has_seat */
    bool has_seat;
    int64_t hired_ns; /* the timing worker, CLOCK_MONOTONIC */
    const struct ts_device *device;
    const struct ts_clock *clock; /* what its visits are timed by */
};

/* One device being measured. */
struct sweep {
    const struct ts_sweep_options *options; /* &merged.options, once they are merged */
    struct merged_options merged;
    bool keeps_results; /* the caller gets them and says what they mean */
    int visits, samples;
    double precision;
    uint64_t seed;
    int64_t timeout_ns;
    int64_t end_ns; /* of the device's share of the budget, CLOCK_MONOTONIC; INT64_MAX: none */
    int64_t budget_left_ns; /* for the devices not yet begun and the one at hand */

    struct ts_spec **specs;
    size_t spec_count;
    struct ts_probe probe;

    struct ts_results results;
    size_t run_index;
    struct ts_run *run;         /* &results.runs[run_index] */
    struct ts_journal *journal; /* NULL: standard output gets the document */
    char *output;
    struct ts_progress *progress;
    struct team teams[2]; /* [1] serves B of `ab` where B has workers of its own */
    bool own_workers;
    int next_ordinal;          /* of the run's worker processes */
    struct ts_device device_b; /* as B's own workers see it */
    struct ts_clock clock_b;

    /* of the device at hand */
    struct ts_space **spaces; /* one a spec */
    struct unit *units;
    size_t unit_count, unit_capacity;
    size_t *row_unit;         /* per row */
    struct row_proof *proofs; /* per row */
    size_t *partner; /* per row, of `ab`: the same configuration on the other side, or TS_NO_ROW */
    struct case_span *cases;
    size_t case_count, case_capacity;
    struct phase_time proving, timing;
    struct owed owed;
    struct calm calm;
    struct watch watch;
    struct peaks_look peaks_look;
    int64_t begin_ns;        /* of the run's session, CLOCK_MONOTONIC */
    int64_t process_cost_ns; /* a worker's start until it has its device, at most */
    int lost_in_a_row;       /* workers lost without a job done */
    bool told_pause;         /* that a visit was made again because of a stop */
    bool told_digest;        /* that a configuration has no digest */

    struct ts_row_filter *filter; /* --rows, or NULL */
};

/* ---- sweep_output.c ---- */
/* Decides where the results go, before anything is measured, and opens the journal. from_part: the
 * journal there is to be gone on with. */
int ts_sweep_open_output(struct sweep *s, const struct ts_device *first, size_t devices,
                         bool from_part, struct ts_err *err);
bool ts_sweep_writes_to_stdout(const struct sweep *s);
/* Writes the document; keeps the journal where something is left to do. On failure says where what
 * was measured is. */
int ts_sweep_save(struct sweep *s, struct ts_err *err);
/* Is anything known of any row? A plan alone is not worth a file. */
bool ts_sweep_has_told(const struct sweep *s);
/* Says where the journal is; false: there is no whole one. */
bool ts_sweep_tell_journal(const struct sweep *s);
/* Stopped by a failure: what was measured is kept and its place told. A results file that was there
 * stays as it was. */
void ts_sweep_keep(struct sweep *s);

/* ---- sweep_run.c ---- */
/* Measures one device of the list, or goes on with its earlier run. */
int ts_sweep_measure_device(struct sweep *s, const struct ts_device_list *list, size_t index,
                            size_t devices_left, struct ts_err *err);

/* ---- sweep_plan.c ---- */
/* Spaces, rows, units and cases for the run's device. Rows that the run holds already (resumed)
 * keep what they know. */
int ts_sweep_plan(struct sweep *s, struct ts_err *err);
void ts_sweep_unplan(struct sweep *s);
/* ---- sweep_job.c ---- */
/* The jobs of a unit; the caller frees with ts_job_free; sources are borrowed. */
struct job_sources {
    const char *digests[2], *texts[2];
    size_t count;
};
/* The part that all have: the code. */
void ts_sweep_begin_job(struct sweep *s, const struct unit *unit, enum ts_job_verb verb,
                        struct ts_job *job, struct job_sources *sources);
int ts_sweep_prove_job(struct sweep *s, const struct unit *unit, struct ts_job *job,
                       struct job_sources *sources, struct ts_err *err);
int ts_sweep_time_job(struct sweep *s, size_t row, struct ts_job *job, struct job_sources *sources,
                      struct ts_err *err);

/* ---- sweep_work.c: what both phases do with a reply ---- */
/* The workers that serve a spec's configurations (or, by its row, a row's). */
struct team *ts_sweep_team(struct sweep *s, size_t space);
struct team *ts_sweep_team_of_row(struct sweep *s, size_t row);
/* Hires when there is no idle timing worker. -1 with err when workers cannot be had. */
int ts_sweep_need_seat(struct team *team, struct ts_err *err);
/* The next visits are made by fresh processes. */
void ts_sweep_change_workers(struct sweep *s);
/* The same, if the timing worker has served long enough for a process to cost little beside it. The
 * more processes, the better `compare` knows what differs between them. */
void ts_sweep_renew_workers(struct sweep *s);
/* The facts of a `done` line into a row; first: the first at this size. */
void ts_sweep_merge(struct ts_row *row, const cJSON *line, bool timed_size);
/* Sets status and reason of a row from a reply that is not ok; false when it is ok. */
bool ts_sweep_take_failure(struct ts_row *row, const struct ts_reply *reply);
/* Was the job lost with the launcher or before the worker had its device? That is nobody's fault
 * and no row's end: the job is done again. */
bool ts_sweep_is_unanswered(const struct ts_reply *reply);
void ts_sweep_take_talk(struct ts_row *row, const char *talk);
/* Books what a job was busy with. */
void ts_sweep_book(struct phase_time *phase, const struct ts_reply *reply);
cJSON *ts_sweep_spent_to_json(const struct sweep *s);
/* Counts workers that were lost at once; -1 with err when no worker can be kept. */
int ts_sweep_count_lost(struct sweep *s, const struct ts_reply *reply, struct ts_err *err);

/* ---- sweep_entry.c: what is visited in one go ---- */
/* A row, or both sides of a configuration. */
struct entry {
    size_t rows[2];
    size_t count;
};
/* Those of a case, *count of them; free(). */
struct entry *ts_sweep_entries(const struct sweep *s, const struct case_span *span, size_t *count);
/* The entry's rows that are timed; of a pair with a failed side, the other. Returns how many. */
size_t ts_sweep_live_rows(const struct sweep *s, const struct entry *entry, size_t live[2]);
/* What the entry has to show: of a row, its visits' times; of a pair, the ratio in each process,
 * the median over its pairs of visits, as compare takes it. *count of them; free(). */
double *ts_sweep_evidence(const struct sweep *s, const struct entry *entry, size_t *count);
/* Does it want a visit in this round? */
bool ts_sweep_wants_visit(const struct sweep *s, const struct entry *entry, int round);
/* So many visits are a round over the entries. */
int64_t ts_sweep_visits_to_make(const struct sweep *s, const struct entry *entries, size_t count,
                                int round);

/* ---- sweep_calm.c: a visit is to find its processors free (struct ts_calm of the worker) ---- */
void ts_sweep_calm_begin(struct sweep *s, int64_t visits);
/* So long the next job may wait for that. */
int64_t ts_sweep_patience_ns(const struct sweep *s);
/* Books what a `visit` or a `sentinel` waited; dropped_ns: what it took besides, if it was thrown
 * away. */
void ts_sweep_book_wait(struct sweep *s, const cJSON *told, int64_t dropped_ns);

/* ---- sweep_visit.c ---- */
/* A visit asked for. */
struct visit {
    size_t row;
    int pair;         /* of `ab`, see struct ts_visit; -1: none */
    bool first, last; /* prove before, prove after */
    bool fresh;       /* part of the confirmation */
    bool no_samples;  /* only the proof after */
};
/* Makes the visit; its samples go to the row and the journal, a failure is the row's end. */
int ts_sweep_visit(struct sweep *s, const struct visit *visit, struct ts_err *err);

/* ---- sweep_sentinel.c ---- */
/* Looks at the device before the first of `visits` visits, and now and then between them (after
 * each of which, or each pair of which, watch is called). What was measured between two looks that
 * differ is taken back, so that it is measured again. */
int ts_sweep_watch_begin(struct sweep *s, int64_t visits, struct ts_err *err);
int ts_sweep_watch(struct sweep *s, const size_t *rows, size_t count, struct ts_err *err);
/* A look at the end of a case, so that every visit stands between two. again: there is a turn left
 * in which what is taken back can be made again; else it is kept and counted as disturbed. */
int ts_sweep_watch_settle(struct sweep *s, bool again, struct ts_err *err);
/* Visits that wait for a look, because the last ones were starved, stay: nobody makes them again.
 */
void ts_sweep_watch_believe(struct sweep *s);

/* ---- sweep_pool.c ---- */
/* What several workers do side by side with a list of units. */
struct pool_task {
    const char *phase; /* of the progress line */
    int (*make_job)(struct sweep *s, const struct unit *unit, struct ts_job *job,
                    struct job_sources *sources, struct ts_err *err);
    int (*decide)(struct sweep *s, const struct unit *unit, const struct ts_reply *reply,
                  struct ts_err *err); /* of an answer to it */
    struct phase_time *book;
    int64_t end_ns; /* CLOCK_MONOTONIC: what is in hand then is given up; INT64_MAX: never */
};
/* units: indices into s->units, handed out in order, to each team its own. -1 with err when no
 * worker can be kept. */
int ts_sweep_pool(struct sweep *s, const struct pool_task *task, const size_t *units, size_t count,
                  struct ts_err *err);

/* ---- phases. 0, or -1 with err; an interrupt is seen by ts_signal_pending ---- */
int ts_sweep_open_device(struct sweep *s, struct ts_err *err); /* facts, clock, peaks */
int ts_sweep_prove(struct sweep *s, struct ts_err *err);
int ts_sweep_time(struct sweep *s, struct ts_err *err);
/* Between rounds of visits. The best look counts: what else the machine did during one can only
 * have made it slower. One that fails leaves the ceilings as they are. */
int ts_sweep_peaks_again(struct sweep *s, struct ts_err *err);
int ts_sweep_digest(struct sweep *s, struct ts_err *err);

/* ---- sweep_options.c ---- */
/* --options-b as the results tell it, paths hidden with --anonymous; NULL: none; free() it. */
char *ts_sweep_options_b(const struct ts_sweep_options *o);
cJSON *ts_sweep_options_to_json(const struct ts_sweep_options *options, const struct sweep *s);
/* Adds what a resumed run was asked for, where the command line does not say. */
int ts_sweep_options_from_json(struct merged_options *merged, const cJSON *from,
                               struct ts_err *err);
void ts_sweep_options_free_read(struct merged_options *merged);

/* ---- sweep_print.c ---- */
/* A verdict per case of the run, in words, and what failed; verbose 1: all of it, and what was
 * skipped; 2: also what workers printed. */
void ts_sweep_print_verdicts(const struct ts_run *run, int verbose, struct ts_text *out);

#endif
