/* Collections while threads of the host are in signal handlers and on fibers. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static MonoDomain *domain;
static volatile int inside, go_on;

static MonoString *made(const char *text)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s and more", text);
    return mono_string_new(domain, copy);
}
static void check(MonoString *s, const char *text)
{
    char *u = mono_string_to_utf8(s);
    printf("%s: %s\n", text, strncmp(u, text, strlen(text)) == 0 ? "kept" : u);
    mono_free(u);
}
static void wait_inside(void)
{
    inside = 1;
    while (!go_on)
        ;
}

static void handler(int s) { (void)s; wait_inside(); }
static void *in_handler(void *flags)
{
    struct sigaction a = { 0 };
    mono_thread_attach(domain);
    a.sa_handler = handler;
    a.sa_flags = (int)(intptr_t)flags;
    sigaction(SIGUSR1, &a, NULL);
    MonoString *s = made("below a handler");
    pthread_kill(pthread_self(), SIGUSR1);
    check(s, "below a handler");
    return NULL;
}

static ucontext_t own, fiber;
static MonoString *handed;
static void run(void)
{
    MonoString *s = handed;
    handed = NULL;
    wait_inside();
    handed = s;
    swapcontext(&fiber, &own);
}
static void *on_fiber(void *stack)
{
    mono_thread_attach(domain);
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = 256 << 10;
    makecontext(&fiber, run, 0);
    MonoString *below = made("below a fiber");
    handed = made("on a fiber");
    swapcontext(&own, &fiber);
    check(below, "below a fiber");
    check(handed, "on a fiber");
    return NULL;
}

static void collect_meanwhile(void *(*work)(void *), void *arg)
{
    pthread_t t;
    inside = go_on = 0;
    pthread_create(&t, NULL, work, arg);
    while (!inside)
        ;
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 1000; k++)
            mono_string_new(domain, "something else that takes memory");
        mono_gc_collect(i % 2);
    }
    go_on = 1;
    pthread_join(t, NULL);
}

int main(void)
{
    char *options[] = { "--gc-debug=poison,collect-every=2000" };
    mono_jit_parse_options(1, options);
    domain = mono_jit_init("stacks");
    collect_meanwhile(in_handler, (void *)SA_ONSTACK);
    collect_meanwhile(in_handler, (void *)0);
    collect_meanwhile(on_fiber, malloc(256 << 10));
    mono_jit_cleanup(domain);
    return 0;
}
