/* child_spawn.c: a program started in a process of its own. */
#include "child_private.h"

#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* The signals' dispositions and mask as a fresh program expects them. own_group: in a process group
 * of its own. */
static void set_attributes(posix_spawnattr_t *attributes, bool own_group)
{
    static const int changed_here[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD};
    sigset_t none, reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    for (size_t i = 0; i < TS_COUNT(changed_here); i++)
        sigaddset(&reset, changed_here[i]);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &reset);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                 (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
}

/* With ignored SIGCHLD (inherited) the system would reap children itself and lose how they ended.
 */
static void expect_children(void)
{
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
        action.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &action, NULL);
    }
}

static bool is_assigned(const char *entry, char *const *assigned, size_t count)
{
    const char *equals = strchr(entry, '=');
    size_t length = equals ? (size_t)(equals - entry) + 1 : 0;
    for (size_t i = 0; i < count; i++)
        if (length > 0 && strncmp(assigned[i], entry, length) == 0)
            return true;
    return false;
}

/* Our environment with the assignments; the entries are borrowed, free() the list. */
static char **environment_with(char *const *assigned, size_t count)
{
    size_t ours = 0, used = 0;
    while (environ[ours])
        ours++;
    char **list = ts_alloc(ours + count + 1, sizeof(char *));
    for (size_t i = 0; i < ours; i++)
        if (!is_assigned(environ[i], assigned, count))
            list[used++] = environ[i];
    for (size_t i = 0; i < count; i++)
        list[used++] = assigned[i];
    return list;
}

int ts_child_spawn(pid_t *pid, const char *const *argv, char *const *assigned, size_t count,
                   const int stdio[3], bool own_group)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment;
    expect_children();
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed)
        goto out;
    set_attributes(&attributes, own_group);
    environment = environment_with(assigned, count);
    for (int i = 0; i < 3 && !failed; i++)
        if (stdio[i] != i)
            failed = posix_spawn_file_actions_adddup2(&actions, stdio[i], i);
    if (!failed) /* argv is not written to: the interface is older than const */
        failed = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv,
                              environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
out:
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}
