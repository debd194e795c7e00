/* fuzz_axis.c: what is typed: the input is tried as -s, --size, a duration and a whole number. */
#include "cli.h"
#include "fuzz.h"
#include "place.h"
#include "spec.h"

#include <string.h>

static void try_axis(const char *text)
{
    struct ts_axis axis = {0};
    struct ts_err err = {0};
    if (ts_axis_parse(&axis, text, &err) != 0) {
        ts_fuzz_require_usage(&err, "");
        return;
    }
    TS_FUZZ_REQUIRE(ts_is_name(axis.name), "\"%s\" is no name", axis.name);
    TS_FUZZ_REQUIRE(axis.count >= 1 && axis.count <= 10000, "%zu values", axis.count);
    TS_FUZZ_REQUIRE(axis.words ? !axis.numbers : !axis.texts, "numbers and words");
    for (size_t i = 0; i < axis.count; i++)
        if (axis.words)
            TS_FUZZ_REQUIRE(ts_is_name(axis.texts[i]), "\"%s\" is no name", axis.texts[i]);
        else if (i > 0)
            TS_FUZZ_REQUIRE(axis.numbers[i] != axis.numbers[i - 1], "a value twice");
    ts_axis_free(&axis);
}

static void try_size(const char *text)
{
    struct ts_values size = {0};
    struct ts_err err = {0};
    if (ts_size_parse(&size, text, &err) != 0) {
        ts_fuzz_require_usage(&err, "");
        return;
    }
    TS_FUZZ_REQUIRE(size.count >= 1, "a size of nothing");
    for (size_t i = 0; i < size.count; i++) {
        TS_FUZZ_REQUIRE(size.items[i].number >= 1, "a size below 1");
        TS_FUZZ_REQUIRE(ts_values_find(&size, size.items[i].name) == &size.items[i],
                        "a name twice");
    }
    ts_values_free(&size);
}

static void try_numbers(const char *text)
{
    struct ts_err err = {0};
    int64_t value;
    if (ts_duration_parse(text, &value, &err) != 0)
        ts_fuzz_require_usage(&err, "");
    else
        TS_FUZZ_REQUIRE(value >= 0, "a negative duration");
    ts_err_clear(&err);
    if (ts_whole_parse(text, -5, 1000, &value, &err) != 0)
        ts_fuzz_require_usage(&err, "");
    else
        TS_FUZZ_REQUIRE(value >= -5 && value <= 1000, "out of its range");
}

void ts_fuzz_one(const char *text, size_t length)
{
    if (memchr(text, '\0', length))
        return; /* no argument holds it */
    try_axis(text);
    try_size(text);
    try_numbers(text);
}
