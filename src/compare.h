/* compare.h: did anything get slower? Pairs the rows of two sides of results files, judges every
 * pair, and says what decides the exit status. Floor 3. docs/comparing.md is the rule for users.
 *
 *     struct ts_compare *c = ts_compare_open(&options, err);
 *     ts_compare_text(c, ...) or ts_compare_json(c) or another of them
 *     status = ts_compare_exit_status(c);
 *     ts_compare_free(c); */
#ifndef TS_COMPARE_H
#define TS_COMPARE_H

#include "store.h"

enum ts_gate { TS_GATE_BEST, TS_GATE_DEPLOYED, TS_GATE_ALL };
extern const char *const ts_gate_names[3];

/* What can be made to fail; names as --fail-on takes them. */
enum ts_fail_on {
    TS_FAIL_SLOWER = 1 << 0,
    TS_FAIL_FAILED = 1 << 1,
    TS_FAIL_VANISHED = 1 << 2,
    TS_FAIL_INCONCLUSIVE = 1 << 3,
};
/* "slower,failed" into bits; exit status 2 naming the word that is none. */
int ts_fail_on_parse(const char *words, unsigned *bits, struct ts_err *err);

struct ts_compare_options {
    /* Results files of BASE and of NEW, at least one each; or of BASE one of `ab` alone, whose
     * sides are compared by pairs of visits. */
    char *const *files[2];
    size_t file_count[2];
    enum ts_gate gate;
    const char *deployed; /* file naming the deployed configurations; needed by TS_GATE_DEPLOYED */
    unsigned fail_on;     /* enum ts_fail_on */
    double threshold, fdr;
    double require_power; /* 0: not asked for */
    bool across_devices;
    const char *waivers; /* file; NULL */
};

struct ts_compare;

/* Loads and compares. NULL with exit status 2: a bad file, nothing in common. */
struct ts_compare *ts_compare_open(const struct ts_compare_options *options, struct ts_err *err);
/* Compares the sides of what `ab` measured; results are taken, also on failure; file: their name.
 */
struct ts_compare *ts_compare_open_ab(const struct ts_compare_options *options,
                                      struct ts_results *results, const char *file,
                                      struct ts_err *err);
void ts_compare_free(struct ts_compare *compare); /* accepts NULL */

/* TS_EXIT_OK or TS_EXIT_FINDING. */
int ts_compare_exit_status(const struct ts_compare *compare);

/* For people: worst first, at most 20 rows unless `all`; colour: with terminal escapes. */
void ts_compare_text(const struct ts_compare *compare, bool all, bool colour, struct ts_text *out);
/* For a comment in CI: GitHub's Markdown. */
void ts_compare_markdown(const struct ts_compare *compare, bool all, struct ts_text *out);
/* For Jenkins, GitLab and their like: JUnit's XML, every row a test case. */
void ts_compare_junit(const struct ts_compare *compare, struct ts_text *out);
/* For a step of GitHub Actions: workflow commands, worst first, at most the ten of a kind that
 * GitHub shows unless `all`, a summary last. */
void ts_compare_github(const struct ts_compare *compare, bool all, struct ts_text *out);
/* A tilesweep.compare/1 document (docs/compare.schema.json); cJSON_Delete it. */
cJSON *ts_compare_json(const struct ts_compare *compare);

/* ---- dated runs ---- */

struct ts_history; /* opaque */

/* Steps and slow creep over all runs of the files in options->files[0] (files[1] is not used), in
 * the order of their dates. NULL with exit status 2: a bad file, fewer than TS_TREND_LEAST runs of
 * every device. */
struct ts_history *ts_history_open(const struct ts_compare_options *options, struct ts_err *err);
void ts_history_free(struct ts_history *history); /* accepts NULL */
int ts_history_exit_status(const struct ts_history *history);
void ts_history_text(const struct ts_history *history, struct ts_text *out);
/* A tilesweep.history/1 document (docs/history.schema.json); cJSON_Delete it. */
cJSON *ts_history_json(const struct ts_history *history);

#endif
