/* Lines of source, native libraries of the host's, reference queues, remote fields, carried configurations. sources.expected is what mono prints. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/loader.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-debug.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/reflection.h>
#include <mono/metadata/threads.h>
#include <mono/utils/mono-counters.h>
#include <mono/utils/mono-dl-fallback.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MonoDomain *domain;
static MonoImage *image;
static MonoClass *class_of(const char *name) { return mono_class_from_name(image, "More", name); }
static MonoMethod *method(const char *name, int params) { return mono_class_get_method_from_name(class_of("Kept"), name, params); }
static const char *base(const char *path) { const char *slash = path ? strrchr(path, 47) : NULL; return slash ? slash + 1 : path ? path : "(null)"; }

static mono_bool seen_line(MonoMethod *m, int native, int il, mono_bool managed, void *data)
{
    if (!m || mono_class_get_image(mono_method_get_class(m)) != image || !managed)
        return 0;
    MonoDebugSourceLocation *l = mono_debug_lookup_source_location(m, native, domain);
    printf("  line of %s: %s %d\n", mono_method_get_name(m), l ? base(l->source_file) : "none", l ? l->row : 0);
    printf("  IL is known %d\n", mono_debug_il_offset_from_address(m, domain, native) >= 0);
    char *text = mono_debug_print_stack_frame(m, native, domain), *at = strstr(text, " ["), *file = strstr(text, "] in ");
    printf("  %.*s, then %s\n", (int)(at ? at - text : 40), text, file ? base(file + 5) : "nothing");
    mono_free(text);
    if (l)
        mono_debug_free_source_location(l);
    return 0;
}
static void walked(void)
{
    mono_stack_walk(seen_line, NULL);
}
static void lines(void)
{
    MonoMethod *steps = method("Steps", 1);
    MonoDebugMethodInfo *info = mono_debug_lookup_method(steps);
    printf("symbols of a method: %d, of one without: %d\n", info != NULL, mono_debug_lookup_method(mono_class_get_method_from_name(mono_get_object_class(), "ToString", 0)) != NULL);
    for (int il = 0; il < 0x45; il += 7) {
        MonoDebugSourceLocation *l = mono_debug_method_lookup_location(info, il);
        printf("IL %x: %s:%d, offset %x\n", il, l ? base(l->source_file) : "", l ? l->row : 0, l ? l->il_offset : 0);
        mono_debug_free_source_location(l);
    }
    int n = 3;
    void *args[] = {&n};
    mono_runtime_invoke(steps, NULL, args, NULL);
    MonoDebugMethodJitInfo *code = mono_debug_find_method(steps, domain);
    printf("compiled: %d, at its start %d, of some bytes %d\n", code != NULL, code && code->code_start == mono_compile_method(steps), code && code->code_size > 10);
    if (code)
        mono_debug_free_method_jit_info(code);
    MonoDebugHandle *handle = mono_debug_get_handle(image);
    printf("handle: %d, of the image %d\n", handle != NULL, handle && handle->image == image);
    mono_add_internal_call("More.Kept::Walked", walked);
    mono_runtime_invoke(method("Walk", 0), NULL, NULL, NULL);
    printf("enabled: %d\n", mono_debug_enabled());
}

static int made_up(int x) { return x * 3; }
static int loads, symbols;
static void *load(const char *name, int flags, char **err, void *user)
{
    if (!strstr(name, "made-up"))
        return NULL;
    loads++;
    return user;
}
static void *symbol(void *library, const char *name, char **err, void *user)
{
    if (strcmp(name, "made_up"))
        return NULL;
    symbols++;
    return (void *)made_up;
}
static int call(int x)
{
    void *args[] = {&x};
    return *(int *)mono_object_unbox(mono_runtime_invoke(mono_class_get_method_from_name(class_of("Libs"), "Call", 1), NULL, args, NULL));
}
static void libraries(void)
{
    static int handle;
    printf("without a function: %d\n", mono_dl_fallback_register(NULL, symbol, NULL, NULL) != NULL);
    MonoDlFallbackHandler *h = mono_dl_fallback_register(load, symbol, NULL, &handle);
    printf("a library of the host's: %d", call(14));
    printf(", loaded %d, looked up %d,", loads == 1, symbols > 0);
    printf(" again %d\n", call(5));
}

static volatile int told;
static void gone(void *data) { __sync_fetch_and_add(&told, (int)(intptr_t)data); }
static __attribute__((noinline)) void add(MonoReferenceQueue *queue, int from, int to)
{
    for (int i = from; i < to; i++)
        if (!mono_gc_reference_queue_add(queue, mono_object_new(domain, mono_get_object_class()), (void *)(intptr_t)i))
            printf("not added\n");
}
static __attribute__((noinline)) void clear(void)
{
    volatile char bytes[8192];
    memset((char *)bytes, 0, sizeof bytes);
}
static void wait_for(int wanted)
{
    for (int i = 0; i < 200 && told < wanted; i++) {
        clear();
        mono_gc_collect(mono_gc_max_generation());
        mono_gc_finalize_notify();
        usleep(10000);
    }
}
static void queues(void)
{
    MonoReferenceQueue *queue = mono_gc_reference_queue_new(gone);
    MonoObject *kept = mono_object_new(domain, mono_get_object_class());
    uint32_t handle = mono_gchandle_new(kept, 0);
    printf("added %d\n", mono_gc_reference_queue_add(queue, kept, (void *)1000000));
    add(queue, 1, 101);
    wait_for(4800); /* a few may lie on a stack yet */
    printf("most are gone %d, the kept one is not %d\n", told >= 4800, told < 1000000);
    mono_gc_reference_queue_free(queue);
    wait_for(1005050);
    printf("the freed queue has told of all: %d\n", told);
    printf("added to it: %d\n", mono_gc_reference_queue_add(queue, kept, (void *)1));
    mono_gchandle_free(handle);
}

