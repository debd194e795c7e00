/* test_store.c: the results document and the journal: what is written is read back, torn and
 * damaged files, resume, locks. */
#define _GNU_SOURCE
#include "store.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "file.h"

static char folder[] = "/tmp/ts-store-XXXXXX";
static char *file, *part; /* FOLDER/r.json and its .part */

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    file = ts_path_join(folder, "r.json");
    part = ts_path_join(folder, "r.json.part");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(file);
    unlink(part);
    rmdir(folder);
    free(file);
    free(part);
    return 0;
}

/* ---- a run by hand ---- */

static void fill_header(struct ts_run *run, const char *id)
{
    run->id = ts_strdup(id);
    run->started = ts_strdup("2026-11-29T20:11:03Z");
    run->tool = cJSON_CreateObject();
    ts_json_add_string(run->tool, "version", "0.1.0");
    run->specs = cJSON_CreateArray();
    ts_json_add_string(ts_json_add_object(run->specs, NULL), "name", "laplacian");
    run->seed = 7;
    run->excluded = 12;
    run->peaks = (struct ts_peaks){2e10, 9e10, 5e10};
    run->clock =
        (struct ts_clock){.event = true, .tick_ns = 32, .floor_ns = 420, .host_ratio = 1.01};
    run->clock.warnings[0] = ts_strdup("a warning");
    run->clock.warning_count = 1;
    struct ts_device *device = &run->device;
    const struct {
        char **field;
        const char *text;
    } texts[] = {
        {&device->platform_name, "P"}, {&device->platform_version, "1.2"},
        {&device->name, "D \"x\""},    {&device->vendor, "V"},
        {&device->driver, "1"},        {&device->version, "OpenCL 1.2"},
        {&device->type, "cpu"},        {&device->extensions, ""},
        {&device->family, "D"},        {&device->id, "0123"},
    };
    for (size_t i = 0; i < TS_COUNT(texts); i++)
        *texts[i].field = ts_strdup(texts[i].text);
    for (size_t i = 0; i < TS_DEVICE_FIELD_COUNT; i++)
        device->number[i] = -1;
    device->number[TS_DEVICE_LOCAL_MEM_SIZE] = 49152;
}

static size_t add_row(struct ts_run *run, int64_t w, const char *variant, int64_t tx)
{
    size_t index = ts_run_add_row(run);
    struct ts_row *row = &run->rows[index];
    row->benchmark = ts_strdup("laplacian");
    ts_values_add(&row->size, "W", w);
    ts_values_add(&row->problem, "POINTS", 5);
    row->variant = ts_strdup(variant);
    row->staged = strcmp(variant, "local") == 0;
    row->baseline = !row->staged;
    ts_values_add(&row->params, "TX", tx);
    return index;
}

static void add_visit(struct ts_row *row, int64_t ns, bool fresh)
{
    const int64_t samples[] = {ns, ns + 1, ns + 2};
    if (fresh)
        ts_row_add_fresh_visit(row, samples, 3, 2);
    else
        ts_row_add_visit(row, samples, 3, 1);
}

/* Rows: 0 naive timed, 1 local timed and confirmed, 2 wrong, 3 proven only, 4 pending. */
static void fill_run(struct ts_run *run, const char *id)
{
    fill_header(run, id);
    static const struct {
        const char *variant;
        int64_t tx;
    } rows[] = {{"naive", 8}, {"local", 8}, {"local", 16}, {"local", 32}, {"local", 64}};
    for (size_t i = 0; i < TS_COUNT(rows); i++)
        add_row(run, 4096, rows[i].variant, rows[i].tx);
    ts_row_set_status(&run->rows[0], TS_OK, NULL, NULL);
    ts_row_set_status(&run->rows[1], TS_OK, NULL, NULL);
    ts_row_set_status(&run->rows[2], TS_WRONG, "mismatch", "at (3,17): got %d", 1);
    ts_row_set_status(&run->rows[3], TS_OK, NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        add_visit(&run->rows[i], 3000 - 1000 * (int64_t)i, false);
        add_visit(&run->rows[i], 3100 - 1000 * (int64_t)i, false);
        run->rows[i].time.first_ns = 99999;
    }
    add_visit(&run->rows[1], 2050, true);
}

/* ---- help ---- */

static char *slurp(const char *path)
{
    struct ts_err err = {0};
    size_t length;
    char *text = ts_file_read(path, &length, &err);
    if (!text)
        fail_msg("%s", err.text);
    return text;
}

static void spill(const char *path, const char *text)
{
    struct ts_err err = {0};
    if (ts_file_write(path, text, strlen(text), &err) != 0)
        fail_msg("%s", err.text);
}

static cJSON *print_parsed(const struct ts_results *results)
{
    struct ts_err err = {0};
    char *text = ts_results_print(results);
    cJSON *document = ts_json_parse(text, strlen(text), "printed", 1, &err);
    if (!document)
        fail_msg("%s", err.text);
    free(text);
    return document;
}

