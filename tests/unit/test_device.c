/* Device facts: to JSON and back, as names of expressions, and as limits of a launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "device.h"

static void make(struct ts_device *d)
{
    *d = (struct ts_device){
        .platform_index = 1,
        .device_index = 2,
        .platform_name = ts_strdup("NVIDIA CUDA"),
        .platform_version = ts_strdup("OpenCL 3.0"),
        .name = ts_strdup("A \"GPU\""),
        .vendor = ts_strdup("NVIDIA Corporation"),
        .driver = ts_strdup("580.159.04"),
        .version = ts_strdup("OpenCL 3.0 CUDA"),
        .type = ts_strdup("gpu"),
        .extensions = ts_strdup("cl_khr_fp64 cl_khr_icd"),
        .family = ts_strdup("nvidia:sm_90"),
        .id = ts_strdup("xxh3:0123456789abcdef"),
        .max_work_item_sizes = {1024, 1024, 64},
    };
    for (int i = 0; i < TS_DEVICE_FIELD_COUNT; i++)
        d->number[i] = i + 100;
    d->number[TS_DEVICE_MAX_WORK_GROUP_SIZE] = 1024;
    d->number[TS_DEVICE_MAX_WORK_ITEM_DIMENSIONS] = 3;
    d->number[TS_DEVICE_LOCAL_MEM_TYPE] = TS_LOCAL_MEM_LOCAL;
    d->number[TS_DEVICE_LOCAL_MEM_SIZE] = 49152;
    d->number[TS_DEVICE_PROFILING_TIMER_RESOLUTION] = -1;
}

static void assert_same(const struct ts_device *a, const struct ts_device *b)
{
    assert_int_equal(a->platform_index, b->platform_index);
    assert_int_equal(a->device_index, b->device_index);
    assert_string_equal(a->platform_name, b->platform_name);
    assert_string_equal(a->platform_version, b->platform_version);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->vendor, b->vendor);
    assert_string_equal(a->driver, b->driver);
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->type, b->type);
    assert_string_equal(a->extensions, b->extensions);
    assert_string_equal(a->family, b->family);
    assert_string_equal(a->id, b->id);
    assert_memory_equal(a->number, b->number, sizeof(a->number));
    assert_memory_equal(a->max_work_item_sizes, b->max_work_item_sizes,
                        sizeof(a->max_work_item_sizes));
}

static void test_to_json_and_back(void **state)
{
    (void)state;
    struct ts_device d, back;
    struct ts_err err = {0};
    for (int type = TS_LOCAL_MEM_NONE - 1; type <= TS_LOCAL_MEM_GLOBAL; type++) {
        make(&d);
        d.number[TS_DEVICE_LOCAL_MEM_TYPE] = type;
        cJSON *document = cJSON_CreateObject();
        ts_device_to_json(&d, document);
        char *printed = ts_json_print(document);
        cJSON_Delete(document);
        document = ts_json_parse(printed, strlen(printed), "x", 1, &err);
        assert_int_equal(ts_device_from_json(&back, document, &err), 0);
        assert_same(&d, &back);
        free(printed);
        cJSON_Delete(document);
        ts_device_free(&d);
        ts_device_free(&back);
    }
    ts_device_free(&d); /* twice does no harm */
    ts_device_free(NULL);
}

