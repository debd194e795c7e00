/* test_spec.c: spec files: what a good one becomes, and the exact message for every fault. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "job.h"
#include "reference_spec.h"

static char folder[] = "/tmp/tilesweep-spec-XXXXXX";

/* Every fault below is one replacement in this spec. */
static const char base[] =
    "{\n"
    "  \"schema\": \"tilesweep.spec/1\",\n"
    "  \"name\": \"try\",\n"
    "  \"sources\": [\"k.cl\"],\n"
    "  \"options\": \"-cl-std=CL1.2\",\n"
    "  \"reference\": \"laplacian\",\n"
    "  \"tolerance\": 4,\n"
    "  \"sizes\": [ {\"W\": 64, \"H\": 32} ],\n"
    "  \"check_sizes\": [ {\"W\": 5, \"H\": 7} ],\n"
    "  \"problem\": { \"POINTS\": [5, 9] },\n"
    "  \"params\": { \"TX\": [8, 16], \"TY\": [4], \"PAD\": [0, 1] },\n"
    "  \"quick_params\": { \"TX\": [8] },\n"
    "  \"where\": [ \"TX*TY <= 64\", \"PAD < 2\" ],\n"
    "  \"args\": [\n"
    "    {\"name\": \"src\", \"kind\": \"in\", \"type\": \"float\", \"shape\": [\"H\", \"W\"]},\n"
    "    {\"name\": \"dst\", \"kind\": \"out\", \"type\": \"float\", \"shape\": [\"H\", \"W\"]},\n"
    "    {\"name\": \"w\", \"kind\": \"scalar\", \"type\": \"int\", \"value\": \"W\"}\n"
    "  ],\n"
    "  \"variants\": [\n"
    "    {\"name\": \"naive\", \"kernel\": \"k_naive\", \"params\": [\"TX\", \"TY\"],\n"
    "     \"baseline\": true},\n"
    "    {\"name\": \"local\", \"kernel\": \"k_local\", \"params\": [\"TX\", \"TY\", \"PAD\"],\n"
    "     \"where\": [\"TX > 4\"], \"local_bytes\": \"(TX+PAD)*TY*4\"}\n"
    "  ],\n"
    "  \"global\": [\"round_up(W,TX)\", \"round_up(H,TY)\"],\n"
    "  \"local\": [\"TX\", \"TY\"],\n"
    "  \"work\": {\"elements\": \"W*H\"}\n"
    "}\n";

static void put(const char *path, const char *text)
{
    struct ts_err err = {0};
    if (ts_file_write(path, text, strlen(text), &err) != 0)
        fail_msg("%s", err.text);
}

/* base with the first `find` replaced; free() it. */
static char *patched(const char *find, const char *with)
{
    const char *at = strstr(base, find);
    if (!at)
        fail_msg("the base spec has no <%s>", find);
    return ts_printf("%.*s%s%s", (int)(at - base), base, with, at + strlen(find));
}

static struct ts_spec *load(const char *text, struct ts_err *err)
{
    put("x.json", text);
    return ts_spec_load("./x.json", err);
}

static struct ts_spec *load_good(const char *find, const char *with)
{
    struct ts_err err = {0};
    char *text = patched(find, with);
    struct ts_spec *spec = load(text, &err);
    if (!spec)
        fail_msg("<%s>: %s", with, err.text);
    free(text);
    return spec;
}

static void expect_fault(const char *find, const char *with, const char *message)
{
    struct ts_err err = {0};
    char *text = patched(find, with);
    struct ts_spec *spec = load(text, &err);
    if (spec)
        fail_msg("<%s> was accepted", with);
    char *whole = ts_printf("./x.json: %s", message);
    assert_string_equal(err.text, whole);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    free(whole);
    free(text);
}

/* ---- a good spec ---- */

static void test_good(void **state)
{
    (void)state;
    struct ts_spec *spec = load_good("\"try\"", "\"try\"");
    assert_string_equal(spec->path, "./x.json");
    assert_string_equal(spec->name, "try");
    assert_string_equal(spec->doc, "");
    assert_string_equal(spec->reference_name, "laplacian");
    assert_null(spec->reference_variant);
    assert_int_equal(spec->size_name_count, 2);
    assert_string_equal(spec->size_names[1], "H");
    assert_int_equal(ts_spec_timed(spec, true, NULL)->count, 1); /* the full ones */
    assert_int_equal(ts_values_number(&ts_spec_timed(spec, true, NULL)->items[0], "H", 0), 32);
    assert_ptr_equal(ts_spec_timed(spec, true, "gpu"), &spec->timed[TS_TIMED_FULL]);
    assert_int_equal(spec->quick_params[0].count, 1);
    assert_int_equal(spec->quick_params[2].count, 2); /* PAD is not restricted */
    assert_int_equal(spec->baseline, 0);
    assert_false(spec->iterated);
    assert_true(spec->tolerance > 3.9 && spec->tolerance < 4.1);
    ts_spec_free(spec);
}

static void test_variants(void **state)
{
    (void)state;
    struct ts_spec *spec = load_good("\"try\"", "\"try\"");
    const struct ts_variant *naive = &spec->variants[0], *local = &spec->variants[1];
    /* PAD < 2 does not concern a variant that has no PAD. */
    assert_int_equal(naive->where_count, 1);
    assert_int_equal(local->where_count, 3);
    assert_string_equal(ts_spec_place(spec, local->where[1]), "where[1]");
    assert_string_equal(ts_spec_place(spec, local->where[2]), "variants[1].where[0]");
    assert_null(naive->local_bytes);
    assert_string_equal(ts_expr_text(local->local_bytes), "(TX+PAD)*TY*4");
    assert_string_equal(local->options, "-cl-std=CL1.2");
    assert_int_equal(local->launch_count, 1);
    assert_string_equal(local->launches[0].kernel, "k_local");
    assert_int_equal(local->launches[0].arg_count, 3);
    assert_int_equal(local->launches[0].args[2], 2);
    assert_int_equal(local->launches[0].global.dims, 2);
    assert_string_equal(ts_expr_text(local->work.elements), "W*H");
    assert_null(local->work.flops);
    assert_true(ts_spec_has_axis(spec, "PAD"));
    assert_true(ts_spec_has_axis(spec, "POINTS"));
    assert_false(ts_spec_has_axis(spec, "W"));
    assert_true(ts_spec_has_variant(spec, "local"));
    assert_false(ts_spec_has_variant(spec, "loca"));
    ts_spec_free(spec);
}

