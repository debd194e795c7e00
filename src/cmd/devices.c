/* devices.c: `tilesweep devices`: platforms, devices, their limits, and what their event clock is
 * worth. */
#include "../cli.h"
#include "../sweep.h"
#include "../table.h"
#include "cmd.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

enum fact_unit { PLAIN, BYTES, MEGAHERTZ, NANOSECONDS, YES_NO, LOCAL_TYPE };

/* What is shown, in this order; everything else is in --json. */
static const struct {
    const char *label;
    enum ts_device_field field;
    enum fact_unit unit;
} facts[] = {
    {"compute units", TS_DEVICE_MAX_COMPUTE_UNITS, PLAIN},
    {"clock", TS_DEVICE_MAX_CLOCK_FREQUENCY, MEGAHERTZ},
    {"max work-group", TS_DEVICE_MAX_WORK_GROUP_SIZE, PLAIN},
    {"local memory is", TS_DEVICE_LOCAL_MEM_TYPE, LOCAL_TYPE},
    {"local memory", TS_DEVICE_LOCAL_MEM_SIZE, BYTES},
    {"global memory", TS_DEVICE_GLOBAL_MEM_SIZE, BYTES},
    {"max allocation", TS_DEVICE_MAX_MEM_ALLOC_SIZE, BYTES},
    {"global cache", TS_DEVICE_GLOBAL_MEM_CACHE_SIZE, BYTES},
    {"cache line", TS_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, BYTES},
    {"float vector width", TS_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, PLAIN},
    {"double vector width", TS_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, PLAIN},
    {"shares host memory", TS_DEVICE_HOST_UNIFIED_MEMORY, YES_NO},
    {"timer resolution", TS_DEVICE_PROFILING_TIMER_RESOLUTION, NANOSECONDS},
};

static void add_row(struct ts_table *t, const char *label, const char *text)
{
    ts_table_cell(t, "%s", label);
    ts_table_cell(t, "%s", text && text[0] ? text : "-");
}

static void add_fact(struct ts_table *t, size_t index, const struct ts_device *device)
{
    int64_t number = device->number[facts[index].field];
    char buffer[TS_HUMAN_ROOM];
    const char *label = facts[index].label;
    ts_table_cell(t, "%s", label);
    if (number < 0) {
        ts_table_cell(t, "unknown");
        return;
    }
    switch (facts[index].unit) {
    case BYTES:
        ts_table_cell(t, "%s", ts_human_bytes(number, buffer));
        break;
    case MEGAHERTZ:
        ts_table_cell(t, "%lld MHz", (long long)number);
        break;
    case NANOSECONDS:
        ts_table_cell(t, "%lld ns, as reported", (long long)number);
        break;
    case YES_NO:
        ts_table_cell(t, "%s", number ? "yes" : "no");
        break;
    case LOCAL_TYPE:
        ts_table_cell(t, "%s", ts_device_local_memory_words(device));
        break;
    case PLAIN:
        /* A width of 0 is OpenCL's way to say that the type is not supported. */
        ts_table_cell(t, "%lld%s", (long long)number,
                      !number && strstr(label, "vector") ? " (type not supported)" : "");
        break;
    }
}

static void add_item_sizes(struct ts_table *t, const struct ts_device *device)
{
    const int64_t *sizes = device->max_work_item_sizes;
    ts_table_cell(t, "max work-items");
    if (sizes[0] < 0)
        ts_table_cell(t, "unknown");
    else
        ts_table_cell(t, "%lld x %lld x %lld", (long long)sizes[0], (long long)sizes[1],
                      (long long)sizes[2]);
}

static void add_clock(struct ts_table *t, const struct ts_clock *clock)
{
    char floor[TS_HUMAN_ROOM];
    ts_table_cell(t, "event clock");
    ts_table_cell(t, "%s; tick %lld ns, an empty kernel takes %s",
                  clock->event ? "believed" : "not believed, the host clock is used",
                  (long long)clock->tick_ns, ts_human_time((double)clock->floor_ns, floor));
    for (size_t i = 0; i < clock->warning_count; i++)
        add_row(t, "", clock->warnings[i]);
}

static void print_device(const struct ts_device *device, const struct ts_clock *clock,
                         const struct ts_device *twin, bool is_default, struct ts_text *out)
{
    char *name = ts_text_printable(device->name ? device->name : "(no name)");
    ts_text_printf(out, "%d:%d  %s%s\n", device->platform_index, device->device_index, name,
                   is_default ? "  [default]" : "");
    free(name);
    if (twin != device)
        ts_text_printf(out, "  the same device as %d:%d: two ICD files seem to name one driver\n",
                       twin->platform_index, twin->device_index);
    struct ts_table t = {0};
    ts_table_column(&t, NULL, TS_LEFT);
    ts_table_column(&t, NULL, TS_LEFT);
    ts_table_cell(&t, "platform");
    ts_table_cell(&t, "%s (%s)", device->platform_name ? device->platform_name : "-",
                  device->platform_version ? device->platform_version : "-");
    add_row(&t, "vendor", device->vendor);
    add_row(&t, "type", device->type);
    add_row(&t, "version", device->version);
    add_row(&t, "driver", device->driver);
    for (size_t i = 0; i < TS_COUNT(facts); i++) {
        add_fact(&t, i, device);
        if (facts[i].field == TS_DEVICE_MAX_WORK_GROUP_SIZE)
            add_item_sizes(&t, device);
    }
    if (clock)
        add_clock(&t, clock);
    ts_table_print(&t, "  ", out);
    ts_table_free(&t);
}

