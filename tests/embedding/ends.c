/* Threads that end themselves, callbacks that try to, and what is passed at the edges. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MonoDomain *domain;
static MonoImage *image;
static pthread_key_t key;
static volatile int destroyed, reached;

static void call(const char *text)
{
    MonoMethodDesc *d = mono_method_desc_new(text, 1);
    MonoMethod *m = mono_method_desc_search_in_image(d, image);
    MonoObject *exc = NULL;
    mono_method_desc_free(d);
    mono_runtime_invoke(m, NULL, NULL, &exc);
    if (exc)
        printf("  %s\n", mono_class_get_name(mono_object_get_class(exc)));
}

static void gone(void *word) { destroyed += (int)(intptr_t)word; }
static void exits(void) { mono_thread_exit(); }

/* A thread of the host's: libc runs its key destructors, and who joins it goes on. */
static void *host_thread(void *deep)
{
    mono_thread_attach(domain);
    pthread_setspecific(key, (void *)1);
    if (deep)
        call("Ends:Exit");
    else
        mono_thread_exit();
    reached++;
    return NULL;
}
static uint32_t made_thread(void *arg)
{
    pthread_setspecific(key, arg);
    mono_thread_exit();
    reached++;
    return 0;
}

static void hears(MonoAssembly *a, void *user)
{
    (void)a;
    mono_thread_detach(mono_thread_current());
    ++*(int *)user;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int heard = 0;
    domain = mono_jit_init("ends");
    image = mono_assembly_get_image(mono_domain_assembly_open(domain, "Ends.exe"));
    mono_add_internal_call("Ends::Exit", exits);
    pthread_key_create(&key, gone);
    for (intptr_t deep = 0; deep < 2; deep++) {
        pthread_create(&t, NULL, host_thread, (void *)deep);
        pthread_join(t, NULL);
    }
    printf("host threads: %d destructors, %d came back\n", destroyed, reached);
    mono_thread_create(domain, made_thread, (void *)10);
    while (destroyed < 12)
        ;
    printf("mono_thread_create: %d destructors, %d came back\n", destroyed, reached);
    call("Ends:Start");
    mono_gc_collect(1);
    printf("collections go on\n");

    MonoString *none[] = { mono_string_new_len(domain, NULL, 0), mono_string_new_utf16(domain, NULL, 0), mono_string_new_len(domain, "abc", 2) };
    printf("lengths %d %d %d\n", mono_string_length(none[0]), mono_string_length(none[1]), mono_string_length(none[2]));

    if (argc > 1) { /* mono takes the thread away under its own frames */
        mono_install_assembly_load_hook(hears, &heard);
        call("Ends:LoadXml");
        printf("a hook that detaches: heard %d, attached %d\n", heard, mono_domain_get() == domain);
    }
    fflush(stdout);
    /* The main thread ends the process, with the exit code. */
    call("Ends:Code");
    mono_thread_exit();
    return 1;
}
