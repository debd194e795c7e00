/* fuzz_compare.c: a results document, compared with itself or with another one, or as dated runs.
 * What is printed holds nothing that text from outside made. */
#include "compare.h"
#include "fuzz.h"
#include "store.h"
#include "trend.h"

#include <stdlib.h>
#include <string.h>

static void require_json(cJSON *document)
{
    struct ts_err err = {0};
    char *text = ts_json_print(document);
    cJSON *again = ts_json_parse(text, strlen(text), "printed", 1, &err);
    TS_FUZZ_REQUIRE(again, "%s\n%s", err.text, text);
    ts_fuzz_require_equal(text, ts_json_print(again), "the document");
    cJSON_Delete(document);
    cJSON_Delete(again);
}

/* No byte that may not be there, and no tag or attribute that text could have opened. */
static void require_xml(const char *xml)
{
    bool tag = false, quoted = false;
    for (const char *c = xml; *c; c++) {
        TS_FUZZ_REQUIRE((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t', "byte 0x%02X in XML",
                        (unsigned)*c);
        if (*c == '<' || *c == '>') {
            TS_FUZZ_REQUIRE(!quoted && tag == (*c == '>'), "%c out of place: %.80s", *c, c);
            tag = *c == '<';
        }
        if (*c == '"' && tag)
            quoted = !quoted;
    }
    TS_FUZZ_REQUIRE(!tag && !quoted, "an open tag at the end");
}

/* Every line is a command of ours: none that text began. */
static void require_commands(const char *text)
{
    static const char *const kinds[] = {"::error title=", "::warning title=", "::notice title="};
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        bool known = false;
        for (size_t i = 0; i < TS_COUNT(kinds); i++)
            known |= strncmp(line, kinds[i], strlen(kinds[i])) == 0;
        TS_FUZZ_REQUIRE(known, "no command: %.80s", line);
        TS_FUZZ_REQUIRE(strchr(line, '\n'), "the last line does not end");
    }
}

static void require_no_controls(const char *text)
{
    for (const char *c = text; *c; c++)
        TS_FUZZ_REQUIRE((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t',
                        "byte 0x%02X in text", (unsigned)*c);
}

/* One form an input, for speed. */
static void print(const struct ts_compare *compare, size_t which)
{
    struct ts_text text = {0};
    switch (which % 4) {
    case 0:
        ts_compare_text(compare, true, false, &text);
        ts_compare_markdown(compare, false, &text);
        require_no_controls(text.text);
        break;
    case 1:
        ts_compare_junit(compare, &text);
        require_xml(text.text);
        break;
    case 2:
        ts_compare_github(compare, true, &text);
        require_commands(text.text);
        break;
    default:
        require_json(ts_compare_json(compare));
    }
    ts_text_free(&text);
}

static int compare(char *base, char *fresh, enum ts_gate gate, size_t which)
{
    struct ts_err err = {0};
    const struct ts_compare_options options = {.files = {&base, &fresh},
                                               .file_count = {1, 1},
                                               .gate = gate,
                                               .fail_on = TS_FAIL_SLOWER | TS_FAIL_FAILED |
                                                          TS_FAIL_VANISHED,
                                               .threshold = 0.05,
                                               .fdr = 0.05};
    struct ts_compare *compare = ts_compare_open(&options, &err);
    if (!compare) {
        ts_fuzz_require_usage(&err, "");
        return TS_EXIT_USAGE;
    }
    print(compare, which);
    int status = ts_compare_exit_status(compare);
    ts_compare_free(compare);
    return status;
}

static void history(char *path)
{
    char *files[] = {path, path};
    struct ts_err err = {0};
    struct ts_text text = {0};
    const struct ts_compare_options options = {
        .files = {files}, .file_count = {2}, .threshold = 0.05, .fdr = 0.05};
    struct ts_history *history = ts_history_open(&options, &err);
    if (!history) {
        ts_fuzz_require_usage(&err, "");
        return;
    }
    ts_history_text(history, &text);
    require_no_controls(text.text);
    require_json(ts_history_json(history));
    ts_text_free(&text);
    ts_history_free(history);
}

/* What an input is compared with when it is not compared with itself: rows to meet, to miss and to
 * fail, on the device of the corpus. */
static const char other[] = "{\"schema\":\"tilesweep.results/"
                            "1\",\"runs\":[{\"id\":\"o\",\"started\":\"2026-11-01T00:00:00Z\","
                            "\"device\":{\"name\":\"G\"},\"rows\":["
                            "{\"benchmark\":\"b\",\"size\":{\"W\":64},\"problem\":{\"P\":5},"
                            "\"variant\":\"naive\",\"baseline\":true,"
                            "\"params\":{\"TX\":8},\"status\":\"ok\",\"time\":{\"clock\":\"event\","
                            "\"visits\":[[900,910],[905,902]]}},"
                            "{\"benchmark\":\"b\",\"size\":{\"W\":64},\"problem\":{\"P\":5},"
                            "\"variant\":\"naive\",\"baseline\":true,"
                            "\"params\":{\"TX\":16},\"status\":\"wrong\",\"reason\":{\"code\":"
                            "\"mismatch\",\"text\":\"t\"}},"
                            "{\"benchmark\":\"b\",\"size\":{\"W\":64},\"problem\":{\"P\":5},"
                            "\"variant\":\"local\",\"staged\":true,"
                            "\"params\":{\"TX\":32},\"status\":\"ok\",\"time\":{\"clock\":"
                            "\"event\",\"visits\":[[800],[810]]}}]}]}";

/* One question an input, for speed: several runs as dated ones, else against another document or
 * against itself. */
void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    struct ts_results results = {0};
    static char *base;
    if (!base)
        base = ts_strdup(ts_fuzz_file("base.json", other, strlen(other)));
    char *path = ts_strdup(ts_fuzz_file("r.json", text, length));
    if (ts_results_load(&results, path, &err) != 0)
        ts_fuzz_require_usage(&err, path);
    else if (2 * results.run_count >= TS_TREND_LEAST && length % 2 == 0)
        history(path);
    else if (length % 4 == 1)
        compare(base, path, TS_GATE_BEST, length / 4);
    else
        TS_FUZZ_REQUIRE(compare(path, path, TS_GATE_ALL, length / 4) != TS_EXIT_FINDING,
                        "a file got slower than itself");
    ts_results_free(&results);
    free(path);
}
