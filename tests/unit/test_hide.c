/* test_hide.c: paths and the host's name out of texts. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hide.h"

/* The digits of digests read #. */
static void expect_hidden(const char *text, const char *expected)
{
    char *hidden = ts_hide_text(text, "box"), *again = ts_hide_text(hidden, "box");

    assert_string_equal(hidden, again);
    for (char *at = strstr(hidden, "<path-"); at; at = strstr(at, "<path-")) {
        at += strlen("<path-");
        assert_int_equal(strspn(at, "0123456789abcdef"), 8);
        memset(at, '#', 8);
    }
    assert_string_equal(hidden, expected);
    free(hidden);
    free(again);
}

#define PATH "<path-########>"

static void hides_paths(void **state)
{
    (void)state;
    expect_hidden("/home/me/x.cl:3:5: error: \"/home/me/a b.h\"", PATH ":3:5: error: \"" PATH "\"");
    expect_hidden("-I/home/me/inc -I /opt/x -include /a,-isystem/b",
                  "-I" PATH " -I " PATH " -include " PATH ",-isystem" PATH);
    expect_hidden("-DHOME=/home/me -DNAME='/x y/z'", "-DHOME=" PATH " -DNAME='" PATH "'");
    expect_hidden("-I//home/me file:///home/me/x.cl #include </home/me/x.h>",
                  "-I" PATH " file:" PATH " #include <" PATH ">");
    expect_hidden("-I/home/my\\ dir -DX=1", "-I" PATH " -DX=1");
    setenv("HOME", "/home/a person", 1);
    expect_hidden("cannot open /home/a person/x.cl: no", "cannot open " PATH ": no");
}

/* Blanks belong to the folders that this process knows, and end all others. */
static void knows_folders(void **state)
{
    char folder[] = "/tmp/tilesweep hide-XXXXXX";
    (void)state;
    expect_hidden("/opt/big disk/x.cl: no", PATH " disk/x.cl: no");
    setenv("TILESWEEP_TEST", "/none:/opt/big disk/:rel a/tive", 1);
    expect_hidden("/opt/big disk/x.cl: no", PATH ": no");
    expect_hidden("-I//opt/big disk/inc -DX=/opt/big disk", "-I" PATH " -DX=" PATH);
    expect_hidden("/opt/big disks and more", PATH " and more");
    expect_hidden("/opt/big dis x", PATH " dis x");
    expect_hidden("see rel a/tive /none x", "see rel a/tive " PATH " x");
    unsetenv("TILESWEEP_TEST");
    assert_non_null(mkdtemp(folder));
    char *text = ts_printf("cannot open %s/sub/x.cl: no, %s", folder, folder);
    assert_int_equal(chdir(folder), 0);
    unsetenv("PWD");
    expect_hidden(text, "cannot open " PATH ": no, " PATH);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
    expect_hidden("/bin/sh x", PATH " x");
    free(text);
}

static void leaves_what_is_no_path(void **state)
{
    static const char *const texts[] = {
        "",
        "-DX=W/TX -DY=(a)/b",
        "x = a / b; // why\n/* because */ y",
        "../kernels/x.cl:3: error",
        "kernels/x.cl ./y.cl",
        "boxes toolbox box_2",
        "12 GB/s",
        "<b>x</b>",
        "see https://example.org/x",
    };
    (void)state;
    for (size_t i = 0; i < TS_COUNT(texts); i++)
        expect_hidden(texts[i], texts[i]);
}

static void hides_the_host(void **state)
{
    (void)state;
    expect_hidden("me@box: -DHOST=box box", "me@<host>: -DHOST=<host> <host>");
    char *whole = ts_hide_text("box.lab.org box, boxer", "box.lab.org");
    char *mark = ts_hide_text("/a path", "path"), *again = ts_hide_text(mark, "path");
    assert_string_equal(whole, "<host> <host>, boxer");
    assert_string_equal(mark, again);
    free(whole);
    free(mark);
    free(again);
    char *kept = ts_hide_text("box", NULL), *none = ts_hide_text("box", "");
    assert_string_equal(kept, "box");
    assert_string_equal(none, "box");
    free(kept);
    free(none);
}

static void tells_paths_apart(void **state)
{
    char *a = ts_hide_text("-I/home/me/one", NULL), *b = ts_hide_text("-I/home/me/two", NULL);
    (void)state;
    assert_string_not_equal(a, b);
    assert_true(ts_hide_is_hidden(a));
    assert_false(ts_hide_is_hidden("-Iinc"));
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_paths),
        cmocka_unit_test(knows_folders),
        cmocka_unit_test(leaves_what_is_no_path),
        cmocka_unit_test(hides_the_host),
        cmocka_unit_test(tells_paths_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
