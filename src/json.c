/* json.c: the gate before cJSON, getters and builders around it, and a printer of our own: cJSON's
 * writes numbers with 15 digits where that is within one part in 2^52, which changes the last digit
 * of times and of whole numbers near 2^53, and passes invalid UTF-8 on. */
#define _POSIX_C_SOURCE 200809L
#include "json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum {
    MAX_DEPTH = 64,
    MAX_NUMBER_LENGTH = 60, /* cJSON copies at most 63 characters of a number */
};
static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* ---- UTF-8 ---- */

/* Length in bytes of the character at s, 0 when it is not valid (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t utf8_length(const char *s, size_t left)
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

static void utf8_add(struct ts_text *out, unsigned long code)
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
        size_t good = text[at] ? utf8_length(text + at, length - at) : 0;
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

/* ---- The gate ---- */

struct key {
    size_t start, length; /* unescaped, in gate.names */
    size_t place;         /* offset of its quote in the text */
    const char *name;     /* set only while sorting: gate.names moves as it grows */
};

struct gate {
    const char *text, *name;
    size_t length, at;
    int first_line, depth;
    struct ts_err *err;
    struct ts_text names; /* keys of all objects that are open */
    struct key *keys;
    size_t key_count, key_capacity;
};

static int fail_at(struct gate *g, size_t place, const char *expected, const char *found)
{
    int line = g->first_line, column = 1;
    for (size_t i = 0; i < place; i++) {
        if (g->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)g->text[i] & 0xC0) != 0x80) {
            column++; /* characters, as editors count them */
        }
    }
    return ts_err_set(g->err, TS_EXIT_USAGE, "%s:%d:%d: expected %s, found %s", g->name, line,
                      column, expected, found);
}

/* The error says what stands at the current place. */
static int expected(struct gate *g, const char *what)
{
    if (g->at >= g->length)
        return fail_at(g, g->length, what, "end of text");
    size_t length = utf8_length(g->text + g->at, g->length - g->at);
    unsigned char byte = (unsigned char)g->text[g->at];
    char found[32];
    if (length == 0 || byte < 0x20 || byte == 0x7F)
        snprintf(found, sizeof(found), "byte 0x%02X", byte);
    else
        snprintf(found, sizeof(found), "'%.*s'", (int)length, g->text + g->at);
    return fail_at(g, g->at, what, found);
}

static int peek(const struct gate *g)
{
    return g->at < g->length ? (unsigned char)g->text[g->at] : -1;
}

static void skip_space(struct gate *g)
{
    while (peek(g) == ' ' || peek(g) == '\t' || peek(g) == '\n' || peek(g) == '\r')
        g->at++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int gate_hex4(struct gate *g, unsigned long *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, g->at++) {
        int c = peek(g);
        int lower = c | 0x20;
        if (is_digit(c))
            *code = *code * 16 + (unsigned long)(c - '0');
        else if (c > 0 && lower >= 'a' && lower <= 'f')
            *code = *code * 16 + (unsigned long)(lower - 'a' + 10);
        else
            return expected(g, "four hexadecimal digits after \\u");
    }
    return 0;
}

/* After "\u". */
static int gate_unicode(struct gate *g, size_t start, struct ts_text *out)
{
    static const char *const pair = "a surrogate pair (\\uD800-\\uDBFF, then \\uDC00-\\uDFFF)";
    unsigned long code, low;
    if (gate_hex4(g, &code))
        return -1;
    if (code == 0)
        return fail_at(g, start, "text without a zero character", "\\u0000");
    if (code >= 0xDC00 && code <= 0xDFFF)
        return fail_at(g, start, pair, "a lone low surrogate");
    if (code >= 0xD800 && code <= 0xDBFF) {
        bool follows = g->length - g->at >= 2 && !memcmp(g->text + g->at, "\\u", 2);
        if (!follows)
            return fail_at(g, start, pair, "a lone high surrogate");
        g->at += 2;
        if (gate_hex4(g, &low))
            return -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail_at(g, start, pair, "a lone high surrogate");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (out)
        utf8_add(out, code);
    return 0;
}

/* At the backslash. */
static int gate_escape(struct gate *g, struct ts_text *out)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    size_t start = g->at++;
    int c = peek(g);
    if (c == 'u') {
        g->at++;
        return gate_unicode(g, start, out);
    }
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    if (!letter)
        return expected(g, "one of \" \\ / b f n r t u after the backslash");
    if (out)
        ts_text_add(out, &meanings[letter - letters], 1);
    g->at++;
    return 0;
}