static void test_overrides(void **state)
{
    (void)state;
    struct ts_spec *spec = load_good(
        "\"where\": [\"TX > 4\"], \"local_bytes\": \"(TX+PAD)*TY*4\"",
        "\"sources\": [\"other.cl\"], \"options\": \"\", \"global\": [\"W\"], \"local\": [1],"
        "\"args\": [\"dst\", \"src\", {\"name\": \"tile\", \"kind\": \"local\", \"bytes\": "
        "\"4*TX\"}],"
        "\"staged\": true, \"needs\": [\"cl_khr_fp16\"], \"work\": {\"flops\": \"2*W\"}");
    const struct ts_variant *naive = &spec->variants[0], *local = &spec->variants[1];
    assert_string_not_equal(naive->source.digest, local->source.digest);
    assert_non_null(strstr(local->source.text, "other"));
    assert_string_equal(local->options, "");
    assert_int_equal(local->launches[0].global.dims, 1);
    assert_int_equal(local->arg_count, 3);
    assert_string_equal(local->args[0].name, "dst");
    assert_int_equal(local->args[2].kind, TS_ARG_LOCAL);
    assert_string_equal(ts_expr_text(local->staged), "1");
    assert_int_equal(naive->need_count, 0);
    assert_int_equal(local->need_count, 1);
    assert_string_equal(local->needs[0], "cl_khr_fp16");
    assert_string_equal(ts_expr_text(local->work.elements), "W*H"); /* stays */
    assert_string_equal(ts_expr_text(local->work.flops), "2*W");
    ts_spec_free(spec);
}

static void test_launches(void **state)
{
    (void)state;
    struct ts_spec *spec =
        load_good("\"kernel\": \"k_local\"", "\"launches\": [{\"kernel\": \"one\"},"
                                             "{\"kernel\": \"two\", \"global\": [\"W*H\"],"
                                             "\"local\": [\"TX\"], \"args\": [\"w\", \"dst\"]}]");
    const struct ts_variant *local = &spec->variants[1];
    assert_int_equal(local->launch_count, 2);
    assert_int_equal(local->launches[0].global.dims, 2);
    assert_int_equal(local->launches[0].arg_count, 3);
    assert_int_equal(local->launches[1].global.dims, 1);
    assert_int_equal(local->launches[1].arg_count, 2);
    assert_int_equal(local->launches[1].args[0], 2);
    ts_spec_free(spec);
}

static void test_launches_are_bounded(void **state)
{
    (void)state;
    struct ts_text chain = {0};
    ts_text_printf(&chain, "\"launches\": [{\"kernel\": \"one\"}");
    for (int i = 1; i < TS_LAUNCHES_MOST; i++)
        ts_text_printf(&chain, ", {\"kernel\": \"k%d\"}", i);
    ts_text_printf(&chain, "]");
    ts_spec_free(load_good("\"kernel\": \"k_local\"", chain.text));
    chain.text[strlen(chain.text) - 1] = '\0';
    char *longer = ts_printf("%s, {\"kernel\": \"more\"}]", chain.text);
    expect_fault("\"kernel\": \"k_local\"", longer,
                 "variants[1].launches: expected at most 1024 launches, got 1025");
    free(longer);
    ts_text_free(&chain);
}

static void test_words(void **state)
{
    (void)state;
    struct ts_spec *spec = load_good("{ \"POINTS\": [5, 9] }",
                                     "{ \"POINTS\": [5], \"REAL\": [\"float\", \"double\"] }");
    assert_true(spec->problem[1].words);
    assert_string_equal(spec->problem[1].texts[1], "double");
    ts_spec_free(spec);
    assert_int_equal(ts_type_bytes("float"), 4);
    assert_int_equal(ts_type_bytes("double4"), 32);
    assert_int_equal(ts_type_bytes("float3"), 16);
    assert_int_equal(ts_type_bytes("uchar16"), 16);
    assert_int_equal(ts_type_bytes("half"), 2);
    assert_int_equal(ts_type_bytes("float5"), 0);
    assert_int_equal(ts_type_bytes("floaty"), 0);
}

static void test_iterate(void **state)
{
    (void)state;
    struct ts_spec *spec = load_good(
        "\"work\": {", "\"iterate\": {\"swap\": [[\"src\", \"dst\"]], \"steps\": 2}, \"work\": {");
    assert_true(spec->iterated);
    assert_int_equal(spec->swap_count, 1);
    assert_string_equal(spec->swaps[0].b, "dst");
    assert_string_equal(ts_expr_text(spec->steps), "2");
    ts_spec_free(spec);
}

static void test_reference_by_variant(void **state)
{
    (void)state;
    struct ts_spec *spec = load_good("\"laplacian\"", "{\"variant\": \"naive\"}");
    assert_null(spec->reference_name);
    assert_string_equal(spec->reference_variant, "naive");
    ts_spec_free(spec);
}

