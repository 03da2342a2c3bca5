/* Asks the embedding API about classes, methods, fields, types, tables and values, and prints what it says. The same program on mono
   is the oracle: api.expected is its output there. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/attrdefs.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/environment.h>
#include <mono/metadata/exception.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/reflection.h>
#include <mono/metadata/threads.h>
#include <mono/metadata/tokentype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MonoDomain *domain;
static MonoImage *image, *corlib;

static const char *name_of(MonoClass *c) { return c ? mono_class_get_name(c) : "-"; }
static void print_type(const char *what, MonoType *t)
{
    int align = 0;
    char *n = mono_type_get_name(t), *f = mono_type_full_name(t);
    char *modifier = strstr(f, " mod"); /* modifiers are not kept with the type here */
    if (modifier)
        *modifier = 0;
    if (strstr(n, "<T")) /* a definition, and that over its own parameters, are one here and two in mono */
        return;
    printf("    %s %s %s 0x%x byref %d ref %d void %d struct %d generic %d class %s size %d", what, n, f, mono_type_get_type(t), mono_type_is_byref(t),
           mono_type_is_reference(t), mono_type_is_void(t), mono_type_is_struct(t), mono_type_is_generic_parameter(t),
           name_of(mono_class_from_mono_type(t)), mono_type_get_type(t) == 0x13 || mono_type_get_type(t) == 0x1e || mono_type_get_type(t) == 1 ? 0 : mono_type_size(t, &align));
    printf(" align %d\n", align);
    mono_free(n);
    mono_free(f);
}

static void print_method(MonoMethod *m)
{
    uint32_t iflags = 0, flags = mono_method_get_flags(m, &iflags);
    char *full = mono_method_full_name(m, 1), *shorter = mono_method_full_name(m, 0);
    MonoMethodSignature *s = mono_method_signature(m);
    MonoType *p;
    void *iter = NULL;
    int n = mono_signature_get_param_count(s);
    const char *names[20] = { 0 };
    printf("  method %s | %s flags 0x%x 0x%x token 0x%x class %s params %d this %d explicit %d conv %d\n", full, shorter, flags, iflags, mono_method_get_token(m),
           name_of(mono_method_get_class(m)), n, mono_signature_is_instance(s), mono_signature_explicit_this(s), mono_signature_get_call_conv(s) & 0xf);
    print_type("returns", mono_signature_get_return_type(s));
    while ((p = mono_signature_get_params(s, &iter)))
        print_type("takes", p);
    if (n < 20) {
        mono_method_get_param_names(m, names);
        for (int i = 0; i < n; i++)
            printf("    named %s token 0x%x\n", names[i], mono_method_get_param_token(m, i));
    }
    MonoMethodDesc *d = mono_method_desc_from_method(m);
    printf("    matches itself %d\n", mono_method_desc_full_match(d, m));
    mono_method_desc_free(d);
    mono_free(full);
    mono_free(shorter);
}

