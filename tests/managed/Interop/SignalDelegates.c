// A library whose signal handler, on whatever stack the process gives it, calls back.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void (*callback)(int, long, double);

static callback function;
static atomic_int ends, sent, target;
static pthread_t sender;

static void handler(int number) { function(number, 1L << 40, 0.5); }

int install(int number, callback f)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

    function = f;
    return sigaction(number, &action, NULL);
}

int raise_here(int number) { return raise(number); }

static void *send(void *number)
{
    while (!ends) {
        struct timespec nap = { 0, 200000 };

        syscall(SYS_tgkill, getpid(), target, (int)(long)number);
        sent++;
        nanosleep(&nap, NULL);
    }
    return NULL;
}
// Sends the signal to the calling thread, again and again.
int storm_begin(int number)
{
    ends = sent = 0;
    target = (int)syscall(SYS_gettid);
    return pthread_create(&sender, NULL, send, (void *)(long)number);
}
int storm_end(void)
{
    ends = 1;
    pthread_join(sender, NULL);
    return sent;
}