static const cJSON *run_of(const cJSON *document, int index)
{
    return cJSON_GetArrayItem(ts_json_get(document, "runs"), index);
}

static const cJSON *row_of(const cJSON *document, int index)
{
    return cJSON_GetArrayItem(ts_json_get(run_of(document, 0), "rows"), index);
}

static void expect_load_fault(const char *text, const char *message)
{
    struct ts_err err = {0};
    struct ts_results results = {0};
    spill(file, text);
    assert_int_equal(ts_results_load(&results, file, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    assert_memory_equal(err.text, file, strlen(file));
    assert_string_equal(err.text + strlen(file), message);
    assert_int_equal(results.run_count, 0);
}

static void expect_journal_fault(const char *text, const char *message)
{
    struct ts_err err = {0};
    struct ts_results results = {0};
    spill(part, text);
    assert_int_equal(ts_journal_load(&results, part, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    assert_memory_equal(err.text, part, strlen(part));
    assert_string_equal(err.text + strlen(part), message);
    assert_int_equal(results.run_count, 0);
}

static struct ts_journal *open_journal(bool append)
{
    struct ts_err err = {0};
    struct ts_journal *journal = ts_journal_open(file, append, &err);
    if (!journal)
        fail_msg("%s", err.text);
    return journal;
}

static void load_journal(struct ts_results *results)
{
    struct ts_err err = {0};
    if (ts_journal_load(results, part, &err) != 0)
        fail_msg("%s", err.text);
}

/* ---- the document ---- */

static void document_of_a_regular_end(void **state)
{
    (void)state;
    struct ts_results results = {0};
    struct ts_run *run = ts_results_add(&results);
    fill_run(run, "a");
    run->finished = ts_strdup("2026-11-29T20:14:40Z");
    cJSON *document = print_parsed(&results);
    assert_string_equal(ts_json_string(document, "schema", ""), "tilesweep.results/1");
    const cJSON *counts = ts_json_get(run_of(document, 0), "counts");
    assert_int_equal(ts_json_int(counts, "ok", -1), 2);
    assert_int_equal(ts_json_int(counts, "wrong", -1), 1);
    assert_int_equal(ts_json_int(counts, "skipped", -1), 2);
    assert_int_equal(ts_json_int(counts, "excluded", -1), 12);
    assert_null(ts_json_get(counts, "timeout"));
    assert_string_equal(ts_json_string(row_of(document, 4), "status", ""), "skipped");
    const cJSON *reason = ts_json_get(row_of(document, 4), "reason");
    assert_string_equal(ts_json_string(reason, "code", ""), "budget");
    assert_string_equal(ts_json_string(reason, "text", ""), "not reached within the budget");
    reason = ts_json_get(row_of(document, 3), "reason");
    assert_string_equal(ts_json_string(reason, "text", ""),
                        "proven right on the check sizes, not timed within the budget");
    const cJSON *verdicts = ts_json_get(run_of(document, 0), "verdicts");
    assert_int_equal(cJSON_GetArraySize(verdicts), 1);
    assert_string_equal(ts_json_string(verdicts->child, "pays", ""), "yes");
    assert_int_equal(run->rows[4].status, TS_PENDING); /* the run itself is not touched */
    cJSON_Delete(document);
    ts_results_free(&results);
}

static void document_of_an_interrupted_run(void **state)
{
    (void)state;
    struct ts_results results = {0};
    struct ts_run *run = ts_results_add(&results);
    fill_run(run, "a");
    run->finished = ts_strdup("2026-11-29T20:14:40Z");
    run->interrupted = true;
    cJSON *document = print_parsed(&results);
    assert_true(ts_json_bool(run_of(document, 0), "interrupted", false));
    assert_int_equal(cJSON_GetArraySize(ts_json_get(run_of(document, 0), "rows")), 4);
    assert_string_equal(ts_json_string(row_of(document, 3), "status", ""), "ok");
    assert_true(cJSON_IsNull(ts_json_get(row_of(document, 3), "time")));
    assert_int_equal(ts_json_int(ts_json_get(run_of(document, 0), "counts"), "ok", -1), 3);
    cJSON_Delete(document);
    ts_results_free(&results);
}

static void one_verdict_a_case(void **state)
{
    (void)state;
    struct ts_results results = {0};
    struct ts_run *run = ts_results_add(&results);
    fill_header(run, "a");
    run->finished = ts_strdup("2026-11-29T20:14:40Z");
    for (int64_t i = 0; i < 6; i++) {
        size_t row = add_row(run, 100 + i % 2, i < 2 ? "naive" : "local", i);
        ts_row_set_status(&run->rows[row], TS_OK, NULL, NULL);
        add_visit(&run->rows[row], 1000, false);
    }
    cJSON *document = print_parsed(&results);
    assert_int_equal(cJSON_GetArraySize(ts_json_get(run_of(document, 0), "verdicts")), 2);
    cJSON_Delete(document);
    ts_results_free(&results);
}

static void an_empty_document(void **state)
{
    (void)state;
    struct ts_results results = {0}, back = {0};
    struct ts_err err = {0};
    assert_int_equal(ts_results_save(&results, file, &err), 0);
    assert_int_equal(ts_results_load(&back, file, &err), 0);
    assert_int_equal(back.run_count, 0);
    ts_results_free(&results);
    ts_results_free(&back);
    ts_results_free(NULL);
    ts_run_free(NULL);
}

static void what_is_saved_is_loaded(void **state)
{
    (void)state;
    struct ts_results results = {0}, back = {0};
    struct ts_err err = {0};
    for (int i = 0; i < 2; i++) {
        struct ts_run *run = ts_results_add(&results);
        fill_run(run, i ? "b" : "a");
        run->finished = ts_strdup("2026-11-29T20:14:40Z");
        run->seed = i ? UINT64_MAX : 7;
    }
    assert_int_equal(ts_results_save(&results, file, &err), 0);
    if (ts_results_load(&back, file, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(back.run_count, 2);
    assert_true(back.runs[1].seed == UINT64_MAX);
    assert_int_equal(back.runs[0].excluded, 12);
    assert_int_equal(back.runs[0].row_count, 5);
    assert_int_equal(back.runs[0].rows[1].time.visit_count, 3);
    assert_int_equal(back.runs[0].rows[1].time.fresh_from, 2);
    assert_int_equal(back.runs[0].rows[2].status, TS_WRONG);
    assert_string_equal(back.runs[0].device.name, "D \"x\"");
    assert_int_equal(back.runs[0].clock.tick_ns, 32);
    char *once = slurp(file), *again = ts_results_print(&back);
    assert_memory_equal(once, again, strlen(again));
    free(once);
    free(again);
    ts_results_free(&results);
    ts_results_free(&back);
}

static void faults_of_a_document_name_their_place(void **state)
{
    (void)state;
    expect_load_fault("{\"schema\": \"tilesweep.results/2\", \"runs\": []}",
                      ": schema: tilesweep.results/2 is newer than this program understands (1)");
    expect_load_fault("{\"schema\": \"tilesweep.tuned/1\", \"runs\": []}",
                      ": schema: expected \"tilesweep.results/1\", got \"tilesweep.tuned/1\"");
    expect_load_fault("{\"schema\": \"tilesweep.results/1x\"}",
                      ": schema: expected \"tilesweep.results/1\", got \"tilesweep.results/1x\"");
    expect_load_fault("{}", ": schema: missing; expected \"tilesweep.results/1\"");
    expect_load_fault("[]", ": expected an object, got an empty list");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\"}", ": runs: missing; expected a list");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [3]}",
                      ": runs[0]: expected an object, got 3");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": 4}]}",
                      ": runs[0].id: expected a text, got 4");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
                      "\"started\": \"s\", \"specs\": {}}]}",
                      ": runs[0].specs: expected a list, got an object");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
                      "\"started\": \"s\", \"seed\": \"-1\"}]}",
                      ": runs[0].seed: expected a whole number from 0, got \"-1\"");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
                      "\"started\": \"s\"}]}",
                      ": runs[0].device: expected an object");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
                      "\"started\": \"s\", \"device\": {\"name\": \"d\"}}]}",
                      ": runs[0].rows: missing; expected a list");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
                      "\"started\": \"s\", \"device\": {\"name\": \"d\"}, \"rows\": [4]}]}",
                      ": runs[0].rows[0]: expected an object, got 4");
    expect_load_fault(
        "{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
        "\"started\": \"s\", \"device\": {\"name\": \"d\"}, \"rows\": ["
        "{\"benchmark\": \"b\", \"size\": {}, \"problem\": {}, \"variant\": \"v\","
        "\"params\": {}, \"status\": \"good\"}]}]}",
        ": runs[0].rows[0].status: expected ok, skipped, build-failed, launch-failed, "
        "wrong, timeout or crashed, got \"good\"");
    expect_load_fault("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\","
                      "\"started\": \"s\", \"device\": {\"name\": \"d\"}, \"rows\": ["
                      "{\"benchmark\": \"b\", \"size\": {}, \"problem\": {}, \"variant\": \"v\","
                      "\"params\": {}, \"status\": \"ok\", \"side\": \"c\"}]}]}",
                      ": runs[0].rows[0].side: expected \"a\" or \"b\", got \"c\"");
}

