/* compare_differ.c: what is not alike on both sides, from one table. */
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"

/* Appends what a run has; nothing: not known. */
typedef void (*print_part)(const struct ts_run *run, struct ts_text *out);

static void puts_known(struct ts_text *out, const char *text)
{
    ts_text_puts(out, text ? text : "");
}

static void print_device(const struct ts_run *run, struct ts_text *out)
{
    puts_known(out, run->device.name);
}

static void print_driver(const struct ts_run *run, struct ts_text *out)
{
    puts_known(out, run->device.driver);
}

static void print_platform(const struct ts_run *run, struct ts_text *out)
{
    puts_known(out, run->device.platform_version);
}

static void print_clock(const struct ts_run *run, struct ts_text *out)
{
    ts_text_puts(out, run->clock.event ? "event clock" : "host clock");
}

static void print_seed(const struct ts_run *run, struct ts_text *out)
{
    ts_text_printf(out, "%llu", (unsigned long long)run->seed);
}

static void print_tool(const struct ts_run *run, struct ts_text *out)
{
    ts_text_printf(out, "%s (%s)", ts_json_string(run->tool, "version", "?"),
                   ts_json_string(run->tool, "revision", "?"));
}

static void print_host(const struct ts_run *run, struct ts_text *out)
{
    puts_known(out, ts_json_string(run->host, "name", ""));
}

static void print_system(const struct ts_run *run, struct ts_text *out)
{
    ts_text_printf(out, "%s, %s", ts_json_string(run->host, "os", "?"),
                   ts_json_string(run->host, "cpu", "?"));
}

static void print_state(const struct ts_run *run, struct ts_text *out)
{
    ts_text_puts(out, run->interrupted ? "interrupted" : "complete");
}

static const struct {
    const char *what;
    print_part print;
} parts[] = {
    {"device", print_device}, {"driver", print_driver},       {"platform", print_platform},
    {"clock", print_clock},   {"seed of inputs", print_seed}, {"tool", print_tool},
    {"host", print_host},     {"system", print_system},       {"run", print_state},
};

/* Keys of these objects are told one by one. Which rows were asked for shows in the rows. */
static const struct {
    const char *what;
    size_t offset;
    const char * not [8];
} objects[] = {
    {"option",
     offsetof(struct ts_run, options),
     {"specs", "devices", "anonymous", "budget_ns", "rows_file", "rows_which"}},
    {"environment", offsetof(struct ts_run, environment), {NULL}},
    {"side's", offsetof(struct ts_run, sides), {"measured"}},
};

static void add(struct ts_compare *compare, const char *what, const struct ts_text text[2])
{
    const char *base = text[TS_BASE].text ? text[TS_BASE].text : "";
    const char *fresh = text[TS_NEW].text ? text[TS_NEW].text : "";
    if (strcmp(base, fresh) == 0)
        return;
    TS_GROW(compare->differences, compare->difference_count, compare->difference_capacity);
    compare->differences[compare->difference_count++] =
        (struct ts_difference){ts_strdup(what), ts_strdup(base), ts_strdup(fresh)};
}

/* The values of a side's runs, each once, in the order of the runs. */
static void add_value(struct ts_text *list, const char *value)
{
    size_t length = strlen(value);
    if (length == 0 && list->text) /* found everywhere, beyond the end, too */
        return;
    for (const char *at = list->text; at && (at = strstr(at, value)); at++) {
        bool begins = at == list->text || (at - list->text >= 2 && at[-1] == ' ' && at[-2] == ';');
        if (begins && (at[length] == '\0' || at[length] == ';'))
            return;
    }
    ts_text_printf(list, "%s%s", list->length ? "; " : "", value);
}

static void compare_part(struct ts_compare *compare, size_t device, const char *what,
                         print_part print)
{
    struct ts_text side[2] = {{0}, {0}};
    for (size_t r = 0; r < compare->run_count; r++) {
        struct ts_text value = {0};
        if (compare->runs[r].device != device)
            continue;
        ts_text_puts(&value, "");
        print(compare->runs[r].run, &value);
        add_value(&side[compare->runs[r].side], value.text);
        ts_text_free(&value);
    }
    add(compare, what, side);
    ts_text_free(&side[TS_BASE]);
    ts_text_free(&side[TS_NEW]);
}

static const cJSON *object_of(const struct ts_run *run, size_t offset)
{
    return *(cJSON *const *)(const void *)((const char *)run + offset);
}

static void compare_key(struct ts_compare *compare, size_t device, size_t object, const char *key)
{
    struct ts_text side[2] = {{0}, {0}}, what = {0};
    for (size_t r = 0; r < compare->run_count; r++) {
        if (compare->runs[r].device != device)
            continue;
        const cJSON *value =
            ts_json_get(object_of(compare->runs[r].run, objects[object].offset), key);
        char *text = value ? ts_json_print(value) : ts_strdup("not set");
        add_value(&side[compare->runs[r].side], text);
        free(text);
    }
    ts_text_printf(&what, "%s %s", objects[object].what, key);
    add(compare, what.text, side);
    ts_text_free(&what);
    ts_text_free(&side[TS_BASE]);
    ts_text_free(&side[TS_NEW]);
}

static bool is_left_out(size_t object, const char *key)
{
    for (size_t i = 0; i < TS_COUNT(objects[object].not ) && objects[object].not [i]; i++)
        if (strcmp(objects[object].not [i], key) == 0)
            return true;
    return false;
}

/* Every key that any run of the device has, once: that of the first run to have it counts. */
static void compare_object(struct ts_compare *compare, size_t device, size_t object)
{
    for (size_t r = 0; r < compare->run_count; r++) {
        const cJSON *item;
        if (compare->runs[r].device != device)
            continue;
        cJSON_ArrayForEach(item, object_of(compare->runs[r].run, objects[object].offset))
        {
            bool seen = is_left_out(object, item->string);
            for (size_t before = 0; before < r && !seen; before++)
                seen = compare->runs[before].device == device &&
                       ts_json_get(object_of(compare->runs[before].run, objects[object].offset),
                                   item->string);
            if (!seen)
                compare_key(compare, device, object, item->string);
        }
    }
}

static void compare_sources(struct ts_compare *compare, size_t device)
{
    size_t changed = 0, both = 0;
    for (size_t i = 0; i < compare->row_count; i++) {
        const struct ts_compare_row *row = &compare->rows[i];
        if (row->device != device || !row->side[TS_BASE] || !row->side[TS_NEW])
            continue;
        const char *base = row->side[TS_BASE]->row.source, *fresh = row->side[TS_NEW]->row.source;
        both++;
        changed += base && fresh && strcmp(base, fresh) != 0;
    }
    if (changed == 0)
        return;
    struct ts_text side[2] = {{0}, {0}};
    ts_text_puts(&side[TS_BASE], "");
    ts_text_printf(&side[TS_NEW], "changed for %zu of %zu configurations", changed, both);
    add(compare, "kernel source", side);
    ts_text_free(&side[TS_BASE]);
    ts_text_free(&side[TS_NEW]);
}

void ts_compare_find_differences(struct ts_compare *compare)
{
    for (size_t d = 0; d < compare->device_count; d++) {
        if (compare->devices[d].run_count[TS_BASE] == 0 ||
            compare->devices[d].run_count[TS_NEW] == 0)
            continue;
        for (size_t i = 0; i < TS_COUNT(parts); i++)
            compare_part(compare, d, parts[i].what, parts[i].print);
        for (size_t i = 0; i < TS_COUNT(objects); i++)
            compare_object(compare, d, i);
        compare_sources(compare, d);
    }
}