static void test_fills(void **state)
{
    static const struct {
        const char *text;
        struct ts_fill fill;
    } cases[] = {
        {"\"random\"", {TS_FILL_RANDOM, 0, 1}}, {"{\"random\": [-1, 2]}", {TS_FILL_RANDOM, -1, 2}},
        {"\"zero\"", {TS_FILL_ZERO, 0, 1}},     {"\"index\"", {TS_FILL_INDEX, 0, 1}},
        {"0.5", {TS_FILL_NUMBER, 0.5, 1}},
    };
    (void)state;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        char *with = ts_printf("\"in\", \"fill\": %s", cases[i].text);
        struct ts_spec *spec = load_good("\"in\"", with);
        const struct ts_fill *fill = &spec->variants[0].args[0].fill;
        assert_int_equal(fill->kind, cases[i].fill.kind);
        assert_true(fill->low == cases[i].fill.low && fill->high == cases[i].fill.high);
        ts_spec_free(spec);
        free(with);
    }
}

/* ---- faults: one replacement, one exact message ---- */

struct fault {
    const char *find, *with, *message;
};

static const struct fault faults[] = {
    /* syntax, keys */
    {"tilesweep.spec/1", "tilesweep.spec/2",
     "schema: tilesweep.spec/2 is newer than this program understands (1)"},
    {"tilesweep.spec/1", "tilesweep.specs/1",
     "schema: expected \"tilesweep.spec/1\", got \"tilesweep.specs/1\""},
    {"\"schema\"", "\"shema\"", "shema: unknown key; did you mean \"schema\"?"},
    {"  \"schema\": \"tilesweep.spec/1\",\n", "", "schema: missing; expected \"tilesweep.spec/1\""},
    {"\"kernel\": \"k_local\"", "\"kernal\": \"k_local\"",
     "variants[1].kernal: unknown key; did you mean \"kernel\"?"},
    {"\"kernel\": \"k_local\"", "\"qqqqqq\": 1", "variants[1].qqqqqq: unknown key"},
    {"\"name\": \"try\"", "\"name\": \"a b\"",
     "name: expected letters, digits, '_', '-' and '.', got \"a b\""},
    {"\"name\": \"try\"", "\"name\": 3", "name: expected a text, got 3"},
    {"  \"name\": \"try\",\n", "", "name: missing; expected a text"},
    {"[\"k.cl\"]", "[]", "sources: expected a list of at least one element, got an empty list"},
    {"[\"k.cl\"]", "\"k.cl\"", "sources: expected a list of at least one element, got \"k.cl\""},
    {"\"tolerance\": 4", "\"tolerance\": -1", "tolerance: expected a number of at least 0, got -1"},
    {"\"tolerance\": 4", "\"tolerance\": \"4\"", "tolerance: expected a number, got \"4\""},
    /* reference */
    {"\"laplacian\"", "{\"file\": \"expected.npy\"}",
     "reference: kind \"file\" is not supported by this version; use the name of a built-in or "
     "{\"variant\": NAME}"},
    {"\"laplacian\"", "{\"library\": \"libmine.so\", \"symbol\": \"f\"}",
     "reference: kind \"library\" is not supported by this version; use the name of a built-in or "
     "{\"variant\": NAME}"},
    {"\"laplacian\"", "{\"varaint\": \"naive\"}",
     "reference.varaint: unknown key; did you mean \"variant\"?"},
    {"\"laplacian\"", "{\"variant\": \"nave\"}",
     "reference.variant: no variant \"nave\"; did you mean \"naive\"?"},
    {"\"laplacian\"", "3",
     "reference: expected the name of a built-in or {\"variant\": NAME}, got 3"},
    /* sizes */
    {"[ {\"W\": 64, \"H\": 32} ]", "[]",
     "sizes: expected a list of at least one element, got an empty list"},
    {"[ {\"W\": 64, \"H\": 32} ]", "[ {} ]", "sizes[0]: expected at least one name"},
    {"\"W\": 64", "\"W\": 64.5", "sizes[0].W: expected a whole number, got 64.5"},
    {"\"W\": 64", "\"W\": 0", "sizes[0].W: expected at least 1, got 0"},
    {"\"W\": 64", "\"DEVICE_W\": 64",
     "sizes[0].DEVICE_W: names that start with DEVICE_ are reserved"},
    {"\"W\": 64", "\"2W\": 64",
     "sizes[0].2W: expected a name made of letters, digits and _, not starting with a digit"},
    {"\"W\": 5, \"H\": 7", "\"W\": 5", "check_sizes[0]: \"H\" is missing; sizes[0] has W, H"},
    {"\"W\": 5, \"H\": 7", "\"W\": 5, \"HH\": 7",
     "check_sizes[0]: \"HH\" is no name of sizes[0], which has W, H"},
    {"\"W\": 64, \"H\": 32", "\"W\": 64",
     "check_sizes[0]: \"H\" is no name of sizes[0], which has W"},
    {"{\"W\": 64, \"H\": 32}", "{\"W\": 64}, {\"W\": 64, \"H\": 32}",
     "sizes[1]: \"H\" is no name of sizes[0], which has W"},
    {"{\"W\": 5, \"H\": 7}", "5", "check_sizes[0]: expected an object, got 5"},
    {"[ {\"W\": 5, \"H\": 7} ]", "[ {\"W\": 5, \"H\": 7}, {\"H\": 7, \"W\": 5} ]",
     "check_sizes[1]: the same as check_sizes[0]"},
    {"  \"check_sizes\": [ {\"W\": 5, \"H\": 7} ],\n", "",
     "check_sizes: missing; expected a list of at least one element"},
    /* axes */
    {"[8, 16]", "[8, 16.5]", "params.TX[1]: expected a whole number, got 16.5"},
    {"[8, 16]", "[8, \"a\"]", "params.TX[1]: expected a whole number, got \"a\""},
    {"[8, 16]", "[]", "params.TX: expected a list of at least one element, got an empty list"},
    {"[8, 16]", "8", "params.TX: expected a list of at least one element, got 8"},
    {"[8, 16]", "[8, 8]", "params.TX[1]: a value that the axis has already"},
    {"[8, 16]", "[true]", "params.TX[0]: expected a whole number, got true"},
    {"[5, 9]", "[\"float\", 9]", "problem.POINTS[1]: expected a name, as the others are, got 9"},
    {"[5, 9]", "[\"unsigned int\"]",
     "problem.POINTS[0]: expected a name made of letters, digits and _, got \"unsigned int\""},
    {"\"PAD\": [0, 1]", "\"W\": [0, 1]", "params.W: \"W\" is the name of a size already"},
    {"\"PAD\": [0, 1]", "\"POINTS\": [0, 1]",
     "params.POINTS: \"POINTS\" is the name of an axis already"},
    {"\"PAD\": [0, 1]", "\"VARIANT_x\": [0, 1]",
     "params.VARIANT_x: names that start with VARIANT_ are reserved"},
    {"{ \"TX\": [8] }", "{ \"TZ\": [8] }", "quick_params.TZ: unknown key; did you mean \"TX\"?"},
    {"{ \"TX\": [8] }", "{ \"TX\": [\"a\"] }",
     "quick_params.TX: expected whole numbers, as in params"},
    {"\"PAD\": [0, 1] }", "\"PAD\": [0, 1], \"FOO\": [1] }", "params.FOO: no variant lists it"},
    /* expressions */
    {"\"TX*TY <= 64\"", "\"TX*TZ <= 64\"",
     "where[0]: column 4: unknown name \"TZ\"; did you mean \"TX\"?"},
    {"\"TX*TY <= 64\"", "\"TX <= DEVICE_LOCAL_MEM_SIZ\"",
     "where[0]: column 7: unknown name \"DEVICE_LOCAL_MEM_SIZ\"; did you mean "
     "\"DEVICE_LOCAL_MEM_SIZE\"?"},
    {"\"TX*TY <= 64\"", "true", "where[0]: expected an expression or a whole number, got true"},
    {"[ \"TX*TY <= 64\", \"PAD < 2\" ]", "\"TX < 4\"", "where: expected a list, got \"TX < 4\""},
    {"\"(TX+PAD)*TY*4\"", "\"(TX+PADD)*TY*4\"",
     "variants[1].local_bytes: column 5: unknown name \"PADD\"; did you mean \"PAD\"?"},
    {"round_up(W,TX)", "round_up(W,PAD)",
     "global[0]: column 12: \"PAD\" is no parameter of variant \"naive\"; add it to the variant's "
     "params or override the expression there"},
    {"[\"H\", \"W\"]", "[\"H\", \"TX\"]",
     "args[0].shape[1]: column 1: a parameter never changes the case; only the shape of kind "
     "\"scratch\" may use one"},
    {"[\"H\", \"W\"]", "[\"H\", \"DEVICE_LOCAL_MEM_SIZE\"]",
     "args[0].shape[1]: column 1: a case is the same on every device"},
    /* args */
    {"\"kind\": \"in\"", "\"kind\": \"inn\"",
     "args[0].kind: unknown kind \"inn\"; expected in, out, inout, scratch, scalar or local"},
    {"\"type\": \"float\"", "\"type\": \"flaot\"",
     "args[0].type: unknown type \"flaot\"; did you mean \"float\"?"},
    {"\"type\": \"float\"", "\"type\": \"POINTS\"",
     "args[0].type: not all values of the axis \"POINTS\" are types"},
    {"\"kind\": \"in\"", "\"kind\": \"out\", \"fill\": \"zero\"",
     "args[0].fill: an argument of kind \"out\" has none"},
    {"\"value\": \"W\"", "\"value\": \"W\", \"shape\": [1]",
     "args[2].shape: an argument of kind \"scalar\" has none"},
    {"\"value\": \"W\"", "\"value\": 0.5",
     "args[2].value: expected a whole number, as the type is, got 0.5"},
    {", \"value\": \"W\"", "", "args[2].value: missing; expected an expression or a whole number"},
    {", \"shape\": [\"H\", \"W\"]", "",
     "args[0].shape: missing; expected a list of at least one element"},
    {"[\"H\", \"W\"]", "[1, 1, 1, 1, \"W\"]",
     "args[0].shape: expected at most 4 dimensions, got 5"},
    {"\"name\": \"dst\"", "\"name\": \"src\"", "args[1]: a second argument \"src\""},
    {"\"kind\": \"out\"", "\"kind\": \"in\"",
     "args: no argument of kind \"out\" or \"inout\": nothing to prove"},
    {"\"in\"", "\"in\", \"fill\": {\"file\": \"x.npy\"}",
     "args[0].fill: kind \"file\" is not supported by this version; use \"random\", \"zero\", "
     "\"index\" or a number"},
    {"\"in\"", "\"in\", \"fill\": \"radnom\"",
     "args[0].fill: unknown fill \"radnom\"; expected \"random\", {\"random\": [low, high]}, "
     "\"zero\", \"index\" or a number"},
    {"\"in\"", "\"in\", \"fill\": {\"random\": [1, 1]}",
     "args[0].fill.random: expected low below high"},
    {"\"in\"", "\"in\", \"fill\": true",
     "args[0].fill: expected \"random\", {\"random\": [low, high]}, \"zero\", \"index\" or a "
     "number, "
     "got true"},
    /* variants */
    {",\n     \"baseline\": true", "",
     "variants: no baseline; set \"baseline\": true in one variant"},
    {"\"where\": [\"TX > 4\"]", "\"baseline\": true",
     "variants[1].baseline: \"naive\" is the baseline already"},
    {"\"baseline\": true", "\"baseline\": 1",
     "variants[0].baseline: expected true or false, got 1"},
    {"\"name\": \"local\"", "\"name\": \"naive\"", "variants[1].name: a second variant \"naive\""},
    {"\"TX\", \"TY\", \"PAD\"]", "\"TX\", \"TY\", \"PAT\"]",
     "variants[1].params[2]: unknown parameter \"PAT\"; did you mean \"PAD\"?"},
    {"\"TX\", \"TY\", \"PAD\"]", "\"TX\", \"TY\", \"TX\"]",
     "variants[1].params[2]: \"TX\" a second time"},
    {"\"kernel\": \"k_local\"", "\"kernel\": \"a b\"",
     "variants[1].kernel: expected the name of a kernel, got \"a b\""},
    {"\"kernel\": \"k_local\", ", "", "variants[1]: expected kernel or launches, got neither"},
    {"\"kernel\": \"k_local\"", "\"kernel\": \"k\", \"launches\": [{\"kernel\": \"k\"}]",
     "variants[1].launches: expected either kernel or launches, got both"},
    {"\"kernel\": \"k_local\"", "\"launches\": [{\"kernel\": \"k\", \"args\": [\"dts\"]}]",
     "variants[1].launches[0].args[0]: unknown argument \"dts\"; did you mean \"dst\"?"},
    {"\"kernel\": \"k_local\"", "\"kernel\": \"k\", \"local\": [1]",
     "variants[1]: global has 2 dimensions, local has 1"},
    {"\"local\": [\"TX\", \"TY\"]", "\"local\": [1, 1, 1, 1]",
     "local: expected at most 3 dimensions, got 4"},
    {"\"kernel\": \"k_local\"", "\"kernel\": \"k\", \"args\": [\"dts\"]",
     "variants[1].args[0]: unknown argument \"dts\"; did you mean \"dst\"?"},
    {"\"kernel\": \"k_local\"", "\"kernel\": \"k\", \"needs\": \"cl_khr_fp16\"",
     "variants[1].needs: expected a list, got \"cl_khr_fp16\""},
    {"\"kernel\": \"k_local\"", "\"kernel\": \"k\", \"needs\": [\"cl_khr_fp16 \"]",
     "variants[1].needs[0]: expected an extension's name, such as cl_khr_fp16, got \"cl_khr_fp16 "
     "\""},
    {"\"options\": \"-cl-std=CL1.2\"", "\"options\": \"-DX -D TX=4\"",
     "options: defines TX, which is an axis"},
    {"  \"local\": [\"TX\", \"TY\"],\n", "",
     "local: missing; expected a list of at least one element"},
    /* iterate */
    {"\"work\": {", "\"iterate\": {\"swap\": [[\"src\"]]}, \"work\": {",
     "iterate.swap[0]: expected a pair of arguments, got a list"},
    {"\"work\": {", "\"iterate\": {\"swap\": [[\"src\", \"w\"]]}, \"work\": {",
     "iterate.swap[0]: variant \"naive\" has no array \"w\""},
    {"\"work\": {", "\"iterate\": {\"swap\": [[\"src\", \"src\"]]}, \"work\": {",
     "iterate.swap[0]: expected every argument at most once"},
    /* sources */
    {"k.cl", "none.cl", "sources[0]: ./none.cl: cannot open: No such file or directory"},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < TS_COUNT(faults); i++)
        expect_fault(faults[i].find, faults[i].with, faults[i].message);
}

