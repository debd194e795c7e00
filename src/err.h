/* err.h: how a function says that the program cannot go on (law 1). A configuration that fails is a
 * row, not an error.
 *
 * A function that can fail takes `struct ts_err *err` as its last parameter and returns -1 (or
 * NULL). Callers may prepend context ("bench/x.json: params.TX[1]: ...") and pass it on; main
 * prints it once. err is never NULL. The first error wins: setting an error that is set already
 * keeps the first. */
#ifndef TS_ERR_H
#define TS_ERR_H

#include "base.h"

struct ts_err {
    int exit_status; /* enum ts_exit; 0 while nothing went wrong */
    char text[4096]; /* one or several lines, no newline at the end; cut with "..." when longer */
};

/* Returns -1, so that `return ts_err_set(...)` reads well. */
int ts_err_set(struct ts_err *err, int exit_status, const char *format, ...) TS_PRINTF(3, 4);
/* Puts context before the text: "context: text". Returns -1. */
int ts_err_prepend(struct ts_err *err, const char *format, ...) TS_PRINTF(2, 3);
void ts_err_clear(struct ts_err *err);

#endif
