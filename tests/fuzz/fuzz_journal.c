/* fuzz_journal.c: a journal. What is accepted can be finished into a document and, written as a new
 * journal, be read again as the same. */
#include "fuzz.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

static void copy_run(const struct ts_run *run, struct ts_results *again)
{
    struct ts_err err = {0};
    static char *path; /* without .part */
    if (!path) {
        path = ts_strdup(ts_fuzz_file("copy.part", "", 0));
        path[strlen(path) - strlen(".part")] = '\0';
    }
    struct ts_journal *journal = ts_journal_open(path, false, &err);
    TS_FUZZ_REQUIRE(journal && ts_journal_copy(journal, run, &err) == 0, "%s", err.text);
    if (run->finished)
        TS_FUZZ_REQUIRE(ts_journal_end(journal, run, &err) == 0, "%s", err.text);
    ts_journal_close(journal, false);
    TS_FUZZ_REQUIRE(ts_journal_load(again, ts_fuzz_path("copy.part"), &err) == 0, "%s", err.text);
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    struct ts_results results = {0}, copied = {0}, read = {0};
    const char *path = ts_fuzz_file("j.part", text, length);
    if (ts_journal_load(&results, path, &err) != 0) {
        ts_fuzz_require_usage(&err, path);
        return;
    }
    for (size_t i = 0; i < results.run_count; i++)
        copy_run(&results.runs[i], &copied);
    char *printed = ts_results_print(&results);
    path = ts_fuzz_file("r.json", printed, strlen(printed));
    TS_FUZZ_REQUIRE(ts_results_load(&read, path, &err) == 0, "%s\n%s", err.text, printed);
    ts_fuzz_require_equal(ts_strdup(printed), ts_results_print(&read), "the document");
    ts_fuzz_require_equal(printed, ts_results_print(&copied), "the copied journal");
    ts_results_free(&results);
    ts_results_free(&copied);
    ts_results_free(&read);
}
