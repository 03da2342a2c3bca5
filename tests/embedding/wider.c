/* As wide.c: images, references, signatures, generic instances, other domains. wider.expected is the output on mono. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/attrdefs.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/environment.h>
#include <mono/metadata/exception.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-debug.h>
#include <mono/metadata/row-indexes.h>
#include <mono/metadata/tokentype.h>
#include <mono/metadata/threads.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    MonoImageOpenStatus status = 9;
    setvbuf(stdout, NULL, _IOLBF, 0);
    mono_config_parse_memory("<configuration><dllmap dll=\"mapped\" target=\"libc.so.6\"/></configuration>");
    mono_set_assemblies_path("/usr/lib/mono/4.5");
    MonoDomain *domain = mono_jit_init("wider");
    mono_dllmap_insert(NULL, "other", NULL, "libm.so.6", NULL);
    MonoAssembly *assembly = mono_domain_assembly_open(domain, "More.dll");
    MonoImage *image = mono_assembly_get_image(assembly), *corlib = mono_get_corlib();
    MonoClass *kept = mono_class_from_name(image, "More", "Kept"), *box = mono_class_from_name(image, "More", "Box`1");
    mono_config_for_assembly(image);
    mono_assembly_load_references(image, &status);
    mono_assembly_load_reference(image, 0);
    printf("references %d\n", mono_image_get_table_rows(image, MONO_TABLE_ASSEMBLYREF));
    MonoAssemblyName *an = mono_assembly_name_new("x");
    printf("fill %d", mono_assembly_fill_assembly_name(image, an));
    printf(" %s\n", mono_assembly_name_get_name(an));
    an = mono_assembly_name_new("x");
    mono_assembly_get_assemblyref(image, 0, an);
    printf("assemblyref %s\n", mono_assembly_name_get_name(an));
    printf("loaded_full %d\n", mono_assembly_loaded_full(mono_assembly_name_new("More"), 0) == assembly);
    printf("load_from_full %d\n", mono_assembly_load_from_full(image, "More.dll", &status, 0) == assembly);
    mono_assembly_set_main(assembly);
    printf("main %d\n", mono_assembly_get_main() == assembly);
    printf("image loaded_full %d by guid %d %d\n", mono_image_loaded_full("More", 0) == image, mono_image_loaded_by_guid(mono_image_get_guid(image)) == image, mono_image_loaded_by_guid_full(mono_image_get_guid(image), 0) == image);
    FILE *f = fopen("More.dll", "rb");
    static char data[1 << 20];
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    MonoImage *raw = mono_image_open_from_data(data, size, 1, &status);
    printf("from data %d %d %s\n", raw != NULL, status, mono_image_get_name(raw));
    raw = mono_image_open_from_data_full(data, size, 1, &status, 0);
    printf("from data full %d %d\n", raw != NULL, status);
    printf("truncated %d\n", mono_image_open_from_data(data, 100, 1, &status) != NULL);
    printf("pe %d\n", mono_pe_file_open("More.dll", &status) != NULL);
    printf("resource %d module %d file %d\n", mono_image_get_resource(image, 0, NULL) != NULL, mono_image_load_module(image, 1) != NULL, mono_image_load_file_for_image(image, 1) != NULL);
    uint32_t row[MONO_METHOD_SIZE];
    mono_metadata_decode_table_row(image, MONO_TABLE_METHOD, 0, row, MONO_METHOD_SIZE);
    printf("decode %s\n", mono_metadata_string_heap(image, row[MONO_METHOD_NAME]));
    const char *rva = mono_image_rva_map(image, row[MONO_METHOD_RVA]);
    printf("rva %d\n", rva != NULL);
    printf("translate %u\n", mono_metadata_translate_token_index(image, MONO_TABLE_TYPEDEF, 2));
    MonoClass *closed = mono_class_from_mono_type(mono_reflection_type_from_name("More.Box`1[System.String]", image));
    printf("closed %s of %s\n", mono_class_get_name(closed), mono_class_get_name(mono_class_from_mono_type(mono_field_get_type(mono_class_get_field_from_name(closed, "Value")))));
    MonoMethod *convert = mono_class_get_method_from_name(closed, "Convert", 1);
    printf("inflated %d %s\n", mono_get_inflated_method(convert) != NULL, mono_method_get_name(convert));
    MonoMethod *add = mono_class_get_method_from_name(kept, "Add", 2);
    MonoMethodSignature *made = mono_metadata_signature_alloc(image, 2);
    printf("alloc %d\n", made != NULL);
    const char *user = mono_metadata_user_string(image, 1);
    printf("user string %d\n", user[0] > 0);
    const char *exc_class = NULL, *exc_arg = NULL;
    MonoMethod *pinvoke = mono_class_get_method_from_name(mono_class_from_name(image, "More", "Libs"), "made_up", 1);
    printf("pinvoke %d", mono_lookup_pinvoke_call(pinvoke, &exc_class, &exc_arg) != NULL);
    printf(" %s %s\n", exc_class, exc_arg);
    mono_debug_domain_create(domain);
    mono_debug_close_image(image);
    mono_free_method(add);
    MonoDomain *child = mono_domain_create_appdomain("child", NULL);
    mono_domain_set_internal(child);
    printf("in child %d %s\n", mono_domain_get() == child, mono_domain_get_friendly_name(child));
    mono_domain_set_internal(domain);
    mono_domain_unload(child);
    char *main_args[] = { "wider", "one", "two" };
    printf("set args %d\n", mono_runtime_set_main_args(3, main_args));
    printf("args %d\n", (int)mono_array_length(mono_runtime_get_main_args()));
    MonoAssembly *lib = mono_domain_assembly_open(domain, "Lib.exe");
    MonoMethod *entry = mono_get_method(mono_assembly_get_image(lib), mono_image_get_entry_point(mono_assembly_get_image(lib)), NULL);
    MonoObject *exc = NULL;
    printf("run_main %d\n", mono_runtime_run_main(entry, 3, main_args, &exc));
    MonoArray *strings = mono_array_new(domain, mono_get_string_class(), 1);
    mono_array_setref(strings, 0, mono_string_new(domain, "argument"));
    printf("exec_main %d\n", mono_runtime_exec_main(entry, strings, &exc));
    mono_config_cleanup();
    mono_jit_cleanup(domain);
    puts("end");
    return 0;
}