/* What a run's head says is of the type that the schema tells, or refused: never read as unknown.
 */
static void a_header_of_other_types_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *member, *message;
    } table[] = {
        {"\"interrupted\": 0", "interrupted: expected true or false, got 0"},
        {"\"clock\": []", "clock: expected an object, got an empty list"},
        {"\"clock\": {\"source\": \"sun\"}",
         "clock.source: expected \"event\" or \"host\", got \"sun\""},
        {"\"clock\": {\"tick_ns\": \"1\"}", "clock.tick_ns: expected a whole number, got \"1\""},
        {"\"clock\": {\"floor_ns\": -1}", "clock.floor_ns: expected at least 0, got -1"},
        {"\"clock\": {\"warnings\": [1]}", "clock.warnings[0]: expected a text, got 1"},
        {"\"peaks\": {\"copy_bytes_per_s\": \"fast\"}",
         "peaks.copy_bytes_per_s: expected a number, got \"fast\""},
        {"\"peaks\": {\"fma_flops_per_s\": -1}",
         "peaks.fma_flops_per_s: expected at least 0, got -1"},
        {"\"counts\": {\"excluded\": 1.5}", "counts.excluded: expected a whole number, got 1.5"},
        {"\"platform\": 1", "platform: expected an object, got 1"},
        {"\"platform\": {\"index\": -1}", "platform.index: expected at least 0, got -1"},
        {"\"drift\": {\"copy\": []}", "drift.copy: expected a number, got an empty list"},
        {"\"verdicts\": {}", "verdicts: expected a list, got an object"},
    };
    for (size_t i = 0; i < TS_COUNT(table); i++) {
        char *text =
            ts_printf("{\"schema\": \"tilesweep.results/1\", \"runs\": [{\"id\": \"a\", "
                      "\"started\": \"s\", \"device\": {\"name\": \"d\"}, %s, \"rows\": []}]}",
                      table[i].member);
        char *message = ts_printf(": runs[0].%s", table[i].message);
        expect_load_fault(text, message);
        free(text);
        free(message);
    }
}

