/* reply.c: one table of fields, walked. */
#include "reply.h"

#include <math.h>
#include <string.h>

#include "place.h"
#include "row.h"

#define TEXT_BYTES (1 << 20)
#define WORD_BYTES 64
#define MOST_SAMPLES 1000000

enum field_kind {
    WHOLE,  /* low .. 2^53 */
    WHOLES, /* a list of low .. 2^53, at most `most` of them */
    REAL,   /* finite, from low */
    TEXT,   /* at most TEXT_BYTES */
    WORD,   /* of a code or name: letters, digits, '-', '_' */
    TEXTS,  /* a list of TEXT */
    BOOL,
    OBJECT,
};

#define VERB(verb) (1u << TS_JOB_##verb)
#define ALL ((1u << TS_JOB_VERB_COUNT) - 1)
#define WORK (VERB(PROVE) | VERB(TIME) | VERB(CHECK))

/* object NULL: of the line itself. A field that is absent or null is checked only where it must be
 * there: `needed` of a verb's answer with status ok. */
static const struct field {
    const char *object, *key;
    enum field_kind kind;
    unsigned verbs, needed;
    int64_t low;
    size_t most;
} fields[] = {
    {NULL, "geometry", OBJECT, WORK, VERB(PROVE), 0, 0},
    {"geometry", "global", WHOLES, WORK, 0, 1, 3},
    {"geometry", "local", WHOLES, WORK, 0, 1, 3},
    {"geometry", "local_bytes", WHOLE, WORK, 0, 0, 0},
    {"geometry", "local_bytes_reported", WHOLE, WORK, 0, 0, 0},
    {"geometry", "work_group_limit", WHOLE, WORK, 0, 0, 0},
    {"geometry", "preferred_multiple", WHOLE, WORK, 0, 0, 0},
    {"geometry", "private_bytes", WHOLE, WORK, 0, 0, 0},
    {"geometry", "limit_rule", TEXT, WORK, 0, 0, 0},
    {NULL, "build", OBJECT, WORK, 0, 0, 0},
    {"build", "ns", WHOLE, WORK, 0, 0, 0},
    {"build", "options", TEXT, WORK, 0, 0, 0},
    {"build", "log", TEXT, WORK, 0, 0, 0},
    {"build", "binary", TEXT, WORK, 0, 0, 0},
    {NULL, "check", OBJECT, WORK, VERB(PROVE), 0, 0},
    {"check", "sizes", WHOLE, WORK, 0, 0, 0},
    {"check", "elements", WHOLE, WORK, 0, 0, 0},
    {"check", "worst", REAL, WORK, 0, 0, 0},
    {"check", "at", WHOLES, WORK, 0, 0, 4},
    {"check", "at_size", OBJECT, WORK, 0, 0, 0},
    {NULL, "right", WORD, VERB(TIME), 0, 0, 0},
    {NULL, "visit", OBJECT, VERB(TIME), 0, 0, 0}, /* absent where no samples were asked for */
    {"visit", "first_ns", WHOLE, VERB(TIME), 0, 0, 0},
    {"visit", "cache", WORD, VERB(TIME), 0, 0, 0},
    {"visit", "paused", BOOL, VERB(TIME), 0, 0, 0},
    {"visit", "starved", BOOL, VERB(TIME), 0, 0, 0},
    {"visit", "waited_ns", WHOLE, VERB(TIME), 0, 0, 0},
    {"visit", "batch", WHOLE, VERB(TIME), VERB(TIME), 1, 0},
    {"visit", "sample_ns", WHOLES, VERB(TIME), VERB(TIME), 1, MOST_SAMPLES},
    {NULL, "spent_ns", OBJECT, WORK, 0, 0, 0},
    {"spent_ns", "build", WHOLE, WORK, 0, 0, 0},
    {"spent_ns", "reference", WHOLE, WORK, 0, 0, 0},
    {"spent_ns", "prove", WHOLE, WORK, 0, 0, 0},
    {"spent_ns", "time", WHOLE, WORK, 0, 0, 0},
    {NULL, "host", OBJECT, VERB(OPEN), VERB(OPEN), 0, 0},
    {"host", "name", TEXT, VERB(OPEN), VERB(OPEN), 0, 0},
    {"host", "os", TEXT, VERB(OPEN), VERB(OPEN), 0, 0},
    {"host", "cpu", TEXT, VERB(OPEN), VERB(OPEN), 0, 0},
    {"host", "cores", WHOLE, VERB(OPEN), VERB(OPEN), 1, 0},
    {"host", "load", REAL, VERB(OPEN), 0, 0, 0},
    {NULL, "environment", OBJECT, VERB(OPEN), VERB(OPEN), 0, 0},
    {NULL, "clock", OBJECT, VERB(OPEN), 0, 0, 0},
    {"clock", "source", WORD, VERB(OPEN), 0, 0, 0},
    {"clock", "tick_ns", WHOLE, VERB(OPEN), 0, 0, 0},
    {"clock", "floor_ns", WHOLE, VERB(OPEN), 0, 0, 0},
    {"clock", "host_ratio", REAL, VERB(OPEN), 0, 0, 0},
    {"clock", "warnings", TEXTS, VERB(OPEN), 0, 0, 100},
    {NULL, "peaks", OBJECT, VERB(PEAKS), VERB(PEAKS), 0, 0},
    {"peaks", "copy_bytes_per_s", REAL, VERB(PEAKS), 0, 0, 0},
    {"peaks", "fma_flops_per_s", REAL, VERB(PEAKS), 0, 0, 0},
    {"peaks", "local_bytes_per_s", REAL, VERB(PEAKS), 0, 0, 0},
    {NULL, "sentinel", OBJECT, VERB(SENTINEL), VERB(SENTINEL), 0, 0},
    {"sentinel", "copy_ns", WHOLE, VERB(SENTINEL), VERB(SENTINEL), 1, 0},
    {"sentinel", "fma_ns", WHOLE, VERB(SENTINEL), VERB(SENTINEL), 1, 0},
    {"sentinel", "starved", BOOL, VERB(SENTINEL), 0, 0, 0},
    {"sentinel", "waited_ns", WHOLE, VERB(SENTINEL), 0, 0, 0},
    {NULL, "binary", TEXT, VERB(DIGEST), VERB(DIGEST), 0, 0},
    {NULL, "host", TEXT, VERB(DEVICES), 0, 0, 0},
    {NULL, "fault", TEXT, ALL, 0, 0, 0},
};