static void test_syntax_names_line_and_column(void **state)
{
    (void)state;
    struct ts_err err = {0};
    char *text = patched("\"tolerance\": 4", "\"tolerance\": 04");
    assert_null(load(text, &err));
    assert_ptr_equal(strstr(err.text, "./x.json:7:"), err.text);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    free(text);
    struct ts_err twice = {0};
    text = patched("\"tolerance\": 4", "\"name\": \"again\"");
    assert_null(load(text, &twice));
    assert_ptr_equal(strstr(twice.text, "./x.json:7:"), twice.text);
    free(text);
}

static void test_words_in_expressions(void **state)
{
    (void)state;
    expect_fault("\"elements\": \"W*H\"", "\"elements\": \"W*sizeof_POINTS\"",
                 "work.elements: column 3: not all values of that axis are types");
    expect_fault(
        "{ \"POINTS\": [5, 9] }", "{ \"W2\": [\"float\"] }, \"iterate\": {\"steps\": \"W2\"}",
        "iterate.steps: column 1: an axis of names has no value in an expression; where they "
        "are types, sizeof_<axis> is their size in bytes");
}

/* ---- names and built-ins ---- */

static void test_unknown_builtin(void **state)
{
    (void)state;
    struct ts_err err = {0};
    assert_null(ts_spec_load("alphaa", &err));
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    assert_string_equal(err.text,
                        "no built-in benchmark \"alphaa\"; did you mean \"alpha\"? (built in: "
                        "alpha, beta; a path holds a '/' or ends in .json)");
    struct ts_err missing = {0};
    assert_null(ts_spec_load("none.json", &missing));
    assert_string_equal(missing.text, "none.json: cannot open: No such file or directory");
}

