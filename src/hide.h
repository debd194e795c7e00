/* hide.h: taking names of files and machines out of texts that leave the house (--anonymous).
 * Floor 0. */
#ifndef TS_HIDE_H
#define TS_HIDE_H

#include "json.h"

/* A copy of text in which every absolute path reads <path-1f3a92bc>, digits of its digest, so that
 * two paths are still told apart, and every word that is `host` reads <host>; NULL or "": no such
 * name. Hiding again changes nothing. Relative paths stay: they are names within a spec. Blanks
 * belong to a path within quotes, behind a backslash, and within a folder that this process knows:
 * the working folder, those of the program and its data, and every one that a variable of the
 * environment names (HOME, TMPDIR, POCL_CACHE_DIR, ...). Of any other the rest behind a blank
 * stays: nothing tells where it ends. free() it. */
char *ts_hide_text(const char *text, const char *host);

/* The same in place; NULLs are passed over. Of JSON: every text from value down. */
void ts_hide_in(char **text, const char *host);
void ts_hide_json(cJSON *value, const char *host);
/* The name of the machine that this process runs on; free() it. */
char *ts_hide_own_host(void);

/* Is something hidden in the text? */
bool ts_hide_is_hidden(const char *text);

#endif
