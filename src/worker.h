/* worker.h: the engine of `worker`: serves jobs on stdin/stdout (docs/protocol.md). Floor 3,
 * worker's side: touches no file and knows no spec. */
#ifndef TS_WORKER_H
#define TS_WORKER_H

#include "err.h"

/* Until end of file. Leaves by _exit, because drivers hang in their atexit handlers; returns only
 * when the streams cannot be set up. */
int ts_worker_serve(struct ts_err *err);

#endif
