// Runs a command and appends to a file what it took: `measure FILE COMMAND...` writes `peak-memory N MiB`,
// the largest resident set of the command as the kernel counted it. `measure -t FILE COMMAND...` writes `wall-time N ms` before it,
// from just before the fork to when the kernel has reaped the command. The exit code is the command's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage usage;
    struct timespec from, to;
    int status = 0, timed = 0;
    pid_t child;
    FILE *out;

    if (argc > 1 && strcmp(argv[1], "-t") == 0) {
        timed = 1;
        argv++;
        argc--;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: measure [-t] FILE COMMAND...\n");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &from);
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
    clock_gettime(CLOCK_MONOTONIC, &to);
    out = fopen(argv[1], "a");
    if (!out) {
        perror(argv[1]);
        return 2;
    }
    if (timed)
        fprintf(out, "wall-time %.3f ms\n", (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) / 1e6);
    fprintf(out, "peak-memory %.1f MiB\n", usage.ru_maxrss / 1024.0);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
