/* probe.h: the probe kernels' source (kernels/probe.cl), which the parent sends to workers.
 * Floor 1. */
#ifndef TS_PROBE_H
#define TS_PROBE_H

#include "err.h"

#define TS_PROBE_OPTIONS "-cl-std=CL1.2"

struct ts_probe {
    char *text, *digest;
};
/* Exit status 4 when the data folder or the file is missing. */
int ts_probe_load(struct ts_probe *probe, struct ts_err *err);
void ts_probe_free(struct ts_probe *probe);

#endif
