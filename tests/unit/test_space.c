/* test_space.c: from a spec to configurations and instances, and what is refused before anything
 * runs. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "space.h"

static char folder[] = "/tmp/tilesweep-space-XXXXXX";

static const char base[] =
    "{\n"
    "  \"schema\": \"tilesweep.spec/1\", \"name\": \"try\", \"sources\": [\"k.cl\"],\n"
    "  \"options\": \"-cl-std=CL1.2\", \"reference\": {\"variant\": \"naive\"},\n"
    "  \"sizes\": [ {\"W\": 64, \"H\": 32}, {\"W\": 20, \"H\": 10} ],\n"
    "  \"quick_sizes\": [ {\"W\": 16, \"H\": 16} ],\n"
    "  \"check_sizes\": [ {\"W\": 5, \"H\": 7}, {\"W\": 33, \"H\": 3} ],\n"
    "  \"problem\": { \"POINTS\": [5, 9], \"REAL\": [\"float\", \"double\"] },\n"
    "  \"params\": { \"TX\": [8, 16, 32], \"TY\": [4, 8], \"PAD\": [0, 1] },\n"
    "  \"quick_params\": { \"TX\": [8] },\n"
    "  \"where\": [ \"TX <= W\", \"PAD == 0 || TX > 8\" ],\n"
    "  \"args\": [\n"
    "    {\"name\": \"src\", \"kind\": \"in\", \"type\": \"REAL\", \"shape\": [\"H\", \"W\"]},\n"
    "    {\"name\": \"dst\", \"kind\": \"out\", \"type\": \"REAL\", \"shape\": [\"H\", \"W\"]},\n"
    "    {\"name\": \"w\", \"kind\": \"scalar\", \"type\": \"int\", \"value\": \"W\"},\n"
    "    {\"name\": \"f\", \"kind\": \"scalar\", \"type\": \"float\", \"value\": 0.082}\n"
    "  ],\n"
    "  \"variants\": [\n"
    "    {\"name\": \"local\", \"kernel\": \"k_local\", \"params\": [\"TX\", \"TY\", \"PAD\"],\n"
    "     \"local_bytes\": \"(TX+PAD)*TY*sizeof_REAL\"},\n"
    "    {\"name\": \"naive\", \"kernel\": \"k_naive\", \"params\": [\"TY\", \"TX\"],\n"
    "     \"baseline\": true}\n"
    "  ],\n"
    "  \"global\": [\"round_up(W,TX)\", \"round_up(H,TY)\"], \"local\": [\"TX\", \"TY\"],\n"
    "  \"work\": {\"elements\": \"W*H\", \"flops\": \"POINTS*W*H\"}\n"
    "}\n";

static void put(const char *path, const char *text)
{
    struct ts_err err = {0};
    if (ts_file_write(path, text, strlen(text), &err) != 0)
        fail_msg("%s", err.text);
}

static struct ts_spec *load(const char *find, const char *with)
{
    struct ts_err err = {0};
    const char *at = strstr(base, find);
    if (!at)
        fail_msg("the base spec has no <%s>", find);
    char *text = ts_printf("%.*s%s%s", (int)(at - base), base, with, at + strlen(find));
    put("x.json", text);
    free(text);
    struct ts_spec *spec = ts_spec_load("x.json", &err);
    if (!spec)
        fail_msg("%s", err.text);
    return spec;
}

static struct ts_space *open_good(const struct ts_spec *spec, const struct ts_selection *selection)
{
    struct ts_err err = {0};
    struct ts_space *space = ts_space_open(spec, selection, NULL, false, &err);
    if (!space)
        fail_msg("%s", err.text);
    return space;
}

static const struct ts_selection everything;

/* ---- configurations ---- */

static void test_configurations(void **state)
{
    (void)state;
    struct ts_spec *spec = load("try", "try");
    struct ts_space *space = open_good(spec, &everything);
    assert_int_equal(space->size_count, 2);
    assert_int_equal(space->problem_count, 4);
    /* naive: 3*2; local: 3*2*2 less the two with PAD 1 and TX 8; for 4 problems. */
    assert_int_equal(space->config_count, 4 * (6 + 10));
    /* At W=20 TX=32 falls: 2 of naive, 4 of local; and local's two, at both sizes. */
    assert_int_equal(space->excluded, 4 * (2 + 4 + 2 * 2));
    const struct ts_config *first = &space->configs[0], *last = &space->configs[63];
    assert_int_equal(first->variant, 1); /* the baseline comes first */
    assert_string_equal(first->options, "-cl-std=CL1.2 -DPOINTS=5 -DREAL=float -DTY=4 -DTX=8 "
                                        "-DVARIANT_naive");
    assert_string_equal(space->configs[1].options, "-cl-std=CL1.2 -DPOINTS=5 -DREAL=float -DTY=4 "
                                                   "-DTX=16 -DVARIANT_naive");
    assert_string_equal(last->options, "-cl-std=CL1.2 -DPOINTS=9 -DREAL=double -DTX=32 -DTY=8 "
                                       "-DPAD=1 -DVARIANT_local");
    assert_true(last->admitted[0]);
    assert_false(last->admitted[1]);
    assert_false(last->admitted_check[0]);
    assert_true(last->admitted_check[1]);
    ts_space_close(space);
    ts_spec_free(spec);
}

