/* Domains of a host: scripts reloaded a hundred times, threads in domains, what the functions answer.
 *
 * What is printed before `refused` is what mono prints; behind it mono 6.8 hangs or crashes. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MonoDomain *root;
static int hosted, ended;

static int host(MonoObject *o)
{
    if (!o)
        ended++;
    else if (mono_object_get_domain(o) == mono_domain_get())
        hosted++;
    return 7;
}

static MonoMethod *method(MonoImage *image, const char *name)
{
    MonoMethodDesc *d = mono_method_desc_new(name, 1);
    MonoMethod *m = mono_method_desc_search_in_image(d, image);
    mono_method_desc_free(d);
    return m;
}
static MonoObject *call(MonoImage *image, const char *name, void *arg)
{
    void *args[] = { arg };
    MonoObject *exc = NULL;
    MonoObject *r = mono_runtime_invoke(method(image, name), NULL, args, &exc);
    if (exc) {
        char *text = mono_string_to_utf8(mono_object_to_string(exc, NULL));
        *strpbrk(text, "\r\n") = 0;
        printf("  exception %s\n", text);
        mono_free(text);
    }
    return r;
}
static void show(MonoObject *s)
{
    char *u = mono_string_to_utf8((MonoString *)s);
    printf("  %s\n", u);
    mono_free(u);
}

static char *data;
static long size;
static void read_script(const char *path)
{
    FILE *f = fopen(path, "rb");
    data = malloc(1 << 20);
    size = fread(data, 1, 1 << 20, f);
    fclose(f);
}

/* As an engine does it: a domain, the assembly from memory, calls, the end of the domain. */
static int reload(int round)
{
    MonoImageOpenStatus status;
    MonoDomain *d = mono_domain_create_appdomain("scripts", NULL);
    MonoImage *image;
    int sum = 0;
    uint32_t handle;
    if (!mono_domain_set(d, 0))
        return -1;
    if (round % 2) {
        image = mono_image_open_from_data_with_name(data, size, 1, &status, 0, "Script.dll");
        mono_assembly_load_from(image, "Script.dll", &status);
    } else {
        image = mono_assembly_get_image(mono_domain_assembly_open(d, "Script.dll"));
    }
    for (int i = 0; i < 3; i++) {
        MonoObject *r = call(image, "Script:Update", &round);
        sum += r ? *(int *)mono_object_unbox(r) : -1000000;
    }
    MonoObject *o = mono_object_new(d, mono_class_from_name(image, "", "Script"));
    mono_runtime_object_init(o);
    handle = mono_gchandle_new(o, 0);
    MonoVTable *vt = mono_class_vtable(d, mono_class_from_name(image, "", "Script"));
    int calls = 0;
    mono_field_static_get_value(vt, mono_class_get_field_from_name(mono_class_from_name(image, "", "Script"), "calls"), &calls);
    sum += calls * 100000;
    mono_domain_set(root, 0);
    mono_domain_unload(d);
    if (mono_gchandle_get_target(handle))
        sum++;
    mono_gchandle_free(handle);
    return sum;
}

static long resident(void)
{
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (fscanf(f, "%ld %ld", &all, &pages) != 2)
        abort();
    fclose(f);
    return pages * 4 / 1024;
}

static void count(MonoDomain *d, void *n)
{
    (void)d;
    ++*(int *)n;
}

/* A thread of the host that stays in a domain, and is in C when that ends. */
static MonoDomain *threads_domain;
static volatile int attached, go_on;
static void *worker(void *image)
{
    mono_thread_attach(threads_domain);
    printf("  worker in %s\n", mono_domain_get_friendly_name(mono_domain_get()));
    show(call(image, "Script:Where", NULL));
    attached = 1;
    while (!go_on)
        usleep(1000);
    return NULL;
}

int main(void)
{
    int n = 0, wrong = 0;
    mono_config_parse(NULL);
    root = mono_jit_init("domains");
    mono_domain_set_config(root, ".", "");
    mono_add_internal_call("Script::Host", host);
    read_script("Script.dll");

    printf("first %d\n", reload(0));
    for (int i = 1; i < 10; i++)
        wrong += reload(i) != 6021 + 300000;
    long before = resident();
    for (int i = 10; i < 100; i++)
        wrong += reload(i) != 6021 + 300000;
    long after = resident();
    printf("a hundred reloads: %d wrong, %d objects were of the right domain\n", wrong, hosted);
    if (getenv("EMBED_SHOW"))
        fprintf(stderr, "resident: %ld MB, then %ld MB\n", before, after);
    printf("grown by less than a quarter and 20 MB: %d\n", after < before + before / 4 + 20);

    MonoDomain *d = mono_domain_create_appdomain("second", NULL);
    printf("current is root %d, id of root %d, by id %d\n", mono_domain_get() == root, mono_domain_get_id(root),
        mono_domain_get_by_id(mono_domain_get_id(d)) == d);
    mono_domain_foreach(count, &n);
    printf("domains %d\n", n);
    printf("name %s, unloading %d\n", mono_domain_get_friendly_name(d), mono_domain_is_unloading(d));
    MonoString *s = mono_string_new(d, "text");
    printf("string of the domain %d, of root %d\n", mono_object_get_domain((MonoObject *)s) == d,
        mono_object_get_domain((MonoObject *)mono_string_new(root, "x")) == root);
    printf("array %d, box %d\n", mono_object_get_domain((MonoObject *)mono_array_new(d, mono_get_int32_class(), 3)) == d,
        mono_object_get_domain(mono_value_box(d, mono_get_int32_class(), &n)) == d);
    printf("vtable %d\n", mono_vtable_domain(mono_class_vtable(d, mono_get_int32_class())) == d);

    mono_domain_set(d, 0);
    MonoImage *image = mono_assembly_get_image(mono_domain_assembly_open(d, "Script.dll"));
    show(call(image, "Script:Where", NULL));
    call(image, "Script:Throw", NULL);
    printf("from its object %d\n", mono_domain_from_appdomain((MonoAppDomain *)call(image, "Script:Me", NULL)) == d);
    call(image, "Script:Sleeper", NULL);
    call(image, "Script:Refuse", NULL);

    pthread_t t;
    threads_domain = d;
    pthread_create(&t, NULL, worker, image);
    while (!attached)
        usleep(1000);

    mono_domain_set(root, 0);
    MonoObject *exc = NULL;
    mono_domain_try_unload(d, &exc);
    printf("refused: %s\n", exc ? mono_class_get_name(mono_object_get_class(exc)) : "no");
    mono_domain_set(d, 0);
    call(image, "Script:Agree", NULL);
    mono_domain_set(root, 0);
    exc = NULL;
    mono_domain_try_unload(d, &exc);
    printf("unloaded: %s, thread aborted %d\n", exc ? mono_class_get_name(mono_object_get_class(exc)) : "yes", ended);
    go_on = 1;
    pthread_join(t, NULL);
    exc = NULL;
    mono_domain_try_unload(root, &exc);
    printf("root: %s\n", exc ? mono_class_get_name(mono_object_get_class(exc)) : "unloaded");
    n = 0;
    mono_domain_foreach(count, &n);
    printf("domains %d\n", n);
    fflush(stdout);
    mono_gc_collect(1);
    _exit(0);
}
