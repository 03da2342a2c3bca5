/* Green threads call the host, which calls back, waits, and calls back again. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/class.h>
#include <mono/metadata/loader.h>
#include <mono/metadata/object.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static MonoDomain *domain;
static MonoMethod *back;

void native_work(int n, void (*delegate)(void))
{
    usleep(1000 * (n % 5));
    mono_string_new(domain, "text");
    usleep(15000);
    mono_runtime_invoke(back, NULL, NULL, NULL);
    usleep(1000 * (n % 7));
    delegate();
    usleep(5000);
    mono_runtime_invoke(back, NULL, NULL, NULL);
    delegate();
}

static MonoString *internal_work(int n)
{
    MonoString *made = mono_string_new(domain, "made by the host");
    usleep(15000);
    mono_runtime_invoke(back, NULL, NULL, NULL);
    usleep(1000 * (n % 7));
    mono_runtime_invoke(back, NULL, NULL, NULL);
    return made;
}

int main(void)
{
    int threads = 16;
    void *args[] = {&threads};
    MonoObject *exception = NULL, *result;
    MonoClass *class;
    domain = mono_jit_init("green");
    class = mono_class_from_name(mono_assembly_get_image(mono_domain_assembly_open(domain, "Green.dll")), "", "Green");
    mono_add_internal_call("Green::internal_work", internal_work);
    back = mono_class_get_method_from_name(class, "Back", 0);
    result = mono_runtime_invoke(mono_class_get_method_from_name(class, "Run", 1), NULL, args, &exception);
    if (exception) mono_print_unhandled_exception(exception);
    else printf("%d\n", *(int *)mono_object_unbox(result));
    return 0;
}
