/* json.c: getters and builders around cJSON, and a printer of our own (json_gate.c reads): cJSON's
 * writes numbers with 15 digits where that is within one part in 2^52, which changes the last digit
 * of times and of whole numbers near 2^53, and passes invalid UTF-8 on. */
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_private.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* ---- UTF-8 ---- */

/* Length in bytes of the character at s, 0 when it is not valid (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
size_t ts_utf8_length(const char *s, size_t left)
{
    const unsigned char *b = (const unsigned char *)s;
    if (left == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    size_t length = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
    if (b[0] < 0xC2 || b[0] > 0xF4 || left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F))
        return 0;
    if ((b[0] == 0xF0 && b[1] < 0x90) || (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return length;
}

void ts_utf8_add(struct ts_text *out, unsigned long code)
{
    char b[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; code >>= 6)
        b[i] = (char)(0x80 | (code & 0x3F));
    b[0] = (char)(lead[length] | code);
    ts_text_add(out, b, length);
}

char *ts_utf8_clean(const char *text, size_t length, size_t max_bytes)
{
    struct ts_text out = {0};
    ts_text_puts(&out, "");
    size_t at = 0;
    while (at < length) {
        size_t good = text[at] ? ts_utf8_length(text + at, length - at) : 0;
        size_t adds = good ? good : sizeof(replacement) - 1;
        if (max_bytes && out.length + adds > max_bytes)
            break;
        ts_text_add(&out, good ? text + at : replacement, adds);
        at += good ? good : 1;
    }
    if (at < length)
        ts_text_printf(&out, "\n[cut: %zu bytes]", length - at);
    return out.text;
}

/* ---- Printing ---- */

static void print_string(struct ts_text *out, const char *text)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    size_t left = text ? strlen(text) : 0;
    ts_text_add(out, "\"", 1);
    while (left > 0) {
        size_t length = ts_utf8_length(text, left);
        const char *found = length == 1 ? strchr(escaped, *text) : NULL;
        if (found)
            ts_text_add(out, (const char[]){'\\', letters[found - escaped]}, 2);
        else if (length == 1 && (unsigned char)*text < 0x20)
            ts_text_printf(out, "\\u%04X", (unsigned)*text);
        else if (length)
            ts_text_add(out, text, length);
        else
            ts_text_puts(out, replacement); /* an item that a caller made without our builders */
        text += length ? length : 1;
        left -= length ? length : 1;
    }
    ts_text_add(out, "\"", 1);
}

/* The fewest digits that give the same double back. Whole numbers beyond 2^53 get an exponent,
 * since the gate takes plain digits for exact numbers and would refuse them. */
