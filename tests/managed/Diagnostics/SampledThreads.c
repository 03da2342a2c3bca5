// A library with a handler of its own for SIGPROF.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int taken;

static void handler(int number) { (void)number; taken++; }

int take_profiling_signals(void) { return signal(SIGPROF, handler) == SIG_ERR ? -1 : 0; }
int send_one(void)
{
    kill(getpid(), SIGPROF);
    for (int i = 0; i < 1000 && taken == 0; i++) usleep(1000);
    return taken;
}

// Calls that signals end, and that the kernel does not restart: how many ended early.
int wait_often(int times)
{
    int early = 0;

    for (int i = 0; i < times; i++) {
        struct timespec time = { 0, 200000 };

        if (poll(NULL, 0, 1) != 0) early++;
        if (nanosleep(&time, NULL) != 0) early++;
    }
    return early;
}