/* NULL: not audited, since the device is busy or fails; then there is a fault that says so. */
static const struct ts_clock *clock_of(const struct ts_device_list *list, size_t index)
{
    return list->clocks && list->clocks[index].tick_ns > 0 ? &list->clocks[index] : NULL;
}

static void print_list(const struct ts_device_list *list, size_t chosen)
{
    struct ts_text out = {0};
    ts_text_puts(&out, "");
    for (size_t i = 0; i < list->count; i++) {
        ts_text_puts(&out, i ? "\n" : "");
        print_device(&list->devices[i], clock_of(list, i), &list->devices[ts_devices_twin(list, i)],
                     i == chosen, &out);
    }
    for (size_t i = 0; i < list->fault_count; i++) {
        char *platform = ts_text_printable(list->faults[i].platform);
        char *text = ts_text_printable(list->faults[i].text);
        ts_text_printf(&out, "\n%s: not usable: %s\n", platform, text);
        free(platform);
        free(text);
    }
    fputs(out.text, stdout);
    ts_text_free(&out);
}

/* ---- for programs ---- */

static void print_json(const struct ts_device_list *list, size_t chosen)
{
    cJSON *document = cJSON_CreateObject();
    ts_json_add_string(document, "schema", "tilesweep.devices/1");
    cJSON *devices = ts_json_add_array(document, "devices");
    for (size_t i = 0; i < list->count; i++) {
        const struct ts_device *device = &list->devices[i];
        cJSON *object = ts_json_add_object(devices, NULL);
        char *index = ts_printf("%d:%d", device->platform_index, device->device_index);
        ts_json_add_string(object, "index", index);
        free(index);
        ts_json_add_bool(object, "default", i == chosen);
        ts_device_to_json(device, object);
        if (clock_of(list, i))
            ts_json_add_item(object, "clock", ts_clock_to_json(clock_of(list, i)));
        else
            ts_json_add_null(object, "clock");
    }
    cJSON *faults = ts_json_add_array(document, "faults");
    for (size_t i = 0; i < list->fault_count; i++) {
        cJSON *object = ts_json_add_object(faults, NULL);
        ts_json_add_string(object, "platform", list->faults[i].platform);
        ts_json_add_string(object, "text", list->faults[i].text);
    }
    struct ts_text text = {0};
    ts_json_add_document(&text, document);
    fputs(text.text, stdout);
    ts_text_free(&text);
}

/* ---- the command ---- */

struct devices_options {
    bool json;
    const char *worker;
};

static const struct ts_option options[] = {
    {"json", 0, NULL, TS_OPTION_FLAG, offsetof(struct devices_options, json),
     .help = "print one JSON document (tilesweep.devices/1) with every limit"},
    {"worker", 0, "COMMAND", TS_OPTION_TEXT, offsetof(struct devices_options, worker),
     .help = "ask a worker started by /bin/sh -c \"exec COMMAND\": 'ssh box tilesweep worker'"},
};

static const struct ts_cli cli = {
    .command = "devices",
    .usage = "[OPTION]...",
    .about = "Show every OpenCL platform and device, its limits, and whether the times that its "
             "profiling events tell can be believed. The P:D before a name is what 'run --device' "
             "takes. A platform that fails is listed with its reason; no usable device is exit "
             "status 3.",
    .options = options,
    .option_count = TS_COUNT(options),
    .max_args = 0,
};

static int run(int argc, char **argv, struct ts_err *err)
{
    struct devices_options o = {0};
    struct ts_cli_args args;
    int status = ts_cli_parse(&cli, argc, argv, &o, &args, err);
    if (status)
        return status == 1 ? TS_EXIT_OK : -1;
    const struct ts_launcher launcher = {.command = o.worker};
    struct ts_device_list list = {0};
    size_t chosen = SIZE_MAX, count = 0;
    status = ts_devices_list(&list, &launcher, 0, true, err);
    if (status == 0)
        status = ts_devices_choose(&list, NULL, 0, &chosen, 1, &count, err);
    if (status == 0 && o.json)
        print_json(&list, chosen);
    else if (status == 0)
        print_list(&list, chosen);
    ts_devices_free(&list);
    return status;
}

const struct ts_command ts_command_devices = {
    .name = "devices",
    .summary = "OpenCL platforms and devices, their limits, the audit of their clock",
    .run = run,
};