static void test_json_shape(void **state)
{
    (void)state;
    struct ts_device d;
    make(&d);
    d.number[TS_DEVICE_MAX_CONSTANT_BUFFER_SIZE] = INT64_MAX; /* some drivers say 2^64-1 */
    d.max_work_item_sizes[2] = -1;
    cJSON *document = cJSON_CreateObject();
    ts_device_to_json(&d, document);
    const cJSON *device = ts_json_get(document, "device");
    const cJSON *limits = ts_json_get(device, "limits");
    assert_string_equal(ts_json_string(ts_json_get(document, "platform"), "name", ""),
                        "NVIDIA CUDA");
    assert_string_equal(ts_json_string(device, "family", ""), "nvidia:sm_90");
    assert_string_equal(ts_json_string(limits, "LOCAL_MEM_TYPE", ""), "local");
    assert_int_equal(ts_json_int(limits, "LOCAL_MEM_SIZE", 0), 49152);
    assert_true(cJSON_IsNull(ts_json_get(limits, "PROFILING_TIMER_RESOLUTION")));
    assert_int_equal(ts_json_int(limits, "MAX_CONSTANT_BUFFER_SIZE", 0), (int64_t)1 << 53);
    char *sizes = ts_json_print(ts_json_get(limits, "MAX_WORK_ITEM_SIZES"));
    assert_string_equal(sizes, "[1024,1024,null]");
    free(sizes);
    cJSON_Delete(document);
    ts_device_free(&d);
}

static int read_device(struct ts_device *d, const char *text, struct ts_err *err)
{
    *err = (struct ts_err){0};
    cJSON *document = ts_json_parse(text, strlen(text), "x", 1, err);
    assert_non_null(document);
    int result = ts_device_from_json(d, document, err);
    cJSON_Delete(document);
    return result;
}

static void test_from_json_sparse(void **state)
{
    (void)state;
    struct ts_device d;
    struct ts_err err;
    assert_int_equal(read_device(&d, "{\"device\":{\"name\":\"x\"}}", &err), 0);
    assert_string_equal(d.vendor, "");
    for (int i = 0; i < TS_DEVICE_FIELD_COUNT; i++)
        assert_int_equal(d.number[i], -1);
    assert_int_equal(d.max_work_item_sizes[0], -1);
    ts_device_free(&d);
    assert_int_equal(read_device(&d,
                                 "{\"device\":{\"name\":\"x\",\"limits\":{\"LOCAL_MEM_TYPE\":2,"
                                 "\"FUTURE_FACT\":1,\"MAX_WORK_ITEM_SIZES\":[7]}}}",
                                 &err),
                     0);
    assert_int_equal(d.number[TS_DEVICE_LOCAL_MEM_TYPE], TS_LOCAL_MEM_GLOBAL);
    assert_int_equal(d.max_work_item_sizes[0], 7);
    assert_int_equal(d.max_work_item_sizes[1], -1);
    ts_device_free(&d);
}

static void test_from_json_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "device: expected an object"},
        {"[]", "device: expected an object"},
        {"{\"device\":{}}", "device.name: expected the device's name"},
        {"{\"device\":{\"name\":7}}", "device.name: expected a string"},
        {"{\"platform\":{\"version\":1},\"device\":{\"name\":\"x\"}}",
         "platform.version: expected a string"},
        {"{\"device\":{\"name\":\"x\",\"limits\":{\"LOCAL_MEM_SIZE\":\"48K\"}}}",
         "device.limits.LOCAL_MEM_SIZE: expected a whole number from 0 or null"},
        {"{\"device\":{\"name\":\"x\",\"limits\":{\"LOCAL_MEM_SIZE\":-5}}}",
         "device.limits.LOCAL_MEM_SIZE: expected a whole number from 0 or null"},
        {"{\"device\":{\"name\":\"x\",\"limits\":{\"LOCAL_MEM_TYPE\":\"shared\"}}}",
         "device.limits.LOCAL_MEM_TYPE: expected \"local\", \"global\", \"none\" or null"},
        {"{\"device\":{\"name\":\"x\",\"limits\":{\"MAX_WORK_ITEM_SIZES\":3}}}",
         "device.limits.MAX_WORK_ITEM_SIZES: expected an array"},
        {"{\"device\":{\"name\":\"x\",\"limits\":{\"MAX_WORK_ITEM_SIZES\":[1,1.5]}}}",
         "device.limits.MAX_WORK_ITEM_SIZES[1]: expected a whole number from 0 or null"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_device d;
        struct ts_err err;
        assert_int_equal(read_device(&d, cases[i].text, &err), -1);
        assert_int_equal(err.exit_status, TS_EXIT_USAGE);
        assert_string_equal(err.text, cases[i].message);
        assert_null(d.name); /* nothing to free */
    }
}

