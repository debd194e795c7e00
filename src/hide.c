/* hide.c: see hide.h. */
#define _POSIX_C_SOURCE 200809L
#include "hide.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "digest.h"
#include "file.h"

extern char **environ;

#define DIGITS 8 /* of a digest */
#define PATH_MARK "<path-"
#define HOST_MARK "<host>"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* </b>, as markup has it: no folder follows. */
static bool is_closing_tag(const char *text, size_t at)
{
    size_t name =
        strspn(text + at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");

    return at > 0 && text[at - 1] == '<' && text[at + 1 + name] == '>';
}

/* Does an absolute path begin at text[at], the first of some slashes? Not a division, a comment, an
 * address (http://...) or a relative path: but behind the letters of an option, -I/home/me. */
static bool begins_path(const char *text, size_t at)
{
    size_t letters = at, slashes = strspn(text + at, "/");
    char next = text[at + slashes];

    if ((!is_word(next) && (next == '\0' || !strchr(".~@+", next))) || is_closing_tag(text, at))
        return false;
    if (at == 0)
        return true;
    if (!is_word(text[at - 1]))
        return strchr(".-/~)]*", text[at - 1]) == NULL && !(text[at - 1] == ':' && slashes == 2);
    while (letters > 0 && isalpha((unsigned char)text[letters - 1]))
        letters--;
    return letters > 0 && letters < at && text[letters - 1] == '-' &&
           (letters == 1 || strchr(" \t\n\"'=,-", text[letters - 2]));
}

/* The folders that this process knows; blanks in them belong to the path. */
struct known {
    char **folders; /* without slashes at the end */
    size_t count, capacity;
    bool looked; /* only when a text holds a path: build logs are long */
};

static void add_known(struct known *known, const char *folder, size_t length)
{
    while (length > 0 && folder[length - 1] == '/')
        length--;
    if (length == 0 || folder[0] != '/')
        return;
    TS_GROW(known->folders, known->count, known->capacity);
    known->folders[known->count++] = ts_strndup(folder, length);
}

/* A variable may hold several, as PATH does. */
static void add_of_environment(struct known *known)
{
    for (char **entry = environ; entry && *entry; entry++) {
        const char *folder = strchr(*entry, '=');
        while (folder) {
            const char *end = strchr(++folder, ':');
            add_known(known, folder, end ? (size_t)(end - folder) : strlen(folder));
            folder = end;
        }
    }
}

static void look_around(struct known *known)
{
    char working[PATH_MAX];
    struct ts_err ignored = {0};
    char *program = ts_program_path(), *data = ts_data_dir(&ignored);
    char *beside = ts_path_dir(program);

    known->looked = true;
    if (getcwd(working, sizeof(working)))
        add_known(known, working, strlen(working));
    add_known(known, beside, strlen(beside));
    if (data)
        add_known(known, data, strlen(data));
    add_of_environment(known);
    free(beside);
    free(data);
    free(program);
}

static void free_known(struct known *known)
{
    for (size_t i = 0; i < known->count; i++)
        free(known->folders[i]);
    free(known->folders);
}

/* Length of the longest of them that text begins with. */
static size_t known_length(struct known *known, const char *text)
{
    size_t longest = 0;

    if (!known->looked)
        look_around(known);
    for (size_t i = 0; i < known->count; i++) {
        size_t length = strlen(known->folders[i]);
        if (length > longest && strncmp(text, known->folders[i], length) == 0)
            longest = length;
    }
    return longest;
}

/* Length of the path: to its closing quote, else to what ends a word. */
static size_t path_length(struct known *known, const char *text, size_t at)
{
    const char *start = text + at;
    char quote = at > 0 && strchr("\"'", text[at - 1]) ? text[at - 1] : '\0';
    const char *closing = quote ? strchr(start, quote) : NULL;
    size_t more, length;

    if (closing && !memchr(start, '\n', (size_t)(closing - start)))
        return (size_t)(closing - start);
    more = strspn(start, "/") - 1;
    length = more + known_length(known, start + more);
    while (start[length] && !strchr(" \t\r\n\"'`:;,|<>()[]{}", start[length]))
        length += start[length] == '\\' && start[length + 1] ? 2 : 1;
    return length;
}

static void add_path_mark(struct ts_text *out, const char *path, size_t length)
{
    char *digest = ts_digest(path, length);

    ts_text_printf(out, PATH_MARK "%.*s>", DIGITS, strchr(digest, ':') + 1);
    free(digest);
}

/* Length of the host's name at text[at], whole or without its domain; 0: something else. */
static size_t host_length(const char *text, size_t at, const char *host)
{
    size_t whole = host ? strlen(host) : 0, lengths[] = {whole, whole ? strcspn(host, ".") : 0};

    for (size_t i = 0; i < TS_COUNT(lengths); i++) {
        size_t length = lengths[i];
        if (length > 0 && strncmp(text + at, host, length) == 0 && !is_word(text[at + length]) &&
            (at == 0 || !is_word(text[at - 1])))
            return length;
    }
    return 0;
}

/* Length of a mark that stands there already, also where the host is called "host" or "path". */
static size_t mark_length(const char *text)
{
    size_t path = strlen(PATH_MARK),
           digits = strspn(text + (strncmp(text, PATH_MARK, path) ? 0 : path), "0123456789abcdef");

    if (strncmp(text, HOST_MARK, strlen(HOST_MARK)) == 0)
        return strlen(HOST_MARK);
    return strncmp(text, PATH_MARK, path) == 0 && digits == DIGITS && text[path + digits] == '>'
               ? path + digits + 1
               : 0;
}

char *ts_hide_text(const char *text, const char *host)
{
    struct ts_text out = {0};
    struct known known = {0};
    size_t length;

    ts_text_puts(&out, "");
    for (size_t at = 0; text[at]; at += length) {
        if ((length = mark_length(text + at)) > 0) {
            ts_text_add(&out, text + at, length);
        } else if (text[at] == '/' && begins_path(text, at)) {
            length = path_length(&known, text, at);
            add_path_mark(&out, text + at, length);
        } else if ((length = host_length(text, at, host)) > 0) {
            ts_text_puts(&out, HOST_MARK);
        } else {
            length = 1;
            ts_text_add(&out, text + at, 1);
        }
    }
    free_known(&known);
    return out.text;
}

void ts_hide_in(char **text, const char *host)
{
    char *hidden = *text ? ts_hide_text(*text, host) : NULL;

    free(*text);
    *text = hidden;
}

char *ts_hide_own_host(void)
{
    struct utsname system;

    return ts_strdup(uname(&system) == 0 ? system.nodename : "");
}

void ts_hide_json(cJSON *value, const char *host)
{
    cJSON *item;

    if (cJSON_IsString(value)) {
        char *hidden = ts_hide_text(value->valuestring, host);
        if (strcmp(hidden, value->valuestring) != 0)
            cJSON_SetValuestring(value, hidden);
        free(hidden);
        return;
    }
    cJSON_ArrayForEach(item, value) ts_hide_json(item, host);
}

bool ts_hide_is_hidden(const char *text)
{
    return strstr(text, PATH_MARK) || strstr(text, HOST_MARK);
}