static void test_selection(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_spec *spec = load("try", "try");
    struct ts_axis sets[3];
    char *variants[] = {(char[]){"local"}, (char[]){"unheard_of"}};
    struct ts_values size = {0};
    assert_int_equal(ts_axis_parse(&sets[0], "TX=4,12", &err), 0);
    assert_int_equal(ts_axis_parse(&sets[1], "REAL=double", &err), 0);
    assert_int_equal(ts_axis_parse(&sets[2], "NOT_HERE=1", &err), 0); /* of another spec */
    assert_int_equal(ts_size_parse(&size, "H=12,W=12", &err), 0);
    struct ts_selection selection = {.sets = sets,
                                     .set_count = 3,
                                     .sizes = &size,
                                     .size_count = 1,
                                     .variants = variants,
                                     .variant_count = 2};
    struct ts_space *space = open_good(spec, &selection);
    assert_int_equal(space->problem_count, 2);
    assert_int_equal(space->size_count, 1);
    assert_string_equal(space->sizes[0].items[0].name, "W"); /* in the spec's order */
    assert_int_equal(space->config_count, 2 * (4 + 6));      /* with the baseline */
    ts_space_close(space);
    selection.no_baseline = true;
    space = open_good(spec, &selection);
    assert_int_equal(space->config_count, 2 * 6);
    ts_space_close(space);
    selection.variant_count = 0;
    space = open_good(spec, &selection);
    assert_int_equal(space->config_count, 2 * 6);
    ts_space_close(space);
    ts_values_free(&size);
    for (size_t i = 0; i < 3; i++)
        ts_axis_free(&sets[i]);
    ts_spec_free(spec);
}

static void test_quick(void **state)
{
    (void)state;
    struct ts_spec *spec = load("try", "try");
    struct ts_space *space = open_good(spec, &(struct ts_selection){.quick = true});
    assert_int_equal(space->size_count, 1);
    assert_int_equal(ts_values_number(&space->sizes[0], "W", 0), 16);
    assert_int_equal(space->config_count, 4 * (2 + 2)); /* TX=8 alone, so PAD=0 alone */
    ts_space_close(space);
    ts_spec_free(spec);
}

static void test_device_facts(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_spec *spec = load("\"TX <= W\"", "\"TX*TY <= DEVICE_MAX_WORK_GROUP_SIZE\"");
    struct ts_device device = {0};
    for (int i = 0; i < TS_DEVICE_FIELD_COUNT; i++)
        device.number[i] = -1;
    struct ts_space *space = open_good(spec, &everything); /* without a device the clause holds */
    assert_int_equal(space->config_count, 64);
    ts_space_close(space);
    space = ts_space_open(spec, &everything, &device, false, &err); /* so does an unknown fact */
    assert_int_equal(space->config_count, 64);
    ts_space_close(space);
    device.number[TS_DEVICE_MAX_WORK_GROUP_SIZE] = 64;
    space = ts_space_open(spec, &everything, &device, false, &err);
    assert_int_equal(space->config_count, 4 * (3 + 4));
    ts_space_close(space);
    ts_spec_free(spec);
}

static void test_geometry_by_device(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_spec *spec = load("\"round_up(W,TX)\"", "\"TX*DEVICE_MAX_COMPUTE_UNITS\"");
    struct ts_device device = {0};
    device.number[TS_DEVICE_MAX_COMPUTE_UNITS] = 3;
    struct ts_space *space = open_good(spec, &everything);
    struct ts_instance instance;
    assert_int_equal(
        ts_space_instance(space, &space->configs[0], &space->sizes[0], &device, &instance, &err),
        0);
    assert_int_equal(instance.launches[0].global[0], 24);
    ts_instance_free(&instance);
    assert_int_equal(
        ts_space_instance(space, &space->configs[0], &space->sizes[0], NULL, &instance, &err), -1);
    assert_string_equal(err.text,
                        "x.json: global[0]: DEVICE_MAX_COMPUTE_UNITS is not known without a device "
                        "(naive POINTS=5 REAL=float TY=4 TX=8 at W=64 H=32)");
    ts_space_close(space);
    ts_spec_free(spec);
}