static void test_facts(void **state)
{
    (void)state;
    struct ts_device d;
    int64_t value = -7;
    make(&d);
    assert_true(ts_device_fact(&d, "DEVICE_LOCAL_MEM_SIZE", &value));
    assert_int_equal(value, 49152);
    assert_true(ts_device_fact(&d, "DEVICE_LOCAL_MEM_TYPE", &value));
    assert_int_equal(value, 1);
    assert_true(ts_device_fact(&d, "DEVICE_MAX_WORK_ITEM_SIZES_2", &value));
    assert_int_equal(value, 64);
    assert_true(ts_device_fact(&d, "DEVICE_ERROR_CORRECTION_SUPPORT", &value));
    assert_int_equal(value, TS_DEVICE_ERROR_CORRECTION_SUPPORT + 100);
    assert_true(ts_device_fact(&d, "DEVICE_PROFILING_TIMER_RESOLUTION", &value));
    assert_int_equal(value, -1);
    assert_true(ts_device_fact(NULL, "DEVICE_MAX_WORK_ITEM_SIZES_0", &value));
    assert_int_equal(value, 0);
    assert_true(ts_device_fact(NULL, "DEVICE_ADDRESS_BITS", &value));
    static const char *const none[] = {"LOCAL_MEM_SIZE",
                                       "DEVICE_",
                                       "DEVICE_NAME",
                                       "",
                                       "DEVICE_MAX_WORK_ITEM_SIZES_3",
                                       "DEVICE_MAX_WORK_ITEM_SIZES",
                                       "DEVICE_local_mem_size"};
    for (size_t i = 0; i < TS_COUNT(none); i++)
        assert_false(ts_device_fact(&d, none[i], &value));
    ts_device_free(&d);
}

static void test_refuses(void **state)
{
    (void)state;
    static const struct {
        int dims;
        int64_t local[3], bytes;
        const char *code, *text;
    } cases[] = {
        {2, {32, 32, 1}, 49152, NULL, ""},
        {1, {1024, 99, 99}, -1, NULL, ""}, /* entries beyond dims do not count */
        {3,
         {64, 32, 1},
         0,
         "work-group-size",
         "work-group 64x32x1 = 2048 work-items, device allows 1024"},
        {2,
         {32, 33, 1},
         0,
         "work-group-size",
         "work-group 32x33 = 1056 work-items, device allows 1024"},
        {3,
         {(int64_t)1 << 40, (int64_t)1 << 40, 1},
         0,
         "work-group-size",
         "work-group 1099511627776x1099511627776x1 has more than 2^63 work-items, device allows "
         "1024"},
        {3,
         {1, 1, 128},
         0,
         "work-item-size",
         "dimension 2 of the work-group is 128, device allows 64"},
        {2, {8, 8, 1}, 66560, "local-memory", "needs 66560 B of local memory, device has 49152 B"},
    };
    struct ts_device d;
    make(&d);
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        struct ts_text why = {0};
        ts_text_puts(&why, "");
        const char *code =
            ts_device_refuses(&d, cases[i].dims, cases[i].local, cases[i].bytes, &why);
        assert_int_equal(code == NULL, cases[i].code == NULL);
        if (code)
            assert_string_equal(code, cases[i].code);
        assert_string_equal(why.text, cases[i].text);
        ts_text_free(&why);
    }
    ts_device_free(&d);
}