static void remote(void)
{
    MonoImage *corlib = mono_get_corlib();
    MonoClass *app_domain = mono_class_from_name(corlib, "System", "AppDomain");
    MonoMethodDesc *d = mono_method_desc_new("System.AppDomain:CreateDomain(string)", 1);
    MonoMethod *create = mono_method_desc_search_in_class(d, app_domain);
    void *args[] = {mono_string_new(domain, "far"), NULL};
    MonoObject *other = mono_runtime_invoke(create, NULL, args, NULL), *exc = NULL;
    MonoMethodDesc *m = mono_method_desc_new("System.AppDomain:CreateInstanceAndUnwrap(string,string)", 1);
    void *names[] = {mono_string_new(domain, "More"), mono_string_new(domain, "More.Remote")};
    MonoObject *proxy = mono_runtime_invoke(mono_method_desc_search_in_class(m, app_domain), other, names, &exc);
    if (exc) {
        char *text = mono_string_to_utf8(mono_object_to_string(exc, NULL));
        printf("%s\n", text);
        return;
    }
    MonoClass *c = class_of("Remote");
    MonoClassField *number = mono_class_get_field_from_name(c, "Field"), *text = mono_class_get_field_from_name(c, "Text");
    MonoObject *value = NULL;
    int *at = mono_load_remote_field(proxy, c, number, (void **)&value);
    printf("remote field: %d", *at);
    value = NULL;
    MonoString **s = mono_load_remote_field(proxy, c, text, (void **)&value);
    char *utf8 = mono_string_to_utf8(*s);
    printf(", %s\n", utf8);
    mono_free(utf8);
    int seven = 7;
    mono_store_remote_field(proxy, c, number, &seven);
    MonoObject *near = (MonoObject *)mono_string_new(domain, "near");
    mono_store_remote_field_new(proxy, c, text, near);
    MonoObject *boxed = mono_load_remote_field_new(proxy, c, number), *string = mono_load_remote_field_new(proxy, c, text);
    utf8 = mono_string_to_utf8((MonoString *)string);
    printf("stored: %d, %s\n", *(int *)mono_object_unbox(boxed), utf8);
    mono_free(utf8);
    MonoMethodDesc *u = mono_method_desc_new("System.AppDomain:Unload(AppDomain)", 0);
    void *unload[] = {other};
    mono_runtime_invoke(mono_method_desc_search_in_class(u, app_domain), NULL, unload, NULL);
}