static void cannot_save(void **state)
{
    (void)state;
    struct ts_results results = {0};
    struct ts_err err = {0};
    assert_int_equal(ts_results_save(&results, "/dev/full", &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
    assert_non_null(strstr(err.text, "/dev/full: cannot write"));
    ts_err_clear(&err);
    assert_null(ts_journal_open("/proc/nothing/r.json", false, &err));
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
}

/* ---- the sides of `ab` ---- */

/* Both sides of one configuration, B by workers of its own. */
static void fill_sides(struct ts_run *run, const char *id)
{
    fill_header(run, id);
    run->environment = cJSON_CreateObject();
    run->sides = cJSON_CreateObject();
    ts_json_add_string(ts_json_add_object(run->sides, "a"), "spec", "one.json");
    cJSON *b = ts_json_add_object(run->sides, "b");
    ts_json_add_string(b, "spec", "other.json");
    cJSON *measured = ts_json_add_object(b, "measured");
    ts_json_add_string(ts_json_add_object(measured, "environment"), "POCL_X", "1");
    for (int side = TS_AB_A; side <= TS_AB_B; side++) {
        size_t index = add_row(run, 4096, "naive", 8);
        struct ts_row *row = &run->rows[index];
        row->side = (enum ts_ab)side;
        ts_row_set_status(row, TS_OK, NULL, NULL);
        add_visit(row, 1000 * side, false);
        row->time.visits[0].pair = 3;
    }
}

static void expect_sides(const struct ts_run *run)
{
    assert_true(ts_run_has_sides(run));
    assert_int_equal(run->row_count, 2);
    assert_int_equal(run->rows[0].side, TS_AB_A);
    assert_int_equal(run->rows[1].side, TS_AB_B);
    assert_int_equal(run->rows[1].time.visit_count, 1);
    assert_int_equal(run->rows[1].time.visits[0].pair, 3);
    assert_int_equal(run->rows[1].time.visits[0].sample_ns[0], 2000);
}

static void sides_are_kept_apart(void **state)
{
    (void)state;
    struct ts_results results = {0}, back = {0};
    struct ts_err err = {0};
    fill_sides(ts_results_add(&results), "one");
    fill_run(ts_results_add(&results), "two"); /* of `run` */
    results.runs[0].finished = ts_strdup("2026-11-29T20:14:40Z");
    cJSON *document = print_parsed(&results);
    const cJSON *verdicts = ts_json_get(run_of(document, 0), "verdicts");
    assert_int_equal(cJSON_GetArraySize(verdicts), 2); /* one a side: they are not mixed */
    assert_string_equal(ts_json_string(cJSON_GetArrayItem(verdicts, 1), "side", ""), "b");
    assert_null(ts_json_get(row_of(document, 0), "pairs"));
    cJSON_Delete(document);
    assert_int_equal(ts_results_save(&results, file, &err), 0);
    assert_int_equal(ts_results_load(&back, file, &err), 0);
    expect_sides(&back.runs[0]);
    assert_false(ts_run_has_sides(&back.runs[1]));

    free(back.runs[0].rows[1].benchmark);
    back.runs[0].rows[1].benchmark = ts_strdup("other");
    assert_int_equal(ts_results_split(&back, &err), 0);
    assert_int_equal(back.run_count, 3);
    const struct ts_run *a = &back.runs[0], *b = &back.runs[1];
    assert_string_equal(a->device.name, "D \"x\", side a");
    assert_string_equal(b->device.name, "D \"x\", side b");
    assert_int_equal(b->row_count, 1);
    assert_int_equal(b->rows[0].side, TS_AB_NONE);
    assert_string_equal(b->rows[0].benchmark, "laplacian"); /* paired with A's */
    assert_int_equal(b->rows[0].time.visits[0].pair, 3);
    assert_string_equal(ts_json_string(b->environment, "POCL_X", ""), "1");
    assert_null(ts_json_string(a->environment, "POCL_X", NULL));
    assert_string_equal(ts_json_string(b->sides, "spec", ""), "other.json");
    assert_int_equal(back.runs[2].row_count, 4);
    ts_results_free(&results);
    ts_results_free(&back);
}

/* ---- the journal ---- */

/* Writes what fill_run made, in the order in which a sweep learns it. */
static void write_run(struct ts_journal *journal, const struct ts_run *run)
{
    struct ts_err err = {0};
    assert_int_equal(ts_journal_run(journal, run, &err), 0);
    for (size_t i = 0; i < run->row_count; i++)
        assert_int_equal(ts_journal_row(journal, &run->rows[i], &err), 0);
    for (size_t i = 0; i < run->row_count; i++) {
        struct ts_row view = run->rows[i];
        for (size_t v = 1; v <= run->rows[i].time.visit_count; v++) {
            view.time.visit_count = v;
            assert_int_equal(ts_journal_visit(journal, &view, &err), 0);
        }
    }
}

static void journal_is_read_back(void **state)
{
    (void)state;
    struct ts_results written = {0}, back = {0};
    struct ts_err err = {0};
    struct ts_journal *journal = open_journal(false);
    for (int i = 0; i < 2; i++) {
        struct ts_run *run = ts_results_add(&written);
        fill_run(run, i ? "b" : "a");
        run->finished = ts_strdup("2026-11-29T20:14:40Z");
        write_run(journal, run);
        run->peaks.copy_bytes_per_s += 1e9; /* by a later look */
        assert_int_equal(ts_journal_end(journal, run, &err), 0);
    }
    ts_journal_close(journal, false);
    load_journal(&back);
    assert_int_equal(back.run_count, 2);
    assert_int_equal(back.runs[0].row_count, 4); /* nothing is known of the pending one */
    assert_int_equal(back.runs[0].rows[1].time.visit_count, 3);
    assert_int_equal(back.runs[0].rows[1].time.fresh_from, 2);
    assert_int_equal(back.runs[0].rows[1].time.visits[2].worker, 2);
    assert_int_equal(back.runs[0].rows[1].time.first_ns, 99999);
    assert_string_equal(back.runs[1].finished, "2026-11-29T20:14:40Z");
    /* Apart from the pending row the document is the same. */
    for (size_t i = 0; i < 2; i++)
        ts_row_free(&written.runs[i].rows[--written.runs[i].row_count]);
    char *before = ts_results_print(&written), *after = ts_results_print(&back);
    assert_string_equal(before, after);
    free(before);
    free(after);
    ts_results_free(&written);
    ts_results_free(&back);
    assert_true(ts_file_exists(part));
    ts_journal_close(open_journal(true), true);
    assert_false(ts_file_exists(part));
    ts_journal_close(NULL, true);
}

/* Cut anywhere, the journal reads as its whole lines, and goes on from there. */
static void sides_that_are_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *told;
    } damages[] = {
        {"b", "7", "runs[0].sides.b: expected an object, got 7"},
        {"measured", "[1]", "runs[0].sides.b.measured: expected an object, got a list"},
        {"device", "7", "runs[0].sides.b.measured.device: expected an object, got 7"},
        {"id", "[]", "runs[0].sides.b.measured.id: expected a text, got an empty list"},
    };
    for (size_t i = 0; i < TS_COUNT(damages); i++) {
        struct ts_results results = {0};
        struct ts_err err = {0};
        struct ts_run *run = ts_results_add(&results);
        fill_sides(run, "one");
        cJSON *b = cJSON_GetObjectItemCaseSensitive(run->sides, "b"), *of = b;
        if (i == 0)
            of = run->sides;
        else if (i > 1)
            of = cJSON_GetObjectItemCaseSensitive(b, "measured");
        cJSON_DeleteItemFromObjectCaseSensitive(of, damages[i].key);
        ts_json_add_item(of, damages[i].key, cJSON_Parse(damages[i].value));
        assert_int_equal(ts_results_save(&results, file, &err), 0);
        ts_results_free(&results);
        assert_int_equal(ts_results_load(&results, file, &err), -1);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
        assert_non_null(strstr(err.text, damages[i].told));
    }
}

