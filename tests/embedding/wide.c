/* Calls functions of the embedding API that the other hosts do not call, each with what a host would pass, and prints what they answer. wide.expected is the
   output on mono. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/attrdefs.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/environment.h>
#include <mono/metadata/exception.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-debug.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>
#include <mono/metadata/reflection.h>
#include <mono/metadata/row-indexes.h>
#include <mono/metadata/threads.h>
#include <mono/metadata/tokentype.h>
#include <mono/metadata/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MonoDomain *domain;
static MonoImage *image, *corlib;
static MonoAssembly *assembly;

static const char *name(MonoClass *c) { return c ? mono_class_get_name(c) : "-"; }
static const char *class_of(void *o) { return o ? name(mono_object_get_class(o)) : "-"; }
static MonoClass *class_named(const char *n) { return mono_class_from_name(image, "More", n); }
static void message(const char *what, MonoException *e)
{
    MonoObject *thrown = NULL;
    MonoMethod *get = mono_object_get_virtual_method((MonoObject *)e, mono_property_get_get_method(mono_class_get_property_from_name(mono_get_exception_class(), "Message")));
    MonoString *text = (MonoString *)mono_runtime_invoke(get, e, NULL, &thrown);
    char *utf8 = text ? mono_string_to_utf8(text) : NULL;
    printf("  %s: %s %s\n", what, class_of(e), utf8 ? utf8 : "-");
    mono_free(utf8);
}
#define EXCEPTION(f, ...) message(#f, mono_get_exception_##f(__VA_ARGS__))
#define CLASS(f) printf("  %s: %s\n", #f, name(mono_get_##f##_class()))

static void exceptions(void)
{
    EXCEPTION(appdomain_unloaded); EXCEPTION(argument_null, "name"); EXCEPTION(argument_out_of_range, "name"); EXCEPTION(argument, "name", "text");
    EXCEPTION(arithmetic); EXCEPTION(array_type_mismatch); EXCEPTION(bad_image_format, "text");
    EXCEPTION(cannot_unload_appdomain, "text"); EXCEPTION(divide_by_zero); EXCEPTION(execution_engine, "text"); EXCEPTION(field_access);
    EXCEPTION(index_out_of_range); EXCEPTION(invalid_cast);
    EXCEPTION(invalid_operation, "text"); EXCEPTION(io, "text"); EXCEPTION(method_access); EXCEPTION(missing_field, "Class", "field");
    EXCEPTION(missing_method, "Class", "method"); EXCEPTION(not_implemented, "text"); EXCEPTION(not_supported, "text"); EXCEPTION(null_reference);
    EXCEPTION(overflow); EXCEPTION(security); EXCEPTION(serialization, "text");
    EXCEPTION(synchronization_lock, "text"); EXCEPTION(thread_interrupted); EXCEPTION(thread_state, "text");
    EXCEPTION(type_initialization, "Type", mono_get_exception_arithmetic()); EXCEPTION(out_of_memory); EXCEPTION(stack_overflow);
    EXCEPTION(file_not_found, mono_string_new(domain, "file"));
    EXCEPTION(file_not_found2, "text", mono_string_new(domain, "file")); EXCEPTION(bad_image_format2, "text", mono_string_new(domain, "file"));
    EXCEPTION(type_load, mono_string_new(domain, "Class"), "assembly");
    EXCEPTION(runtime_wrapped, (MonoObject *)mono_string_new(domain, "wrapped"));
    message("from_name_domain", mono_exception_from_name_domain(domain, corlib, "System", "TimeoutException"));
    message("from_name_msg", mono_exception_from_name_msg(corlib, "System", "TimeoutException", "late"));
    message("from_name_two_strings", mono_exception_from_name_two_strings(corlib, "System", "ArgumentException", mono_string_new(domain, "one"), mono_string_new(domain, "two")));
    MonoClass *timeout = mono_class_from_name(corlib, "System", "TimeoutException");
    message("from_token", mono_exception_from_token(corlib, mono_class_get_type_token(timeout)));
    MonoClass *argument = mono_class_from_name(corlib, "System", "ArgumentException");
    message("from_token_two_strings", mono_exception_from_token_two_strings(corlib, mono_class_get_type_token(argument), mono_string_new(domain, "one"), mono_string_new(domain, "two")));
}

static void classes(void)
{
    CLASS(byte); CLASS(int16); CLASS(int64); CLASS(sbyte); CLASS(single); CLASS(thread); CLASS(uint16); CLASS(uint32); CLASS(uint64); CLASS(uintptr); CLASS(void);
    CLASS(array); CLASS(enum); CLASS(boolean); CLASS(char); CLASS(double); CLASS(intptr); CLASS(object); CLASS(string); CLASS(int32);
    MonoClass *kept = class_named("Kept"), *box = mono_class_from_name(image, "More", "Box`1"), *record = class_named("Record");
    printf("  name_case %s %s\n", name(mono_class_from_name_case(image, "MORE", "kept")), name(mono_class_get(image, mono_class_get_type_token(kept))));
    printf("  full %s, data %d, align %u\n", name(mono_class_get_full(image, mono_class_get_type_token(box), NULL)), mono_class_data_size(kept) > 0, (unsigned)mono_class_min_align(record));
    char *n = mono_class_name_from_token(image, mono_class_get_type_token(kept));
    printf("  name_from_token %s\n", n);
    mono_free(n);
    MonoClassField *flag = mono_class_get_field_from_name(kept, "Flag");
    uint32_t token = mono_class_get_field_token(flag);
    printf("  field by token %s, data %d\n", mono_field_get_name(mono_class_get_field(kept, token)), mono_field_get_data(flag) != NULL);
    MonoClass *from = NULL;
    printf("  field_from_token %s of %s\n", mono_field_get_name(mono_field_from_token(image, token, &from, NULL)), name(from));
    printf("  method flags %s\n", mono_method_get_name(mono_class_get_method_from_name_flags(kept, "Steps", 1, MONO_METHOD_ATTR_STATIC)));
    MonoMethod *steps = mono_class_get_method_from_name(kept, "Steps", 1), *add = mono_class_get_method_from_name(kept, "Add", 2);
    printf("  get_method_full %s\n", mono_method_get_name(mono_get_method_full(image, mono_method_get_token(steps), NULL, NULL)));
    printf("  can access %d %d\n", mono_method_can_access_method(add, steps), mono_method_can_access_field(add, flag));
    printf("  index %u marshal %d\n", mono_method_get_index(steps) > 0, mono_method_has_marshal_info(mono_class_get_method_from_name(kept, "Native", 2)));
    printf("  marshal %d %d\n", mono_method_has_marshal_info(add), mono_method_has_marshal_info(steps));
    char *r = mono_method_get_reflection_name(add);
    printf("  reflection name %s\n", r);
    mono_free(r);
    MonoMethodSignature *s = mono_method_get_signature(add, image, mono_method_get_token(add)), *s2 = mono_method_get_signature_full(steps, image, mono_method_get_token(steps), NULL);
    printf("  signatures %u %u equal %d %d hash %d vararg %d\n", mono_signature_get_param_count(s), mono_signature_get_param_count(s2), mono_metadata_signature_equal(s, s), mono_metadata_signature_equal(s, s2),
           mono_signature_hash(s) == mono_signature_hash(mono_method_signature(add)), mono_signature_vararg_start(s));
    MonoMethodSignature *copy = mono_metadata_signature_dup(s);
    printf("  dup %u %d\n", mono_signature_get_param_count(copy), mono_metadata_signature_equal(copy, s));
    MonoType *t1 = mono_class_get_type(kept), *t2 = mono_field_get_type(flag);
    printf("  types equal %d %d hash %d\n", mono_metadata_type_equal(t1, t1), mono_metadata_type_equal(t1, t2), mono_metadata_type_hash(t1) == mono_metadata_type_hash(t1));
    printf("  delegate %s %s %s\n", mono_method_get_name(mono_get_delegate_invoke(mono_class_from_name(corlib, "System", "Action"))), mono_method_get_name(mono_get_delegate_begin_invoke(mono_class_from_name(corlib, "System", "Action"))),
           mono_method_get_name(mono_get_delegate_end_invoke(mono_class_from_name(corlib, "System", "Action"))));
    MonoClass *nullable = mono_class_from_mono_type(mono_reflection_type_from_name("System.Nullable`1[System.Int32]", corlib));
    printf("  nullable of %s\n", name(mono_class_get_nullable_param(nullable)));
    printf("  wbarrier: ");
    MonoObject *o = mono_object_new(domain, kept);
    mono_runtime_object_init(o);
    MonoArray *array = mono_array_new(domain, mono_get_object_class(), 4);
    mono_gc_wbarrier_set_arrayref(array, mono_array_addr(array, MonoObject *, 1), o);
    mono_gc_wbarrier_arrayref_copy(mono_array_addr(array, MonoObject *, 2), mono_array_addr(array, MonoObject *, 1), 1);
    mono_gc_wbarrier_generic_store(mono_array_addr(array, MonoObject *, 3), o);
    mono_gc_wbarrier_generic_store_atomic(mono_array_addr(array, MonoObject *, 0), o);
    int same = 0;
    for (int i = 0; i < 4; i++) same += mono_array_get(array, MonoObject *, i) == o;
    printf("%d\n", same);
    printf("  hash %d castclass %d %d\n", mono_object_hash(o) == mono_object_hash(o), mono_object_castclass_mbyref(o, kept) == o, mono_object_isinst_mbyref(o, record) == NULL);
    MonoVTable *vt = mono_class_vtable(domain, kept);
    printf("  new %s %s %s %s\n", class_of(mono_object_new_specific(vt)), class_of(mono_object_new_fast(vt)), class_of(mono_object_new_alloc_specific(vt)), class_of(mono_object_new_from_token(domain, image, mono_class_get_type_token(kept))));
    printf("  array_new_specific %s\n", class_of(mono_array_new_specific(mono_class_vtable(domain, mono_array_class_get(kept, 1)), 3)));
    MonoProperty *p = mono_class_get_property_from_name(mono_get_exception_class(), "Message");
    printf("  property %s of %s token %d, object %s\n", mono_property_get_name(p), name(mono_property_get_parent(p)), mono_class_get_property_token(p) >> 24, class_of(mono_property_get_object(domain, mono_get_exception_class(), p)));
    MonoClass *appdomain = mono_class_from_name(corlib, "System", "AppDomain");
    void *iter = NULL;
    MonoEvent *e = mono_class_get_events(appdomain, &iter);
    printf("  event of %s token %d raise %d, object %s\n", name(mono_event_get_parent(e)), mono_class_get_event_token(e) >> 24, mono_event_get_raise_method(e) != NULL, class_of(mono_event_get_object(domain, appdomain, e)));
    printf("  field object %s\n", class_of(mono_field_get_object(domain, kept, flag)));
    printf("  dbnull %s\n", class_of(mono_get_dbnull_object(domain)));
    MonoString *empty = mono_string_empty_wrapper();
    printf("  strings %d %d %d\n", mono_string_length(empty), mono_string_length(mono_string_new_size(domain, 7)), mono_string_is_interned(mono_string_intern(mono_string_new(domain, "interned"))) != NULL);
    mono_unichar4 four[] = {'a', 0x1F600, 'b'};
    char *utf8 = mono_string_to_utf8(mono_string_new_utf32(domain, four, 3));
    printf("  utf32 %s\n", utf8);
    mono_free(utf8);
    MonoMethodDesc *d = mono_method_desc_new("More.Kept:Steps(int)", 1), *d2 = mono_method_desc_new(":Steps", 0);
    printf("  desc full %d %d match %d %d\n", mono_method_desc_is_full(d), mono_method_desc_is_full(d2), mono_method_desc_match(d, steps), mono_method_desc_match(d2, add));
    uint8_t guid[16];
    for (int i = 0; i < 16; i++) guid[i] = i * 17;
    char *g = mono_guid_to_string(guid), *g2 = mono_guid_to_string_minimal(guid);
    printf("  guid %s %s\n", g, g2);
    mono_free(g);
    mono_free(g2);
}

static void attributes(void)
{
    MonoClass *kept = class_named("Kept"), *note = class_named("NoteAttribute");
    MonoCustomAttrInfo *a = mono_custom_attrs_from_class(kept);
    printf("  class %d has %d %s\n", a ? a->num_attrs : -1, mono_custom_attrs_has_attr(a, note), class_of(mono_custom_attrs_get_attr(a, note)));
    printf("  entry %s.%s %u bytes, first %d\n", name(mono_method_get_class(a->attrs[0].ctor)), mono_method_get_name(a->attrs[0].ctor), a->attrs[0].data_size, a->attrs[0].data[0]);
    MonoArray *all = mono_custom_attrs_construct(a);
    printf("  construct %d %s\n", (int)mono_array_length(all), class_of(mono_array_get(all, MonoObject *, 0)));
    mono_custom_attrs_free(a);
    printf("  from_index %d\n", mono_custom_attrs_from_index(image, 0) != NULL);
    a = mono_custom_attrs_from_assembly(assembly);
    printf("  assembly %d\n", a != NULL && a->num_attrs > 0);
    printf("  field %d method %d param %d\n", mono_custom_attrs_from_field(kept, mono_class_get_field_from_name(kept, "Flag")) != NULL, mono_custom_attrs_from_method(mono_class_get_method_from_name(kept, "Add", 2)) != NULL,
           mono_custom_attrs_from_param(mono_class_get_method_from_name(kept, "Add", 2), 1) != NULL);
    MonoClass *exception = mono_get_exception_class();
    printf("  property %d\n", mono_custom_attrs_from_property(exception, mono_class_get_property_from_name(exception, "Message")) != NULL);
    MonoReflectionType *type = mono_type_get_object(domain, mono_class_get_type(kept));
    all = mono_reflection_get_custom_attrs((MonoObject *)type);
    printf("  reflection %d\n", all ? (int)mono_array_length(all) : -1);
    a = mono_reflection_get_custom_attrs_info((MonoObject *)type);
    printf("  info %d\n", a ? a->num_attrs : -1);
    printf("  get_type %s token %x\n", name(mono_class_from_mono_type(mono_reflection_type_get_type(type))), mono_reflection_get_token((MonoObject *)type) >> 24);
    printf("  module %s %s\n", class_of(mono_module_get_object(domain, image)), class_of(mono_module_get_object(domain, corlib)));
}

static void count(MonoAssembly *a, void *n) { ++*(int *)n; }
static void images(void)
{
    int n = 0;
    mono_assembly_foreach((MonoFunc)count, &n);
    printf("  assemblies %d\n", n > 1);
    MonoImageOpenStatus status;
    MonoAssemblyName *an = mono_assembly_name_new("More, Version=1.2.3.4, Culture=neutral, PublicKeyToken=0123456789abcdef");
    char *text = mono_stringify_assembly_name(an);
    printf("  name %s culture '%s' token %s\n", text, mono_assembly_name_get_culture(an), mono_assembly_name_get_pubkeytoken(an));
    mono_free(text);
    MonoAssemblyName *other = mono_assembly_name_new("More, Version=1.2.3.4");
    printf("  equal %d %d\n", mono_assembly_names_equal(an, an), mono_assembly_names_equal(an, other));
    mono_assembly_name_free(other);
    MonoAssemblyName *mine = mono_assembly_name_new("More");
    printf("  loaded %d %d\n", mono_assembly_loaded(mine) == assembly, mono_assembly_loaded(mono_assembly_name_new("NotThere")) != NULL);
    printf("  load %d\n", mono_assembly_load(mono_assembly_name_new("System.Core"), NULL, &status) != NULL);
    printf("  load_full %d\n", mono_assembly_load_full(mono_assembly_name_new("mscorlib"), NULL, &status, 0) == mono_image_get_assembly(corlib));
    printf("  open_full %d\n", mono_assembly_open_full("More.dll", &status, 0) == assembly);
    printf("  image loaded %d %d\n", mono_image_loaded("More") == image, mono_image_loaded("NotThere") != NULL);
    printf("  image flags %d %d guid %d\n", mono_image_is_dynamic(image), mono_image_has_authenticode_entry(image), (int)strlen(mono_image_get_guid(image)));
    uint32_t size = 77;
    printf("  key %d %u\n", mono_image_get_public_key(image, &size) != NULL, size);
    mono_image_get_public_key(corlib, &size);
    printf("  key of mscorlib %u\n", size);
    mono_image_addref(image);
    mono_image_close(image);
    printf("  reopen %d\n", mono_image_open("More.dll", &status) != NULL);
    printf("  lookup_resource %d\n", mono_image_lookup_resource(image, 16, 1, NULL) != NULL);
    printf("  section %d\n", mono_image_ensure_section(image, ".text"));
    MonoTableInfo *typedefs = (MonoTableInfo *)mono_image_get_table_info(image, MONO_TABLE_TYPEDEF);
    uint32_t row[MONO_TYPEDEF_SIZE];
    mono_metadata_decode_row(typedefs, 1, row, MONO_TYPEDEF_SIZE);
    printf("  table row %s %d\n", mono_metadata_string_heap(image, row[MONO_TYPEDEF_NAME]), mono_metadata_decode_table_row_col(image, MONO_TABLE_TYPEDEF, 1, MONO_TYPEDEF_NAME) == row[MONO_TYPEDEF_NAME]);
    MonoClass *kept = class_named("Kept");
    uint32_t index = mono_metadata_token_index(mono_class_get_type_token(kept));
    printf("  nested %u %u\n", mono_metadata_nested_in_typedef(image, mono_class_get_type_token(kept)), mono_metadata_nesting_typedef(image, index, 1));
    uint32_t packing = 9, bytes = 9;
    printf("  packing %u\n", mono_metadata_packing_from_typedef(image, mono_class_get_type_token(kept), &packing, &bytes));
    printf("  owner %d %d\n", mono_metadata_typedef_from_field(image, mono_metadata_token_index(mono_class_get_field_token(mono_class_get_field_from_name(kept, "Flag")))) == index,
           mono_metadata_typedef_from_method(image, mono_metadata_token_index(mono_method_get_token(mono_class_get_method_from_name(kept, "Add", 2)))) == index);
    uint32_t end = 0;
    printf("  events %u properties %u\n", mono_metadata_events_from_typedef(image, index - 1, &end), mono_metadata_properties_from_typedef(image, index - 1, &end));
    printf("  implmap %d constant %d\n", mono_metadata_implmap_from_method(image, mono_metadata_token_index(mono_method_get_token(mono_class_get_method_from_name(class_named("Libs"), "made_up", 1))) - 1) > 0,
           mono_metadata_get_constant_index(image, mono_class_get_field_token(mono_class_get_field_from_name(kept, "Flag")), 0));
    printf("  config %s %s %s %d\n", mono_config_get_os(), mono_config_get_cpu(), mono_config_get_wordsize(), mono_config_is_server_mode());
    mono_config_set_server_mode(1);
    printf("  server %d\n", mono_config_is_server_mode());
    mono_config_set_server_mode(0);
    printf("  main args %d\n", mono_runtime_get_main_args() != NULL);
}

static void domains(void)
{
    printf("  type resolve %d %d\n", mono_domain_has_type_resolve(domain), mono_domain_owns_vtable_slot(domain, NULL));
    printf("  finalize %d pending %d\n", mono_domain_finalize(domain, 1000), mono_gc_pending_finalizers() != 0);
    char *named = mono_thread_get_name_utf8(mono_thread_current());
    printf("  thread name %s\n", named ? named : "-");
    printf("  shutting down %d debugger %d aot %d\n", mono_runtime_is_shutting_down(), mono_is_debugger_attached(), mono_jit_aot_compiling());
    printf("  dirs %d %d\n", mono_assembly_getrootdir() != NULL, mono_get_config_dir() != NULL);
    printf("  monitor ");
    MonoObject *o = mono_object_new(domain, mono_get_object_class());
    mono_bool taken = 0;
    mono_monitor_enter_v4(o, (char *)&taken);
    printf("%d", taken);
    mono_monitor_exit(o);
    printf(" %d\n", mono_monitor_try_enter(o, 10));
    mono_monitor_exit(o);
    MonoMethod *join = mono_class_get_method_from_name(class_named("Kept"), "Add", 2);
    int one = 1, two = 2;
    MonoArray *args = mono_array_new(domain, mono_get_object_class(), 2);
    mono_array_setref(args, 0, mono_value_box(domain, mono_get_int32_class(), &one));
    mono_array_setref(args, 1, mono_value_box(domain, mono_get_int32_class(), &two));
    MonoObject *thrown = NULL, *sum = mono_runtime_invoke_array(join, NULL, args, &thrown);
    printf("  invoke_array %d %d\n", *(int *)mono_object_unbox(sum), thrown != NULL);
    MonoJitInfo *ji = mono_jit_info_table_find(domain, mono_compile_method(join));
    printf("  jit info %d %d %d\n", mono_jit_info_get_method(ji) == join, mono_jit_info_get_code_size(ji) > 0, mono_jit_info_get_code_start(ji) == mono_compile_method(join));
    mono_gc_invoke_finalizers();
    mono_runtime_resource_limit(0, 100, 50);
}

int main(int argc, char **argv)
{
    MonoImageOpenStatus status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    mono_config_parse(NULL);
    mono_set_signal_chaining(1);
    mono_set_crash_chaining(0);
    domain = mono_jit_init_version("wide", "v4.0.30319");
    assembly = mono_domain_assembly_open(domain, "More.dll");
    image = mono_assembly_get_image(assembly);
    corlib = mono_get_corlib();
    puts("exceptions"); exceptions();
    puts("classes"); classes();
    puts("attributes"); attributes();
    puts("images"); images();
    puts("domains"); domains();
    mono_jit_cleanup(domain);
    puts("end");
    return 0;
}
