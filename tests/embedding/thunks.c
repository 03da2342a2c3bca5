/* Unmanaged thunks: plain arguments and others, exceptions, calls from within calls, another domain, many threads under collections. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 100000 };
static MonoDomain *domain;
static MonoClass *node;

static void *thunk(const char *name, int count) { return mono_method_get_unmanaged_thunk(mono_class_get_method_from_name(node, name, count)); }

typedef MonoObject *Node;
static Node (*push)(Node, int, MonoException **);
static Node (*make)(int, Node, MonoException **);
static int (*sum)(Node, MonoException **);
static int64_t (*five)(int, int64_t, Node, uint32_t, intptr_t, MonoException **);
static MonoBoolean (*is_small)(uint8_t, int16_t, MonoException **);
static void (*store)(int *, int, MonoException **);
static Node (*throws)(int, MonoException **);
static int (*deep)(int, MonoException **);
static int (*again)(void *, int, MonoException **);
static MonoString *(*where)(MonoException **);

static const char *name_of(MonoException *e) { return e ? mono_class_get_name(mono_object_get_class((MonoObject *)e)) : "none"; }
static MonoException *stale(void) { return (MonoException *)mono_string_new(domain, "stale"); }

static int inner(int depth)
{
    MonoException *e = stale();
    if (depth > 0) return again(inner, depth - 1, &e) + (e == NULL);
    Node n = throws(3, &e);
    printf("innermost: %d, %s\n", n == NULL, name_of(e));
    return 0;
}

static void *churn(void *seed)
{
    unsigned at = (unsigned)(size_t)seed;
    mono_thread_attach(domain);
    for (int i = 0; i < ROUNDS; i++) {
        MonoException *e = stale();
        int length = rand_r(&at) % 9 + 1, want = 0;
        Node list = make(1, NULL, &e);
        for (int k = 0; k < length; k++) {
            list = push(list, k, &e);
            want += k;
        }
        if (e != NULL || sum(list, &e) != want + 1) printf("a list is wrong\n");
        if (i % 64 == 0) throws(2, &e);
        if (i % 512 == 0) mono_gc_collect(0);
        if (i % 64 == 0 && strcmp(name_of(e), "InvalidOperationException")) printf("an exception is wrong\n");
    }
    mono_thread_detach(mono_thread_current());
    return NULL;
}

int main(void)
{
    if (getenv("EMBED_GC_DEBUG")) {
        char *options[] = {getenv("EMBED_GC_DEBUG")};
        mono_jit_parse_options(1, options);
    }
    domain = mono_jit_init("thunks");
    node = mono_class_from_name(mono_assembly_get_image(mono_domain_assembly_open(domain, "Thunks.dll")), "Thunks", "Node");
    push = thunk("Push", 1);
    make = thunk("Make", 2);
    sum = thunk("Sum", 0);
    five = thunk("Five", 5);
    is_small = thunk("IsSmall", 2);
    store = thunk("Store", 2);
    throws = thunk("Throw", 1);
    deep = thunk("Deep", 1);
    again = thunk("Again", 2);
    where = thunk("Where", 0);
    MonoException *e = stale();
    Node list = push(make(2, NULL, &e), 40, &e);
    int total = sum(list, &e);
    printf("sum %d, %s\n", total, name_of(e));
    e = stale();
    long long five_words = five(-1, 1ll << 40, list, 0xFFFFFFFFu, -7, &e);
    printf("five %lld, %s\n", five_words, name_of(e));
    printf("small %d %d\n", is_small(99, 0, &e), is_small(200, -50, &e));
    int at = 0;
    store(&at, 77, &e);
    printf("stored %d, %s\n", at, name_of(e));
    Node none = throws(5, &e);
    printf("thrown: %d, %s\n", none == NULL, name_of(e));
    total = deep(1000, &e);
    printf("deep %d, %s\n", total, name_of(e));
    printf("within %d\n", inner(5));
    MonoDomain *other = mono_domain_create_appdomain("other", NULL);
    mono_domain_set(other, 0);
    char *text = mono_string_to_utf8(where(&e));
    printf("in %s, %s\n", text, name_of(e));
    mono_free(text);
    mono_domain_set(domain, 0);
    mono_domain_unload(other);
    text = mono_string_to_utf8(where(&e));
    printf("in %s\n", strstr(text, "other") ? text : "the first");
    mono_free(text);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, churn, (void *)(size_t)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        void *frame = NULL;
        pthread_join(threads[i], &frame);
    }
    printf("all done\n");
    mono_jit_cleanup(domain);
    return 0;
}