static void configurations(void)
{
    printf("configuration of an assembly: %s\n", mono_config_string_for_assembly_file("More.dll"));
    printf("of another: %d\n", mono_config_string_for_assembly_file("Other.dll") != NULL);
    printf("the machine's: %s\n", mono_get_machine_config());
    MonoMethodDesc *d = mono_method_desc_new("System.Configuration.DefaultConfig:get_bundled_machine_config()", 1);
    MonoImage *system = mono_assembly_get_image(mono_assembly_load_with_partial_name("System", NULL));
    MonoMethod *m = mono_method_desc_search_in_image(d, system);
    MonoObject *s = m ? mono_runtime_invoke(m, NULL, NULL, NULL) : NULL;
    char *text = s ? mono_string_to_utf8((MonoString *)s) : NULL;
    printf("as the class library sees it: %s\n", text ? text : "(none)");
}

static int whole = -3, whole2;
static uint64_t wide = 1ull << 40;
static int64_t interval = 12345678;
static int64_t other_interval = 50000;
static double half = 0.5;
static int asked(void) { return 99; }
static void counters(void)
{
    FILE *out = tmpfile();
    char line[200];
    mono_counters_register("mine: whole", MONO_COUNTER_METADATA | MONO_COUNTER_INT, &whole);
    mono_counters_register("mine: wide", MONO_COUNTER_METADATA | MONO_COUNTER_ULONG | MONO_COUNTER_BYTES, &wide);
    mono_counters_register("mine: interval", MONO_COUNTER_METADATA | MONO_COUNTER_LONG | MONO_COUNTER_TIME, &interval);
    mono_counters_register("mine: interval by type", MONO_COUNTER_GC | MONO_COUNTER_TIME_INTERVAL, &other_interval);
    mono_counters_register("mine: half", MONO_COUNTER_GC | MONO_COUNTER_DOUBLE | MONO_COUNTER_PERCENTAGE, &half);
    mono_counters_register("mine: asked", MONO_COUNTER_JIT | MONO_COUNTER_INT | MONO_COUNTER_CALLBACK, asked);
    mono_counters_register("mine: not in a section that is shown", MONO_COUNTER_SECURITY | MONO_COUNTER_INT, &whole2);
    mono_counters_register("mine: the same again", MONO_COUNTER_METADATA | MONO_COUNTER_INT, &whole);
    mono_counters_enable(MONO_COUNTER_JIT | MONO_COUNTER_GC | MONO_COUNTER_METADATA);
    mono_counters_dump(MONO_COUNTER_JIT | MONO_COUNTER_GC | MONO_COUNTER_METADATA, out);
    rewind(out);
    while (fgets(line, sizeof line, out))
        if (!strncmp(line, "mine", 4) || strstr(line, " statistics"))
            fputs(line, stdout);
    fclose(out);
    mono_counters_cleanup();
    mono_counters_dump(MONO_COUNTER_JIT, stdout); /* of nothing */
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    setenv("MONO_THREADS_SUSPEND", "preemptive", 0);
    mono_config_parse(NULL);
    mono_debug_init(MONO_DEBUG_FORMAT_MONO);
    mono_register_config_for_assembly("More.dll", "<configuration/>");
    mono_register_machine_config("<configuration><!-- the host's --></configuration>");
    mono_counters_enable(-1);
    domain = mono_jit_init("sources");
    mono_domain_set_config(domain, ".", "");
    image = mono_assembly_get_image(mono_domain_assembly_open(domain, "More.dll"));
    lines();
    libraries();
    queues();
    remote();
    configurations();
    counters();
    mono_jit_cleanup(domain);
    printf("end\n");
    return 0;
}
