/* device.c: device facts as JSON, as names of expressions, and as limits of a launch. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const field_names[TS_DEVICE_FIELD_COUNT] = {
#define X(name, type) #name,
    TS_DEVICE_FIELDS(X)
#undef X
};

/* Values of enum ts_local_mem_type. */
static const char *const local_mem_types[] = {"none", "local", "global"};

static const char prefix[] = "DEVICE_", sizes_name[] = "MAX_WORK_ITEM_SIZES";

/* The strings of the document's two objects. */
static const struct string_field {
    const char *object, *key;
    size_t offset;
} string_fields[] = {
    {"platform", "name", offsetof(struct ts_device, platform_name)},
    {"platform", "version", offsetof(struct ts_device, platform_version)},
    {"device", "id", offsetof(struct ts_device, id)},
    {"device", "name", offsetof(struct ts_device, name)},
    {"device", "vendor", offsetof(struct ts_device, vendor)},
    {"device", "family", offsetof(struct ts_device, family)},
    {"device", "type", offsetof(struct ts_device, type)},
    {"device", "driver", offsetof(struct ts_device, driver)},
    {"device", "version", offsetof(struct ts_device, version)},
    {"device", "extensions", offsetof(struct ts_device, extensions)},
};

static char **string_of(struct ts_device *device, const struct string_field *field)
{
    return (char **)(void *)((char *)device + field->offset);
}

static const char *string_in(const struct ts_device *device, const struct string_field *field)
{
    return *(char *const *)(const void *)((const char *)device + field->offset);
}

void ts_device_free(struct ts_device *device)
{
    if (!device)
        return;
    for (size_t i = 0; i < TS_COUNT(string_fields); i++) {
        char **string = string_of(device, &string_fields[i]);
        free(*string);
        *string = NULL;
    }
}

const char *ts_device_local_memory_words(const struct ts_device *device)
{
    switch (device->number[TS_DEVICE_LOCAL_MEM_TYPE]) {
    case TS_LOCAL_MEM_LOCAL:
        return "dedicated";
    case TS_LOCAL_MEM_GLOBAL:
        return "global memory (staging copies memory to memory)";
    case TS_LOCAL_MEM_NONE:
        return "none";
    default:
        return "unknown";
    }
}

/* ---- JSON ---- */

static void add_limit(cJSON *limits, const char *key, int64_t value)
{
    ts_json_add_int_or_null(limits, key, value > TS_JSON_EXACT ? TS_JSON_EXACT : value);
}

static void add_limits(const struct ts_device *device, cJSON *limits)
{
    for (size_t i = 0; i < TS_DEVICE_FIELD_COUNT; i++) {
        int64_t value = device->number[i];
        if (i == TS_DEVICE_LOCAL_MEM_TYPE && value >= 0 &&
            value < (int64_t)TS_COUNT(local_mem_types))
            ts_json_add_string(limits, field_names[i], local_mem_types[value]);
        else
            add_limit(limits, field_names[i], value);
    }
    cJSON *sizes = ts_json_add_array(limits, sizes_name);
    for (int i = 0; i < 3; i++)
        add_limit(sizes, NULL, device->max_work_item_sizes[i]);
}

void ts_device_to_json(const struct ts_device *device, cJSON *into)
{
    cJSON *platform = ts_json_add_object(into, "platform");
    cJSON *object = ts_json_add_object(into, "device");
    ts_json_add_int(platform, "index", device->platform_index);
    ts_json_add_int(object, "index", device->device_index);
    for (size_t i = 0; i < TS_COUNT(string_fields); i++) {
        const struct string_field *field = &string_fields[i];
        const char *string = string_in(device, field);
        ts_json_add_string(ts_json_get(into, field->object), field->key, string ? string : "");
    }
    add_limits(device, ts_json_add_object(object, "limits"));
}