static void print_number(struct ts_text *out, double value)
{
    char digits[64];
    if (!isfinite(value)) {
        ts_text_puts(out, "null");
        return;
    }
    if (fabs(value) <= (double)TS_JSON_EXACT && value == trunc(value)) {
        snprintf(digits, sizeof(digits), "%.0f", value);
        ts_text_puts(out, digits);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (!strpbrk(digits, ".e"))
            snprintf(digits, sizeof(digits), "%.*e", precision - 1, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    ts_text_puts(out, digits);
}

static bool is_container(const cJSON *value)
{
    return cJSON_IsArray(value) || cJSON_IsObject(value);
}

static bool holds_containers(const cJSON *value)
{
    for (const cJSON *item = value->child; item; item = item->next)
        if (is_container(item))
            return true;
    return false;
}

static void new_line(struct ts_text *out, int indent)
{
    ts_text_add(out, "\n", 1);
    for (int i = 0; i < indent; i++)
        ts_text_add(out, "  ", 2);
}

static void print_value(struct ts_text *out, const cJSON *value, int indent);

/* indent < 0: everything on one line without spaces. Arrays of plain values, such as samples, stay
 * on one line in either form. */
static void print_container(struct ts_text *out, const cJSON *value, int indent)
{
    bool object = cJSON_IsObject(value);
    bool lines = indent >= 0 && value->child && (object || holds_containers(value));
    ts_text_add(out, object ? "{" : "[", 1);
    for (const cJSON *item = value->child; item; item = item->next) {
        if (lines)
            new_line(out, indent + 1);
        if (object) {
            print_string(out, item->string);
            ts_text_puts(out, indent >= 0 ? ": " : ":");
        }
        print_value(out, item, indent >= 0 ? indent + 1 : indent);
        if (item->next)
            ts_text_puts(out, indent >= 0 && !lines ? ", " : ",");
    }
    if (lines)
        new_line(out, indent);
    ts_text_add(out, object ? "}" : "]", 1);
}

static void print_value(struct ts_text *out, const cJSON *value, int indent)
{
    if (is_container(value))
        print_container(out, value, indent);
    else if (cJSON_IsString(value))
        print_string(out, value->valuestring);
    else if (cJSON_IsNumber(value))
        print_number(out, value->valuedouble);
    else if (cJSON_IsBool(value))
        ts_text_puts(out, cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsRaw(value))
        ts_text_puts(out, value->valuestring);
    else
        ts_text_puts(out, "null");
}

static char *print(const cJSON *value, int indent)
{
    struct ts_text out = {0};
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        ts_no_memory();
    locale_t old = uselocale(c);
    print_value(&out, value, indent);
    uselocale(old);
    freelocale(c);
    return out.text;
}

char *ts_json_print(const cJSON *value)
{
    return print(value, -1);
}

char *ts_json_print_pretty(const cJSON *value)
{
    return print(value, 0);
}

void ts_json_add_document(struct ts_text *out, cJSON *document)
{
    char *text = ts_json_print_pretty(document);
    ts_text_printf(out, "%s\n", text);
    free(text);
    cJSON_Delete(document);
}

/* ---- Getters ---- */

cJSON *ts_json_get(const cJSON *object, const char *key)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const char *ts_json_string(const cJSON *object, const char *key, const char *fallback)
{
    const cJSON *item = ts_json_get(object, key);
    return cJSON_IsString(item) ? item->valuestring : fallback;
}

double ts_json_number(const cJSON *object, const char *key, double fallback)
{
    const cJSON *item = ts_json_get(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : fallback;
}

int64_t ts_json_int(const cJSON *object, const char *key, int64_t fallback)
{
    int64_t value;
    return ts_json_whole(ts_json_get(object, key), &value) ? value : fallback;
}

bool ts_json_bool(const cJSON *object, const char *key, bool fallback)
{
    const cJSON *item = ts_json_get(object, key);
    return cJSON_IsBool(item) ? (bool)cJSON_IsTrue(item) : fallback;
}

bool ts_json_whole(const cJSON *value, int64_t *out)
{
    if (!cJSON_IsNumber(value))
        return false;
    double number = value->valuedouble;
    if (!(fabs(number) <= (double)TS_JSON_EXACT) || number != trunc(number))
        return false;
    *out = (int64_t)number;
    return true;
}

/* ---- Builders ---- */

static bool utf8_valid(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t length = ts_utf8_length(text, left);
        if (!length)
            return false;
        text += length;
        left -= length;
    }
    return true;
}

static cJSON *attach(cJSON *parent, const char *key, cJSON *item)
{
    assert(parent && (key ? cJSON_IsObject(parent) : cJSON_IsArray(parent)));
    if (!item)
        ts_no_memory();
    char *clean = key && !utf8_valid(key) ? ts_utf8_clean(key, strlen(key), 0) : NULL;
    cJSON_bool added = key ? cJSON_AddItemToObject(parent, clean ? clean : key, item)
                           : cJSON_AddItemToArray(parent, item);
    if (!added)
        ts_no_memory();
    free(clean);
    return item;
}

cJSON *ts_json_add_string(cJSON *parent, const char *key, const char *text)
{
    if (!text)
        return ts_json_add_null(parent, key);
    if (utf8_valid(text))
        return attach(parent, key, cJSON_CreateString(text));
    char *clean = ts_utf8_clean(text, strlen(text), 0);
    cJSON *item = attach(parent, key, cJSON_CreateString(clean));
    free(clean);
    return item;
}

cJSON *ts_json_add_int(cJSON *parent, const char *key, int64_t value)
{
    return attach(parent, key, cJSON_CreateNumber((double)value));
}

cJSON *ts_json_add_unsigned(cJSON *parent, const char *key, uint64_t value)
{
    char text[32];
    if (value <= (uint64_t)TS_JSON_EXACT)
        return ts_json_add_int(parent, key, (int64_t)value);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return ts_json_add_string(parent, key, text);
}

cJSON *ts_json_add_int_or_null(cJSON *parent, const char *key, int64_t value)
{
    return value < 0 ? ts_json_add_null(parent, key) : ts_json_add_int(parent, key, value);
}

cJSON *ts_json_add_real(cJSON *parent, const char *key, double value)
{
    return isfinite(value) ? attach(parent, key, cJSON_CreateNumber(value))
                           : ts_json_add_null(parent, key);
}

cJSON *ts_json_add_bool(cJSON *parent, const char *key, bool value)
{
    return attach(parent, key, cJSON_CreateBool(value));
}

cJSON *ts_json_add_null(cJSON *parent, const char *key)
{
    return attach(parent, key, cJSON_CreateNull());
}

cJSON *ts_json_add_object(cJSON *parent, const char *key)
{
    return attach(parent, key, cJSON_CreateObject());
}

cJSON *ts_json_add_array(cJSON *parent, const char *key)
{
    return attach(parent, key, cJSON_CreateArray());
}

cJSON *ts_json_add_item(cJSON *parent, const char *key, cJSON *item)
{
    return attach(parent, key, item ? item : cJSON_CreateNull());
}