static void test_builtin_is_found(void **state)
{
    (void)state;
    struct ts_err err = {0};
    size_t count = 0;
    char **names = ts_spec_builtins(&count, &err);
    assert_int_equal(count, 2);
    assert_string_equal(names[1], "beta");
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    struct ts_spec *spec = ts_spec_load("alpha", &err);
    assert_non_null(spec);
    assert_string_equal(spec->name, "try");
    ts_spec_free(spec);
}

/* ---- sources ---- */

static char *source_of(const char *text)
{
    put("k.cl", text);
    struct ts_spec *spec = load_good("\"try\"", "\"try\"");
    char *source = ts_strdup(spec->variants[0].source.text);
    ts_spec_free(spec);
    put("k.cl", "kernel\n");
    return source;
}

static void test_include(void **state)
{
    (void)state;
    put("sub/a.h", "a1\r\n#include \"b.h\"\na3");
    put("sub/b.h", "b\n");
    char *source = source_of("one\n#  include \"sub/a.h\" /* why */\n#include <math.h>\nend\n");
    assert_string_equal(source, "#line 1 \"k.cl\"\none\n"
                                "#line 1 \"sub/a.h\"\na1\n"
                                "#line 1 \"sub/b.h\"\nb\n"
                                "#line 3 \"sub/a.h\"\na3\n"
                                "#line 3 \"k.cl\"\n#include <math.h>\nend\n");
    free(source);
    source = source_of("/*\n#include \"none.h\"\n*/\n// #include \"none.h\"\nchar *s = \"/*\";\n");
    assert_null(strstr(source, "#line 2"));
    free(source);
}

