/* A host's signal handler leaves by siglongjmp while its thread is stopped again and again: the thread and the collections go on. */
#define _GNU_SOURCE
#include <mono/jit/jit.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static sigjmp_buf back;
static volatile int armed, done;
static pthread_t jumper;
static MonoDomain *domain;

static void on_alarm(int s)
{
    (void)s;
    if (armed && pthread_equal(pthread_self(), jumper)) {
        armed = 0;
        siglongjmp(back, 1);
    }
}

static void *collector(void *arg)
{
    (void)arg;
    mono_thread_attach(domain);
    while (!done)
        mono_gc_collect(0);
    return NULL;
}

static void *ticker(void *arg)
{
    (void)arg;
    while (!done) {
        struct timespec t = { 0, 200000 };
        nanosleep(&t, NULL);
        pthread_kill(jumper, SIGALRM);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    pthread_t c, t;
    volatile int jumps = 0, wrong = 0;
    domain = mono_jit_init("jumps");
    sigaction(SIGALRM, &action, NULL);
    jumper = pthread_self();
    pthread_create(&c, NULL, collector, NULL);
    pthread_create(&t, NULL, ticker, NULL);
    while (jumps < 2000) {
        if (sigsetjmp(back, 1) == 0) {
            armed = 1;
            while (armed) {}
        }
        jumps++;
        MonoObject *o = mono_object_new(domain, mono_get_object_class());
        if (mono_object_get_class(o) != mono_get_object_class())
            wrong++;
    }
    done = 1;
    pthread_join(c, NULL);
    pthread_join(t, NULL);
    printf("%d jumps, %d wrong objects\n", jumps, wrong);
    return 0;
}
