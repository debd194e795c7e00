/* fuzz.h: what the fuzz targets share. A target is one file, fuzz_X.c, that defines ts_fuzz_one;
 * with -Dfuzz=true libFuzzer calls it for as long as one likes, in an ordinary build replay.c calls
 * it once for each file of corpus/X, as a test.
 *
 * A finding is an abort, by a sanitizer or by TS_FUZZ_REQUIRE. Each target demands more than not to
 * crash: an error has exit status 2 and a text that names the place, and what was accepted can be
 * written and read again without a change. */
#ifndef TS_FUZZ_H
#define TS_FUZZ_H

#include "err.h"

/* Feeds one input of `length` bytes to the target; a NUL byte follows them. */
void ts_fuzz_one(const char *text, size_t length);

/* Ends the process with a core when the condition does not hold; not an assert, so that NDEBUG does
 * not silence it. */
#define TS_FUZZ_REQUIRE(condition, ...)                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ts_fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                         \
    } while (0)
TS_NORETURN void ts_fuzz_fail(const char *file, int line, const char *format, ...) TS_PRINTF(3, 4);

/* The error is one of bad input (exit status 2) and its text begins with `start`. */
void ts_fuzz_require_usage(const struct ts_err *err, const char *start);
/* Two texts are equal; frees both. */
void ts_fuzz_require_equal(char *a, char *b, const char *what);

/* Writes a file into this process's own folder in memory and returns its path, which is valid until
 * the process ends; name is one of a few fixed ones. */
const char *ts_fuzz_file(const char *name, const char *bytes, size_t length);
/* The path of such a file, written or not. */
const char *ts_fuzz_path(const char *name);

#endif
