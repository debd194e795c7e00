/* file.h: files and folders: whole reads, atomic writes, where our data lies, locks. Floor 0. */
#ifndef TS_FILE_H
#define TS_FILE_H

#include "err.h"

/* The whole file, NUL-terminated, free() it; *length without the NUL. Refuses files over 1 GiB and
 * folders. NULL with exit status 2 naming the file and the system's word. */
char *ts_file_read(const char *path, size_t *length, struct ts_err *err);

/* Writes to a temporary file beside it, fsyncs, renames over PATH; the old file is intact until the
 * rename and after any failure, and its mode is kept. Missing folders are made: of a name that a
 * user gave, ts_file_check_output was asked before, so they were removed meanwhile. A symbolic link
 * stays and its target changes; a device or pipe (/dev/null) is written into. Exit status 4 on
 * failure. */
int ts_file_write(const char *path, const char *bytes, size_t length, struct ts_err *err);

/* The same, but it stays within its folder, which is there: a symbolic link, or whatever else has
 * the name and is no folder, is replaced; only a file's mode is kept. */
int ts_file_replace(const char *path, const char *bytes, size_t length, struct ts_err *err);

/* As ts_file_write, but "-" is standard output, flushed: exit status 4 when it cannot be written.
 */
int ts_file_put(const char *path, const char *bytes, size_t length, struct ts_err *err);

/* Can this output of a user's be written, by ts_file_put? Every command asks it of its -o FILE
 * before the work that the output is for. Folders are not made for a file: one that is missing is a
 * slip of the user's, and exit status 4, as are a folder of that name and what may not be written.
 * Exit status 2: no name, or it is one of the inputs, by whatever name, which must not be written
 * over (a device or a pipe loses nothing). A folder that -o names is made, by ts_dir_make. */
int ts_file_check_output(const char *path, char *const *inputs, size_t count, struct ts_err *err);

/* All bytes into an open file; 0, or the system's error number. */
int ts_file_write_fd(int fd, const char *bytes, size_t length);

/* mkdir -p; exit status 4. ts_file_make_parents makes only the folders above path. */
int ts_dir_make(const char *path, struct ts_err *err);
int ts_file_make_parents(const char *path, struct ts_err *err);

/* A new folder for temporary files, its absolute path: in $TMPDIR where that can be, else in /tmp;
 * its name begins as given. The caller empties it, removes it by rmdir and free()s its name. NULL
 * with exit status 4. */
char *ts_dir_temporary(const char *name, struct ts_err *err);

bool ts_file_exists(const char *path);
/* The folder part of path without the last slash ("." when there is none); free() it. */
char *ts_path_dir(const char *path);
/* base/relative, or relative itself when it is absolute; free() it. */
char *ts_path_join(const char *base, const char *relative);
/* text with everything but [A-Za-z0-9._-] turned into '-', runs joined, none at the ends, no '.' at
 * the start, at most 60 bytes; "unnamed" when nothing is left; free() it. */
char *ts_path_slug(const char *text);

/* Where bench/, kernels/ and scripts/ lie: $TILESWEEP_DATA; else, for the program in a build
 * folder, the source tree it was configured from; else PREFIX/share/tilesweep relative to the
 * program's own place, so a moved installation and a bundle work. Exit status 4 when there is none.
 * free() it. */
char *ts_data_dir(struct ts_err *err);
/* Path of the running program ("tilesweep", for PATH, where the system does not tell); free() it.
 */
char *ts_program_path(void);

/* An advisory lock (flock) on a file that also tells the holder's process id. wait: block (calling
 * `waiting` once with the holder's pid first, 0 when it is not known; may be NULL). Returns the
 * descriptor; -1 with exit status 4 (message names the holder) when !wait and it is held; -1 with
 * TS_EXIT_SIGINT when a handled signal ended the wait. Unlock by ts_lock_release (-1: nothing). */
int ts_lock_take(const char *path, bool wait, void (*waiting)(void *context, long holder_pid),
                 void *context, struct ts_err *err);
void ts_lock_release(int lock);

#endif