/* A whole number from 0 on, or -1 for null or absent. */
static int read_limit(const cJSON *item, int64_t *value)
{
    *value = -1;
    if (!item || cJSON_IsNull(item))
        return 0;
    return ts_json_whole(item, value) && *value >= 0 ? 0 : -1;
}

static int read_local_mem_type(const cJSON *item, int64_t *value)
{
    for (size_t i = 0; cJSON_IsString(item) && i < TS_COUNT(local_mem_types); i++) {
        if (!strcmp(item->valuestring, local_mem_types[i])) {
            *value = (int64_t)i;
            return 0;
        }
    }
    return read_limit(item, value);
}

static int read_limits(struct ts_device *device, const cJSON *limits, struct ts_err *err)
{
    for (size_t i = 0; i < TS_DEVICE_FIELD_COUNT; i++) {
        const cJSON *item = ts_json_get(limits, field_names[i]);
        bool type = i == TS_DEVICE_LOCAL_MEM_TYPE;
        if (type ? read_local_mem_type(item, &device->number[i])
                 : read_limit(item, &device->number[i]))
            return ts_err_set(err, TS_EXIT_USAGE, "device.limits.%s: expected %s or null",
                              field_names[i],
                              type ? "\"local\", \"global\", \"none\"" : "a whole number from 0");
    }
    const cJSON *sizes = ts_json_get(limits, sizes_name);
    if (sizes && !cJSON_IsNull(sizes) && !cJSON_IsArray(sizes))
        return ts_err_set(err, TS_EXIT_USAGE, "device.limits.%s: expected an array", sizes_name);
    for (int i = 0; i < 3; i++)
        if (read_limit(cJSON_GetArrayItem(sizes, i), &device->max_work_item_sizes[i]))
            return ts_err_set(err, TS_EXIT_USAGE,
                              "device.limits.%s[%d]: expected a whole number from 0 or null",
                              sizes_name, i);
    return 0;
}

static int read_strings(struct ts_device *device, const cJSON *from, struct ts_err *err)
{
    for (size_t i = 0; i < TS_COUNT(string_fields); i++) {
        const struct string_field *field = &string_fields[i];
        const cJSON *item = ts_json_get(ts_json_get(from, field->object), field->key);
        if (item && !cJSON_IsNull(item) && !cJSON_IsString(item))
            return ts_err_set(err, TS_EXIT_USAGE, "%s.%s: expected a string", field->object,
                              field->key);
        *string_of(device, field) = ts_strdup(cJSON_IsString(item) ? item->valuestring : "");
    }
    if (!device->name[0])
        return ts_err_set(err, TS_EXIT_USAGE, "device.name: expected the device's name");
    return 0;
}

int ts_device_from_json(struct ts_device *device, const cJSON *from, struct ts_err *err)
{
    *device = (struct ts_device){0};
    const cJSON *object = ts_json_get(from, "device");
    if (!cJSON_IsObject(object))
        return ts_err_set(err, TS_EXIT_USAGE, "device: expected an object");
    device->platform_index = (int)ts_json_int(ts_json_get(from, "platform"), "index", 0);
    device->device_index = (int)ts_json_int(object, "index", 0);
    if (!read_strings(device, from, err) &&
        !read_limits(device, ts_json_get(object, "limits"), err))
        return 0;
    ts_device_free(device);
    *device = (struct ts_device){0};
    return -1;
}

/* ---- Names of expressions ---- */

bool ts_device_fact(const struct ts_device *device, const char *name, int64_t *value)
{
    *value = 0;
    if (strncmp(name, prefix, sizeof(prefix) - 1))
        return false;
    name += sizeof(prefix) - 1;
    for (size_t i = 0; i < TS_DEVICE_FIELD_COUNT; i++) {
        if (!strcmp(name, field_names[i])) {
            *value = device ? device->number[i] : 0;
            return true;
        }
    }
    for (int i = 0; i < 3; i++) {
        char element[sizeof(sizes_name) + 2];
        snprintf(element, sizeof(element), "%s_%c", sizes_name, "012"[i]);
        if (!strcmp(name, element)) {
            *value = device ? device->max_work_item_sizes[i] : 0;
            return true;
        }
    }
    return false;
}