static void print_class(MonoImage *in, const char *space, const char *name)
{
    MonoClass *c = mono_class_from_name(in, space, name);
    void *iter = NULL;
    MonoClassField *f;
    MonoMethod *m;
    MonoProperty *p;
    MonoEvent *e;
    MonoClass *other;
    uint32_t align = 0;
    if (!c) {
        printf("class %s.%s is missing\n", space, name);
        return;
    }
    mono_class_init(c);
    printf("class %s.%s flags 0x%x token 0x%x rank %d parent %s nesting %s element %s image %s\n", mono_class_get_namespace(c), mono_class_get_name(c), mono_class_get_flags(c),
           mono_class_get_type_token(c), mono_class_get_rank(c), name_of(mono_class_get_parent(c)), name_of(mono_class_get_nesting_type(c)), name_of(mono_class_get_element_class(c)),
           mono_image_get_name(mono_class_get_image(c)));
    printf("  value %d enum %d delegate %d nullable %d fields %d methods %d properties %d events %d\n", mono_class_is_valuetype(c), mono_class_is_enum(c), mono_class_is_delegate(c),
           mono_class_is_nullable(c), mono_class_num_fields(c), mono_class_num_methods(c), mono_class_num_properties(c), mono_class_num_events(c));
    if (mono_class_is_valuetype(c) && !strchr(name, '`'))
        printf("  value size %d instance size %d element %d\n", mono_class_value_size(c, &align), mono_class_instance_size(c), mono_class_array_element_size(c));
    if (mono_class_is_enum(c))
        print_type("underlying", mono_class_enum_basetype(c));
    print_type("is", mono_class_get_type(c));
    print_type("byref", mono_class_get_byref_type(c));
    for (iter = NULL; (other = mono_class_get_interfaces(c, &iter));)
        printf("  interface %s assignable %d implements %d\n", mono_class_get_name(other), mono_class_is_assignable_from(other, c), mono_class_implements_interface(c, other));
    for (iter = NULL; (other = mono_class_get_nested_types(c, &iter));)
        printf("  nested %s in %s\n", mono_class_get_name(other), name_of(mono_class_get_nesting_type(other)));
    for (iter = NULL; (f = mono_class_get_fields(c, &iter));) {
        char *full = mono_field_full_name(f);
        printf("  field %s %s flags 0x%x token 0x%x parent %s\n", mono_field_get_name(f), full, mono_field_get_flags(f), mono_class_get_field_token(f), name_of(mono_field_get_parent(f)));
        if (mono_class_is_valuetype(c) && !strchr(name, '`') && !(mono_field_get_flags(f) & MONO_FIELD_ATTR_STATIC))
            printf("    offset %u\n", mono_field_get_offset(f));
        print_type("typed", mono_field_get_type(f));
        mono_free(full);
    }
    for (iter = NULL; (m = mono_class_get_methods(c, &iter));)
        print_method(m);
    for (iter = NULL; (p = mono_class_get_properties(c, &iter));) {
        MonoMethod *g = mono_property_get_get_method(p), *s = mono_property_get_set_method(p);
        printf("  property %s flags 0x%x get %s set %s same %d\n", mono_property_get_name(p), mono_property_get_flags(p), g ? mono_method_get_name(g) : "-", s ? mono_method_get_name(s) : "-",
               mono_class_get_property_from_name(c, mono_property_get_name(p)) != NULL);
    }
    for (iter = NULL; (e = mono_class_get_events(c, &iter));)
        printf("  event %s flags 0x%x add %s remove %s\n", mono_event_get_name(e), mono_event_get_flags(e), mono_method_get_name(mono_event_get_add_method(e)),
               mono_method_get_name(mono_event_get_remove_method(e)));
}

static void print_exception(const char *what, MonoException *e)
{
    MonoObject *exc = NULL;
    char *u = mono_string_to_utf8((MonoString *)mono_property_get_value(mono_class_get_property_from_name(mono_get_exception_class(), "Message"), e, NULL, &exc));
    printf("exception %s: %s '%s'\n", what, name_of(mono_object_get_class((MonoObject *)e)), u);
    mono_free(u);
}

static void exceptions(void)
{
#define X(name) print_exception(#name, mono_get_exception_##name())
#define M(name) print_exception(#name, mono_get_exception_##name("said"))
    X(divide_by_zero); X(security); X(arithmetic); X(overflow); X(null_reference); X(thread_interrupted); X(invalid_cast);
    X(index_out_of_range); X(array_type_mismatch); X(appdomain_unloaded); X(field_access); X(method_access);
    M(execution_engine); M(thread_state); M(serialization); M(invalid_operation); M(not_implemented); M(not_supported); M(io);
    M(synchronization_lock); M(cannot_unload_appdomain); M(bad_image_format); M(argument_null); M(argument_out_of_range);
    print_exception("argument", mono_get_exception_argument("p", "said"));
    print_exception("name", mono_exception_from_name(corlib, "System", "FormatException"));
    print_exception("name_msg", mono_exception_from_name_msg(corlib, "System", "FormatException", "said"));
    print_exception("two_strings", mono_exception_from_name_two_strings(corlib, "System", "ArgumentException", mono_string_new(domain, "said"), mono_string_new(domain, "p")));
}

