/* place.h: where in a JSON document a value stands, and typed reading that says so when it fails.
 * Floor 0. Messages read `FILE: params.TX[1]: expected a whole number, got 16.5`, exit status 2.
 *
 * A place is a list on the caller's stack, from the value up to the document:
 *
 *     const struct ts_place root = ts_place_root("bench/x.json");
 *     const struct ts_place params = ts_place_key(&root, "params");
 *
 * Every function returns 0, or -1 with err set (unless it says otherwise). */
#ifndef TS_PLACE_H
#define TS_PLACE_H

#include "json.h"

struct ts_place {
    const struct ts_place *up; /* NULL: the document; key is its name */
    const char *key;           /* NULL: an element of a list, at index */
    size_t index;
};

static inline struct ts_place ts_place_root(const char *document)
{
    return (struct ts_place){NULL, document, 0};
}
static inline struct ts_place ts_place_key(const struct ts_place *up, const char *key)
{
    return (struct ts_place){up, key, 0};
}
static inline struct ts_place ts_place_item(const struct ts_place *up, size_t index)
{
    return (struct ts_place){up, NULL, index};
}

/* Sets the error "FILE: variants[1].kernal: <format>"; returns -1. */
int ts_place_error(const struct ts_place *at, struct ts_err *err, const char *format, ...)
    TS_PRINTF(3, 4);
/* "variants[1].kernal", without the document; free() it. */
char *ts_place_text(const struct ts_place *at);
/* Puts the place before an error that another module set; returns -1. */
int ts_place_prepend(const struct ts_place *at, struct ts_err *err);
/* "expected <what>, got <the value in short>"; value NULL: the key is missing. Returns -1. */
int ts_place_expected(const struct ts_place *at, const cJSON *value, const char *what,
                      struct ts_err *err);

/* value must be an object whose keys are all among known; names the nearest to one that is not. */
int ts_place_keys(const struct ts_place *at, const cJSON *value, const char *const *known,
                  size_t count, struct ts_err *err);
int ts_place_object(const struct ts_place *at, const cJSON *value, struct ts_err *err);
/* A list; *count of its elements. */
int ts_place_list(const struct ts_place *at, const cJSON *value, size_t *count, struct ts_err *err);
/* A list that is not empty. */
int ts_place_filled(const struct ts_place *at, const cJSON *value, size_t *count,
                    struct ts_err *err);
/* *out is borrowed from value. */
int ts_place_string(const struct ts_place *at, const cJSON *value, const char **out,
                    struct ts_err *err);
int ts_place_real(const struct ts_place *at, const cJSON *value, double *out, struct ts_err *err);
int ts_place_bool(const struct ts_place *at, const cJSON *value, bool *out, struct ts_err *err);
/* A whole number within least..most. */
int ts_place_whole(const struct ts_place *at, const cJSON *value, int64_t least, int64_t most,
                   int64_t *out, struct ts_err *err);
/* A whole number from 0, or its digits as text, as ts_json_add_unsigned writes them. */
int ts_place_unsigned(const struct ts_place *at, const cJSON *value, uint64_t *out,
                      struct ts_err *err);

/* What a member of an object may be. What is absent is unknown, unless it is needed. */
enum ts_field_kind {
    TS_FIELD_BOOL,
    TS_FIELD_TEXT,
    TS_FIELD_WHOLE, /* from `least` on */
    TS_FIELD_REAL,  /* from `least` on */
    TS_FIELD_OBJECT,
    TS_FIELD_LIST,
    TS_FIELD_TEXTS,  /* a list of texts */
    TS_FIELD_WHOLES, /* a list of whole numbers from `least` on */
    TS_FIELD_SIZES,  /* an object of whole numbers */
    TS_FIELD_VALUES, /* an object of whole numbers and texts */
};
enum ts_field_more { TS_FIELD_NEEDED = 1 << 0, TS_FIELD_OR_NULL = 1 << 1 };
struct ts_field {
    const char *key;
    enum ts_field_kind kind;
    unsigned more; /* enum ts_field_more */
    int64_t least;
};
/* object must be an object whose members are as the fields say; other members may be anything. */
int ts_place_fields(const struct ts_place *at, const cJSON *object, const struct ts_field *fields,
                    size_t count, struct ts_err *err);
/* The same for each member that is an object and has fields of its own. */
struct ts_field_part {
    const char *key;
    const struct ts_field *fields;
    size_t count;
};
int ts_place_parts(const struct ts_place *at, const cJSON *object,
                   const struct ts_field_part *parts, size_t count, struct ts_err *err);

/* value: of a key that names the schema of a document, PREFIX and the version ("tilesweep.spec/1");
 * a newer version is told as that. */
int ts_place_schema(const struct ts_place *at, const cJSON *value, const char *prefix, int version,
                    struct ts_err *err);

/* [A-Za-z_][A-Za-z0-9_]* */
bool ts_is_name(const char *text);

#endif
