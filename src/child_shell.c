/* child_shell.c: commands of the user's (--setup, --cleanup), which a signal may meet. */
#include "child_private.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* So long a command may go on after a signal: within it the program has to end, too. */
#define SHELL_PATIENCE_NS 1500000000LL

/* Are we in the foreground of a terminal? Then its Ctrl-C reaches a command in our own group, which
 * can also ask for a password there; one in a group of its own would be stopped for that. */
static bool holds_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    bool holds = fd >= 0 && tcgetpgrp(fd) == getpgrp();
    if (fd >= 0)
        close(fd);
    return holds;
}

/* Has it ended? Not reaped yet, so that its process group cannot be somebody else's. */
static bool has_ended(pid_t pid)
{
    siginfo_t fate = {0};
    int failed = waitid(P_PID, (id_t)pid, &fate, WEXITED | WNOHANG | WNOWAIT);
    return failed ? errno != EINTR : fate.si_pid == pid;
}

/* target: process id, or minus that of a group; begun: how many signals had come before the start.
 * A signal that comes meanwhile is passed on, because it may have reached this process alone; what
 * does not heed it is killed, at a second one at once. to_the_end: see child.h.
 */
static int wait_for_shell(pid_t pid, pid_t target, int begun, bool to_the_end)
{
    struct ts_signals_held held;
    int status = -1;
    bool told = false, killed = false;
    int64_t kill_ns = INT64_MAX;
    ts_signals_hold(&held);
    while (!has_ended(pid)) {
        int came = ts_signal_count() - begun;
        if (told && !killed && ((came > 1 && !to_the_end) || ts_now_ns() >= kill_ns)) {
            kill(target, SIGKILL);
            killed = true;
            kill_ns = INT64_MAX;
        } else if (!told && came > 0) {
            if (!to_the_end)
                kill(target, ts_signal_last());
            told = true;
            kill_ns = ts_now_ns() + SHELL_PATIENCE_NS;
        } else {
            ts_signals_poll(&held, NULL, 0, kill_ns);
        }
    }
    if (told && target < 0)
        kill(target, SIGKILL); /* what a shell that heeded the signal left behind */
    if (waitpid(pid, &status, 0) != pid)
        status = -1;
    ts_signals_release(&held);
    return status;
}

int ts_child_shell(const char *command, bool to_the_end)
{
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    bool own_group = !holds_terminal();
    int begun = ts_signal_count(); /* one that comes before the shell does is passed on, too */
    pid_t pid;
    if (ts_child_spawn(&pid, argv, NULL, 0,
                       (const int[3]){STDIN_FILENO, STDERR_FILENO, STDERR_FILENO}, own_group))
        return -1;
    int status = wait_for_shell(pid, own_group ? -pid : pid, begun, to_the_end);
    if (status == -1)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