/* ---- instances ---- */

static void test_instance(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_spec *spec = load("try", "try");
    struct ts_space *space = open_good(spec, &everything);
    const struct ts_config *config = &space->configs[63]; /* local, double, TX=32 TY=8 PAD=1 */
    struct ts_instance in;
    assert_int_equal(ts_space_instance(space, config, &spec->check_sizes.items[1], NULL, &in, &err),
                     0);
    assert_int_equal(ts_values_number(&in.size, "W", 0), 33);
    assert_int_equal(ts_values_number(&in.problem, "POINTS", 0), 9);
    assert_int_equal(in.arg_count, 4);
    assert_int_equal(in.args[0].type, TS_DOUBLE);
    assert_int_equal(in.args[0].dims, 2);
    assert_int_equal(in.args[0].shape[0], 3);
    assert_int_equal(in.args[0].count, 99);
    assert_int_equal(in.args[2].whole_value, 33);
    assert_true(in.args[3].real_value > 0.0819 && in.args[3].real_value < 0.0821);
    assert_int_equal(in.launch_count, 1);
    assert_string_equal(in.launches[0].kernel, "k_local");
    assert_int_equal(in.launches[0].dims, 2);
    assert_int_equal(in.launches[0].global[0], 64);
    assert_int_equal(in.launches[0].global[1], 8);
    assert_int_equal(in.launches[0].local[0], 32);
    assert_int_equal(in.local_bytes, 33 * 8 * 8);
    assert_int_equal(in.steps, 1);
    assert_false(in.iterated);
    assert_int_equal(in.work.flops, 9 * 99);
    assert_int_equal(in.work.bytes, -1);
    assert_true(ts_space_staged(space, config, &in));
    ts_instance_free(&in);
    assert_int_equal(
        ts_space_instance(space, &space->configs[0], &space->sizes[0], NULL, &in, &err), 0);
    assert_int_equal(in.local_bytes, -1);
    assert_false(ts_space_staged(space, &space->configs[0], &in));
    ts_instance_free(&in);
    ts_space_close(space);
    ts_spec_free(spec);
}

/* Opens with one replacement and gives the last configuration at the first size. */
static struct ts_instance last_instance(const char *find, const char *with, bool *staged)
{
    struct ts_err err = {0};
    struct ts_spec *spec = load(find, with);
    struct ts_space *space = open_good(spec, &everything);
    const struct ts_config *config = &space->configs[space->config_count - 1];
    struct ts_instance in;
    assert_int_equal(ts_space_instance(space, config, &space->sizes[0], NULL, &in, &err), 0);
    *staged = ts_space_staged(space, config, &in);
    ts_space_close(space);
    ts_spec_free(spec);
    return in;
}

static void test_staged(void **state)
{
    static const struct {
        const char *with;
        int64_t local_bytes;
        bool staged;
    } cases[] = {
        {"\"local_bytes\": 64", 64, true},
        {"\"local_bytes\": 0", 0, false},
        {"\"local_bytes\": 64, \"staged\": \"TX > 32\"", 64, false},
        {"\"staged\": \"TX == 32\"", -1, true},
        {"\"args\": [\"dst\", {\"name\": \"t\", \"kind\": \"local\", \"bytes\": \"4*TX\"},"
         "{\"name\": \"u\", \"kind\": \"local\", \"bytes\": 4}]",
         132, true},
    };
    (void)state;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        bool staged;
        struct ts_instance in =
            last_instance("\"local_bytes\": \"(TX+PAD)*TY*sizeof_REAL\"", cases[i].with, &staged);
        assert_int_equal(in.local_bytes, cases[i].local_bytes);
        assert_int_equal(staged, cases[i].staged);
        ts_instance_free(&in);
    }
}

static void test_iterated(void **state)
{
    (void)state;
    bool staged;
    struct ts_instance in = last_instance(
        "\"work\"", "\"iterate\": {\"swap\": [[\"src\", \"dst\"]], \"steps\": \"PAD+2\"}, \"work\"",
        &staged);
    assert_true(in.iterated);
    assert_int_equal(in.steps, 3);
    assert_int_equal(in.swap_count, 1);
    assert_int_equal(in.swaps[0].a, 0);
    assert_int_equal(in.swaps[0].b, 1);
    ts_instance_free(&in);
    /* A variant without the parameter advances one step a launch. */
    struct ts_err err = {0};
    struct ts_spec *spec =
        load("\"work\"", "\"iterate\": {\"swap\": [], \"steps\": \"PAD+2\"}, \"work\"");
    struct ts_space *space = open_good(spec, &everything);
    assert_int_equal(
        ts_space_instance(space, &space->configs[0], &space->sizes[0], NULL, &in, &err), 0);
    assert_int_equal(in.steps, 1);
    ts_instance_free(&in);
    ts_space_close(space);
    ts_spec_free(spec);
}

