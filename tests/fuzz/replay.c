/* replay.c: feeds the files of a corpus to a target, for builds without libFuzzer.
 *
 *     fuzz_X FILE|FOLDER...
 *
 * One line `ok NAME` a file on standard output; a finding aborts and names the file before. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "fuzz.h"

static int replay_file(const char *path)
{
    struct ts_err err = {0};
    size_t length = 0;
    char *text = ts_file_read(path, &length, &err);
    if (!text) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    fprintf(stderr, "%s\n", path);
    ts_fuzz_one(text, length);
    free(text);
    const char *slash = strrchr(path, '/');
    printf("ok %s\n", slash ? slash + 1 : path);
    return 0;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay(const char *path)
{
    struct stat about;
    struct dirent **entries;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return replay_file(path);
    int count = scandir(path, &entries, not_hidden, alphasort), result = 0;
    for (int i = 0; i < count; i++) {
        char *inner = ts_path_join(path, entries[i]->d_name);
        if (replay_file(inner) != 0)
            result = -1;
        free(inner);
        free(entries[i]);
    }
    if (count <= 0) {
        fprintf(stderr, "%s: no files\n", path);
        return -1;
    }
    free(entries);
    return result;
}

int main(int argc, char **argv)
{
    int result = argc > 1 ? 0 : -1;
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != 0)
            result = -1;
    return result == 0 ? 0 : 1;
}
