/* IL, stack walks, counters, rows by owner, bundled assemblies: asked of all that Rest.cs, System.Xml.dll and mscorlib.dll have. rest.expected is what mono prints. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/exception.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-debug.h>
#include <mono/metadata/reflection.h>
#include <mono/metadata/tokentype.h>
#include <mono/utils/mono-counters.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MonoDomain *domain;
static unsigned sum;
static void add(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + ((const unsigned char *)bytes)[i];
}
static void add_text(const char *s) { add(s ? s : "-", s ? strlen(s) : 1); }

static int has_definition_only(const char *name) { return strchr(name, '`') || strstr(name, "<"); }

/* A line for each class, with sums over the bodies of its methods. */
static void bodies(MonoImage *image, int show)
{
    int rows = mono_image_get_table_rows(image, MONO_TABLE_TYPEDEF), with = 0, without = 0, clauses = 0, locals = 0;
    sum = 0;
    for (int i = 1; i < rows; i++) {
        MonoClass *c = mono_class_get(image, MONO_TOKEN_TYPE_DEF | (i + 1));
        MonoMethod *m;
        void *iter = NULL;
        if (!c || has_definition_only(mono_class_get_name(c)))
            continue;
        while ((m = mono_class_get_methods(c, &iter))) {
            MonoMethodHeader *h;
            uint32_t size = 0, stack = 0, count = 0, impl = 0, flags = mono_method_get_flags(m, &impl);
            mono_bool init = 0;
            if ((flags & 0x2400) || (impl & 0x1003)) { /* abstract, P/Invoke; internal call, runtime */
                without++;
                continue;
            }
            h = mono_method_get_header(m);
            if (!h) {
                without++;
                continue;
            }
            with++;
            const unsigned char *code = mono_method_header_get_code(h, &size, &stack);
            MonoType **l = mono_method_header_get_locals(h, &count, &init);
            add(code, size);
            add(&stack, sizeof stack);
            add(&init, sizeof init);
            locals += count;
            for (uint32_t k = 0; k < count; k++) {
                int t = mono_type_get_type(l[k]);
                if (t == 0x15) /* a definition, and that over its own parameters, are one in Vervet and two in mono */
                    t = mono_class_is_valuetype(mono_class_from_mono_type(l[k])) ? 0x11 : 0x12;
                add(&t, sizeof t);
            }
            int n = mono_method_header_get_num_clauses(h), seen = 0;
            MonoExceptionClause clause;
            void *at = NULL;
            while (mono_method_header_get_clauses(h, m, &at, &clause)) {
                add(&clause, 20);
                if (clause.flags == 0)
                    add_text(mono_class_get_name(clause.data.catch_class));
                else if (clause.flags == 1)
                    add(&clause.data.filter_offset, 4);
                seen++;
            }
            clauses += n;
            if (seen != n)
                printf("  %s: %d of %d clauses\n", mono_method_get_name(m), seen, n);
            if (show)
                printf("  %s: %u bytes, stack %u, %u locals, init %d, %d clauses, from 0x%x\n", mono_method_get_name(m), size, stack, count, init, n, size ? code[0] : 0);
            mono_metadata_free_mh(h);
        }
    }
    printf("%s: %d bodies, %d without, %d clauses, %d locals, sum %x\n", mono_image_get_name(image), with, without, clauses, locals, sum);
}

static void rows(MonoImage *image)
{
    unsigned end, count;
    sum = 0;
    for (int i = 0; i < mono_image_get_table_rows(image, MONO_TABLE_EVENT); i++) {
        unsigned first = mono_metadata_methods_from_event(image, i, &end);
        add(&first, 4), add(&end, 4);
    }
    for (int i = 0; i < mono_image_get_table_rows(image, MONO_TABLE_PROPERTY); i++) {
        unsigned first = mono_metadata_methods_from_property(image, i, &end);
        add(&first, 4), add(&end, 4);
    }
    printf("%s: semantics %x", mono_image_get_name(image), sum);
    sum = 0;
    for (int i = 1; i <= mono_image_get_table_rows(image, MONO_TABLE_TYPEDEF); i++) {
        unsigned a = mono_metadata_custom_attrs_from_index(image, i << 5 | 3), s = mono_metadata_declsec_from_index(image, i << 2);
        add(&a, 4), add(&s, 4);
    }
    printf(", attributes %x", sum);
    sum = 0;
    for (int i = 1; i <= mono_image_get_table_rows(image, MONO_TABLE_TYPEDEF); i++) {
        MonoClass **list = mono_metadata_interfaces_from_typedef(image, MONO_TOKEN_TYPE_DEF | i, &count);
        add(&count, 4);
        for (unsigned k = 0; list && k < count; k++)
            add_text(mono_class_get_name(list[k]));
    }
    printf(", interfaces %x", sum);
    sum = 0;
    add(mono_metadata_guid_heap(image, 1), 16);
    printf(", guid %x\n", sum);
}

static mono_bool frame(MonoMethod *m, int32_t native, int32_t il, mono_bool managed, void *user)
{
    if (managed) {
        char *name = mono_method_full_name(m, 0);
        printf("  %s, offset in code %d, il %s\n", name, native > 0, il == -1 ? "no" : "yes");
        mono_free(name);
        return ++*(int *)user == 3;
    }
    return 0;
}
static void here(mono_bool il)
{
    int n = 0;
    if (il)
        mono_stack_walk(frame, &n);
    else
        mono_stack_walk_no_il(frame, &n);
}