/* ---- what is refused ---- */

static void expect_fault(const char *find, const char *with, const char *message)
{
    struct ts_err err = {0};
    struct ts_spec *spec = load(find, with);
    assert_null(ts_space_open(spec, &everything, NULL, false, &err));
    assert_string_equal(err.text, message);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    ts_spec_free(spec);
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("\"TX <= W\"", "\"W/TX > 0\"",
                 "x.json: where[0]: column 2: 20 / 8 leaves a remainder; write floor_div(a,b) or "
                 "ceil_div(a,b) (naive POINTS=5 REAL=float TY=4 TX=8 at W=20 H=10)");
    expect_fault(
        "\"round_up(W,TX)\"", "\"W-64\"",
        "x.json: global[0]: expected at least 1, got 0 (naive POINTS=5 REAL=float TY=4 TX=8 "
        "at W=64 H=32)");
    expect_fault(
        "\"local\": [\"TX\", \"TY\"]", "\"local\": [\"TX\", \"TY-4\"]",
        "x.json: local[1]: expected at least 1, got 0 (naive POINTS=5 REAL=float TY=4 TX=8 "
        "at W=64 H=32)");
    expect_fault("\"round_up(W,TX)\"", "\"W\"",
                 "x.json: global[0]: 20 is no multiple of the local size 8; use round_up (naive "
                 "POINTS=5 REAL=float TY=4 TX=8 at W=20 H=10)");
    expect_fault("[\"H\", \"W\"]", "[\"H*1000000000\", \"W*1000000000\"]",
                 "x.json: argument \"src\": an array of over 2^62 bytes (naive POINTS=5 REAL=float "
                 "TY=4 TX=8 at W=64 H=32)");
    expect_fault("[\"H\", \"W\"]", "[\"H\", \"W == 33 ? 0 : W\"]",
                 "x.json: args[0].shape[1]: expected at least 1, got 0 (naive POINTS=5 REAL=float "
                 "TY=4 TX=8 at W=33 H=3)");
    expect_fault("\"value\": \"W\"", "\"value\": \"W*100000000\"",
                 "x.json: argument \"w\": its value is beyond its type (naive POINTS=5 REAL=float "
                 "TY=4 TX=8 at W=64 H=32)");
    expect_fault("\"flops\": \"POINTS*W*H\"", "\"flops\": \"-1\"",
                 "x.json: work.flops: expected at least 0, got -1 (naive POINTS=5 REAL=float TY=4 "
                 "TX=8 at W=64 H=32)");
    expect_fault(
        "\"baseline\": true", "\"baseline\": true, \"staged\": \"1/0\"",
        "x.json: variants[1].staged: column 2: 1 / 0 divides by zero (naive POINTS=5 REAL=float "
        "TY=4 TX=8 at W=64 H=32)");
}

static void test_selection_faults(void **state)
{
    static const struct {
        const char *set, *size, *message;
    } cases[] = {
        {"TX=a", NULL, "-s TX: TX takes whole numbers in try"},
        {"POINTS=a", NULL, "-s POINTS: POINTS takes whole numbers in try"},
        {"REAL=4", NULL, "-s REAL: REAL takes names in try"},
        {"REAL=half", NULL, "-s REAL: \"half\" is not a type"},
        {NULL, "W=4", "--size W=4: expected \"H\" of try, too"},
        {NULL, "W=4,h=5", "--size W=4,h=5: try has no size \"h\"; did you mean \"H\"?"},
    };
    (void)state;
    struct ts_spec *spec = load("try", "try");
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_err err = {0};
        struct ts_selection selection = {0};
        struct ts_axis set = {0};
        struct ts_values size = {0};
        if (cases[i].set) {
            assert_int_equal(ts_axis_parse(&set, cases[i].set, &err), 0);
            selection.sets = &set;
            selection.set_count = 1;
        } else {
            assert_int_equal(ts_size_parse(&size, cases[i].size, &err), 0);
            selection.sizes = &size;
            selection.size_count = 1;
        }
        assert_null(ts_space_open(spec, &selection, NULL, false, &err));
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
        ts_axis_free(&set);
        ts_values_free(&size);
    }
    ts_spec_free(spec);
}

