/* values.h: an ordered list of named values: a size tuple, the problem axes of a case, the
 * parameters of a configuration. Floor 0. A value is a whole number, or a word (axis "REAL":
 * ["float"]).
 *
 * Zero-initialise; ts_values_free releases what it holds. Names and words are copied in. */
#ifndef TS_VALUES_H
#define TS_VALUES_H

#include "json.h"

struct ts_value {
    char *name;
    char *word;     /* NULL for a number */
    int64_t number; /* 0 for a word */
};

struct ts_values {
    struct ts_value *items;
    size_t count, capacity;
};

void ts_values_add(struct ts_values *v, const char *name, int64_t number);
void ts_values_add_word(struct ts_values *v, const char *name, const char *word);
void ts_values_copy(struct ts_values *to, const struct ts_values *from); /* appends */
void ts_values_free(struct ts_values *v);
/* NULL when absent. */
const struct ts_value *ts_values_find(const struct ts_values *v, const char *name);
/* The number called name, or fallback. */
int64_t ts_values_number(const struct ts_values *v, const char *name, int64_t fallback);
/* The same names with the same values, in any order. */
bool ts_values_equal(const struct ts_values *a, const struct ts_values *b);
/* Same name, same word or number. */
bool ts_value_equal(const struct ts_value *a, const struct ts_value *b);
/* Same names in the same order, and equal values but for the one called name. */
bool ts_values_equal_but(const struct ts_values *a, const struct ts_values *b, const char *name);

/* {"TX": 32, "REAL": "float"} and back. From: exit status 2 when a value is neither a whole number
 * nor a string, or object is no object. */
cJSON *ts_values_to_json(const struct ts_values *v);
int ts_values_from_json(struct ts_values *v, const cJSON *object, struct ts_err *err);

/* Appends "32" or "float". */
void ts_value_print(const struct ts_value *value, struct ts_text *out);
/* Appends "TX=32 TY=8" (or with prefix "-D": "-DTX=32 -DTY=8"), joined by separator. */
void ts_values_print(const struct ts_values *v, const char *prefix, const char *separator,
                     struct ts_text *out);
/* Appends what they are to a kernel: "-DPOINTS=9 -DTX=32 -DTY=8 -DVARIANT_local". */
void ts_values_print_defines(const struct ts_values *problem, const struct ts_values *params,
                             const char *variant, struct ts_text *out);

#endif
