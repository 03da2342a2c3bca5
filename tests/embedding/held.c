/* Threads of a host use the C library's memory, and so does the runtime, while another collects: a thread that is held in malloc keeps nobody from stopping. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 8, CALLERS = 6, COLLECTIONS = 400 };
static MonoDomain *domain;
static volatile int stop;

static void *host(void *n)
{
    unsigned seed = (unsigned)(uintptr_t)n;
    void *blocks[64] = {0};
    mono_thread_attach(domain);
    while (!stop) {
        unsigned i = rand_r(&seed) % 64;
        free(blocks[i]);
        blocks[i] = malloc(2000 + rand_r(&seed) % 60000);
    }
    return NULL;
}

static void *caller(void *n)
{
    char text[5001];
    mono_thread_attach(domain);
    memset(text, 'x', 5000);
    text[5000] = 0;
    while (!stop) mono_free(mono_string_to_utf8(mono_string_new(domain, text)));
    return NULL;
}

static void *collector(void *n)
{
    mono_thread_attach(domain);
    for (int i = 0; i < COLLECTIONS; i++) mono_gc_collect(0);
    stop = 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[HOSTS + CALLERS + 1];
    int n = 0;
    domain = mono_jit_init("held");
    for (int i = 0; i < HOSTS; i++) pthread_create(&threads[n++], NULL, host, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < CALLERS; i++) pthread_create(&threads[n++], NULL, caller, NULL);
    pthread_create(&threads[n++], NULL, collector, NULL);
    mono_thread_detach(mono_thread_current());
    while (n > 0) pthread_join(threads[--n], NULL);
    puts("all have come to an end");
    return 0;
}
