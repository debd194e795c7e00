/* fuzz_deployed.c: --deployed FILE: a tuned file, or results, that names the gate's configurations.
 */
#include "compare_private.h"
#include "fuzz.h"

#include <string.h>

/* Each configuration names its own row, and at every size where the file tells none. */
static void require_names(const struct ts_deployed *d)
{
    char name[] = "W", nobody[] = "";
    struct ts_value size = {.name = name, .number = 1};
    struct ts_row row = {.benchmark = d->benchmark,
                         .variant = d->variant,
                         .size = d->size,
                         .problem = d->problem,
                         .params = d->params};

    TS_FUZZ_REQUIRE(d->benchmark && d->variant, "a configuration without a name");
    TS_FUZZ_REQUIRE(ts_deployed_names(d, &row), "not for its own row");
    if (d->any_size)
        row.size = (struct ts_values){.items = &size, .count = 1};
    TS_FUZZ_REQUIRE(ts_deployed_names(d, &row), "not for a size that it does not tell");
    row.benchmark = nobody;
    TS_FUZZ_REQUIRE(!d->benchmark[0] || !ts_deployed_names(d, &row), "for any benchmark");
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    struct ts_deployed *items;
    size_t count;
    const char *path = ts_fuzz_file("deployed.json", text, length);

    if (ts_deployed_load(&items, &count, path, &err) != 0) {
        ts_fuzz_require_usage(&err, path);
    } else {
        TS_FUZZ_REQUIRE(count > 0, "nothing is named, without a word");
        for (size_t i = 0; i < count; i++)
            require_names(&items[i]);
    }
    ts_deployed_free(items, count);
}