static void test_include_once_and_conditional(void **state)
{
    (void)state;
    put("once.h", "#pragma once\nbody\n");
    char *source = source_of("#include \"once.h\"\n#include \"once.h\"\n");
    char *body = strstr(source, "body");
    assert_non_null(body);
    assert_null(strstr(body + 1, "body"));
    free(source);
    /* A #line in a region that is skipped does not count, so one more follows the #endif. */
    source = source_of("#if 0\n#include \"once.h\"\n#endif\nend\n");
    assert_non_null(strstr(source, "#endif\n#line 4 \"k.cl\"\nend\n"));
    free(source);
}

static void test_digest_covers_includes(void **state)
{
    (void)state;
    put("k.cl", "#include \"i.h\"\n");
    put("i.h", "1\n");
    struct ts_spec *first = load_good("\"try\"", "\"try\"");
    put("i.h", "2\n");
    struct ts_spec *second = load_good("\"try\"", "\"try\"");
    assert_string_not_equal(first->variants[0].source.digest, second->variants[0].source.digest);
    assert_string_not_equal(first->digest, second->digest);
    char *digest =
        ts_digest(first->variants[0].source.text, strlen(first->variants[0].source.text));
    assert_string_equal(digest, first->variants[0].source.digest);
    free(digest);
    ts_spec_free(first);
    ts_spec_free(second);
    put("k.cl", "kernel\n");
}

static void expect_source_fault(const char *source, const char *message)
{
    put("k.cl", source);
    expect_fault("\"try\"", "\"try\"", message);
    put("k.cl", "kernel\n");
}

static void test_include_faults(void **state)
{
    (void)state;
    expect_source_fault("\n#include \"none.h\"\n",
                        "sources[0]: ./k.cl:2: ./none.h: cannot open: No such file or directory");
    put("a.h", "\n\n#include \"b.h\"\n");
    put("b.h", "#include \"a.h\"\n");
    expect_source_fault("#include \"a.h\"\n",
                        "sources[0]: ./k.cl:1: ./a.h:3: ./b.h:1: includes \"a.h\" in a cycle");
    for (int i = 0; i < 20; i++) {
        char *name = ts_printf("d%d.h", i), *text = ts_printf("#include \"d%d.h\"\n", i + 1);
        put(name, text);
        free(name);
        free(text);
    }
    put("k.cl", "#include \"d0.h\"\n");
    struct ts_err err = {0};
    assert_null(load(base, &err));
    assert_non_null(strstr(err.text, "./d15.h:1: includes nest deeper than 16"));
    put("k.cl", "kernel\n");
}

static void test_defines(void **state)
{
    /* message: what follows "./k.cl:" and the line; NULL: accepted. */
    static const struct {
        const char *source, *where;
    } cases[] = {
        {"x\n#define TX 4\n", "./k.cl:2: defines \"TX\""},
        {" # \t define\tTY(a) a\n", "./k.cl:1: defines \"TY\""},
        {"#def\\\nine \\\n POINTS 5\n", "./k.cl:1: defines \"POINTS\""},
        {"/* a\n b */ #define TX 1\n", "./k.cl:1: defines \"TX\""},
        {"#define /* c */ TX 1\n", "./k.cl:1: defines \"TX\""},
        {"#undef TX\n", "./k.cl:1: defines \"TX\""},
        {"%:define TX 1\n", "./k.cl:1: defines \"TX\""},
        {"#if UNKNOWN\n#define TX 1\n#endif\n", "./k.cl:2: defines \"TX\""},
        {"#ifndef TY\n#define TX 1\n#endif\n", NULL}, /* never taken either */
        {"#ifndef OTHER\n#define TX 1\n#endif\n", "./k.cl:2: defines \"TX\""},
        {"#ifdef TX\n#define TX 1\n#endif\n", "./k.cl:2: defines \"TX\""},
        {"#ifndef TX\n#else\n#define TX 1\n#endif\n", "./k.cl:3: defines \"TX\""},
        {"#ifndef TX\n#endif\n#define TX 1\n", "./k.cl:3: defines \"TX\""},
        {"#include \"def.h\"\n", "./def.h:3: defines \"TX\""},
        {"#ifdef VARIANT_naive\n#define TX 1\n#endif\n", "./k.cl:2: defines \"TX\""},
        {"#ifdef VARIANT_other\n#define TX 1\n#endif\n", NULL},
        {"#ifdef VARIANT_naive\n#define PAD 0\n#endif\n", NULL}, /* naive has no PAD */
        {"#ifndef VARIANT_local\n#define PAD 0\n#endif\n", NULL},
        {"#if defined(VARIANT_x) || defined VARIANT_y\n#define TX 0\n#endif\n", NULL},
        {"#if !(defined(VARIANT_naive) || FOO)\n#define TX 0\n#endif\n",
         "./k.cl:2: defines \"TX\""},
        {"#ifndef TX\n#define TX 16\n#endif\n", NULL},
        {"#if !defined(TX)\n# define TX 16\n#endif\n", NULL},
        {"#if !defined TX && 1\n# if FOO\n# define TX 16\n# endif\n#endif\n", NULL},
        {"#define TXX 4\n#define W 3\n", NULL},
        {"// #define TX 4\n/*\n#define TX 4\n*/\n", NULL},
        {"// comment \\\n#define TX 4\n", NULL},
        {"const char *s = \"\\\"/*\";\n#define TX 1\n", "./k.cl:2: defines \"TX\""},
    };
    (void)state;
    put("def.h", "\n\n#define TX 1\n");
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_err err = {0};
        put("k.cl", cases[i].source);
        struct ts_spec *spec = load(base, &err);
        if (spec && cases[i].where)
            fail_msg("accepted: %s", cases[i].source);
        if (!spec && !cases[i].where)
            fail_msg("refused: %s: %s", cases[i].source, err.text);
        if (cases[i].where && !strstr(err.text, cases[i].where))
            fail_msg("%s: got %s", cases[i].where, err.text);
        ts_spec_free(spec);
    }
    expect_source_fault("#define TX 4\n",
                        "sources: ./k.cl:1: defines \"TX\" itself, so that the axis would not "
                        "arrive; remove the line or put it into #ifndef TX");
}

