// A storm of signals with a handler that takes its time, which a library may well have. All of them go to one thread, so that
// another's signal often finds it in that handler.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int ends, target;
static pthread_t sender;

static long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void handler(int number)
{
    long end = now() + 40000;

    (void)number;
    while (now() < end) { }
}

static void *send(void *unused)
{
    while (!ends) {
        struct timespec nap = { 0, 20000 };

        if (target) syscall(SYS_tgkill, getpid(), target, SIGALRM);
        nanosleep(&nap, NULL);
    }
    return unused;
}

// Begins; 0, or an error.
int storm_begin(void)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

    if (sigaction(SIGALRM, &action, NULL) != 0) return errno;
    return pthread_create(&sender, NULL, send, NULL);
}
// The calling thread is the one they go to.
void storm_here(void) { target = (int)syscall(SYS_gettid); }
void storm_nowhere(void) { target = 0; }
void storm_end(void)
{
    ends = 1;
    pthread_join(sender, NULL);
}