static void test_lacks(void **state)
{
    (void)state;
    struct ts_device d;
    struct ts_text why = {0};
    make(&d);
    free(d.extensions);
    d.extensions = ts_strdup("cl_khr_fp16 cl_khr_fp64");
    assert_null(ts_device_lacks(&d, TS_DOUBLE, &why));
    d.extensions[0] = '\0'; /* not told */
    assert_null(ts_device_lacks(&d, TS_DOUBLE, &why));
    free(d.extensions);
    d.extensions = ts_strdup("cl_khr_fp16");
    assert_null(ts_device_lacks(&d, TS_FLOAT, &why));
    assert_string_equal(ts_device_lacks(&d, TS_DOUBLE, &why), "feature");
    assert_string_equal(why.text,
                        "needs double precision (cl_khr_fp64), which the device does not have");
    ts_text_free(&why);
    ts_device_free(&d);
}

static void test_lacks_extension(void **state)
{
    (void)state;
    struct ts_device d;
    struct ts_text why = {0};
    make(&d);
    free(d.extensions);
    d.extensions = ts_strdup("cl_khr_subgroup_shuffle_relative cl_khr_icd");
    assert_null(ts_device_lacks_extension(&d, "cl_khr_icd", &why));
    assert_null(ts_device_lacks_extension(&d, "cl_khr_subgroup_shuffle_relative", &why));
    assert_string_equal(ts_device_lacks_extension(&d, "cl_khr_subgroup_shuffle", &why), "feature");
    assert_string_equal(
        why.text, "needs the extension cl_khr_subgroup_shuffle, which the device does not have");
    ts_text_free(&why);
    assert_string_equal(ts_device_lacks_extension(&d, "khr_icd", &why), "feature");
    d.extensions[0] = '\0'; /* not told */
    assert_null(ts_device_lacks_extension(&d, "cl_khr_subgroup_shuffle", &why));
    ts_text_free(&why);
    ts_device_free(&d);
}

static void test_is_named(void **state)
{
    (void)state;
    char name[] = "Fast Processor 2", platform[] = "Portable";
    struct ts_device d = {.name = name, .platform_name = platform};
    assert_true(ts_device_is_named(&d, "fast"));
    assert_true(ts_device_is_named(&d, "OR 2"));
    assert_true(ts_device_is_named(&d, "portABLE"));
    assert_false(ts_device_is_named(&d, "or 23"));
    assert_false(ts_device_is_named(&d, "2portable"));
    d.platform_name = NULL;
    assert_false(ts_device_is_named(&d, "portable"));
}

static void test_refuses_unknown(void **state)
{
    (void)state;
    struct ts_device d;
    struct ts_text why = {0};
    make(&d);
    d.number[TS_DEVICE_MAX_WORK_ITEM_DIMENSIONS] = 2;
    const int64_t local[3] = {1, 1, 1}, large[3] = {100000, 100000, 100000};
    assert_string_equal(ts_device_refuses(&d, 3, local, 0, &why), "work-item-size");
    assert_string_equal(why.text, "3 dimensions, device allows 2");
    for (int i = 0; i < TS_DEVICE_FIELD_COUNT; i++)
        d.number[i] = -1;
    for (int i = 0; i < 3; i++)
        d.max_work_item_sizes[i] = -1;
    assert_null(ts_device_refuses(&d, 3, large, INT64_MAX, &why));
    ts_text_free(&why);
    ts_device_free(&d);
}

static void test_local_memory_words(void **state)
{
    static const char *const words[] = {"unknown", "none", "dedicated",
                                        "global memory (staging copies memory to memory)"};
    (void)state;
    for (int type = -1; type <= TS_LOCAL_MEM_GLOBAL; type++) {
        struct ts_device device = {0};
        device.number[TS_DEVICE_LOCAL_MEM_TYPE] = type;
        assert_string_equal(ts_device_local_memory_words(&device), words[type + 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_json_and_back),
        cmocka_unit_test(test_json_shape),
        cmocka_unit_test(test_from_json_sparse),
        cmocka_unit_test(test_from_json_faults),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_local_memory_words),
        cmocka_unit_test(test_is_named),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_lacks),
        cmocka_unit_test(test_lacks_extension),
        cmocka_unit_test(test_refuses_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
