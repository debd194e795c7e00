/* store_private.h: what the files of store share: the header of a run, and messages with a place.
 */
#ifndef TS_STORE_PRIVATE_H
#define TS_STORE_PRIVATE_H

#include "place.h"
#include "store.h"

#define TS_JOURNAL_SCHEMA "tilesweep.journal/"
#define TS_STORE_VERSION 1 /* of the document and of the journal */

/* Releases all of a run but its rows. */
void ts_store_free_header(struct ts_run *run);

/* What is known of a run when it begins; whole: also how it ended. */
cJSON *ts_store_header_to_json(const struct ts_run *run, bool whole);
/* All but the rows, into a zeroed run; what is derived (counts but `excluded`, verdicts) is not
 * read. */
int ts_store_read_header(struct ts_run *run, const struct ts_place *at, const cJSON *object,
                         struct ts_err *err);

/* Types of a header's members, as far as no reader below looks at them itself. */
int ts_store_check_header(const struct ts_place *at, const cJSON *object, struct ts_err *err);
/* The same of the journal's last line of a run. */
int ts_store_check_end(const struct ts_place *at, const cJSON *object, struct ts_err *err);

/* What the sides of `ab` say of themselves, as the header of each would say it. at: of the run. */
int ts_store_check_sides(const struct ts_run *run, const struct ts_place *at, struct ts_err *err);

/* value: of a key that names the schema, "PREFIX" and the version. */
int ts_store_check_schema(const struct ts_place *at, const cJSON *value, const char *prefix,
                          struct ts_err *err);
/* A string at object.key into a new one; not required: may be absent or null. */
int ts_store_read_text(char **out, const struct ts_place *at, const cJSON *object, const char *key,
                       bool required, struct ts_err *err);
/* A fault that a module told in its own words, "status: expected ...", becomes
 * "FILE: runs[0].rows[3].status: expected ...". Returns -1. */
int ts_store_fault(const struct ts_place *at, struct ts_err *err);

#endif
