// The foreign half of the stress test: a library that knows nothing of the runtime it is loaded into.
//
// It does what real libraries do to a runtime: handlers for signals of its own (one on the alternate stack, one not,
// neither aware of the runtime's), timers that fire all the time at each thread and at the process, calls that block,
// calls back into managed code, and threads of its own that call managed code and end.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile int64_t taken[65];

// Works on its own stack for a little, as a sampling handler does, and leaves errno as it was.
static void handler(int signal)
{
    int saved = errno;
    volatile unsigned char frame[512];
    unsigned sum = 0;
    size_t i;

    for (i = 0; i < sizeof frame; i++) frame[i] = (unsigned char)(i * 7);
    for (i = 0; i < sizeof frame; i++) sum += frame[i];
    if (sum == 65280 || sum) __atomic_fetch_add(&taken[signal], 1, __ATOMIC_RELAXED);
    errno = saved;
}

static int install(int signal, int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    return sigaction(signal, &action, NULL);
}

// SIGUSR1 asks for the alternate stack, SIGVTALRM for nothing (not even restarted calls), SIGPROF interrupts the process.
int stress_install(void)
{
    return install(SIGUSR1, SA_ONSTACK | SA_RESTART) | install(SIGVTALRM, 0) | install(SIGPROF, SA_ONSTACK | SA_RESTART);
}

int64_t stress_signals(int which)
{
    return taken[which == 0 ? SIGUSR1 : which == 1 ? SIGVTALRM : SIGPROF];
}

int stress_process_timer(int microseconds)
{
    struct itimerval every = { { 0, microseconds }, { 0, microseconds } };

    return setitimer(ITIMER_PROF, &every, NULL);
}

// ---- timers that fire at one thread --------------------------------------------------------------------------------

static __thread timer_t timers[2];

static int start_timer(timer_t *timer, int signal, long microseconds)
{
    struct sigevent event;
    struct itimerspec every;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0) return -1;
    every.it_interval.tv_sec = 0;
    every.it_interval.tv_nsec = microseconds * 1000;
    every.it_value = every.it_interval;
    return timer_settime(*timer, 0, &every, NULL);
}

int stress_thread_begin(int microseconds)
{
    return start_timer(&timers[0], SIGUSR1, microseconds) | start_timer(&timers[1], SIGVTALRM, microseconds * 13 / 9);
}

void stress_thread_end(void)
{
    timer_delete(timers[0]);
    timer_delete(timers[1]);
}

// ---- calls that take time ------------------------------------------------------------------------------------------

void stress_sleep(int microseconds)
{
    struct timespec left = { 0, microseconds * 1000L };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) { }
}

// Fills the caller's memory slowly: whoever moved it meanwhile will be seen to have.
void stress_fill(int32_t *memory, int count, int seed)
{
    int i;

    for (i = 0; i < count; i++) {
        memory[i] = seed + i;
        if (i % 64 == 0) stress_sleep(20);
    }
}

static int ends[2];

int stress_pipe(void) { return pipe(ends); }

int stress_write(int64_t value)
{
    ssize_t n;

    while ((n = write(ends[1], &value, sizeof value)) < 0 && errno == EINTR) { }
    return (int)n;
}

int64_t stress_read(void)
{
    int64_t value = -1;
    ssize_t n;

    while ((n = read(ends[0], &value, sizeof value)) < 0 && errno == EINTR) { }
    return n == sizeof value ? value : -1;
}

int stress_add(int a, int b)
{
    if ((a & 255) == 0) stress_sleep(100);
    return a + b;
}

void *stress_add_address(void) { return (void *)stress_add; }

// ---- calls back ----------------------------------------------------------------------------------------------------

typedef int (*callback)(int);

int stress_call_back(callback function, int times)
{
    int i, sum = 0;

    for (i = 0; i < times; i++) sum += function(i);
    return sum;
}

struct job { callback function; int times, sum; };

static void *run_job(void *data)
{
    struct job *job = data;

    stress_thread_begin(700);
    job->sum = stress_call_back(job->function, job->times);
    stress_thread_end();
    return NULL;
}

// The same from a thread that the runtime has never seen, and which ends right after.
int stress_call_back_from_thread(callback function, int times)
{
    struct job job = { function, times, 0 };
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_job, &job) != 0) return -1;
    pthread_join(thread, NULL);
    return job.sum;
}
