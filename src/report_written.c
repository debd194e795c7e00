/* report_written.c: which files of figures/ a report wrote, so that the next one into the same
 * folder can take away those that it does not show.
 *
 * figures/written.tsv has a line for each file: digest of its content, tab, name. A file is removed
 * only when it is named there, is a plain file and holds exactly what the report wrote: what a user
 * put there, or changed, stays. */
#define _XOPEN_SOURCE 700 /* lstat */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "digest.h"
#include "file.h"
#include "progress.h"
#include "report_parts.h"

#define LIST "written.tsv"

static const char head[] =
    "# What `tilesweep report` wrote here. The next report removes those that it does not show,\n"
    "# as long as they were not changed.\n";

/* "data/" or nothing, then a name as figures have it, with one of our endings: nothing that leads
 * out of the folder. */
static bool is_name_of_ours(const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    static const char *const endings[] = {".png", ".svg", ".tsv"};
    const char *base = strncmp(name, "data/", 5) == 0 ? name + 5 : name;
    bool ending = false;
    size_t length = strlen(base);

    for (size_t i = 0; i < TS_COUNT(endings); i++)
        ending |= length > 4 && strcmp(base + length - 4, endings[i]) == 0;
    return ending && base[0] != '.' && base[strspn(base, plain)] == '\0' && strcmp(name, LIST) != 0;
}

static bool is_of_type(const char *path, mode_t type)
{
    struct stat status;

    return lstat(path, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

/* Digest of a plain file; NULL: it is none, or cannot be read. */
static char *digest_of(const char *dir, const char *name)
{
    char *path = ts_path_join(dir, name), *digest = NULL;

    if (is_of_type(path, S_IFREG)) {
        struct ts_err ignored = {0};
        size_t length = 0;
        char *bytes = ts_file_read(path, &length, &ignored);
        if (bytes)
            digest = ts_digest(bytes, length);
        free(bytes);
    }
    free(path);
    return digest;
}

/* ---- what this report wrote ---- */

static void add_file(struct ts_text *list, const char *dir, char *name)
{
    char *digest = digest_of(dir, name);

    if (digest)
        ts_text_printf(list, "%s\t%s\n", digest, name);
    free(digest);
    free(name);
}

static void add_figure(struct ts_text *list, const char *dir, const struct ts_report_figure *figure)
{
    if (figure->has_png)
        add_file(list, dir, ts_printf("%s.png", figure->name));
    if (figure->has_svg)
        add_file(list, dir, ts_printf("%s.svg", figure->name));
    if (figure->why_not)
        return;
    add_file(list, dir, ts_printf("data/%s.tsv", figure->name));
    add_file(list, dir, ts_printf("data/%s.labels.tsv", figure->name));
}

/* ---- what an earlier one wrote ---- */

static bool is_listed(const struct ts_text *list, const char *name)
{
    char *end = ts_printf("\t%s\n", name);
    bool listed = strstr(list->text, end) != NULL;

    free(end);
    return listed;
}

/* line: "DIGEST\tNAME" of an earlier report; true: the file was removed. */
static bool remove_stale(const char *dir, char *line, const struct ts_text *list)
{
    char *tab = strchr(line, '\t'), *name = tab ? tab + 1 : NULL, *digest;
    bool removed = false;

    if (!name || !is_name_of_ours(name) || is_listed(list, name))
        return false;
    *tab = '\0';
    digest = digest_of(dir, name);
    if (digest && strcmp(digest, line) == 0) {
        char *path = ts_path_join(dir, name);
        removed = unlink(path) == 0;
        free(path);
    }
    free(digest);
    return removed;
}

/* Neither figures/ nor figures/data may be a link: behind it lies what is not ours. */
static bool are_folders_ours(const char *dir)
{
    char *data = ts_path_join(dir, "data");
    bool ours = is_of_type(dir, S_IFDIR) && is_of_type(data, S_IFDIR);

    free(data);
    return ours;
}

/* The list of the report before; NULL: there is none. *foreign: something else has its name. */
static char *read_earlier(const char *path, bool *foreign)
{
    struct ts_err ignored = {0};
    size_t length = 0;
    char *text;

    *foreign = ts_file_exists(path) || is_of_type(path, S_IFLNK);
    if (!is_of_type(path, S_IFREG))
        return NULL;
    text = ts_file_read(path, &length, &ignored);
    *foreign = !text || strncmp(text, head, strlen(head)) != 0;
    if (!*foreign)
        return text;
    free(text);
    return NULL;
}

int ts_report_keep_account(const struct ts_report_figures *figures, const char *dir,
                           struct ts_err *err)
{
    struct ts_text list = {0};
    char *path = ts_path_join(dir, LIST), *earlier, *rest = NULL;
    size_t removed = 0;
    int result = 0;
    bool foreign;

    ts_text_puts(&list, head);
    for (size_t i = 0; i < figures->count; i++)
        add_figure(&list, dir, &figures->items[i]);
    earlier = read_earlier(path, &foreign);
    for (char *line = earlier && are_folders_ours(dir) ? strtok_r(earlier, "\n", &rest) : NULL;
         line; line = strtok_r(NULL, "\n", &rest))
        removed += remove_stale(dir, line, &list);
    if (removed > 0)
        ts_say("%zu file%s of an earlier report, which this one does not show, removed from %s",
               removed, removed == 1 ? "" : "s", dir);
    if (foreign)
        ts_say(
            "%s: is not of a report, and stays; figures of this report will not be removed by the "
            "next",
            path);
    else
        result = ts_file_write(path, list.text, list.length, err);
    free(earlier);
    free(path);
    ts_text_free(&list);
    return result;
}
