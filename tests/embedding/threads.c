/* Threads, signals and references of a host. Prints one line for each part; the argument chooses how the runtime is started. */
#include <errno.h>
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static MonoDomain *domain;
static MonoImage *image;
static volatile int stop, bad, chained, usr, profiled, children;
static sigjmp_buf back;

static MonoMethod *method(const char *text)
{
    MonoMethodDesc *d = mono_method_desc_new(text, 1);
    MonoMethod *m = mono_method_desc_search_in_image(d, image);
    mono_method_desc_free(d);
    return m;
}

static int is_text(MonoString *s, const char *want)
{
    char *u = mono_string_to_utf8(s);
    int same = strcmp(u, want) == 0;
    mono_free(u);
    return same;
}

/* Objects that only this frame refers to, while other threads collect. */
static __attribute__((noinline)) void keep(int seed)
{
    MonoString *all[40];
    char text[40];
    MonoObject *exc = NULL;
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "%d-%d", seed, i);
        all[i] = mono_string_new(domain, text);
        if (i % 8 == 0) {
            void *args[] = { all[i] };
            MonoObject *echo = mono_runtime_invoke(method("Smoke.Thing:Echo"), NULL, args, &exc);
            if (echo != (MonoObject *)all[i] || exc)
                bad++;
        }
    }
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "%d-%d", seed, i);
        if (!is_text(all[i], text))
            bad++;
    }
}

static void *short_lived(void *arg)
{
    MonoThread *t = mono_thread_attach(domain);
    keep((int)(intptr_t)arg);
    if ((intptr_t)arg % 3)
        mono_thread_detach(t); /* the others end as they are */
    return NULL;
}

static void *collector(void *arg)
{
    (void)arg;
    mono_thread_attach(domain);
    while (!stop)
        mono_gc_collect(0);
    return NULL;
}

static void many_threads(void)
{
    pthread_t c, t[8];
    stop = 0;
    pthread_create(&c, NULL, collector, NULL);
    for (int round = 0; round < 125; round++) {
        for (int i = 0; i < 8; i++)
            pthread_create(&t[i], NULL, short_lived, (void *)(intptr_t)(round * 8 + i));
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], NULL);
    }
    stop = 1;
    pthread_join(c, NULL);
    printf("1000 threads under collections: %d wrong\n", bad);
}

/* A thread whose first call comes from the last round of its key destructors. */
static pthread_key_t late;
static void at_end(void *round)
{
    if ((intptr_t)round < 4)
        pthread_setspecific(late, (void *)((intptr_t)round + 1));
    else
        mono_thread_attach(domain);
}
static void *ends_late(void *arg)
{
    (void)arg;
    pthread_setspecific(late, (void *)1);
    return NULL;
}
static void late_threads(void)
{
    pthread_t t;
    pthread_key_create(&late, at_end);
    for (int i = 0; i < 20; i++) {
        pthread_create(&t, NULL, ends_late, NULL);
        pthread_join(t, NULL);
        mono_gc_collect(0);
    }
    printf("threads that attach when they end: collections go on\n");
}

/* A system call of an attached thread is not ended by collections. */
static int pipes[2];
static void *reader(void *arg)
{
    char c = 0;
    (void)arg;
    mono_thread_attach(domain);
    ssize_t n = read(pipes[0], &c, 1);
    return (void *)(intptr_t)(n == 1 && c == 'x' ? 1 : -errno);
}
static void blocked(void)
{
    pthread_t t;
    void *result;
    if (pipe(pipes))
        abort();
    pthread_create(&t, NULL, reader, NULL);
    for (int i = 0; i < 50; i++)
        mono_gc_collect(0);
    if (write(pipes[1], "x", 1) != 1)
        abort();
    pthread_join(t, &result);
    printf("a blocking read under collections: %d\n", (int)(intptr_t)result);
}

static void on_fault(int s, siginfo_t *i, void *u)
{
    (void)s, (void)i, (void)u;
    chained++;
    siglongjmp(back, 1);
}
static void on_usr(int s) { (void)s; usr++; }
static void on_prof(int s) { (void)s; profiled++; }
static void on_child(int s) { (void)s; children++; }

static void signals(void)
{
    MonoObject *exc = NULL;
    int x = 1;
    void *args[] = { &x };
    signal(SIGUSR1, on_usr);
    signal(SIGCHLD, on_child);
    signal(SIGPROF, on_prof);
    struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_PROF, &every, NULL);
    for (volatile int i = 0; i < 20; i++) {
        if (!sigsetjmp(back, 1))
            *(volatile int *)8 = 1;
        raise(SIGUSR1);
        mono_runtime_invoke(method("Smoke.Thing:Boom"), NULL, args, &exc);
        mono_gc_collect(0);
    }
    keep(1);
    for (volatile long i = 0; profiled == 0 && i < 4000000000L; i++) {}
    setitimer(ITIMER_PROF, &never, NULL);
    if (fork() == 0)
        _exit(0);
    wait(NULL);
    printf("signals: %d faults, %d SIGUSR1, profiled %d, child %d, wrong %d\n", chained, usr, profiled > 0, children > 0, bad);
    /* A null reference in managed code is an exception, whatever the host's handler thinks. */
    MonoMethod *hash = mono_class_get_method_from_name(mono_get_string_class(), "get_Length", 0);
    MonoArray *none = NULL;
    void *sum[] = { none };
    exc = NULL;
    mono_runtime_invoke(method("Smoke.Thing:Sum"), NULL, sum, &exc);
    printf("null reference: %s, method found %d\n", exc ? mono_class_get_name(mono_object_get_class(exc)) : "-", hash != NULL);
}

/* An internal call that keeps references while it collects, and calls back. */
static int native(int x, MonoString *s)
{
    MonoString *mine = mono_string_new(domain, "mine");
    for (int i = 0; i < 5; i++) {
        mono_gc_collect(mono_gc_max_generation());
        keep(i);
    }
    return is_text(mine, "mine") && is_text(s, "given") ? x + 1 : -1;
}
static void internal_calls(void)
{
    MonoObject *exc = NULL;
    int x = 41;
    void *args[] = { &x, mono_string_new(domain, "given") };
    mono_add_internal_call("Smoke.Thing::Native", native);
    MonoObject *r = mono_runtime_invoke(method("Smoke.Thing:CallNative"), NULL, args, &exc);
    printf("an internal call that collects: %d\n", exc ? -2 : *(int *)mono_object_unbox(r));
}

static void *stays(void *arg)
{
    (void)arg;
    mono_thread_attach(domain);
    for (;;)
        pause();
    return NULL;
}

static void *run(void *small)
{
    domain = mono_jit_init("threads");
    image = mono_assembly_get_image(mono_domain_assembly_open(domain, "Lib.exe"));
    internal_calls();
    blocked();
    if (!small) {
        many_threads();
        late_threads();
        signals();
    }
    pthread_t t;
    pthread_create(&t, NULL, stays, NULL);
    pthread_create(&t, NULL, stays, NULL);
    mono_jit_cleanup(domain);
    printf("ended with threads alive\n");
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    setbuf(stdout, NULL);
    sigaction(SIGSEGV, &action, NULL); /* before the start: it is chained to */
    mono_config_parse(NULL);
    char *debug = getenv("EMBED_GC_DEBUG");
    if (debug)
        mono_jit_parse_options(1, &debug);
    if (argc > 1) {
        pthread_t t;
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, atoi(argv[1]) * 1024);
        pthread_create(&t, &attr, run, (void *)1);
        pthread_join(t, NULL);
        return 0;
    }
    run(NULL);
    return 0;
}