static void strings(void)
{
    static const char *const texts[] = { "", "a", "\xc3\xa4\xe2\x82\xac", "\xf0\x9f\x98\x80 x", "bad \xff", "longer text with blanks" };
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        MonoString *s = mono_string_new(domain, texts[i]);
        if (!s) {
            printf("string %u is none\n", i);
            continue;
        }
        char *u = mono_string_to_utf8(s);
        mono_unichar2 *w = mono_string_to_utf16(s);
        mono_unichar4 *q = mono_string_to_utf32(s);
        MonoString *again = mono_string_from_utf16(w), *once = mono_string_from_utf32(q), *n16 = mono_string_new_utf16(domain, w, mono_string_length(s));
        printf("string %u length %d hash %u '%s' equal %d %d %d interned %d size %u\n", i, mono_string_length(s), mono_string_hash(s), u, mono_string_equal(s, again), mono_string_equal(s, once),
               mono_string_equal(s, n16), mono_string_intern(s) == mono_string_intern(again), 0u);
        mono_free(u);
        mono_free(w);
        mono_free(q);
    }
    printf("empty %d wrapper %d\n", mono_string_length(mono_string_empty(domain)), mono_string_length(mono_string_new_wrapper("abc")));
}

static void arrays(void)
{
    uintptr_t lengths[] = { 2, 3 };
    intptr_t lower[] = { 1, -1 };
    MonoClass *two = mono_array_class_get(mono_get_int32_class(), 2), *bounded = mono_bounded_array_class_get(mono_get_string_class(), 1, 1);
    MonoArray *a = mono_array_new_full(domain, two, lengths, lower), *c;
    printf("array %s length %d element %d rank %d\n", name_of(two), (int)mono_array_length(a), mono_array_element_size(two), mono_class_get_rank(two));
    for (int i = 0; i < 6; i++)
        mono_array_set(a, int, i, i * i);
    c = mono_array_clone(a);
    for (int i = 0; i < 6; i++)
        printf("  %d", mono_array_get(c, int, i));
    printf("\nbounded %s rank %d pointer %s\n", name_of(bounded), mono_class_get_rank(bounded), name_of(mono_ptr_class_get(mono_class_get_type(mono_get_int32_class()))));
    MonoArray *s = mono_array_new(domain, mono_get_string_class(), 3);
    mono_array_setref(s, 1, mono_string_new(domain, "one"));
    printf("strings %d %d\n", mono_array_get(s, MonoString *, 0) == NULL, mono_string_length(mono_array_get(s, MonoString *, 1)));
}

static void tables(void)
{
    uint32_t row[20];
    for (int t = 0; t < 0x2d; t++) {
        const MonoTableInfo *info = mono_image_get_table_info(image, t);
        int rows = info ? mono_table_info_get_rows(info) : 0;
        printf("table 0x%x rows %d\n", t, rows);
        if (t != MONO_TABLE_TYPEDEF && t != MONO_TABLE_METHOD && t != MONO_TABLE_TYPEREF && t != MONO_TABLE_FIELD)
            continue;
        for (int i = 0; i < rows; i++) {
            int size = t == MONO_TABLE_TYPEDEF || t == MONO_TABLE_METHOD ? 6 : 3;
            mono_metadata_decode_row(info, i, row, size);
            int at = t == MONO_TABLE_METHOD ? 3 : 1;
            printf("  %s %u\n", mono_metadata_string_heap(image, row[at]), mono_metadata_decode_row_col(info, i, 0));
        }
    }
    const char *end;
    char buffer[8], *stop;
    for (uint32_t v = 1; v < 0x10000000; v = v * 5 + 3) {
        mono_metadata_encode_value(v, buffer, &stop);
        uint32_t got = mono_metadata_decode_value(buffer, &end);
        printf("compressed %u %d %d %d\n", got, (int)(stop - buffer), (int)(end - buffer), mono_metadata_decode_signed_value(buffer, &end));
    }
    printf("dor 0x%x 0x%x 0x%x entry 0x%x\n", mono_metadata_token_from_dor(4), mono_metadata_token_from_dor(5), mono_metadata_token_from_dor(6), mono_image_get_entry_point(image));
}