/* At the opening quote. out, where not NULL, gets the unescaped text. */
static int gate_string(struct gate *g, struct ts_text *out)
{
    g->at++;
    for (;;) {
        int c = peek(g);
        if (c < 0)
            return expected(g, "'\"' at the end of a string");
        if (c == '"')
            break;
        if (c < 0x20)
            return expected(g, "an escape such as \\n or \\t for a control character");
        if (c == '\\') {
            if (gate_escape(g, out))
                return -1;
            continue;
        }
        size_t length = utf8_length(g->text + g->at, g->length - g->at);
        if (!length)
            return expected(g, "UTF-8");
        if (out)
            ts_text_add(out, g->text + g->at, length);
        g->at += length;
    }
    g->at++;
    return 0;
}

static int gate_digits(struct gate *g, const char *what)
{
    if (!is_digit(peek(g)))
        return expected(g, what);
    while (is_digit(peek(g)))
        g->at++;
    return 0;
}

static int check_number(struct gate *g, size_t start, bool whole)
{
    char digits[MAX_NUMBER_LENGTH + 1];
    size_t length = g->at - start;
    if (length > MAX_NUMBER_LENGTH)
        return fail_at(g, start, "a number of at most 60 characters", "a longer one");
    memcpy(digits, g->text + start, length);
    digits[length] = '\0';
    if (whole) {
        errno = 0;
        long long value = strtoll(digits, NULL, 10);
        if (errno || value > TS_JSON_EXACT || value < -TS_JSON_EXACT)
            return fail_at(g, start, "a whole number within +-2^53 (9007199254740992)", digits);
    } else if (!isfinite(strtod(digits, NULL))) {
        return fail_at(g, start, "a number in the range of a double", digits);
    }
    return 0;
}

static int gate_number(struct gate *g)
{
    size_t start = g->at;
    bool whole = true;
    if (peek(g) == '-')
        g->at++;
    if (peek(g) == '0') {
        g->at++;
        if (is_digit(peek(g)))
            return expected(g, "no digit after a leading 0");
    } else if (gate_digits(g, "a digit")) {
        return -1;
    }
    if (peek(g) == '.') {
        whole = false;
        g->at++;
        if (gate_digits(g, "a digit after the decimal point"))
            return -1;
    }
    if (peek(g) == 'e' || peek(g) == 'E') {
        whole = false;
        g->at++;
        if (peek(g) == '+' || peek(g) == '-')
            g->at++;
        if (gate_digits(g, "a digit in the exponent"))
            return -1;
    }
    return check_number(g, start, whole);
}

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = strcmp(a->name, b->name); /* no key holds a zero character */
    if (order)
        return order;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* At the end of an object: its keys are those from `first` on. */
static int check_keys(struct gate *g, size_t first)
{
    struct key *keys = g->keys + first;
    size_t count = g->key_count - first;
    const struct key *again = NULL;
    for (size_t i = 0; i < count; i++)
        keys[i].name = g->names.text + keys[i].start;
    if (count > 1)
        qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(keys[i - 1].name, keys[i].name) && (!again || keys[i].place < again->place))
            again = &keys[i];
    if (!again)
        return 0;
    char *found = ts_printf("\"%.200s\" again", again->name);
    fail_at(g, again->place, "each key once in an object", found);
    free(found);
    return -1;
}

static int gate_key(struct gate *g, const char *what)
{
    skip_space(g);
    if (peek(g) != '"')
        return expected(g, what);
    TS_GROW(g->keys, g->key_count, g->key_capacity);
    struct key *key = &g->keys[g->key_count++];
    *key = (struct key){.start = g->names.length, .place = g->at};
    if (gate_string(g, &g->names))
        return -1;
    ts_text_add(&g->names, "", 1); /* a zero character ends the name */
    skip_space(g);
    if (peek(g) != ':')
        return expected(g, "':' after the key");
    g->at++;
    return 0;
}

