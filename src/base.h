/* base.h: what every file may assume. Floor 0; includes nothing of ours.
 *
 * Memory: ts_alloc and friends never return NULL; when the system has none left they print one line
 * and exit with status 4. Buffers whose size a user or a spec decides (arrays of a problem) are
 * taken with plain malloc and their failure is a row, not the end. */
#ifndef TS_BASE_H
#define TS_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__GNUC__)
#define TS_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#define TS_NORETURN __attribute__((__noreturn__))
#define TS_ALWAYS_INLINE inline __attribute__((__always_inline__))
#else
#define TS_PRINTF(at, first)
#define TS_NORETURN
#define TS_ALWAYS_INLINE inline
#endif

/* Exit statuses of the program (contract.md section 3). */
enum ts_exit {
    TS_EXIT_OK = 0,
    TS_EXIT_FINDING = 1,
    TS_EXIT_USAGE = 2,
    TS_EXIT_NO_DEVICE = 3,
    TS_EXIT_SYSTEM = 4,
    TS_EXIT_SIGINT = 130,
    TS_EXIT_SIGTERM = 143,
};

/* Prints one line to standard error and ends the program with status 4. */
TS_NORETURN void ts_no_memory(void);
/* What is to be done between the two, once; a MiB is kept for it. NULL: nothing. */
void ts_on_no_memory(void (*call)(void));

/* count zeroed elements of size bytes each; free() them. */
void *ts_alloc(size_t count, size_t size);
/* Grow to count elements of size bytes each; the new part is not zeroed. */
void *ts_realloc(void *old, size_t count, size_t size);
char *ts_strdup(const char *text);
char *ts_strndup(const char *text, size_t length);
/* A new string, printf style, in the C locale; free() it. */
char *ts_printf(const char *format, ...) TS_PRINTF(1, 2);

/* Make room for one more element in a growing array: array and capacity are updated. Doubles, so
 * that appending n elements costs O(n). */
#define TS_GROW(array, used, capacity)                                                             \
    do {                                                                                           \
        if ((used) == (capacity)) {                                                                \
            (capacity) = (capacity) ? 2 * (capacity) : 8;                                          \
            (array) = ts_realloc((array), (capacity), sizeof(*(array)));                           \
        }                                                                                          \
    } while (0)

/* A growing string. Zero-initialise; text is always NUL-terminated once anything was added. */
struct ts_text {
    char *text;
    size_t length, capacity;
};
void ts_text_add(struct ts_text *t, const char *bytes, size_t length);
void ts_text_puts(struct ts_text *t, const char *s);
void ts_text_printf(struct ts_text *t, const char *format, ...) TS_PRINTF(2, 3);
void ts_text_vprintf(struct ts_text *t, const char *format, va_list values) TS_PRINTF(2, 0);
void ts_text_free(struct ts_text *t);

/* Monotonic time in nanoseconds (CLOCK_MONOTONIC). */
int64_t ts_now_ns(void);
/* UTC as "2026-11-29T20:11:03Z"; buffer of at least 32 bytes. */
void ts_utc_now(char buffer[32]);

#endif