static void descriptions(void)
{
    static const char *const all[] = { "Smoke.Thing:Add", "Smoke.Thing:Add(int,int&,string)", "Smoke.Thing:Add(int)", "Thing:Add", "*:Boom", "Smoke.Thing::Greet", "Smoke.Thing:Greet (string)",
                                       "Smoke.Thing:*", "Nope:Nope", "Smoke.Thing:.ctor(int)", "Smoke.Vec:Len2", "Smoke.Thing:Sum(int[])", "Smoke.Thing:Echo(object)", "NoColon", "Bad:Paren(" };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        for (int space = 0; space < 2; space++) {
            MonoMethodDesc *d = mono_method_desc_new(all[i], space);
            MonoMethod *m = d ? mono_method_desc_search_in_image(d, image) : NULL;
            char *full = m ? mono_method_full_name(m, 1) : NULL;
            printf("desc %s %d -> %s\n", all[i], space, d ? full ? full : "none" : "invalid");
        }
}

static void values(void)
{
    MonoObject *exc = NULL;
    MonoClass *thing = mono_class_from_name(image, "Smoke", "Thing"), *vec = mono_class_from_name(image, "Smoke", "Vec");
    MonoObject *o = mono_object_new(domain, thing), *clone;
    mono_runtime_object_init(o);
    float v[2] = { 1.5f, -2 }, back[2] = { 0, 0 };
    mono_field_set_value(o, mono_class_get_field_from_name(thing, "Pos"), v);
    mono_field_get_value(o, mono_class_get_field_from_name(thing, "Pos"), back);
    printf("struct field %g %g\n", back[0], back[1]);
    clone = mono_object_clone(o);
    int count = 0;
    mono_field_get_value(clone, mono_class_get_field_from_name(thing, "Count"), &count);
    printf("clone count %d same %d class same %d vtable same %d\n", count, clone == o, mono_object_get_class(clone) == thing, mono_object_get_vtable(clone) == mono_class_vtable(domain, thing));
    MonoObject *box = mono_value_box(domain, vec, v);
    char *u = mono_string_to_utf8(mono_object_to_string(box, &exc));
    printf("box '%s' isinst %d %d\n", u, mono_object_isinst(box, mono_get_object_class()) == box, mono_object_isinst(box, thing) == NULL);
    int k = 0;
    mono_field_static_get_value(mono_class_vtable(domain, thing), mono_class_get_field_from_name(thing, "K"), &k);
    printf("constant %d\n", k);
    MonoReflectionType *t = mono_type_get_object(domain, mono_class_get_type(thing));
    u = mono_string_to_utf8(mono_object_to_string((MonoObject *)t, &exc));
    printf("type object '%s' same %d back %d\n", u, t == mono_type_get_object(domain, mono_class_get_type(thing)), mono_reflection_type_get_type(t) == mono_class_get_type(thing));
    MonoMethod *m = mono_class_get_method_from_name(thing, "Add", 3);
    u = mono_string_to_utf8(mono_object_to_string((MonoObject *)mono_method_get_object(domain, m, NULL), &exc));
    printf("method object '%s'\n", u);
    u = mono_string_to_utf8(mono_object_to_string((MonoObject *)mono_assembly_get_object(domain, mono_image_get_assembly(image)), &exc));
    printf("assembly object '%s'\n", u);
    MonoAssemblyName *an = mono_assembly_name_new("Some, Version=1.2.3.4, Culture=neutral, PublicKeyToken=b77a5c561934e089");
    uint16_t minor, build, revision, major = mono_assembly_name_get_version(an, &minor, &build, &revision);
    printf("name %s %d.%d.%d.%d\n", mono_assembly_name_get_name(an), major, minor, build, revision);
    MonoCustomAttrInfo *info = mono_custom_attrs_from_class(mono_class_from_name(corlib, "System", "FlagsAttribute"));
    printf("attributes %d has usage %d has flags %d none %d\n", info != NULL, mono_custom_attrs_has_attr(info, mono_class_from_name(corlib, "System", "AttributeUsageAttribute")),
           mono_custom_attrs_has_attr(info, mono_class_from_name(corlib, "System", "FlagsAttribute")), mono_custom_attrs_from_class(vec) != NULL);
    printf("attribute '%s'\n", name_of(mono_object_get_class(mono_custom_attrs_get_attr(info, mono_class_from_name(corlib, "System", "AttributeUsageAttribute")))));
    mono_custom_attrs_free(info);
    static const char *const names[] = { "System.Int32", "System.Collections.Generic.Dictionary`2[System.String,System.Int32]", "System.Int32[,]", "System.Environment+SpecialFolder", "No.Such" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        MonoType *found = mono_reflection_type_from_name(strdup(names[i]), corlib);
        if (found)
            print_type(names[i], found);
        else
            printf("    %s none\n", names[i]);
    }
    uint32_t weak = mono_gchandle_new_weakref(o, 0), strong = mono_gchandle_new(o, 0);
    printf("handles %d %d\n", mono_gchandle_get_target(weak) == o, mono_gchandle_get_target(strong) == o);
    mono_gchandle_free(weak);
    mono_gchandle_free(strong);
    printf("monitor %d %d\n", mono_monitor_enter(o), mono_monitor_try_enter(o, 0));
    mono_monitor_exit(o);
    mono_monitor_exit(o);
    int twice = 0;
    void *args[] = { &twice };
    for (twice = -1; twice < 2; twice++) {
        mono_runtime_invoke(mono_class_get_method_from_name(thing, "Boom", 1), NULL, args, &exc);
        printf("boom %d: %d\n", twice, exc != NULL);
    }
    mono_environment_exitcode_set(7);
    printf("exit code %d, thread id %d\n", mono_environment_exitcode_get(), mono_thread_get_managed_id(mono_thread_current()));
    printf("subclass %d %d %d\n", mono_class_is_subclass_of(thing, mono_class_from_name(image, "Smoke", "Base"), 0), mono_class_is_subclass_of(thing, mono_class_from_name(image, "Smoke", "IThing"), 0),
           mono_class_is_subclass_of(thing, mono_class_from_name(image, "Smoke", "IThing"), 1));
    printf("image %s strerror %s %s\n", strrchr(mono_image_get_filename(image), '/'), mono_image_strerror(MONO_IMAGE_OK), mono_image_strerror(MONO_IMAGE_IMAGE_INVALID));
}

int main(void)
{
    static const char *const core[][2] = { { "System", "Object" }, { "System", "Int32" }, { "System", "Nullable`1" }, { "System", "DayOfWeek" },
                                           { "System", "IComparable`1" }, { "System", "Action`2" }, { "System", "Version" }, 
                                           { "System.Collections.Generic", "List`1" }, { "System.Collections.Generic", "KeyValuePair`2" }, 
                                           { "System.Threading", "Monitor" }, { "System", "NoSuch" } };
    static const char *const own[] = { "Vec", "Color", "IThing", "Base", "Thing", "Thing/Inner" };
    setenv("MONO_THREADS_SUSPEND", "preemptive", 0); /* mono's own default aborts now and then */
    mono_config_parse(NULL);
    domain = mono_jit_init("api");
    image = mono_assembly_get_image(mono_domain_assembly_open(domain, "Lib.exe"));
    corlib = mono_get_corlib();
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        print_class(image, "Smoke", own[i]);
    for (unsigned i = 0; i < sizeof core / sizeof *core; i++)
        print_class(corlib, core[i][0], core[i][1]);
    exceptions();
    strings();
    arrays();
    tables();
    descriptions();
    values();
    mono_jit_cleanup(domain);
    return 0;
}
