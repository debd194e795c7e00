/* worker_host.c: what the results tell of the machine that a worker runs on. */
#define _DEFAULT_SOURCE /* getloadavg */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "worker_private.h"

extern char **environ;

static char *cpu_name(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512], *name = NULL;

    while (file && !name && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');
        if (colon && !strncmp(line, "model name", 10)) {
            colon[strcspn(colon, "\n")] = '\0';
            name = ts_strdup(colon + 1 + strspn(colon + 1, " \t"));
        }
    }
    if (file)
        fclose(file);
    return name ? name : ts_strdup("");
}

cJSON *ts_worker_host(void)
{
    cJSON *host = cJSON_CreateObject();
    struct utsname system;
    char *cpu = cpu_name(), *os;
    double load[1] = {0};

    if (uname(&system) < 0)
        memset(&system, 0, sizeof(system));
    os = ts_printf("%s %s %s", system.sysname, system.release, system.machine);
    ts_json_add_string(host, "name", system.nodename);
    ts_json_add_string(host, "os", os);
    ts_json_add_string(host, "cpu", cpu);
    ts_json_add_int(host, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    if (getloadavg(load, 1) == 1)
        ts_json_add_real(host, "load", load[0]);
    else
        ts_json_add_null(host, "load");
    free(os);
    free(cpu);
    return host;
}

/* Variables that choose or steer a driver, its compiler or its cache. */
static const char *const steering[] = {"POCL_",    "CUDA_",  "OCL_",  "RUSTICL_", "MESA_", "LP_",
                                       "GALLIUM_", "LIBGL_", "ROCR_", "HIP_",     "GPU_",  "AMD_",
                                       "NEO_",     "IGC_",   "ZE_",   "NV_",      "CL_",   "HSA_"};

cJSON *ts_worker_environment(void)
{
    cJSON *all = cJSON_CreateObject();

    for (char **entry = environ; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        bool steers = false;

        for (size_t i = 0; i < TS_COUNT(steering); i++)
            steers |= !strncmp(*entry, steering[i], strlen(steering[i]));
        if (!equals || !steers)
            continue;
        char *name = ts_utf8_clean(*entry, (size_t)(equals - *entry), 0);
        if (!ts_json_get(all, name))
            ts_json_add_string(all, name, equals + 1);
        free(name);
    }
    return all;
}

void ts_worker_pin_threads(void)
{
    if (ts_runqueue_processors() == sysconf(_SC_NPROCESSORS_CONF))
        (void)setenv("POCL_AFFINITY", "1", 0);
}