static void journal_of_two_sides(void **state)
{
    (void)state;
    struct ts_results written = {0}, back = {0};
    struct ts_run *run = ts_results_add(&written);
    struct ts_journal *journal = open_journal(false);
    fill_sides(run, "a");
    write_run(journal, run);
    ts_journal_close(journal, false);
    load_journal(&back);
    expect_sides(&back.runs[0]);
    ts_results_free(&written);
    ts_results_free(&back);
}

static void journal_torn_anywhere(void **state)
{
    (void)state;
    struct ts_results written = {0};
    struct ts_run *run = ts_results_add(&written);
    fill_run(run, "a");
    struct ts_journal *journal = open_journal(false);
    write_run(journal, run);
    ts_journal_close(journal, false);
    char *whole = slurp(part);
    size_t length = strlen(whole);
    for (size_t cut = length; cut > 0; cut -= cut > 40 ? 37 : 1) {
        struct ts_results torn = {0}, mended = {0};
        whole[cut] = '\0';
        spill(part, whole);
        load_journal(&torn);
        journal = open_journal(true);
        write_run(journal, run);
        ts_journal_close(journal, false);
        load_journal(&mended);
        assert_int_equal(mended.run_count, 1);
        assert_int_equal(mended.runs[0].row_count, 4);
        size_t visits = torn.run_count && torn.runs[0].row_count > 1
                            ? torn.runs[0].rows[1].time.visit_count
                            : 0;
        assert_int_equal(mended.runs[0].rows[1].time.visit_count, visits + 3);
        ts_results_free(&torn);
        ts_results_free(&mended);
    }
    free(whole);
    ts_results_free(&written);
}

