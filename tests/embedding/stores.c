/* Stores of a host: a struct with a reference from an address that is no multiple of eight, and a barrier that must not store. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static MonoDomain *domain;
static MonoClass *holder;
static uint32_t handle;
static volatile int stop;

static MonoObject *call(const char *name, int count, void **args)
{
    return mono_runtime_invoke(mono_class_get_method_from_name(holder, name, count), NULL, args, NULL);
}

/* On threads of their own, so that no stack refers to what was made and stored. */
static void *make(void *unused)
{
    mono_jit_thread_attach(domain);
    handle = mono_gchandle_new(mono_object_new(domain, holder), 0);
    return NULL;
}
static void *store(void *unused)
{
    static char buffer[64] __attribute__((aligned(8)));
    int64_t number = 42;
    mono_jit_thread_attach(domain);
    MonoObject *young = call("Young", 0, NULL);
    memcpy(buffer + 4, &young, 8);
    memcpy(buffer + 12, &number, 8);
    mono_field_set_value(mono_gchandle_get_target(handle), mono_class_get_field_from_name(holder, "Value"), buffer + 4);
    memset(buffer, 0, sizeof buffer);
    return NULL;
}
static void on_thread(void *(*run)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
}

static void *slot_of(MonoObject *object)
{
    return (char *)object + mono_field_get_offset(mono_class_get_field_from_name(holder, "Slot"));
}
static void *announce(void *pinned)
{
    mono_jit_thread_attach(domain);
    while (!stop)
        mono_gc_wbarrier_generic_nostore(slot_of(pinned));
    return NULL;
}

int main(void)
{
    char *debug = "--gc-debug=verify,poison";
    setbuf(stdout, NULL);
    mono_jit_parse_options(1, &debug);
    domain = mono_jit_init("stores");
    holder = mono_class_from_name(mono_assembly_get_image(mono_domain_assembly_open(domain, "Stores.exe")), "", "Holder");

    on_thread(make);
    for (int i = 0; i < 3; i++)
        mono_gc_collect(2);
    on_thread(store);
    mono_gc_collect(0);
    void *args[] = { mono_gchandle_get_target(handle) };
    char *text = mono_string_to_utf8((MonoString *)call("Read", 1, args));
    printf("stored: %s\n", text);
    mono_free(text);

    pthread_t t;
    int lost = 0;
    MonoObject *object = mono_object_new(domain, holder), *strings[2];
    for (int i = 0; i < 2; i++)
        strings[i] = call("Young", 0, NULL);
    mono_gchandle_new(object, 1);
    pthread_create(&t, NULL, announce, object);
    for (int i = 0; i < 500000; i++) {
        mono_gc_wbarrier_set_field(object, slot_of(object), strings[i & 1]);
        for (volatile int wait = 0; wait < 20; wait++) { }
        lost += *(MonoObject *volatile *)slot_of(object) != strings[i & 1];
    }
    stop = 1;
    pthread_join(t, NULL);
    printf("lost: %d\n", lost);
    mono_gchandle_free(handle);
    return 0;
}
