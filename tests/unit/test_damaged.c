/* test_damaged.c: every file of ours that can be read, damaged in every way that does not need
 * luck: cut, lengthened, with a key repeated, with brackets without end, with bytes that are no
 * text, with a newer schema. Each time the reader must refuse it with exit status 2, the file's
 * name and the place. Damage that needs luck is the fuzzers' (tests/fuzz). */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "choice.h"
#include "compare_private.h"
#include "file.h"
#include "spec.h"
#include "store.h"

/* A cut costs a reading of what is left: of larger files not every byte is tried. */
#define EVERY_BYTE 16384
#define EVERY_LOAD 4096 /* of files up to here, every cut goes through the whole reader */
#define LONG_STRIDE 1999

static char folder[] = "/dev/shm/ts-damaged-XXXXXX"; /* in memory: written 30,000 times */
static char *damaged;                                /* FOLDER/damaged.json */

static int load_spec(const char *path, struct ts_err *err)
{
    struct ts_spec *spec = ts_spec_load(path, err);
    ts_spec_free(spec);
    return spec ? 0 : -1;
}

static int load_results(const char *path, struct ts_err *err)
{
    struct ts_results results = {0};
    int result = ts_results_load(&results, path, err);
    ts_results_free(&results);
    return result;
}

static int load_journal(const char *path, struct ts_err *err)
{
    struct ts_results results = {0};
    int result = ts_journal_load(&results, path, err);
    ts_results_free(&results);
    return result;
}

/* --deployed FILE */
static int load_deployed(const char *path, struct ts_err *err)
{
    struct ts_deployed *items;
    size_t count;
    int result = ts_deployed_load(&items, &count, path, err);
    ts_deployed_free(items, count);
    return result;
}

/* --waivers FILE */
static int load_waivers(const char *path, struct ts_err *err)
{
    struct ts_waiver *waivers;
    size_t count;
    int result = ts_waivers_load(&waivers, &count, path, err);
    ts_waivers_free(waivers, count);
    return result;
}

/* --rows FILE */
static int load_rows(const char *path, struct ts_err *err)
{
    struct ts_row_filter *filter = ts_row_filter_load(path, NULL, err);
    ts_row_filter_free(filter);
    return filter ? 0 : -1;
}

/* compare FILE FILE */
static int load_compare(const char *path, struct ts_err *err)
{
    char *files[] = {ts_strdup(path)};
    const struct ts_compare_options options = {
        .files = {files, files}, .file_count = {1, 1}, .threshold = 0.05, .fdr = 0.05};
    struct ts_compare *compare = ts_compare_open(&options, err);
    ts_compare_free(compare);
    free(files[0]);
    return compare ? 0 : -1;
}

/* compare --history FILE FILE */
static int load_history(const char *path, struct ts_err *err)
{
    char *file = ts_strdup(path), *files[] = {file, file};
    const struct ts_compare_options options = {
        .files = {files}, .file_count = {2}, .threshold = 0.05, .fdr = 0.05};
    struct ts_history *history = ts_history_open(&options, err);
    ts_history_free(history);
    free(file);
    return history ? 0 : -1;
}

/* export merge FILE */
static int load_merge(const char *path, struct ts_err *err)
{
    char *files[] = {ts_strdup(path)};
    struct ts_text document = {0}, notes = {0};
    int result = ts_results_merge(files, 1, &document, &notes, err);
    ts_text_free(&document);
    ts_text_free(&notes);
    free(files[0]);
    return result;
}

typedef int (*load_fn)(const char *path, struct ts_err *err);

/* A file of ours. */
struct original {
    char *path;
    load_fn load;
    char *text;
    size_t length;
};

static struct {
    struct original items[64];
    size_t count;
} originals;

static void add_original(char *path, load_fn load)
{
    struct ts_err err = {0};
    struct original *o = &originals.items[originals.count++];
    assert_in_range(originals.count, 1, TS_COUNT(originals.items));
    *o = (struct original){.path = path, .load = load};
    o->text = ts_file_read(path, &o->length, &err);
    if (!o->text || load(path, &err) != 0)
        fail_msg("%s", err.text);
}

static void add_folder(const char *name, load_fn load)
{
    char *path = ts_path_join(TS_SOURCE_ROOT, name);
    DIR *dir = opendir(path);
    if (!dir)
        fail_msg("%s: cannot open", path);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".json") == 0)
            add_original(ts_path_join(path, entry->d_name), load);
    }
    closedir(dir);
    free(path);
}

/* The journal that a run with these results would have left. */
static void add_journal(const char *results_path, const char *name)
{
    struct ts_err err = {0};
    struct ts_results results = {0};
    char *from = ts_path_join(TS_SOURCE_ROOT, results_path), *path = ts_path_join(folder, name);
    if (ts_results_load(&results, from, &err) != 0)
        fail_msg("%s", err.text);
    struct ts_journal *journal = ts_journal_open(path, false, &err);
    if (!journal || ts_journal_copy(journal, &results.runs[0], &err) != 0 ||
        ts_journal_end(journal, &results.runs[0], &err) != 0)
        fail_msg("%s", err.text);
    ts_journal_close(journal, false);
    add_original(ts_printf("%s.part", path), load_journal);
    ts_results_free(&results);
    free(from);
    free(path);
}

