/* json.h: strict JSON over cJSON. Floor 0.
 *
 * Reading goes through a gate of our own before cJSON sees the text, because cJSON takes 01, `1.`,
 * raw tabs in strings, bad UTF-8, a BOM, repeated keys (case ignored), text after the end. The gate
 * refuses all of these, \u0000 and lone surrogates in strings, nesting deeper than 64, numbers of
 * more than 60 characters, numbers written without point and exponent beyond +-2^53 (they would be
 * rounded) and numbers that overflow a double; the message holds `NAME:LINE:COLUMN: expected ...,
 * found ...`, columns in characters from 1. Getters match keys exactly (cJSON's plain getter
 * ignores case).
 *
 * Writing: ts_json_print escapes all text, replaces invalid UTF-8 by U+FFFD at the time of adding,
 * and writes numbers independent of the locale, with the fewest digits that give the same double
 * back; NaN and infinity become null. A cJSON_Raw item is written as it is. */
#ifndef TS_JSON_H
#define TS_JSON_H

#include <cjson/cJSON.h>

#include "err.h"

/* Whole numbers up to here, of either sign, survive as a JSON number; beyond, a double rounds. */
#define TS_JSON_EXACT ((int64_t)1 << 53)

/* Parse one document of `length` bytes. name is for messages (a file name). first_line: the line
 * number of the text's first line (journals pass theirs, else 1). NULL and exit status 2 on a
 * fault. cJSON_Delete the result. */
cJSON *ts_json_parse(const char *text, size_t length, const char *name, int first_line,
                     struct ts_err *err);
/* Reads the whole file, then parses; a file that cannot be read is exit status 2 naming it. */
cJSON *ts_json_load(const char *path, struct ts_err *err);

/* Without white space (a protocol or journal line) or indented by two with arrays of plain values
 * on one line; no newline at the end of either; free() it. */
char *ts_json_print(const cJSON *value);
char *ts_json_print_pretty(const cJSON *value);
/* Appends the document, pretty, with the newline that ends it; takes the document. */
void ts_json_add_document(struct ts_text *out, cJSON *document);

/* Getters for data whose shape is already known to be right, or where absence is harmless:
 * exact, case-sensitive key; fallback when absent, null or of another type. */
cJSON *ts_json_get(const cJSON *object, const char *key); /* NULL when absent; a null as it is */
const char *ts_json_string(const cJSON *object, const char *key, const char *fallback);
double ts_json_number(const cJSON *object, const char *key, double fallback);
int64_t ts_json_int(const cJSON *object, const char *key, int64_t fallback);
bool ts_json_bool(const cJSON *object, const char *key, bool fallback);
/* True when value is a JSON number without a fraction and within +-2^53; *out gets it. It is the
 * value that counts, not how it was written: 1.0 and 1e3 are whole. */
bool ts_json_whole(const cJSON *value, int64_t *out);

/* Builders: add to an object (key) or, with key NULL, to an array. They return the added item. */
cJSON *ts_json_add_string(cJSON *parent, const char *key, const char *text); /* NULL text: null */
/* Exact within +-2^53; beyond, rounded to a double and written with an exponent: whoever has such a
 * number (a seed, a digest) and needs it back exactly adds it as a string. */
cJSON *ts_json_add_int(cJSON *parent, const char *key, int64_t value);
/* Exact always: as text beyond 2^53, "18446744073709551615" (ts_place_unsigned reads both). */
cJSON *ts_json_add_unsigned(cJSON *parent, const char *key, uint64_t value);
cJSON *ts_json_add_int_or_null(cJSON *parent, const char *key, int64_t value); /* < 0: null */
cJSON *ts_json_add_real(cJSON *parent, const char *key, double value); /* not finite: null */
cJSON *ts_json_add_bool(cJSON *parent, const char *key, bool value);
cJSON *ts_json_add_null(cJSON *parent, const char *key);
cJSON *ts_json_add_object(cJSON *parent, const char *key);
cJSON *ts_json_add_array(cJSON *parent, const char *key);
cJSON *ts_json_add_item(cJSON *parent, const char *key, cJSON *item); /* takes item */

/* A copy of text with every invalid UTF-8 byte replaced by U+FFFD and NUL-free, cut (at a
 * character) to at most max_bytes with a last line "[cut: N bytes]" when it was longer; max_bytes
 * 0: no cut. free() it. */
char *ts_utf8_clean(const char *text, size_t length, size_t max_bytes);

#endif