/* ---- Limits of a launch ---- */

static bool above(int64_t wanted, int64_t limit)
{
    return limit >= 0 && wanted > limit;
}

/* False when the product is beyond int64. */
static bool work_items(int dims, const int64_t local[3], int64_t *product)
{
    *product = 1;
    for (int i = 0; i < dims; i++)
        if (__builtin_mul_overflow(*product, local[i], product))
            return false;
    return true;
}

static void print_group(int dims, const int64_t local[3], struct ts_text *why)
{
    ts_text_puts(why, "work-group ");
    for (int i = 0; i < dims; i++)
        ts_text_printf(why, "%s%lld", i ? "x" : "", (long long)local[i]);
}

static const char *refuses_group(const struct ts_device *device, int dims, const int64_t local[3],
                                 struct ts_text *why)
{
    int64_t product, limit = device->number[TS_DEVICE_MAX_WORK_GROUP_SIZE];
    bool fits = work_items(dims, local, &product);
    if (limit < 0 || (fits && product <= limit))
        return NULL;
    print_group(dims, local, why);
    if (fits)
        ts_text_printf(why, " = %lld work-items", (long long)product);
    else
        ts_text_puts(why, " has more than 2^63 work-items");
    ts_text_printf(why, ", device allows %lld", (long long)limit);
    return "work-group-size";
}

static const char *refuses_items(const struct ts_device *device, int dims, const int64_t local[3],
                                 struct ts_text *why)
{
    int64_t most = device->number[TS_DEVICE_MAX_WORK_ITEM_DIMENSIONS];
    if (above(dims, most)) {
        ts_text_printf(why, "%d dimensions, device allows %lld", dims, (long long)most);
        return "work-item-size";
    }
    for (int i = 0; i < dims; i++) {
        int64_t limit = device->max_work_item_sizes[i];
        if (!above(local[i], limit))
            continue;
        ts_text_printf(why, "dimension %d of the work-group is %lld, device allows %lld", i,
                       (long long)local[i], (long long)limit);
        return "work-item-size";
    }
    return NULL;
}

static bool has_part(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; text && *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return false;
}

bool ts_device_is_named(const struct ts_device *device, const char *part)
{
    return has_part(device->name, part) || has_part(device->platform_name, part);
}

const char *ts_device_lacks(const struct ts_device *device, enum ts_elem type, struct ts_text *why)
{
    if (type != TS_DOUBLE || !device->extensions || !device->extensions[0] ||
        strstr(device->extensions, "cl_khr_fp64"))
        return NULL;
    ts_text_puts(why, "needs double precision (cl_khr_fp64), which the device does not have");
    return "feature";
}

const char *ts_device_lacks_extension(const struct ts_device *device, const char *name,
                                      struct ts_text *why)
{
    size_t length = strlen(name);

    if (!device->extensions || !device->extensions[0])
        return NULL;
    for (const char *at = device->extensions; (at = strstr(at, name)); at += length)
        if ((at == device->extensions || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return NULL;
    ts_text_printf(why, "needs the extension %s, which the device does not have", name);
    return "feature";
}

const char *ts_device_refuses(const struct ts_device *device, int dims, const int64_t local[3],
                              int64_t local_bytes, struct ts_text *why)
{
    const char *code = refuses_group(device, dims, local, why);
    if (!code)
        code = refuses_items(device, dims, local, why);
    if (code)
        return code;
    int64_t limit = device->number[TS_DEVICE_LOCAL_MEM_SIZE];
    if (!above(local_bytes, limit))
        return NULL;
    ts_text_printf(why, "needs %lld B of local memory, device has %lld B", (long long)local_bytes,
                   (long long)limit);
    return "local-memory";
}