static void an_empty_journal_holds_no_run(void **state)
{
    (void)state;
    struct ts_results back = {0};
    spill(part, "");
    load_journal(&back);
    assert_int_equal(back.run_count, 0);
    ts_results_free(&back);
}

static void a_later_row_replaces_and_keeps_visits(void **state)
{
    (void)state;
    struct ts_results written = {0}, back = {0};
    struct ts_err err = {0};
    struct ts_run *run = ts_results_add(&written);
    fill_run(run, "a");
    run->finished = ts_strdup("2026-11-29T20:14:40Z");
    struct ts_journal *journal = open_journal(false);
    write_run(journal, run);
    assert_int_equal(ts_journal_end(journal, run, &err), 0);
    ts_row_set_status(&run->rows[1], TS_WRONG, "unstable-result", "changed");
    assert_int_equal(ts_journal_row(journal, &run->rows[1], &err), 0);
    ts_journal_close(journal, false);
    load_journal(&back);
    assert_int_equal(back.runs[0].row_count, 4);
    assert_int_equal(back.runs[0].rows[1].status, TS_WRONG);
    assert_int_equal(back.runs[0].rows[1].time.visit_count, 3);
    assert_null(back.runs[0].finished); /* it went on after its end */
    ts_results_free(&written);
    ts_results_free(&back);
}

static void a_document_becomes_a_journal(void **state)
{
    (void)state;
    struct ts_results written = {0}, back = {0};
    struct ts_err err = {0};
    struct ts_run *run = ts_results_add(&written);
    fill_run(run, "a");
    ts_row_mark_disturbed(&run->rows[1], 1);
    struct ts_journal *journal = open_journal(false);
    assert_int_equal(ts_journal_copy(journal, run, &err), 0);
    ts_journal_close(journal, false);
    load_journal(&back);
    assert_int_equal(back.runs[0].row_count, 4);
    assert_int_equal(back.runs[0].rows[1].time.visit_count, 3);
    assert_int_equal(back.runs[0].rows[1].time.fresh_from, 2);
    assert_int_equal(back.runs[0].rows[0].time.disturbed, 0);
    assert_int_equal(back.runs[0].rows[1].time.disturbed, 1);
    ts_results_free(&written);
    ts_results_free(&back);
}

/* Kept by itself, by the look after it, and one that is taken back; a later line of the row keeps
 * what is known of its visits. */
static void disturbed_visits_are_read_back(void **state)
{
    (void)state;
    struct ts_results written = {0}, back = {0};
    struct ts_err err = {0};
    struct ts_run *run = ts_results_add(&written);
    fill_run(run, "a");
    struct ts_journal *journal = open_journal(false);
    write_run(journal, run);
    for (size_t i = 0; i < 2; i++) {
        struct ts_row *row = &run->rows[i];
        add_visit(row, 7000, true);
        ts_row_mark_disturbed(row, 1);
        assert_int_equal(ts_journal_visit(journal, row, &err), 0);
        ts_row_mark_disturbed(row, 1);
        assert_int_equal(ts_journal_disturb(journal, row, 1, &err), 0);
    }
    assert_int_equal(ts_journal_drop(journal, &run->rows[0], 1, &err), 0);
    assert_int_equal(ts_journal_row(journal, &run->rows[1], &err), 0);
    ts_journal_close(journal, false);
    load_journal(&back);
    const struct ts_time *dropped = &back.runs[0].rows[0].time, *kept = &back.runs[0].rows[1].time;
    assert_int_equal(dropped->disturbed, 1);
    assert_int_equal(kept->disturbed, 2);
    for (size_t v = 0; v < kept->visit_count; v++)
        assert_int_equal(kept->visits[v].disturbed, run->rows[1].time.visits[v].disturbed);
    char *text = ts_results_print(&back);
    assert_non_null(strstr(text, "\"drift\""));
    free(text);
    ts_results_free(&written);
    ts_results_free(&back);
}

