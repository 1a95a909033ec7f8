/* What stops an agent as fast as it can be done: a blocking read, a search for the closing tag, one signal. */
#define _GNU_SOURCE
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 3) return 1;
    int output;
    pid_t agent;
    if (strcmp(arguments[1], "pty") == 0) {
        agent = forkpty(&output, NULL, NULL, NULL);
    } else {
        int ends[2];
        if (pipe(ends) != 0) return 1;
        agent = fork();
        if (agent == 0) {
            setpgid(0, 0);
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]);
        }
        close(ends[1]);
        output = ends[0];
    }
    if (agent == 0) {
        execv(arguments[2], arguments + 2);
        _exit(127);
    }
    char bytes[16384];
    ssize_t length;
    while ((length = read(output, bytes, sizeof bytes)) > 0) {
        if (memmem(bytes, (size_t)length, "[/USER_QUESTION]", 16) != NULL) kill(-agent, SIGSTOP);
    }
    return 0;
}