static void test_too_many(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_spec *spec = load("try", "try");
    struct ts_axis sets[3];
    assert_int_equal(ts_axis_parse(&sets[0], "TX=1:10000", &err), 0);
    assert_int_equal(ts_axis_parse(&sets[1], "TY=1:10000", &err), 0);
    assert_int_equal(ts_axis_parse(&sets[2], "PAD=0:9999", &err), 0);
    struct ts_selection selection = {.sets = sets, .set_count = 3};
    assert_null(ts_space_open(spec, &selection, NULL, false, &err));
    static const char message[] = "x.json: more than 2*10^7 combinations of axes and sizes; "
                                  "restrict axes by -s, or say --yes";
    assert_string_equal(err.text, message);

    /* Sizes multiply them, too, although `where` refuses every one. */
    struct ts_values sizes[5000] = {0};
    for (size_t i = 0; i < TS_COUNT(sizes); i++) {
        ts_values_add(&sizes[i], "W", (int64_t)i + 1);
        ts_values_add(&sizes[i], "H", 1);
    }
    selection = (struct ts_selection){
        .sets = sets, .set_count = 1, .sizes = sizes, .size_count = TS_COUNT(sizes)};
    ts_err_clear(&err);
    assert_null(ts_space_open(spec, &selection, NULL, false, &err));
    assert_string_equal(err.text, message);
    for (size_t i = 0; i < TS_COUNT(sizes); i++)
        ts_values_free(&sizes[i]);
    for (size_t i = 0; i < 3; i++)
        ts_axis_free(&sets[i]);
    ts_spec_free(spec);
}

/* ---- reference by variant ---- */

static void test_reference_config(void **state)
{
    (void)state;
    struct ts_err err = {0};
    struct ts_spec *spec = load("\"TX <= W\"", "\"TX*2 <= W\"");
    struct ts_space *space = open_good(spec, &everything);
    struct ts_config *config =
        ts_space_reference_config(space, 3, &spec->check_sizes.items[1], NULL, &err);
    assert_non_null(config);
    assert_string_equal(config->options, "-cl-std=CL1.2 -DPOINTS=9 -DREAL=double -DTY=4 -DTX=8 "
                                         "-DVARIANT_naive");
    struct ts_instance in;
    assert_int_equal(ts_space_instance(space, config, &spec->check_sizes.items[1], NULL, &in, &err),
                     0);
    ts_instance_free(&in);
    ts_config_free(config);
    assert_null(ts_space_reference_config(space, 0, &spec->check_sizes.items[0], NULL, &err));
    assert_int_equal(err.exit_status, 0); /* none admits W=5 */
    ts_config_free(NULL);
    ts_space_close(space);
    ts_space_close(NULL);
    ts_spec_free(spec);
}

static int enter_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    put("k.cl", "kernel\n");
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

/* A GPU times its own sizes where the spec has some, quick ones included; anything else does not;
 * --size goes before both. */
static void test_gpu_sizes(void **state)
{
    (void)state;
    const struct {
        const char *type;
        bool quick, given;
        int64_t want_w;
    } rows[] = {
        {"cpu", false, false, 64}, {"gpu", false, false, 256}, {"accelerator", false, false, 64},
        {"cpu", true, false, 16},  {"gpu", true, false, 128},  {"gpu", false, true, 40},
    };
    struct ts_spec *spec =
        load("  \"check_sizes\":", "  \"gpu_sizes\": [ {\"W\": 256, \"H\": 8} ],\n"
                                   "  \"gpu_quick_sizes\": [ {\"W\": 128, \"H\": 8} ],\n"
                                   "  \"check_sizes\":");
    for (size_t i = 0; i < TS_COUNT(rows); i++) {
        struct ts_device device = {.type = (char *)rows[i].type};
        struct ts_values size = {0};
        ts_values_add(&size, "W", 40);
        ts_values_add(&size, "H", 8);
        struct ts_selection selection = {
            .quick = rows[i].quick, .sizes = &size, .size_count = rows[i].given ? 1 : 0};
        struct ts_err err = {0};
        struct ts_space *space = ts_space_open(spec, &selection, &device, false, &err);
        if (!space)
            fail_msg("%s", err.text);
        assert_int_equal(ts_values_number(&space->sizes[0], "W", 0), rows[i].want_w);
        ts_space_close(space);
        ts_values_free(&size);
    }
    ts_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_quick),
        cmocka_unit_test(test_gpu_sizes),
        cmocka_unit_test(test_device_facts),
        cmocka_unit_test(test_geometry_by_device),
        cmocka_unit_test(test_instance),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_iterated),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_selection_faults),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_reference_config),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
