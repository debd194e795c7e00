/* probe.c: finding the probe kernels. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "job.h"

int ts_probe_load(struct ts_probe *probe, struct ts_err *err)
{
    char *data = ts_data_dir(err), *path;
    size_t length = 0;

    memset(probe, 0, sizeof(*probe));
    if (!data)
        return -1;
    path = ts_path_join(data, "kernels/probe.cl");
    probe->text = ts_file_read(path, &length, err);
    if (probe->text)
        probe->digest = ts_digest(probe->text, length);
    else
        err->exit_status = TS_EXIT_SYSTEM; /* ours, not the user's */
    free(path);
    free(data);
    return probe->text ? 0 : -1;
}

void ts_probe_free(struct ts_probe *probe)
{
    free(probe->text);
    free(probe->digest);
    memset(probe, 0, sizeof(*probe));
}
