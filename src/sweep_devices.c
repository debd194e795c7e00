/* sweep_devices.c: asking a worker for platforms and devices, and choosing by -d. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "file.h"
#include "probe.h"
#include "signals.h"
#include "sweep.h"

#define DEVICES_TIMEOUT_NS 60000000000LL

/* ---- listing ---- */

static void add_fault(struct ts_device_list *list, const char *platform, const char *text)
{
    list->faults = ts_realloc(list->faults, list->fault_count + 1, sizeof(*list->faults));
    list->faults[list->fault_count++] =
        (struct ts_platform_fault){ts_strdup(platform), ts_strdup(text)};
}

/* rusticl hides its devices until it is told which drivers to use: nobody guesses that. */
static void add_platform_fault(struct ts_device_list *list, const char *platform, const char *fault)
{
    char *text =
        ts_printf("%s%s", fault,
                  strcmp(platform, "rusticl") != 0
                      ? ""
                      : "; RUSTICL_ENABLE=llvmpipe (or another driver's name) switches it on");

    add_fault(list, platform, text);
    free(text);
}

/* A device whose facts are damaged is listed as a fault: the others can be used. */
static void read_devices(struct ts_device_list *list, const cJSON *platform)
{
    const cJSON *item, *items = ts_json_get(platform, "devices");

    cJSON_ArrayForEach(item, items)
    {
        struct ts_err damage = {0};

        list->devices = ts_realloc(list->devices, list->count + 1, sizeof(*list->devices));
        if (ts_device_from_json(&list->devices[list->count], item, &damage) == 0) {
            list->count++;
            continue;
        }
        char *text = ts_printf("the worker told of a device that cannot be used: %s", damage.text);
        add_fault(list, ts_json_string(platform, "name", "?"), text);
        free(text);
    }
}

static void read_list(struct ts_device_list *list, const cJSON *line)
{
    const cJSON *platform, *platforms = ts_json_get(line, "platforms");
    const char *fault = ts_json_string(line, "fault", NULL);

    list->host = ts_strdup(ts_json_string(line, "host", ""));
    if (fault)
        add_fault(list, "OpenCL", fault);
    cJSON_ArrayForEach(platform, platforms)
    {
        fault = ts_json_string(platform, "fault", NULL);
        if (fault)
            add_platform_fault(list, ts_json_string(platform, "name", "?"), fault);
        read_devices(list, platform);
    }
}

static const char *const no_device_hint =
    "hint: `clinfo -l` shows what the OpenCL loader sees; on Debian, pocl-opencl-icd runs kernels "
    "on any "
    "CPU; RUSTICL_ENABLE=llvmpipe switches Mesa's rusticl on; OCL_ICD_VENDORS chooses another "
    "folder of "
    "ICD files than /etc/OpenCL/vendors; POCL_CACHE_DIR must be writable";

static int no_device(const struct ts_device_list *list, struct ts_err *err)
{
    struct ts_text text = {0};

    for (size_t i = 0; i < list->fault_count; i++)
        ts_text_printf(&text, "\n  %s: %s", list->faults[i].platform, list->faults[i].text);
    ts_err_set(err, TS_EXIT_NO_DEVICE, "no usable OpenCL device%s\n%s", text.text ? text.text : "",
               no_device_hint);
    ts_text_free(&text);
    return -1;
}

static int ask(struct ts_device_list *list, struct ts_crew *crew, struct ts_err *err)
{
    struct ts_job job = {.verb = TS_JOB_DEVICES};
    struct ts_reply reply = {0};
    size_t seat;
    int result = 0;

    if (ts_crew_hire(crew, &seat, err) < 0)
        return -1;
    ts_crew_call(crew, seat, &job, NULL, NULL, 0, &reply);
    if (reply.kind == TS_REPLY_DONE)
        read_list(list, reply.line);
    else if (reply.kind == TS_REPLY_SIGNAL)
        result = ts_err_set(err, 128 + ts_signal_pending(), "interrupted");
    else
        result =
            ts_err_set(err, TS_EXIT_NO_DEVICE,
                       "no usable OpenCL device: asking for devices failed: %s%s%s\n%s", reply.text,
                       reply.talk ? "\n" : "", reply.talk ? reply.talk : "", no_device_hint);
    ts_reply_free(&reply);
    ts_crew_dismiss(crew, seat);
    return result;
}