static int told(void) { return 42; }
static double part(void) { return 0.5; }
static void counters(void)
{
    static int a = 5;
    static int64_t b = -7;
    static double d = 1.25;
    static const char *s = "words";
    mono_counters_init();
    mono_counters_enable(-1);
    mono_counters_register("test: a", MONO_COUNTER_METADATA | MONO_COUNTER_INT | MONO_COUNTER_COUNT | MONO_COUNTER_VARIABLE, &a);
    mono_counters_register("test: b", MONO_COUNTER_JIT | MONO_COUNTER_LONG | MONO_COUNTER_BYTES | MONO_COUNTER_VARIABLE, &b);
    mono_counters_register("test: d", MONO_COUNTER_JIT | MONO_COUNTER_DOUBLE | MONO_COUNTER_PERCENTAGE | MONO_COUNTER_VARIABLE, &d);
    mono_counters_register("test: told", MONO_COUNTER_GC | MONO_COUNTER_INT | MONO_COUNTER_CALLBACK, told);
    mono_counters_register("test: part", MONO_COUNTER_GC | MONO_COUNTER_DOUBLE | MONO_COUNTER_CALLBACK, part);
    mono_counters_register_with_size("test: s", MONO_COUNTER_RUNTIME | MONO_COUNTER_STRING, (void *)s, 6);
}
static mono_bool counter(MonoCounter *c, void *user)
{
    char bytes[64] = { 0 };
    if (strncmp(mono_counter_get_name(c), "test: ", 6))
        return 1;
    int n = mono_counters_sample(c, bytes, sizeof bytes);
    printf("  %s type %d section 0x%x unit 0x%x variance 0x%x size %d value", mono_counter_get_name(c), mono_counter_get_type(c), mono_counter_get_section(c),
        mono_counter_get_unit(c), mono_counter_get_variance(c), (int)mono_counter_get_size(c));
    switch (mono_counter_get_type(c)) {
    case MONO_COUNTER_INT: printf(" %d\n", *(int *)bytes); break;
    case MONO_COUNTER_LONG: printf(" %ld\n", *(long *)bytes); break;
    case MONO_COUNTER_DOUBLE: printf(" %g\n", *(double *)bytes); break;
    default: printf(" %s\n", bytes);
    }
    ++*(int *)user;
    return 1;
}

static MonoMethod *method(MonoImage *image, const char *name)
{
    MonoMethodDesc *d = mono_method_desc_new(name, 1);
    MonoMethod *m = mono_method_desc_search_in_image(d, image);
    mono_method_desc_free(d);
    return m;
}
static MonoObject *call(MonoImage *image, const char *name)
{
    MonoObject *exc = NULL, *r = mono_runtime_invoke(method(image, name), NULL, NULL, &exc);
    if (exc)
        printf("  exception %s\n", mono_class_get_name(mono_object_get_class(exc)));
    return r;
}
static void show(MonoObject *o)
{
    MonoObject *exc = NULL;
    char *u = mono_string_to_utf8(mono_object_to_string(o, &exc));
    printf("  %s\n", u);
    mono_free(u);
}

static MonoBundledAssembly bundled;
static void bundle(const char *file, const char *name)
{
    static const MonoBundledAssembly *list[2];
    FILE *f = fopen(file, "rb");
    char *data = malloc(1 << 20);
    bundled.name = name;
    bundled.data = (unsigned char *)data;
    *(unsigned *)&bundled.size = fread(data, 1, 1 << 20, f);
    fclose(f);
    list[0] = &bundled;
    mono_register_bundled_assemblies(list);
}

static void at_end(MonoDomain *d, void *user)
{
    (void)user;
    printf("cleanup of the root domain %d\n", d == domain);
    fflush(stdout);
}

int main(void)
{
    int n = 0;
    counters();
    mono_config_parse(NULL);
    bundle("Carried.bin", "Carried.dll");
    domain = mono_jit_init("rest");
    mono_install_runtime_cleanup(at_end);
    mono_domain_set_config(domain, ".", "");
    mono_add_internal_call("Rest::Here", here);
    MonoImage *image = mono_assembly_get_image(mono_domain_assembly_open(domain, "Rest.exe"));
    MonoImage *xml = mono_class_get_image(mono_class_from_name(mono_assembly_get_image(mono_assembly_load_with_partial_name("System.Xml", NULL)), "System.Xml", "XmlReader"));

    bodies(image, 1);
    bodies(xml, 0);
    rows(image);
    rows(xml);
    rows(mono_get_corlib());
    printf("walk\n");
    call(image, "Rest:Outer");
    printf("counters\n");
    mono_counters_foreach(counter, &n);
    printf("%d counters\n", n);

    MonoArray *p = mono_param_get_objects(domain, method(image, "Rest:Parameters"));
    printf("parameters %d\n", (int)mono_array_length(p));
    for (int i = 0; i < (int)mono_array_length(p); i++)
        show(mono_array_get(p, MonoObject *, i));
    show((MonoObject *)mono_method_body_get_object(domain, method(image, "Rest:Outer")));
    MonoArray *types = mono_array_new(domain, mono_class_from_name(mono_get_corlib(), "System", "Type"), 2);
    MonoArray *errors = mono_array_new(domain, mono_get_exception_class(), 1);
    MonoException *e = mono_get_exception_reflection_type_load(types, errors);
    printf("  %s\n", mono_class_get_name(mono_object_get_class((MonoObject *)e)));

    printf("bundled\n");
    show(call(image, "Rest:UseCarried"));
    printf("  opened by the name of its file %d\n", mono_domain_assembly_open(domain, "Carried.dll") != NULL);
    mono_runtime_quit();
    _exit(0);
}