/* ---- the command line ---- */

static void expect_axis(const char *text, const char *values)
{
    struct ts_err err = {0};
    struct ts_axis axis;
    struct ts_text got = {0};
    if (ts_axis_parse(&axis, text, &err) != 0)
        fail_msg("%s", err.text);
    ts_text_puts(&got, axis.name);
    for (size_t i = 0; i < axis.count; i++) {
        if (axis.words)
            ts_text_printf(&got, " %s", axis.texts[i]);
        else
            ts_text_printf(&got, " %lld", (long long)axis.numbers[i]);
    }
    assert_string_equal(got.text, values);
    ts_text_free(&got);
    ts_axis_free(&axis);
}

static void expect_axis_fault(const char *text, const char *message)
{
    struct ts_err err = {0};
    struct ts_axis axis;
    char *whole = ts_printf("%s: %s", text, message);
    assert_int_equal(ts_axis_parse(&axis, text, &err), -1);
    assert_string_equal(err.text, whole);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    free(whole);
}

static void test_axis_parse(void **state)
{
    (void)state;
    expect_axis("TX=8,16", "TX 8 16");
    expect_axis("TX=8:64:8", "TX 8 16 24 32 40 48 56 64");
    expect_axis("TX=8:60:8", "TX 8 16 24 32 40 48 56");
    expect_axis("TX=8:128:x2", "TX 8 16 32 64 128");
    expect_axis("TX=1:5", "TX 1 2 3 4 5");
    expect_axis("TX=-2:2:2,7", "TX -2 0 2 7");
    expect_axis("REAL=float,double", "REAL float double");
    expect_axis("TX=9007199254740992", "TX 9007199254740992");
    expect_axis("TX=9007199254740991:9007199254740992:5", "TX 9007199254740991");
    expect_axis_fault("TX", "expected NAME=VALUE,... (TX=8,16 or TX=8:64:8)");
    expect_axis_fault("T X=8", "expected NAME=VALUE,... (TX=8,16 or TX=8:64:8)");
    expect_axis_fault("TX=", "expected NAME=VALUE,... with whole numbers or names");
    expect_axis_fault("TX=8,", "expected NAME=VALUE,... with whole numbers or names");
    expect_axis_fault("TX=8.5", "expected NAME=VALUE,... with whole numbers or names");
    expect_axis_fault("TX=9007199254740993", "expected NAME=VALUE,... with whole numbers or names");
    expect_axis_fault("TX=8,a", "expected all numbers or all names");
    expect_axis_fault("TX=8,8", "the same value twice");
    expect_axis_fault("TX=8,0:16:4", "the same value twice");
    expect_axis_fault("TX=16:8:1", "a range must not end below its start");
    expect_axis_fault("TX=8:16:0", "expected a step of at least 1");
    expect_axis_fault("TX=8:16:x1", "expected a start of at least 1 and a factor of at least 2");
    expect_axis_fault("TX=0:16:x2", "expected a start of at least 1 and a factor of at least 2");
    expect_axis_fault("TX=8:16:y2", "expected FIRST:LAST:STEP or FIRST:LAST:xFACTOR");
    expect_axis_fault("TX=8::2", "expected FIRST:LAST:STEP or FIRST:LAST:xFACTOR");
    expect_axis_fault("TX=0:99999999", "more than 10000 values");
}

static void test_size_parse(void **state)
{
    static const char *const bad[] = {"W", "W=", "W=0", "W=-4", "W=4,W=5", "W=4,", "W=4x", ""};
    (void)state;
    struct ts_err err = {0};
    struct ts_values size;
    assert_int_equal(ts_size_parse(&size, "W=4096,H=17", &err), 0);
    assert_int_equal(size.count, 2);
    assert_int_equal(ts_values_number(&size, "H", 0), 17);
    ts_values_free(&size);
    for (size_t i = 0; i < TS_COUNT(bad); i++) {
        struct ts_err fault = {0};
        assert_int_equal(ts_size_parse(&size, bad[i], &fault), -1);
        assert_int_equal(fault.exit_status, TS_EXIT_USAGE);
        assert_non_null(strstr(fault.text, "(W=4096,H=4096)"));
    }
}

