/* report_written.c: the files of figures/, and which of them reports wrote, so that the next one
 * into the same folder can take away those that it does not show.
 *
 * figures/written.tsv has a line for each file: digest of its content, tab, name. It stands there
 * before the file does, and beside those of earlier reports until these are cleared away: whenever
 * a report ends, the list knows all that it wrote. A file is removed only when it is named there,
 * is a plain file and holds exactly what the report wrote: what a user put there, or changed,
 * stays. */
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

/* ---- what this report writes ---- */

/* The files of a figure, in the order in which they are written. */
static const struct file {
    enum ts_report_part part;
    const char *before, *after; /* of the figure's name */
    size_t content;             /* offset of the text in struct ts_report_figure */
} file_table[] = {
    {TS_REPORT_DATA, "data/", ".tsv", offsetof(struct ts_report_figure, data)},
    {TS_REPORT_DATA, "data/", ".labels.tsv", offsetof(struct ts_report_figure, labels)},
    {TS_REPORT_PICTURES, "", ".png", offsetof(struct ts_report_figure, png)},
    {TS_REPORT_PICTURES, "", ".svg", offsetof(struct ts_report_figure, svg)},
};

/* NULL: the figure has no such file. */
static const struct ts_text *content_of(const struct ts_report_figure *figure,
                                        const struct file *file)
{
    const struct ts_text *content = (const struct ts_text *)((const char *)figure + file->content);

    return figure->why_not || (file->part == TS_REPORT_PICTURES && !content->text) ? NULL : content;
}

static void add_line(struct ts_text *list, const struct ts_report_figure *figure,
                     const struct file *file)
{
    const struct ts_text *content = content_of(figure, file);
    char *digest, *line;

    if (!content)
        return;
    digest = ts_digest(content->text ? content->text : "", content->length);
    line = ts_printf("%s\t%s%s%s\n", digest, file->before, figure->name, file->after);
    if (!strstr(list->text, line)) /* that of a report which ended half way is the same */
        ts_text_puts(list, line);
    free(line);
    free(digest);
}

static void add_lines(struct ts_text *list, const struct ts_report_figures *figures,
                      enum ts_report_part part)
{
    for (size_t i = 0; i < figures->count; i++)
        for (size_t k = 0; k < TS_COUNT(file_table); k++)
            if (file_table[k].part == part)
                add_line(list, &figures->items[i], &file_table[k]);
}

static int write_file(const struct ts_report_figure *figure, const struct file *file,
                      const char *dir, struct ts_err *err)
{
    const struct ts_text *content = content_of(figure, file);
    char *path;
    int result;

    if (!content)
        return 0;
    path = ts_printf("%s/%s%s%s", dir, file->before, figure->name, file->after);
    result = ts_file_replace(path, content->text ? content->text : "", content->length, err);
    free(path);
    return result;
}

static int write_files(const struct ts_report_figures *figures, enum ts_report_part part,
                       const char *dir, struct ts_err *err)
{
    for (size_t i = 0; i < figures->count; i++)
        for (size_t k = 0; k < TS_COUNT(file_table); k++)
            if (file_table[k].part == part &&
                write_file(&figures->items[i], &file_table[k], dir, err) < 0)
                return -1;
    return 0;
}

/* ---- what earlier ones wrote ---- */

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

/* The list of the reports before; NULL: there is none. *foreign: something else has its name. */
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

/* ---- the order of things ---- */

int ts_report_write_figures(const struct ts_report_figures *figures, enum ts_report_part part,
                            const char *dir, struct ts_err *err)
{
    struct ts_text list = {0};
    bool foreign;
    char *path = ts_path_join(dir, LIST), *earlier = read_earlier(path, &foreign);
    int result = 0;

    ts_text_puts(&list, earlier ? earlier : head);
    if (list.text[list.length - 1] != '\n') /* a user's editor */
        ts_text_puts(&list, "\n");
    add_lines(&list, figures, part);
    if (!foreign)
        result = ts_file_write(path, list.text, list.length, err);
    if (result == 0)
        result = write_files(figures, part, dir, err);
    free(earlier);
    free(path);
    ts_text_free(&list);
    return result;
}

int ts_report_clear_figures(const struct ts_report_figures *figures, const char *dir,
                            struct ts_err *err)
{
    struct ts_text list = {0};
    char *path = ts_path_join(dir, LIST), *earlier, *rest = NULL;
    size_t removed = 0;
    int result = 0;
    bool foreign;

    ts_text_puts(&list, head);
    add_lines(&list, figures, TS_REPORT_DATA);
    add_lines(&list, figures, TS_REPORT_PICTURES);
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
