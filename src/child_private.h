/* child_private.h: what the child*.c files share. Included by them alone. */
#ifndef TS_CHILD_PRIVATE_H
#define TS_CHILD_PRIVATE_H

#include "child.h"

#include <sys/types.h>

/* argv[0] is looked for in PATH. assigned: count entries "NAME=VALUE" that its environment has
 * besides ours, or instead. stdio: what becomes its descriptors 0, 1, 2. own_group: in a process
 * group of its own. 0, or the system's error number. */
int ts_child_spawn(pid_t *pid, const char *const *argv, char *const *assigned, size_t count,
                   const int stdio[3], bool own_group);

#endif