static void test_nearest(void **state)
{
    static const char *const known[] = {"kernel", "launches", "TX", "TY", "local_bytes"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"kernal", "kernel"}, {"kenrel", "kernel"}, {"tx", "TX"},
        {"TZ", "TX"},         {"QZ", NULL},         {"lokal_byte", "local_bytes"},
        {"something", NULL},  {"", NULL},           {"launch", "launches"},
    };
    (void)state;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        const char *nearest = ts_nearest(cases[i].word, known, TS_COUNT(known));
        if (cases[i].nearest)
            assert_string_equal(nearest, cases[i].nearest);
        else
            assert_null(nearest);
    }
}

/* ---- against the built-in references ---- */

static void expect_reference(const char *find, const char *with, const char *message)
{
    struct ts_err err = {0};
    struct ts_spec *spec = load_good(find, with);
    assert_int_equal(ts_reference_check(spec, &err), message ? -1 : 0);
    assert_string_equal(err.text, message ? message : "");
    ts_spec_free(spec);
}

static void test_reference_check(void **state)
{
    (void)state;
    expect_reference("\"try\"", "\"try\"", NULL);
    expect_reference("\"laplacian\"", "{\"variant\": \"naive\"}", NULL);
    expect_reference("POINTS", "POITNS",
                     "./x.json: problem.POITNS: reference \"laplacian\" does not read this axis; "
                     "did you mean \"POINTS\"?");
    expect_reference("POINTS", "QUITE_OTHER", NULL);
    expect_reference(
        "\"name\": \"src\"", "\"name\": \"scr\"",
        "./x.json: reference \"laplacian\" reads \"src\", which is no argument of kind "
        "in, inout or scalar of variant \"naive\"; did you mean \"scr\"?");
    expect_reference("\"name\": \"dst\"", "\"name\": \"out\"",
                     "./x.json: reference \"laplacian\" computes \"dst\", which is no argument of "
                     "kind out or inout of variant \"naive\"");
    expect_reference("{\"name\": \"dst\"",
                     "{\"name\": \"more\", \"kind\": \"out\", \"type\": \"int\", \"shape\": [1]},"
                     "{\"name\": \"dst\"",
                     "./x.json: variant \"naive\" has an output \"more\", which reference "
                     "\"laplacian\" does not compute");
    struct ts_err err = {0};
    struct ts_spec *spec = load_good("\"laplacian\"", "\"laplacain\"");
    assert_int_equal(ts_reference_check(spec, &err), -1);
    assert_ptr_equal(strstr(err.text, "./x.json: reference: no built-in reference \"laplacain\" "
                                      "(built in: "),
                     err.text);
    assert_non_null(strstr(err.text, "; did you mean \"laplacian\"?"));
    ts_spec_free(spec);
}

/* ---- the folders of good and bad specs ---- */

#ifdef TS_SOURCE_ROOT
/* Loads every spec of a folder by a path relative to it. A spec NAME.json with NAME.txt beside must
 * get that message; one without must be accepted. Returns how many there were. */
static int walk_specs(const char *path)
{
    char *before = ts_strdup(folder);
    int seen = 0;
    assert_int_equal(chdir(path), 0);
    DIR *listing = opendir(".");
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (!suffix || strcmp(suffix, ".json") != 0)
            continue;
        struct ts_err err = {0}, none = {0};
        size_t length;
        char *file = ts_printf("./%s", entry->d_name);
        char *beside = ts_printf("%.*s.txt", (int)(suffix - entry->d_name), entry->d_name);
        char *message = ts_file_exists(beside) ? ts_file_read(beside, &length, &none) : NULL;
        struct ts_spec *spec = ts_spec_load(file, &err);
        if (message)
            message[strcspn(message, "\n")] = '\0';
        assert_string_equal(err.text, message ? message : "");
        assert_int_equal(err.exit_status, message ? TS_EXIT_USAGE : 0);
        assert_true(!spec == !!message);
        ts_spec_free(spec);
        free(message);
        free(beside);
        free(file);
        seen++;
    }
    closedir(listing);
    assert_int_equal(chdir(before), 0);
    free(before);
    return seen;
}

static void test_data_folder(void **state)
{
    (void)state;
    assert_true(walk_specs(TS_SOURCE_ROOT "/tests/data/specs/good") >= 5);
    assert_true(walk_specs(TS_SOURCE_ROOT "/tests/data/specs/bad") >= 17);
}
#endif

static int enter_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0 || setenv("TILESWEEP_DATA", folder, 1) != 0)
        return -1;
    put("k.cl", "kernel\n");
    put("other.cl", "other\n");
    put("bench/k.cl", "kernel\n");
    put("bench/alpha.json", base);
    put("bench/beta.json", base);
    put("bench/readme.txt", "no spec");
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    char *command = ts_printf("rm -rf '%s'", folder);
    int result = chdir("/") == 0 && system(command) == 0 ? 0 : -1;
    free(command);
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_launches_are_bounded),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_iterate),
        cmocka_unit_test(test_reference_by_variant),
        cmocka_unit_test(test_fills),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_syntax_names_line_and_column),
        cmocka_unit_test(test_words_in_expressions),
        cmocka_unit_test(test_unknown_builtin),
        cmocka_unit_test(test_builtin_is_found),
        cmocka_unit_test(test_include),
        cmocka_unit_test(test_include_once_and_conditional),
        cmocka_unit_test(test_digest_covers_includes),
        cmocka_unit_test(test_include_faults),
        cmocka_unit_test(test_defines),
        cmocka_unit_test(test_axis_parse),
        cmocka_unit_test(test_size_parse),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_reference_check),
#ifdef TS_SOURCE_ROOT
        cmocka_unit_test(test_data_folder),
#endif
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