static void many_rows_are_found_again(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    struct ts_results written = {0}, back = {0};
    struct ts_err err = {0};
    struct ts_run *run = ts_results_add(&written);
    fill_header(run, "a");
    struct ts_journal *journal = open_journal(false);
    assert_int_equal(ts_journal_run(journal, run, &err), 0);
    for (int64_t i = 0; i < ROWS; i++) {
        size_t added = add_row(run, i % 7, i % 2 ? "naive" : "local", i);
        struct ts_row *row = &run->rows[added];
        ts_row_set_status(row, TS_OK, NULL, NULL);
        assert_int_equal(ts_journal_row(journal, row, &err), 0);
    }
    for (size_t i = ROWS; i-- > 0;) {
        add_visit(&run->rows[i], 1000 + (int64_t)i, false);
        assert_int_equal(ts_journal_visit(journal, &run->rows[i], &err), 0);
    }
    ts_journal_close(journal, false);
    load_journal(&back);
    assert_int_equal(back.runs[0].row_count, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(back.runs[0].rows[i].time.visits[0].sample_ns[0], 1000 + i);
    ts_results_free(&written);
    ts_results_free(&back);
}

#define OPENING "{\"journal\":\"tilesweep.journal/1\"}\n"
#define RUN "{\"run\":{\"id\":\"a\",\"started\":\"s\",\"device\":{\"name\":\"d\"}}}\n"
#define KEY "\"benchmark\":\"b\",\"size\":{\"W\":1},\"problem\":{},\"variant\":\"v\",\"params\":{}"
#define ROW "{\"row\":{" KEY ",\"status\":\"ok\"}}\n"

static void faults_of_a_journal_name_their_line(void **state)
{
    (void)state;
    struct ts_results back = {0};
    spill(part, OPENING RUN ROW "{\"visit\":{" KEY ",\"sample_ns\":[5,6]}}\n"
                                "{\"later\":{}}\n{\"end\":{\"finished\":\"f\"}}\n{\"torn\":");
    load_journal(&back);
    assert_int_equal(back.runs[0].rows[0].time.visit_count, 1);
    assert_int_equal(back.runs[0].rows[0].time.disturbed, 0);
    assert_string_equal(back.runs[0].finished, "f");
    ts_results_free(&back);

    expect_journal_fault("{\"journal\":\"tilesweep.journal/2\"}\n",
                         ":1: journal: tilesweep.journal/2 is newer than this program understands "
                         "(1)");
    expect_journal_fault("{\"schema\":\"tilesweep.results/1\"}\n",
                         ":1: expected {\"journal\": \"tilesweep.journal/1\"}: not a journal");
    expect_journal_fault(OPENING "{\"run\":\n" RUN, ":2:8: expected a value, found end of text");
    expect_journal_fault(OPENING RUN "[]\n", ":3: expected an object, got an empty list");
    expect_journal_fault(OPENING ROW, ":2: row: stands before any run");
    expect_journal_fault(
        OPENING RUN "{\"row\":{" KEY ",\"status\":\"good\"}}\n",
        ":3: row.status: expected ok, skipped, build-failed, launch-failed, wrong, "
        "timeout or crashed, got \"good\"");
    expect_journal_fault(OPENING RUN "{\"row\":{" KEY ",\"status\":\"ok\",\"staged\":0}}\n",
                         ":3: row.staged: expected true or false, got 0");
    expect_journal_fault(OPENING RUN ROW "{\"visit\":{" KEY ",\"sample_ns\":[5],\"fresh\":1}}\n",
                         ":4: visit.fresh: expected true or false, got 1");
    expect_journal_fault(OPENING RUN ROW "{\"end\":{\"finished\":\"f\",\"interrupted\":\"no\"}}\n",
                         ":4: end.interrupted: expected true or false, got \"no\"");
    expect_journal_fault(OPENING RUN "{\"visit\":{" KEY ",\"sample_ns\":[5]}}\n",
                         ":3: visit: of a row that no line before it tells: b W=1 v");
    expect_journal_fault(OPENING RUN ROW "{\"visit\":{" KEY ",\"sample_ns\":[5,0]}}\n",
                         ":4: visit.sample_ns[1]: expected at least 1, got 0");
    expect_journal_fault(OPENING RUN ROW "{\"visit\":{" KEY "}}\n",
                         ":4: visit.sample_ns: missing; expected a list of at least one element");
    expect_journal_fault(OPENING RUN ROW "{\"visit\":{" KEY
                                         ",\"sample_ns\":[5],\"disturbed\":1}}\n",
                         ":4: visit.disturbed: expected true or false, got 1");
    expect_journal_fault(OPENING RUN ROW "{\"disturb\":{" KEY ",\"visits\":0}}\n",
                         ":4: disturb.visits: expected 1 to 2147483647, got 0");
    expect_journal_fault(OPENING RUN "{\"disturb\":{" KEY ",\"visits\":1}}\n",
                         ":3: disturb: of a row that no line before it tells: b W=1 v");
}

static void a_second_writer_is_refused(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ts_err err = {0};
        struct ts_journal *journal = ts_journal_open(file, false, &err);
        if (!journal || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause(); /* killed: its lock goes with it */
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    for (int append = 0; append < 2; append++) {
        struct ts_err err = {0};
        assert_null(ts_journal_open(file, append, &err));
        assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
        char *wanted = ts_printf("%s: process %ld is writing these results", part, (long)pid);
        assert_string_equal(err.text, wanted);
        free(wanted);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ts_journal_close(open_journal(true), true);
    close(ready[0]);
    close(ready[1]);
}

/* Lines put into a journal after its file was removed; a look at the name comes once a second. */
static void put_late(struct ts_journal *journal, const struct ts_row *row)
{
    struct ts_err err = {0};
    const struct timespec second = {1, 50000000};
    nanosleep(&second, NULL);
    assert_int_equal(ts_journal_row(journal, row, &err), 0);
}

static void a_removed_journal_is_written_again(void **state)
{
    (void)state;
    struct ts_run run = {0};
    struct ts_results results = {0};
    struct ts_err err = {0};
    fill_run(&run, "r1");
    struct ts_journal *journal = open_journal(false);
    write_run(journal, &run);
    char *before = slurp(part);
    assert_true(ts_journal_is_whole(journal));
    assert_int_equal(unlink(part), 0);
    assert_false(ts_journal_is_whole(journal));
    put_late(journal, &run.rows[0]);
    assert_true(ts_journal_is_whole(journal));
    char *after = slurp(part);
    assert_memory_equal(after, before, strlen(before));
    assert_true(strlen(after) > strlen(before));
    load_journal(&results);
    assert_int_equal(results.run_count, 1);

    /* Another run's file there meanwhile is left alone, and ours is not whole. */
    assert_int_equal(unlink(part), 0);
    spill(part, "{\"journal\":\"tilesweep.journal/1\"}\n");
    put_late(journal, &run.rows[0]);
    assert_false(ts_journal_is_whole(journal));
    char *other = slurp(part);
    assert_string_equal(other, "{\"journal\":\"tilesweep.journal/1\"}\n");
    assert_int_equal(ts_journal_row(journal, &run.rows[0], &err), 0);
    ts_journal_close(journal, false);
    ts_results_free(&results);
    ts_run_free(&run);
    free(before);
    free(after);
    free(other);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_results results = {0};
    struct ts_run *run = ts_results_add(&results);
    fill_run(run, "a");
    unlink(part);
    assert_int_equal(symlink("/dev/full", part), 0);
    assert_null(ts_journal_open(file, false, &err));
    assert_int_equal(err.exit_status, TS_EXIT_SYSTEM);
    assert_non_null(strstr(err.text, "r.json.part: cannot write: "));
    unlink(part);
    ts_results_free(&results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_of_a_regular_end),
        cmocka_unit_test(document_of_an_interrupted_run),
        cmocka_unit_test(one_verdict_a_case),
        cmocka_unit_test(an_empty_document),
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(faults_of_a_document_name_their_place),
        cmocka_unit_test(a_header_of_other_types_is_refused),
        cmocka_unit_test(cannot_save),
        cmocka_unit_test(sides_are_kept_apart),
        cmocka_unit_test(sides_that_are_damaged),
        cmocka_unit_test(journal_of_two_sides),
        cmocka_unit_test(journal_is_read_back),
        cmocka_unit_test(journal_torn_anywhere),
        cmocka_unit_test(an_empty_journal_holds_no_run),
        cmocka_unit_test(a_later_row_replaces_and_keeps_visits),
        cmocka_unit_test(a_document_becomes_a_journal),
        cmocka_unit_test(disturbed_visits_are_read_back),
        cmocka_unit_test(many_rows_are_found_again),
        cmocka_unit_test(faults_of_a_journal_name_their_line),
        cmocka_unit_test(a_second_writer_is_refused),
        cmocka_unit_test(a_removed_journal_is_written_again),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