char *ts_devices_lock_path(const struct ts_device_list *list, const struct ts_device *device)
{
    const char *folder = getenv("TILESWEEP_LOCKS");
    char *text = ts_printf("%s\n%s", device->id, list->host);
    char *digest = ts_digest(text, strlen(text));
    char *path = ts_printf("%s/tilesweep-device-%s.lock", folder && folder[0] ? folder : "/tmp",
                           digest + strlen("xxh3:"));

    free(text);
    free(digest);
    return path;
}

/* A device that cannot be audited is listed with a fault instead of a clock. */
static int audit(struct ts_device_list *list, struct ts_crew *crew, size_t index,
                 const struct ts_probe *probe, struct ts_err *err)
{
    struct ts_device *device = &list->devices[index];
    struct ts_job job = {
        .verb = TS_JOB_OPEN,
        .platform_index = device->platform_index,
        .device_index = device->device_index,
        .device_id = ts_strdup(device->id),
        .audit = true,
        .code = {ts_strdup(probe->digest), ts_strdup(TS_PROBE_OPTIONS)},
    };
    const char *digest = probe->digest, *text = probe->text;
    struct ts_reply reply = {0};
    size_t seat;

    if (ts_crew_hire(crew, &seat, err) < 0) {
        ts_job_free(&job);
        return -1;
    }
    ts_crew_call(crew, seat, &job, &digest, &text, 1, &reply);
    ts_job_free(&job);
    if (reply.kind == TS_REPLY_DONE && !strcmp(ts_json_string(reply.line, "status", ""), "ok"))
        ts_clock_from_json(&list->clocks[index], ts_json_get(reply.line, "clock"));
    else if (reply.kind == TS_REPLY_DONE)
        add_fault(list, device->name,
                  ts_json_string(ts_json_get(reply.line, "reason"), "text", "?"));
    else if (reply.kind == TS_REPLY_LOST)
        add_fault(list, device->name, reply.text);
    if (reply.kind == TS_REPLY_DONE)
        ts_crew_dismiss(crew, seat);
    ts_reply_free(&reply);
    return ts_signal_pending() ? ts_err_set(err, 128 + ts_signal_pending(), "interrupted") : 0;
}

/* The audit's kernels would disturb a sweep on the device, so it takes the device's lock too. */
static int audit_alone(struct ts_device_list *list, struct ts_crew *crew, size_t index,
                       const struct ts_probe *probe, struct ts_err *err)
{
    char *path = ts_devices_lock_path(list, &list->devices[index]);
    struct ts_err held = {0};
    int lock = ts_lock_take(path, false, NULL, NULL, &held), result = 0;

    if (lock < 0)
        add_fault(list, list->devices[index].name, held.text);
    else
        result = audit(list, crew, index, probe, err);
    ts_lock_release(lock);
    free(path);
    return result;
}

static int audit_all(struct ts_device_list *list, struct ts_crew *crew, struct ts_err *err)
{
    struct ts_probe probe;
    int result = ts_probe_load(&probe, err);

    list->clocks = ts_alloc(list->count, sizeof(*list->clocks));
    for (size_t i = 0; i < list->count && result == 0; i++)
        result = audit_alone(list, crew, i, &probe, err);
    ts_probe_free(&probe);
    return result;
}

int ts_devices_list(struct ts_device_list *list, const struct ts_launcher *launcher,
                    int64_t timeout_ns, bool audit_clocks, struct ts_err *err)
{
    int ordinal = 0;
    struct ts_crew *crew =
        ts_crew_open(launcher, timeout_ns > 0 ? timeout_ns : DEVICES_TIMEOUT_NS, &ordinal);
    int result;

    memset(list, 0, sizeof(*list));
    result = ask(list, crew, err);
    if (result == 0 && list->count == 0)
        result = no_device(list, err);
    if (result == 0 && audit_clocks)
        result = audit_all(list, crew, err);
    ts_crew_close(crew);
    if (result < 0)
        ts_devices_free(list);
    return result;
}

