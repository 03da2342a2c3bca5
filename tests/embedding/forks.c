/* Attached threads of a host fork while others compile and collect. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/class.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static MonoDomain *domain;
static volatile int stop;

static void *forker(void *n)
{
    mono_thread_attach(domain);
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    return NULL;
}

static void *compiler(void *n)
{
    MonoImage *image = mono_get_corlib();
    mono_thread_attach(domain);
    for (int i = 1; !stop; i++) {
        MonoMethod *method = mono_get_method(image, 0x06000000 | i, NULL);
        if (method) mono_compile_method(method);
    }
    return NULL;
}

static void *collector(void *n)
{
    mono_thread_attach(domain);
    while (!stop) {
        mono_gc_collect(0);
        usleep(200);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4], others[2];
    domain = mono_jit_init("forks");
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, forker, NULL);
    pthread_create(&others[0], NULL, compiler, NULL);
    pthread_create(&others[1], NULL, collector, NULL);
    mono_thread_detach(mono_thread_current());
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
    puts("all have come to an end");
    return 0;
}