/* Files that other commands read, of the fuzzers' corpora: small, so that every byte is tried. */
static const struct {
    const char *path;
    load_fn load;
} corpus[] = {
    {"deployed/one", load_deployed},     {"deployed/two-any-size", load_deployed},
    {"deployed/results", load_deployed}, {"waivers/failed", load_waivers},
    {"rows/slower", load_rows},          {"rows/results", load_rows},
    {"compare/two-runs", load_compare},  {"compare/creep", load_history},
    {"compare/two-runs", load_merge},
};

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder) && !mkdtemp(strcpy(folder, "/tmp/ts-damaged-XXXXXX")))
        return -1;
    damaged = ts_path_join(folder, "damaged.json");
    add_folder("bench", load_spec);
    add_folder("tests/data/specs/good", load_spec);
    add_folder("tests/data/results", load_results);
    for (size_t i = 0; i < TS_COUNT(corpus); i++)
        add_original(ts_printf("%s/tests/fuzz/corpus/%s", TS_SOURCE_ROOT, corpus[i].path),
                     corpus[i].load);
    add_journal("tests/data/results/single.json", "single");
    add_journal("tests/data/results/one-by-n.json", "one-by-n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        if (originals.items[i].load == load_journal)
            unlink(originals.items[i].path);
        free(originals.items[i].path);
        free(originals.items[i].text);
    }
    unlink(damaged);
    free(damaged);
    return rmdir(folder);
}

/* ---- damage ---- */

/* "FILE:LINE:COLUMN: ..." */
static bool tells_place(const char *message, const char *file)
{
    size_t length = strlen(file);
    int line, column, end = 0;
    return strncmp(message, file, length) == 0 &&
           sscanf(message + length, ":%d:%d:%n", &line, &column, &end) == 2 && end > 0;
}

/* The gate refuses the text, which `what` tells in messages of this test. */
static void expect_refused(const struct original *o, const char *text, size_t length,
                           const char *what, size_t at)
{
    struct ts_err err = {0};
    cJSON *document = ts_json_parse(text, length, o->path, 1, &err);
    if (document)
        fail_msg("%s: %s at byte %zu: accepted", o->path, what, at);
    if (err.exit_status != TS_EXIT_USAGE || !tells_place(err.text, o->path))
        fail_msg("%s: %s at byte %zu: %s", o->path, what, at, err.text);
}

/* Into the damaged file; without the fsync of ts_file_write, which would take most of the time. */
static void spill(const char *text, size_t length)
{
    FILE *file = fopen(damaged, "wb");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0)
        fail_msg("%s: cannot write", damaged);
}

/* The same through the whole reader, from a file. */
static void expect_load_refused(const struct original *o, const char *text, size_t length,
                                const char *part)
{
    struct ts_err err = {0};
    spill(text, length);
    if (o->load(damaged, &err) == 0)
        fail_msg("%s: accepted, expected \"%s\"", o->path, part);
    if (err.exit_status != TS_EXIT_USAGE || !strstr(err.text, part) ||
        strncmp(err.text, damaged, strlen(damaged)) != 0)
        fail_msg("%s: \"%s\", expected \"%s\"", o->path, err.text, part);
}

static void expect_cut_refused(const struct original *o, size_t at)
{
    struct ts_err err = {0};
    spill(o->text, at);
    if (o->load(damaged, &err) == 0)
        fail_msg("%s: cut at byte %zu: accepted", o->path, at);
    if (err.exit_status != TS_EXIT_USAGE || !tells_place(err.text, damaged))
        fail_msg("%s: cut at byte %zu: %s", o->path, at, err.text);
}

/* text with `piece` at `at` and room for a newline; free() it. */
static char *with_piece(const struct original *o, size_t at, const char *piece, size_t length)
{
    char *text = ts_alloc(o->length + length + 2, 1);
    memcpy(text, o->text, at);
    memcpy(text + at, piece, length);
    memcpy(text + at + length, o->text + at, o->length - at);
    return text;
}

static size_t stride(const struct original *o)
{
    if (getenv("TILESWEEP_UNDER_VALGRIND"))
        return LONG_STRIDE;
    return o->length <= EVERY_BYTE ? 1 : LONG_STRIDE;
}

static size_t without_last_space(const struct original *o)
{
    size_t length = o->length;
    while (length > 0 && strchr(" \n", o->text[length - 1]))
        length--;
    return length;
}

static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        if (o->load == load_journal)
            continue;
        size_t whole = without_last_space(o);
        for (size_t at = 0; at < whole; at += stride(o)) {
            expect_refused(o, o->text, at, "cut", at);
            if (o->length <= EVERY_LOAD)
                expect_cut_refused(o, at);
        }
        expect_load_refused(o, o->text, whole / 2, ":");
        expect_load_refused(o, o->text, 0, ":1:1: expected a value, found end of text");
    }
}

