/* store.h: runs on disk: the results document, and the journal that a killed run leaves. Floor 2,
 * parent's side only.
 *
 * The document is written whole (temporary file, then rename). While a run is under way FILE.part
 * is its journal, one JSON object a line, each line written with one write(2), so a kill loses at
 * most the line in flight. Lines (docs/protocol.md shows one of each):
 *   {"journal":"tilesweep.journal/1","pid":4711}   first line, and again whenever a process goes on
 * with the file: pid is its writer's
 *   {"run":{...}}      a run begins: everything of contract.md's run but rows, verdicts, finished
 *   {"row":{...}}      a row that is final, or proven on the check sizes ("ok" without visits);
 *                      a later line with the same key replaces it, keeping visits
 *   {"visit":{"benchmark","size","problem","variant","params","sample_ns":[..],"worker":1,"batch":1,
 *             "first_ns":..,"fresh":false,"clock":"event"}}
 *                      (with "disturbed":true where it was kept all the same)
 *   {"drop":{.., "visits":1}}      the row's last visits are taken back
 *   {"disturb":{.., "visits":1}}   the row's last visits not yet known as disturbed are, and kept
 *   {"end":{"finished":"...","interrupted":false}}   the run is complete
 *                      (a row or visit after it: the run was resumed)
 * Rows and visits belong to the run told last; a run line with the id of an earlier one goes on
 * with that one. Reading accepts a torn last line (one without its newline: dropped); a fault in
 * any other line is exit status 2 naming it. */
#ifndef TS_STORE_H
#define TS_STORE_H

#include "device.h"
#include "measure.h"
#include "metric.h"
#include "row.h"
#include "sentinel.h"

#define TS_RESULTS_SCHEMA "tilesweep.results/" /* and its version */

/* One device measured once. Owns everything. */
struct ts_run {
    char *id, *started, *finished; /* finished NULL while under way */
    bool interrupted;
    cJSON *tool, *context, *host, *environment, *specs, *options; /* objects as in contract.md 6 */
    /* Of `ab`, else NULL: {"a": {"spec", "options"}, "b": {the same, "env", "worker", "measured"}}.
     * measured: what of the run's header is another thing for B, which has workers of its own. */
    cJSON *sides;
    /* Where the time of the last session went: {"prove": {"workers", "wall_ns", "build_ns",
     * "reference_ns", "prove_ns", "time_ns"}, "time": {the same}}; empty before its end. */
    cJSON *spent;
    uint64_t seed;
    struct ts_device device;
    struct ts_clock clock;
    struct ts_peaks peaks;
    struct ts_sentinel_series sentinel;
    int64_t excluded;
    struct ts_row *rows;
    size_t row_count, row_capacity;
};

void ts_run_free(struct ts_run *run); /* not the struct */
/* Adds an initialised row and returns its index; pointers to earlier rows may become stale. */
size_t ts_run_add_row(struct ts_run *run);

struct ts_results {
    struct ts_run *runs;
    size_t run_count, run_capacity;
};

void ts_results_free(struct ts_results *results);
/* Adds a zeroed run; pointers to earlier runs may become stale. */
struct ts_run *ts_results_add(struct ts_results *results);
/* A results document. Exit status 2 naming file and place (`FILE: runs[0].rows[3].status: ...`);
 * another or a newer schema is named. */
int ts_results_load(struct ts_results *results, const char *path, struct ts_err *err);
/* The same of a document in hand, whose name is path. */
int ts_results_read(struct ts_results *results, const char *path, const cJSON *document,
                    struct ts_err *err);
/* The document with verdicts and counts computed. Rows still pending are written as skipped, reason
 * "budget", when the run ended regularly, and left out when it was interrupted. Rows that are
 * proven but were never timed become skipped, too, when the run ended regularly, and stay "ok" with
 * time null when it was interrupted. free() it. */
char *ts_results_print(const struct ts_results *results);
/* Writes the document to path ("-": standard output). Exit status 4. */
int ts_results_save(const struct ts_results *results, const char *path, struct ts_err *err);

/* The runs of the files, as they stand (members that this program does not know, too), appended as
 * one document; what stands beside them, each key once, the earliest file's, others told in notes.
 * A run that is in two files is kept once, and told in notes, a line each; one whose contents
 * differ is exit status 2, as is a damaged file. */
int ts_results_merge(char *const *paths, size_t count, struct ts_text *document,
                     struct ts_text *notes, struct ts_err *err);
/* Has the run the two sides of `ab`? Whoever asks what is fastest must not mix them. */
bool ts_run_has_sides(const struct ts_run *run);
/* Takes a run of two sides apart into the two runs of one side that it stands for; the visits keep
 * their pairs' numbers. B's rows get A's benchmark name: they are paired by case and configuration.
 * run is freed; so are the halves on failure. Exit status 2 when what it says of a side is damaged.
 */
int ts_run_split(struct ts_run *run, struct ts_run half[2], struct ts_err *err);
/* Every run of two sides becomes two runs, its devices named "..., side a" and "..., side b". */
int ts_results_split(struct ts_results *results, struct ts_err *err);
/* "side a": what ts_results_split put behind the device's name; NULL: nothing. */
const char *ts_run_side_words(const struct ts_run *half);

struct ts_journal; /* opaque: an open FILE.part */

/* Creates PATH.part (truncating) or, append, opens it at its end, cutting a torn last line (created
 * when absent). Locks it: a second run with the same output refuses, naming the first's process
 * (exit status 4). What is written reaches the medium within a second of the next line. A file that
 * is removed while it is written is made again. */
struct ts_journal *ts_journal_open(const char *path, bool append, struct ts_err *err);
int ts_journal_run(struct ts_journal *journal, const struct ts_run *run, struct ts_err *err);
int ts_journal_row(struct ts_journal *journal, const struct ts_row *row, struct ts_err *err);
/* The row's last visit. */
int ts_journal_visit(struct ts_journal *journal, const struct ts_row *row, struct ts_err *err);
/* The row's last visits were taken back. */
int ts_journal_drop(struct ts_journal *journal, const struct ts_row *row, size_t visits,
                    struct ts_err *err);
/* So many more of the row's last visits are kept as disturbed. */
int ts_journal_disturb(struct ts_journal *journal, const struct ts_row *row, size_t visits,
                       struct ts_err *err);
int ts_journal_sentinel(struct ts_journal *journal, const struct ts_sentinel_point *point,
                        struct ts_err *err);
/* The run with all its rows and visits: a new journal that goes on with an old document. */
int ts_journal_copy(struct ts_journal *journal, const struct ts_run *run, struct ts_err *err);
int ts_journal_end(struct ts_journal *journal, const struct ts_run *run, struct ts_err *err);
/* remove_file: the document has been written, the journal is no longer needed. Accepts NULL. */
void ts_journal_close(struct ts_journal *journal, bool remove_file);
/* Is all that was put to be found under its name? Not when a write failed, or when somebody removed
 * the file and it could not be made again. */
bool ts_journal_is_whole(const struct ts_journal *journal);
/* Reads PATH.part back into runs with their rows and visits. Exit status 2. */
int ts_journal_load(struct ts_results *results, const char *part_path, struct ts_err *err);

#endif