void ts_devices_free(struct ts_device_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ts_device_free(&list->devices[i]);
        if (list->clocks)
            ts_clock_free(&list->clocks[i]);
    }
    for (size_t i = 0; i < list->fault_count; i++) {
        free(list->faults[i].platform);
        free(list->faults[i].text);
    }
    free(list->host);
    free(list->devices);
    free(list->clocks);
    free(list->faults);
    memset(list, 0, sizeof(*list));
}

/* ---- choosing ---- */

/* Compared as text, so that no number is too large to be told from another. */
static bool has_index(const struct ts_device *device, const char *wanted)
{
    char index[32];

    snprintf(index, sizeof(index), "%d:%d", device->platform_index, device->device_index);
    return !strcmp(index, wanted);
}

static bool is_same(const struct ts_device *a, const struct ts_device *b)
{
    return a->id[0] && !strcmp(a->id, b->id);
}

size_t ts_devices_twin(const struct ts_device_list *list, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (is_same(&list->devices[i], &list->devices[index]))
            return i;
    }
    return index;
}

/* How many devices the word names, a device that is listed twice counted once; *match is the first.
 */
static size_t find_devices(const struct ts_device_list *list, const char *wanted, size_t *match)
{
    size_t found = 0;

    for (size_t i = list->count; i-- > 0;) {
        const struct ts_device *device = &list->devices[i];

        if (has_index(device, wanted)) {
            *match = i;
            return 1;
        }
        if (ts_devices_twin(list, i) != i || !ts_device_is_named(device, wanted))
            continue;
        *match = i;
        found++;
    }
    return found;
}

static int tell_choice(const struct ts_device_list *list, const char *wanted, size_t found,
                       struct ts_err *err)
{
    struct ts_text text = {0};

    for (size_t i = 0; i < list->count; i++) {
        const struct ts_device *device = &list->devices[i];
        ts_text_printf(&text, "\n  %d:%d  %s (%s)", device->platform_index, device->device_index,
                       device->name, device->platform_name);
    }
    for (size_t i = 0; i < list->fault_count; i++)
        ts_text_printf(&text, "\n  not usable: %s: %s", list->faults[i].platform,
                       list->faults[i].text);
    ts_err_set(err, TS_EXIT_USAGE, "-d %s: %s; the devices are:%s", wanted,
               found == 0 ? "no such device" : "several devices match", text.text);
    ts_text_free(&text);
    return -1;
}

/* One device is measured once, also when it is named twice or listed under two indices. */
static void add_device(const struct ts_device_list *list, size_t *index, size_t room,
                       size_t *chosen, size_t device)
{
    for (size_t i = 0; i < *chosen; i++) {
        if (index[i] == device || is_same(&list->devices[index[i]], &list->devices[device]))
            return;
    }
    if (*chosen < room)
        index[(*chosen)++] = device;
}

static void add_all(const struct ts_device_list *list, size_t *index, size_t room, size_t *chosen)
{
    for (size_t i = 0; i < list->count; i++)
        add_device(list, index, room, chosen, i);
}

static size_t default_device(const struct ts_device_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!strcmp(list->devices[i].type, "gpu"))
            return i;
    }
    return 0;
}

int ts_devices_choose(const struct ts_device_list *list, char **wanted, size_t wanted_count,
                      size_t *index, size_t room, size_t *chosen, struct ts_err *err)
{
    *chosen = 0;
    if (wanted_count == 0)
        add_device(list, index, room, chosen, default_device(list));
    for (size_t w = 0; w < wanted_count; w++) {
        size_t match = 0, found;

        if (!strcmp(wanted[w], "all")) {
            add_all(list, index, room, chosen);
            continue;
        }
        if (wanted[w][0] == '\0')
            return ts_err_set(err, TS_EXIT_USAGE,
                              "-d \"\": expected P:D, a part of a name, or \"all\"");
        found = find_devices(list, wanted[w], &match);
        if (found != 1)
            return tell_choice(list, wanted[w], found, err);
        add_device(list, index, room, chosen, match);
    }
    return 0;
}