static int gate_value(struct gate *g);

/* After '{'. */
static int gate_object(struct gate *g)
{
    size_t first_key = g->key_count, names_length = g->names.length;
    const char *what = "a key in double quotes or '}'";
    skip_space(g);
    if (peek(g) == '}') {
        g->at++;
        return 0;
    }
    for (;;) {
        if (gate_key(g, what) || gate_value(g))
            return -1;
        skip_space(g);
        int c = peek(g);
        if (c != ',' && c != '}')
            return expected(g, "',' or '}'");
        g->at++;
        if (c == '}')
            break;
        what = "a key in double quotes";
    }
    if (check_keys(g, first_key))
        return -1;
    g->key_count = first_key;
    g->names.length = names_length;
    return 0;
}

/* After '['. */
static int gate_array(struct gate *g)
{
    skip_space(g);
    if (peek(g) == ']') {
        g->at++;
        return 0;
    }
    for (;;) {
        if (gate_value(g))
            return -1;
        skip_space(g);
        int c = peek(g);
        if (c != ',' && c != ']')
            return expected(g, "',' or ']'");
        g->at++;
        if (c == ']')
            return 0;
    }
}

static int gate_container(struct gate *g)
{
    if (g->depth == MAX_DEPTH)
        return fail_at(g, g->at, "at most 64 levels of nesting", "a 65th");
    g->depth++;
    int result = g->text[g->at++] == '{' ? gate_object(g) : gate_array(g);
    g->depth--;
    return result;
}

static int gate_value(struct gate *g)
{
    static const char *const words[] = {"true", "false", "null"};
    skip_space(g);
    int c = peek(g);
    if (c == '{' || c == '[')
        return gate_container(g);
    if (c == '"')
        return gate_string(g, NULL);
    if (c == '-' || is_digit(c))
        return gate_number(g);
    for (size_t i = 0; i < TS_COUNT(words); i++) {
        size_t length = strlen(words[i]);
        if (g->length - g->at >= length && !memcmp(g->text + g->at, words[i], length)) {
            g->at += length;
            return 0;
        }
    }
    return expected(g, "a value");
}

static int gate_document(struct gate *g)
{
    if (g->length >= 3 && !memcmp(g->text, "\xEF\xBB\xBF", 3))
        return fail_at(g, 0, "a value", "a byte order mark");
    if (gate_value(g))
        return -1;
    skip_space(g);
    if (g->at < g->length)
        return expected(g, "end of text");
    return 0;
}

cJSON *ts_json_parse(const char *text, size_t length, const char *name, int first_line,
                     struct ts_err *err)
{
    struct gate g = {
        .text = text, .name = name, .length = length, .first_line = first_line, .err = err};
    cJSON *document = NULL;
    /* strtod, ours and cJSON's, reads the decimal point of the locale. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        ts_no_memory();
    locale_t old = uselocale(c);
    if (!gate_document(&g)) {
        document = cJSON_ParseWithLengthOpts(text, length, NULL, 0);
        if (!document) /* what passed the gate is within all other limits of cJSON */
            ts_err_set(err, TS_EXIT_SYSTEM, "%s: not enough memory to read it", name);
    }
    uselocale(old);
    freelocale(c);
    ts_text_free(&g.names);
    free(g.keys);
    return document;
}

cJSON *ts_json_load(const char *path, struct ts_err *err)
{
    size_t length = 0;
    char *text = ts_file_read(path, &length, err);
    if (!text)
        return NULL;
    cJSON *document = ts_json_parse(text, length, path, 1, err);
    free(text);
    return document;
}

/* ---- Printing ---- */

static void print_string(struct ts_text *out, const char *text)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    size_t left = text ? strlen(text) : 0;
    ts_text_add(out, "\"", 1);
    while (left > 0) {
        size_t length = utf8_length(text, left);
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
        size_t length = utf8_length(text, left);
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
