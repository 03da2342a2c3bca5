/* A host that has a preload hook asks about classes whose ancestors, fields and parameters are of assemblies that are not loaded yet. The hook gives one of them,
   the others are found beside the program. */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/mono-config.h>
#include <stdio.h>
#include <string.h>

static MonoAssembly *preload(MonoAssemblyName *n, char **paths, void *asked)
{
    (void)paths;
    ++*(int *)asked;
    return strcmp(mono_assembly_name_get_name(n), "Three") ? NULL : mono_assembly_open("other/Three.dll", NULL);
}

int main(void)
{
    void *iter = NULL;
    MonoClassField *f;
    MonoMethod *m;
    int n = 0, asked = 0;
    mono_config_parse(NULL);
    MonoDomain *domain = mono_jit_init("supplied");
    mono_domain_set_config(domain, ".", "");
    mono_install_assembly_preload_hook(preload, &asked);
    MonoImage *image = mono_assembly_get_image(mono_domain_assembly_open(domain, "Supplied.dll"));
    MonoClass *c = mono_class_from_name(image, "", "Derived");
    printf("parent %s\n", mono_class_get_parent(c) ? mono_class_get_name(mono_class_get_parent(c)) : "-");
    while ((f = mono_class_get_fields(c, &iter)))
        printf("field %s %s\n", mono_field_get_name(f), mono_type_get_name(mono_field_get_type(f)));
    c = mono_class_from_name(image, "", "Other");
    MonoObject *o = mono_object_new(domain, c);
    mono_runtime_object_init(o);
    mono_field_get_value(o, mono_class_get_field_from_name(c, "Own"), &n);
    printf("own %d\n", n);
    iter = NULL;
    c = mono_class_from_name(image, "", "Third");
    while ((m = mono_class_get_methods(c, &iter)))
        printf("method %s %d\n", mono_method_full_name(m, 1), mono_signature_get_param_count(mono_method_signature(m)));
    printf("asked %d\n", asked > 0);
    return 0;
}
