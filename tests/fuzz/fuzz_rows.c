/* fuzz_rows.c: --rows FILE[:best|failed|suspects]: a comparison, or a results document, that names
 * configurations. */
#include "choice.h"
#include "fuzz.h"

#include <string.h>

static void choose(const char *path, const char *which)
{
    struct ts_err err = {0};
    struct ts_row_filter *filter = ts_row_filter_load(path, which, &err);
    size_t count;
    if (!filter) { /* "--rows FILE:..." of a choice that leaves nothing */
        ts_fuzz_require_usage(&err, "");
        TS_FUZZ_REQUIRE(strstr(err.text, path), "the file is not named: %s", err.text);
        return;
    }
    char **benchmarks = ts_row_filter_benchmarks(filter, &count);
    TS_FUZZ_REQUIRE(count > 0, "nothing was chosen, without a word");
    for (size_t i = 0; i < count; i++) {
        struct ts_selection selection = {0};
        ts_row_filter_select(filter, benchmarks[i], &selection);
        TS_FUZZ_REQUIRE(selection.size_count > 0, "a row without its size");
        ts_selection_clear(&selection);
    }
    ts_row_filter_free(filter);
}

void ts_fuzz_one(const char *text, size_t length)
{
    static const char *const which[] = {NULL, "best", "failed", "suspects"};
    const char *path = ts_fuzz_file("rows.json", text, length);
    choose(path, which[length % TS_COUNT(which)]); /* one an input, for speed */
}
