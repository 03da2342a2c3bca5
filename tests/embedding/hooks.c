/* Which functions of a host hear of an assembly, and in which order, for each way to load one. */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static MonoImage *image;
static MonoDomain *domain;
static char said[64][64];
static int count, quiet;
/* Once for each call of a method: mono asks some of them again when it opens the file. */
static void say(const char *what, const char *name)
{
    char line[64];
    if (!strcmp(name, "mscorlib") || (quiet && !strcmp(what, "search")))
        return;
    snprintf(line, sizeof line, "  %s hook %s", what, name);
    for (int i = 0; i < count; i++)
        if (!strcmp(said[i], line))
            return;
    strcpy(said[count++], line);
    puts(line);
    fflush(stdout);
}
static void loaded(MonoAssembly *a, void *user)
{
    (void)user;
    say("load", mono_assembly_name_get_name(mono_assembly_get_name(a)));
}
static MonoAssembly *search(MonoAssemblyName *n, void *what)
{
    say(what, mono_assembly_name_get_name(n));
    return NULL;
}
static MonoAssembly *preload(MonoAssemblyName *n, char **paths, void *what)
{
    (void)paths;
    say(what, mono_assembly_name_get_name(n));
    return NULL;
}

static void call(const char *name, const char *arg)
{
    MonoMethodDesc *d = mono_method_desc_new(name, 1);
    MonoMethod *m = mono_method_desc_search_in_image(d, image);
    void *args[1] = { arg ? mono_string_new(domain, arg) : NULL };
    MonoObject *exc = NULL;
    mono_method_desc_free(d);
    count = 0;
    printf("%s %s\n", name, arg ? arg : "");
    fflush(stdout);
    mono_runtime_invoke(m, NULL, args, &exc);
    if (exc)
        printf("  exception %s\n", mono_class_get_name(mono_object_get_class(exc)));
    fflush(stdout);
}

#define OF_SYSTEM ", Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089"

int main(void)
{
    mono_config_parse(NULL);
    domain = mono_jit_init("hooks");
    mono_domain_set_config(domain, ".", "");
    image = mono_assembly_get_image(mono_domain_assembly_open(domain, "Hooks.dll"));
    call("Hooks:Load", "System.Core" OF_SYSTEM);
    call("Hooks:Listen", NULL);
    mono_install_assembly_load_hook(loaded, NULL);
    mono_install_assembly_search_hook(search, "search");
    mono_install_assembly_postload_search_hook(search, "postload");
    mono_install_assembly_preload_hook(preload, "preload");
    call("Hooks:Load", "Three");
    call("Hooks:Load", "Three");
    call("Hooks:Load", "System.Xml" OF_SYSTEM);
    call("Hooks:Load", "System.Xml" OF_SYSTEM);
    call("Hooks:Load", "Nowhere");
    call("Hooks:UseRef", NULL);
    call("Hooks:Throw", "System.Data" OF_SYSTEM);
    quiet = 1; /* mono asks for the name that the file turns out to have */
    call("Hooks:LoadFrom", "Four.dll");
    call("Hooks:LoadBytes", "other/Three.dll");
    return 0;
}
