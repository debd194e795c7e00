/* mutate.c: libFuzzer's mutations for JSON. Changed bytes alone are mostly refused by the gate;
 * here a node of the tree is dropped, doubled, replaced or swapped, and the text stays JSON. One
 * time in four the bytes are changed all the same, for the gate's sake.
 *
 * The input may be JSON in parts: a spec with its sources after it, lines of a journal or a
 * protocol. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "json.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static unsigned state;

static unsigned pick(unsigned bound)
{
    state = state * 1664525u + 1013904223u;
    return bound ? (state >> 8) % bound : 0;
}

/* ---- nodes ---- */

static unsigned count_nodes(const cJSON *node)
{
    unsigned count = 1;
    for (const cJSON *child = node->child; child; child = child->next)
        count += count_nodes(child);
    return count;
}

/* The n-th node below and with `node`, and its parent. */
static cJSON *find_node(cJSON *node, unsigned *n, cJSON **parent)
{
    if ((*n)-- == 0)
        return node;
    for (cJSON *child = node->child; child; child = child->next) {
        cJSON *found = find_node(child, n, parent);
        if (found) {
            if (found == child)
                *parent = node;
            return found;
        }
    }
    return NULL;
}

static cJSON *any_node(cJSON *root, cJSON **parent)
{
    unsigned n = pick(count_nodes(root));
    *parent = NULL;
    return find_node(root, &n, parent);
}

static cJSON *any_value(void)
{
    static const double numbers[] = {
        0,    1,    -1,   2,       0.5,   1e300, 9007199254740992.0,  64,
        -0.0, 1e-9, 4096, 1048576, 65536, 3,     -9007199254740992.0, 7};
    static const char *const words[] = {
        "",        "ok",   "random", "zero", "float", "double", "local", "out",
        "scratch", "W",    "TX*TY",  "a.cl", "d.h",   "time",   "event", "host",
        "[",       "1/0",  "TX%0",   "x",    "../x",  "\n",     "\t",    "<b>",
        "`x`",     "$(x)", "%n%s",   "\"'",  "inout", "gpu",    "NaN",   "\xEF\xBF\xBF",
    };
    switch (pick(6)) {
    case 0:
        return cJSON_CreateNull();
    case 1:
        return cJSON_CreateBool((cJSON_bool)pick(2));
    case 2:
        return cJSON_CreateArray();
    case 3:
        return cJSON_CreateObject();
    case 4:
        return cJSON_CreateString(words[pick(TS_COUNT(words))]);
    default:
        return cJSON_CreateNumber(numbers[pick(TS_COUNT(numbers))]);
    }
}

static void change_scalar(cJSON *node)
{
    if (cJSON_IsNumber(node)) {
        cJSON_SetNumberHelper(node, pick(2) ? node->valuedouble + (double)pick(5) - 2
                                            : node->valuedouble * (double)pick(4));
    } else if (cJSON_IsString(node)) {
        uint8_t bytes[512] = {0};
        size_t length = strlen(node->valuestring);
        if (length > 400)
            return;
        memcpy(bytes, node->valuestring, length);
        length = LLVMFuzzerMutate(bytes, length, sizeof(bytes) - 1);
        bytes[length] = '\0';
        char *clean = ts_utf8_clean((const char *)bytes, strlen((const char *)bytes), 0);
        cJSON_SetValuestring(node, clean);
        free(clean);
    }
}

/* An object must not get a key twice: the gate would see nothing else. */
static void insert(cJSON *parent, const char *key, cJSON *item)
{
    if (!cJSON_IsObject(parent))
        cJSON_AddItemToArray(parent, item);
    else if (key && !cJSON_GetObjectItemCaseSensitive(parent, key))
        cJSON_AddItemToObject(parent, key, item);
    else
        cJSON_Delete(item);
}

static void replace(cJSON *parent, cJSON *node, cJSON *item)
{
    char *key = cJSON_IsObject(parent) && node->string ? ts_strdup(node->string) : NULL;
    if (!(key ? cJSON_ReplaceItemInObjectCaseSensitive(parent, key, item)
              : cJSON_ReplaceItemViaPointer(parent, node, item)))
        cJSON_Delete(item);
    free(key);
}

static void change_tree(cJSON *root)
{
    cJSON *parent, *other_parent;
    cJSON *node = any_node(root, &parent), *other = any_node(root, &other_parent);
    bool holds = cJSON_IsObject(node) || cJSON_IsArray(node);
    if (!parent)
        return;
    switch (pick(6)) {
    case 0:
        cJSON_Delete(cJSON_DetachItemViaPointer(parent, node));
        break;
    case 1:
        replace(parent, node, any_value());
        break;
    case 2:
        replace(parent, node, cJSON_Duplicate(other, true));
        break;
    case 3:
        if (holds)
            insert(node, other->string, cJSON_Duplicate(other, true));
        break;
    case 4:
        insert(parent, other->string, any_value());
        break;
    default:
        change_scalar(node);
    }
}

/* ---- parts of the input ---- */

/* A part that begins with '{': the whole up to sources, or one of its lines. */
static bool choose_part(const char *text, size_t length, size_t *start, size_t *part)
{
    const char *sources = memmem(text, length, "\n=== ", 5);
    size_t lines = 0, wanted;
    *start = 0;
    *part = sources ? (size_t)(sources - text) : length;
    if (sources || !memmem(text, length, "}\n{", 3))
        return *part > 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    wanted = pick((unsigned)lines + 1);
    for (size_t i = 0; i < length && wanted; i++)
        if (text[i] == '\n' && --wanted == 0)
            *start = i + 1;
    const char *end = memchr(text + *start, '\n', length - *start);
    *part = end ? (size_t)(end - text) - *start : length - *start;
    return *part > 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    const char *text = (const char *)data;
    size_t start, part;
    state = seed;
    if (pick(4) == 0 || !choose_part(text, size, &start, &part))
        return LLVMFuzzerMutate(data, size, max_size);
    cJSON *tree = cJSON_ParseWithLengthOpts(text + start, part, NULL, 0);
    if (!tree)
        return LLVMFuzzerMutate(data, size, max_size);
    for (unsigned i = 0; i <= pick(3); i++)
        change_tree(tree);
    char *printed = ts_json_print(tree);
    size_t used = strlen(printed), tail = size - start - part;
    cJSON_Delete(tree);
    if (start + used + tail <= max_size) {
        memmove(data + start + used, data + start + part, tail);
        memcpy(data + start, printed, used);
        size = start + used + tail;
    }
    free(printed);
    return size;
}
