// A library with handlers of its own for SIGPROF, with every flag that says how they are called.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int taken, blocked, value;

static void note_mask(void)
{
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    blocked = sigismember(&mask, SIGUSR1) | sigismember(&mask, SIGPROF) << 1;
    taken++;
}
static void plain(int number) { if (number == SIGPROF) note_mask(); }
static void full(int number, siginfo_t *info, void *context)
{
    if (number == SIGPROF && context != NULL) value = info->si_value.sival_int;
    note_mask();
}

static void install(void (*handler)(int), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGPROF, &action, NULL);
}

// What is asked for is what was installed.
int query(void)
{
    struct sigaction found, none;

    install((void (*)(int))full, SA_SIGINFO | SA_NODEFER | SA_RESTART);
    sigaction(SIGPROF, NULL, &found);
    if (found.sa_sigaction != full) return 1;
    if ((found.sa_flags & (SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_RESETHAND)) != (SA_SIGINFO | SA_NODEFER | SA_RESTART)) return 2;
    if (!sigismember(&found.sa_mask, SIGUSR1) || sigismember(&found.sa_mask, SIGUSR2)) return 3;
    install(plain, 0);
    memset(&none, 0, sizeof none);
    sigaction(SIGPROF, &none, &found);
    return found.sa_handler == plain && (found.sa_flags & SA_SIGINFO) == 0 ? 0 : 4;
}

int masked(int nodefer)
{
    sigset_t mask;

    blocked = -1;
    install(plain, nodefer ? SA_NODEFER : 0);
    pthread_kill(pthread_self(), SIGPROF);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGUSR1) || sigismember(&mask, SIGPROF) ? -2 : blocked;
}

int arguments(void)
{
    union sigval with = { 4711 };

    install((void (*)(int))full, SA_SIGINFO);
    pthread_sigqueue(pthread_self(), SIGPROF, with);
    return value == 4711;
}

int once(void)
{
    taken = 0;
    install(plain, SA_RESETHAND);
    pthread_kill(pthread_self(), SIGPROF);
    pthread_kill(pthread_self(), SIGPROF);
    return taken;
}

struct other { pthread_t reader; int writes; };
static void *later(void *argument)
{
    struct other *other = argument;
    struct timespec time = { 0, 50000000 };

    nanosleep(&time, NULL);
    pthread_kill(other->reader, SIGPROF);
    nanosleep(&time, NULL);
    if (write(other->writes, "x", 1) != 1) return other;
    return NULL;
}
// A read that waits while the signal comes: the byte, or minus the error.
int read_ends(int restart)
{
    struct other other;
    pthread_t thread;
    int ends[2];
    char byte;

    if (pipe(ends) != 0) return -1000;
    other.reader = pthread_self();
    other.writes = ends[1];
    install(plain, restart ? SA_RESTART : 0);
    taken = 0;
    pthread_create(&thread, NULL, later, &other);
    int result = (int)read(ends[0], &byte, 1);
    if (result < 0) result = -errno;
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
    return taken == 1 ? result : -1001;
}

int forgotten(void)
{
    taken = 0;
    signal(SIGPROF, SIG_DFL);
    // A signal of a timer that comes late must not end the process; so this does not, either.
    pthread_kill(pthread_self(), SIGPROF);
    return taken;
}