static bool is_word(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = strspn(text, letters);

    return length > 0 && length <= WORD_BYTES && text[length] == '\0';
}

static int check_text(const struct ts_place *at, const cJSON *value, bool word, struct ts_err *err)
{
    const char *text;

    if (ts_place_string(at, value, &text, err) < 0)
        return -1;
    if (word && !is_word(text))
        return ts_place_expected(at, value, "a word", err);
    if (strlen(text) > TEXT_BYTES)
        return ts_place_error(at, err, "%zu B, expected at most %d B", strlen(text), TEXT_BYTES);
    return 0;
}

static int check_number(const struct ts_place *at, const cJSON *value, const struct field *field,
                        struct ts_err *err)
{
    int64_t whole;
    double real;

    if (field->kind != REAL)
        return ts_place_whole(at, value, field->low, TS_JSON_EXACT, &whole, err);
    if (ts_place_real(at, value, &real, err) < 0)
        return -1;
    return isfinite(real) && real >= (double)field->low
               ? 0
               : ts_place_error(at, err, "expected a number from %lld", (long long)field->low);
}

/* A list that must be there must not be empty. */
static int check_list(const struct ts_place *at, const cJSON *value, const struct field *field,
                      bool needed, struct ts_err *err)
{
    size_t count = 0, i = 0;
    const cJSON *item;

    if ((needed ? ts_place_filled : ts_place_list)(at, value, &count, err) < 0)
        return -1;
    if (count > field->most)
        return ts_place_error(at, err, "%zu of them, expected at most %zu", count, field->most);
    cJSON_ArrayForEach(item, value)
    {
        const struct ts_place place = ts_place_item(at, i++);
        if ((field->kind == TEXTS ? check_text(&place, item, false, err)
                                  : check_number(&place, item, field, err)) < 0)
            return -1;
    }
    return 0;
}

static int check_value(const struct ts_place *at, const cJSON *value, const struct field *field,
                       bool needed, struct ts_err *err)
{
    bool flag;

    switch (field->kind) {
    case WHOLE:
    case REAL:
        return check_number(at, value, field, err);
    case WHOLES:
    case TEXTS:
        return check_list(at, value, field, needed, err);
    case TEXT:
    case WORD:
        return check_text(at, value, field->kind == WORD, err);
    case BOOL:
        return ts_place_bool(at, value, &flag, err);
    case OBJECT:
        return ts_place_object(at, value, err);
    }
    return 0;
}

static int check_field(const struct ts_place *root, const cJSON *line, const struct field *field,
                       bool needed, struct ts_err *err)
{
    const struct ts_place object = ts_place_key(root, field->object);
    const cJSON *owner = field->object ? ts_json_get(line, field->object) : line;
    const cJSON *value = cJSON_IsObject(owner) ? ts_json_get(owner, field->key) : NULL;
    const struct ts_place at = ts_place_key(field->object ? &object : root, field->key);

    /* What an object must hold, it must hold where it is there. */
    if ((!value || cJSON_IsNull(value)) && (!needed || (field->object && !cJSON_IsObject(owner))))
        return 0;
    return check_value(&at, value, field, needed, err);
}

/* What became of the job, for verbs that say so. *ok: all facts are to be there. */
static int check_status(const struct ts_place *root, const cJSON *line, bool *ok,
                        struct ts_err *err)
{
    static const struct field reason = {NULL, "reason", OBJECT, 0, 0, 0, 0},
                              code = {"reason", "code", WORD, 0, 0, 0, 0},
                              text = {"reason", "text", TEXT, 0, 0, 0, 0};
    const struct ts_place at = ts_place_key(root, "status");
    const char *name;
    enum ts_status status;

    if (ts_place_string(&at, ts_json_get(line, "status"), &name, err) < 0)
        return -1;
    if (!ts_status_by_name(name, &status) || status == TS_PENDING)
        return ts_place_expected(&at, ts_json_get(line, "status"), "the status of a row", err);
    *ok = status == TS_OK;
    if (*ok)
        return 0;
    return check_field(root, line, &reason, true, err) < 0 ||
                   check_field(root, line, &code, true, err) < 0 ||
                   check_field(root, line, &text, true, err) < 0
               ? -1
               : 0;
}

int ts_reply_check(const cJSON *line, enum ts_job_verb verb, struct ts_err *err)
{
    const struct ts_place root = ts_place_root("done");
    bool ok = true;

    if (verb != TS_JOB_DEVICES && check_status(&root, line, &ok, err) < 0)
        return -1;
    for (size_t i = 0; i < TS_COUNT(fields); i++) {
        const struct field *field = &fields[i];
        bool needed = ok && (field->needed & 1u << verb);

        if ((field->verbs & 1u << verb) && check_field(&root, line, field, needed, err) < 0)
            return -1;
    }
    return 0;
}
