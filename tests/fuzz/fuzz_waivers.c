/* fuzz_waivers.c: a file of waivers, and what it accepts of a comparison of one row. */
#include "compare_private.h"
#include "fuzz.h"

#include <string.h>

/* A failure of the very row that the waiver names. */
static void apply(struct ts_waiver *waivers, size_t count, size_t which)
{
    struct ts_waiver *w = &waivers[which];
    const struct ts_row names = {.benchmark = w->benchmark,
                                 .variant = w->variant,
                                 .size = w->size,
                                 .problem = w->problem,
                                 .params = w->params};
    struct ts_run run = {.device = {.name = w->device ? w->device : w->benchmark}};
    struct ts_compare_device device = {.example = {&run, &run}};
    struct ts_compare_row row = {.names = &names, .outcome = TS_OUT_FAILED};
    struct ts_compare compare = {.waivers = waivers,
                                 .waiver_count = count,
                                 .devices = &device,
                                 .device_count = 1,
                                 .rows = &row,
                                 .row_count = 1};
    ts_waivers_apply(&compare, w->until);
    TS_FUZZ_REQUIRE(!w->expired, "expired on its last day");
    TS_FUZZ_REQUIRE(row.waiver || !(w->accepts & TS_FAIL_FAILED), "a waiver not for its own row");
    ts_waivers_apply(&compare, "9999-99-99");
    TS_FUZZ_REQUIRE(w->expired, "holds for ever");
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    struct ts_waiver *waivers;
    size_t count;
    const char *path = ts_fuzz_file("waivers.json", text, length);
    if (ts_waivers_load(&waivers, &count, path, &err) != 0) {
        ts_fuzz_require_usage(&err, path);
        ts_waivers_free(waivers, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct ts_text key = {0};
        ts_waiver_key(&waivers[i], &key);
        TS_FUZZ_REQUIRE(waivers[i].ceiling > 1.0 && waivers[i].accepts, "accepts nothing");
        apply(waivers, count, i);
        ts_text_free(&key);
    }
    ts_waivers_free(waivers, count);
}
