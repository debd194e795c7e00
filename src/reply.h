/* reply.h: is the `done` line of a job what docs/protocol.md says? Floor 1, parent's side.
 *
 * A worker may be of another version, or a launcher may have garbled it: what is stored or printed
 * has been looked at here. */
#ifndef TS_REPLY_H
#define TS_REPLY_H

#include "job.h"

/* 0, or -1 with err: "done: visit.batch: expected a whole number from 1, got 0". */
int ts_reply_check(const cJSON *line, enum ts_job_verb verb, struct ts_err *err);

#endif
