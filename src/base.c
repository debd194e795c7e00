/* base.c: memory that never fails quietly, growing strings, clocks. */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RESERVE_BYTES ((size_t)1 << 20) /* for the last words */

static void (*last_words)(void);
static void *reserve;

void ts_on_no_memory(void (*call)(void))
{
    free(reserve);
    reserve = call ? malloc(RESERVE_BYTES) : NULL;
    last_words = call;
}

void ts_no_memory(void)
{
    void (*call)(void) = last_words;
    last_words = NULL;
    free(reserve);
    reserve = NULL;
    fputs("tilesweep: out of memory\n", stderr);
    if (call)
        call();
    exit(TS_EXIT_SYSTEM);
}

void *ts_alloc(size_t count, size_t size)
{
    /* calloc(0) may return NULL, which would read as a failure. */
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        ts_no_memory();
    return memory;
}

void *ts_realloc(void *old, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        ts_no_memory();
    size_t bytes = count * size;
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        ts_no_memory();
    return memory;
}

char *ts_strdup(const char *text)
{
    return ts_strndup(text, strlen(text));
}

char *ts_strndup(const char *text, size_t length)
{
    const char *end = memchr(text, '\0', length);
    size_t used = end ? (size_t)(end - text) : length;
    char *copy = ts_alloc(used + 1, 1);
    memcpy(copy, text, used);
    return copy;
}

char *ts_printf(const char *format, ...)
{
    struct ts_text t = {0};
    va_list values;
    va_start(values, format);
    ts_text_vprintf(&t, format, values);
    va_end(values);
    return t.text;
}

/* Room for `more` bytes and the terminating NUL. */
static void text_reserve(struct ts_text *t, size_t more)
{
    if (more >= SIZE_MAX / 2 - t->length)
        ts_no_memory();
    size_t need = t->length + more + 1;
    if (need <= t->capacity)
        return;
    size_t capacity = t->capacity ? t->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    t->text = ts_realloc(t->text, capacity, 1);
    t->capacity = capacity;
}

void ts_text_add(struct ts_text *t, const char *bytes, size_t length)
{
    text_reserve(t, length);
    if (length)
        memcpy(t->text + t->length, bytes, length);
    t->length += length;
    t->text[t->length] = '\0';
}

void ts_text_puts(struct ts_text *t, const char *s)
{
    ts_text_add(t, s, strlen(s));
}

void ts_text_printf(struct ts_text *t, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    ts_text_vprintf(t, format, values);
    va_end(values);
}

void ts_text_vprintf(struct ts_text *t, const char *format, va_list values)
{
    /* Numbers ignore the locale (a decimal comma would break JSON and gnuplot), whatever a library
     * that we load may have set. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = c ? uselocale(c) : (locale_t)0;
    if (!format)
        format = ""; /* never so; gcc's sanitizer build warns of it otherwise */
    char brief[256]; /* most texts: no second pass */
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(brief, sizeof(brief), format, values);
    text_reserve(t, length > 0 ? (size_t)length : 0);
    if (length >= (int)sizeof(brief))
        vsnprintf(t->text + t->length, (size_t)length + 1, format, again);
    else if (length > 0)
        memcpy(t->text + t->length, brief, (size_t)length);
    t->length += length > 0 ? (size_t)length : 0;
    t->text[t->length] = '\0'; /* also where nothing was added: text is never NULL afterwards */
    va_end(again);
    if (c) {
        uselocale(old);
        freelocale(c);
    }
}

void ts_text_free(struct ts_text *t)
{
    if (!t)
        return;
    free(t->text);
    *t = (struct ts_text){0};
}

int64_t ts_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ts_utc_now(char buffer[32])
{
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(buffer, 32, "%Y-%m-%dT%H:%M:%SZ", &utc))
        buffer[0] = '\0';
}
