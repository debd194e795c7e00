/* fuzz_json.c: the gate. What passes is written in both ways and read again as the same. */
#include "fuzz.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static char *reread(char *text, char *(*print)(const cJSON *))
{
    struct ts_err err = {0};
    cJSON *again = ts_json_parse(text, strlen(text), "again", 1, &err);
    TS_FUZZ_REQUIRE(again, "what was written is refused: %s\n%s", err.text, text);
    char *printed = print(again);
    cJSON_Delete(again);
    return printed;
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    cJSON *document = ts_json_parse(text, length, "input", 1, &err);
    if (!document) {
        ts_fuzz_require_usage(&err, "input:");
        return;
    }
    char *line = ts_json_print(document), *pretty = ts_json_print_pretty(document);
    TS_FUZZ_REQUIRE(!strchr(line, '\n'), "a line with a line end");
    char *from_pretty = reread(pretty, ts_json_print);
    ts_fuzz_require_equal(ts_strdup(line), from_pretty, "the pretty document");
    char *from_line = reread(line, ts_json_print);
    ts_fuzz_require_equal(line, from_line, "the document");
    free(pretty);
    cJSON_Delete(document);

    char *clean = ts_utf8_clean(text, length, 0);
    char *twice = ts_utf8_clean(clean, strlen(clean), 0);
    ts_fuzz_require_equal(clean, twice, "clean text");
}
