/* version.h: which tilesweep this is. Floor 0. */
#ifndef TS_VERSION_H
#define TS_VERSION_H

/* "0.1.0" */
const char *ts_version(void);
/* Git's short name of the commit it was built from, "-dirty" appended when there were local
 * changes; "unknown" when built outside a checkout. */
const char *ts_revision(void);

#endif
