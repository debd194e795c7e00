/* json_gate.c: strict reading; see json.h. */
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json_private.h"

enum {
    MAX_DEPTH = 64,
    MAX_NUMBER_LENGTH = 60, /* cJSON copies at most 63 characters of a number */
};

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
    size_t length = ts_utf8_length(g->text + g->at, g->length - g->at);
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
        ts_utf8_add(out, code);
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
        size_t length = ts_utf8_length(g->text + g->at, g->length - g->at);
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
