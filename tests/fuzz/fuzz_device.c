/* fuzz_device.c: device facts and clock of an `open` reply, of a results file, of a journal. */
#include "device.h"
#include "fuzz.h"
#include "measure.h"
#include "metric.h"

#include <stdlib.h>
#include <string.h>

static char *print_device(const struct ts_device *device)
{
    cJSON *object = cJSON_CreateObject();
    ts_device_to_json(device, object);
    char *text = ts_json_print(object);
    cJSON_Delete(object);
    return text;
}

static void use_device(const struct ts_device *device)
{
    static const int64_t locals[][3] = {
        {1, 1, 1}, {64, 16, 1}, {INT64_MAX, INT64_MAX, 2}, {1024, 1, 1}};
    int64_t value;
    for (size_t i = 0; i < TS_COUNT(locals); i++) {
        struct ts_text why = {0};
        for (int dims = 1; dims <= 3; dims++) {
            why.length = 0;
            const char *code = ts_device_refuses(device, dims, locals[i], INT64_MAX, &why);
            TS_FUZZ_REQUIRE(!code || why.length > 0, "%s without a reason", code);
        }
        ts_text_free(&why);
    }
    TS_FUZZ_REQUIRE(ts_device_fact(device, "DEVICE_LOCAL_MEM_SIZE", &value) && value >= -1,
                    "LOCAL_MEM_SIZE is %lld", (long long)value);
    TS_FUZZ_REQUIRE(ts_device_local_memory_words(device), "no words");
}

static void try_device(const cJSON *document)
{
    struct ts_err err = {0};
    struct ts_device device, again;
    if (ts_device_from_json(&device, document, &err) != 0) {
        ts_fuzz_require_usage(&err, "");
        return;
    }
    use_device(&device);
    char *printed = print_device(&device);
    cJSON *parsed = ts_json_parse(printed, strlen(printed), "printed", 1, &err);
    TS_FUZZ_REQUIRE(parsed && ts_device_from_json(&again, parsed, &err) == 0, "%s", err.text);
    ts_fuzz_require_equal(printed, print_device(&again), "the device");
    cJSON_Delete(parsed);
    ts_device_free(&device);
    ts_device_free(&again);
}

static void try_clock(const cJSON *object)
{
    struct ts_clock clock, again;
    ts_clock_from_json(&clock, object);
    cJSON *first = ts_clock_to_json(&clock);
    ts_clock_from_json(&again, first);
    cJSON *second = ts_clock_to_json(&again);
    ts_fuzz_require_equal(ts_json_print(first), ts_json_print(second), "the clock");
    TS_FUZZ_REQUIRE(clock.tick_ns >= 0 && clock.floor_ns >= 0, "tick %lld ns, floor %lld ns",
                    (long long)clock.tick_ns, (long long)clock.floor_ns);
    cJSON_Delete(first);
    cJSON_Delete(second);
    ts_clock_free(&clock);
    ts_clock_free(&again);
}

static void try_peaks(const cJSON *object)
{
    struct ts_peaks peaks, again;
    ts_peaks_from_json(&peaks, object);
    cJSON *first = ts_peaks_to_json(&peaks);
    ts_peaks_from_json(&again, first);
    cJSON *second = ts_peaks_to_json(&again);
    ts_fuzz_require_equal(ts_json_print(first), ts_json_print(second), "the ceilings");
    cJSON_Delete(first);
    cJSON_Delete(second);
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    cJSON *document = ts_json_parse(text, length, "input", 1, &err);
    if (!document) {
        ts_fuzz_require_usage(&err, "input:");
        return;
    }
    try_device(document);
    try_clock(ts_json_get(document, "clock"));
    try_peaks(ts_json_get(document, "peaks"));
    cJSON_Delete(document);
}
