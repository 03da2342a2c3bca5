// Runs a command and appends to a file what it took: `measure FILE COMMAND...` writes `peak-memory N MiB`,
// the largest resident set of the command as the kernel counted it. The exit code is the command's.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage usage;
    int status = 0;
    pid_t child;
    FILE *out;

    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND...\n");
        return 2;
    }
    child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("measure");
        return 2;
    }
    out = fopen(argv[1], "a");
    if (!out) {
        perror(argv[1]);
        return 2;
    }
    fprintf(out, "peak-memory %.1f MiB\n", usage.ru_maxrss / 1024.0);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