/* A journal is cut by any kill: what is whole is read, and only the torn line is lost. */
static void test_cut_journal(void **state)
{
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        if (o->load != load_journal)
            continue;
        for (size_t at = 0; at < o->length; at += at % 64 ? 1 : 1 + stride(o)) {
            struct ts_err err = {0};
            spill(o->text, at);
            if (load_journal(damaged, &err) != 0)
                fail_msg("%s: cut at byte %zu: %s", o->path, at, err.text);
        }
    }
}

static void test_appended(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } tails[] = {{"x", 1}, {"{}", 2}, {"]", 1}, {",", 1}, {"\0", 1}, {"\xEF\xBB\xBF", 3}, {"1", 1}};
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        for (size_t k = 0; k < TS_COUNT(tails); k++) {
            if (o->load == load_journal && strcmp(tails[k].text, "{}") == 0)
                continue; /* a line of a kind that is not known: a later program's */
            char *text = with_piece(o, o->length, tails[k].text, tails[k].length);
            if (o->load == load_journal) /* without its newline it would be torn */
                text[o->length + tails[k].length] = '\n';
            expect_load_refused(o, text, o->length + tails[k].length + (o->load == load_journal),
                                ":");
            free(text);
        }
    }
}

/* Is the byte at `at` outside of strings? Updates *inside. */
static bool outside(const char *text, size_t at, bool *inside)
{
    if (text[at] == '"' && (at == 0 || text[at - 1] != '\\'))
        *inside = !*inside;
    return !*inside;
}

/* The first key of every object a second time. */
static void test_repeated_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        size_t tried = 0, most = o->length > 100000 ? 25 : 400;
        bool inside = false;
        for (size_t at = 0; at < o->length && tried < most && o->load != load_journal; at++) {
            if (!outside(o->text, at, &inside) || o->text[at] != '{')
                continue;
            const char *key = o->text + at + 1 + strspn(o->text + at + 1, " \n");
            if (*key != '"')
                continue; /* an empty object */
            char *piece = ts_printf("%.*s:0,", (int)(strcspn(key + 1, "\"") + 2), key);
            char *text = with_piece(o, at + 1, piece, strlen(piece));
            expect_refused(o, text, o->length + strlen(piece), "a key repeated", at);
            if (tried++ == 0)
                expect_load_refused(o, text, o->length + strlen(piece), "again");
            free(text);
            free(piece);
        }
        assert_true(tried > 0 || o->load == load_journal);
    }
}

static void test_brackets(void **state)
{
    char brackets[2001];
    (void)state;
    memset(brackets, '[', 2000);
    brackets[2000] = '\0';
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        bool inside = false;
        size_t tried = 0;
        for (size_t at = 0; at < o->length && tried < 50; at++) {
            if (!outside(o->text, at, &inside) || o->text[at] != ':')
                continue;
            char *text = with_piece(o, at + 1, brackets, 2000);
            expect_refused(o, text, o->length + 2000, "brackets", at);
            if (tried++ == 0)
                expect_load_refused(o, text, o->length + 2000, "at most 64 levels of nesting");
            free(text);
        }
        char *text = with_piece(o, 0, brackets, 2000);
        expect_load_refused(o, text, o->length + 2000, ":1:65: expected at most 64 levels");
        free(text);
    }
}

/* A zero byte and one that is no UTF-8, anywhere. */
static void test_no_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        for (size_t at = 0; at < without_last_space(o) && o->load != load_journal;
             at += stride(o) * 16) {
            static const char *const pieces[] = {"\0", "\xFF", "\x01", "\xED\xA0\x80"};
            for (size_t k = 0; k < TS_COUNT(pieces); k++) {
                size_t length = pieces[k][0] ? strlen(pieces[k]) : 1;
                char *text = with_piece(o, at, pieces[k], length);
                expect_refused(o, text, o->length + length, "no text", at);
                free(text);
            }
        }
    }
}

static void test_schema(void **state)
{
    static const struct {
        const char *version, *message;
    } cases[] = {
        {"/2\"", "newer"},
        {"/10\"", "newer"},
        {"/0\"", "expected \"tilesweep."},
        {"/-1\"", "expected"},
        {"/01\"", "expected"},
        {"\"", "expected"},
        {"/1.5\"", "expected"},
        {"/99999999999999999999\"", "newer"},
    };
    (void)state;
    for (size_t i = 0; i < originals.count; i++) {
        const struct original *o = &originals.items[i];
        const char *found = strstr(o->text, "/1\"");
        assert_non_null(found);
        size_t at = (size_t)(found - o->text);
        for (size_t k = 0; k < TS_COUNT(cases); k++) {
            char *text = ts_printf("%.*s%s%s", (int)at, o->text, cases[k].version, found + 3);
            expect_load_refused(o, text, strlen(text), cases[k].message);
            expect_load_refused(o, text, strlen(text),
                                o->load == load_journal ? "journal: " : "schema: ");
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),      cmocka_unit_test(test_cut_journal),
        cmocka_unit_test(test_appended), cmocka_unit_test(test_repeated_key),
        cmocka_unit_test(test_brackets), cmocka_unit_test(test_no_text),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
