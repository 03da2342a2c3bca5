/* Times the calls between a host and managed code, in nanoseconds a call: the least of several rounds. One row for each. */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 9
#define CALLS 200000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
static int native(int x, MonoString *s) { return x + (s != NULL); }

#define TIME(name, body)                                          \
    do {                                                          \
        double best = 1e18;                                       \
        for (int round = 0; round < ROUNDS; round++) {            \
            double began = now();                                 \
            for (int i = 0; i < CALLS; i++) { body; }             \
            double took = (now() - began) / CALLS;                \
            if (took < best) best = took;                         \
        }                                                         \
        printf("%-24s %.1f\n", name, best);                       \
    } while (0)

int main(int argc, char **argv)
{
    setenv("MONO_THREADS_SUSPEND", "preemptive", 0);
    mono_config_parse(NULL);
    MonoDomain *domain = mono_jit_init("bench");
    MonoImage *image = mono_assembly_get_image(mono_domain_assembly_open(domain, argc > 1 ? argv[1] : "Lib.exe"));
    MonoClass *thing = mono_class_from_name(image, "Smoke", "Thing");
    MonoObject *exc = NULL, *o = mono_object_new(domain, thing);
    mono_runtime_object_init(o);
    mono_add_internal_call("Smoke.Thing::Native", native);
    MonoMethod *echo = mono_class_get_method_from_name(thing, "Echo", 1), *call = mono_class_get_method_from_name(thing, "CallNative", 2);
    int x = 1;
    MonoString *text = mono_string_new(domain, "some text");
    void *echo_args[] = { o }, *call_args[] = { &x, text };
    MonoObject *(*thunk)(MonoObject *, MonoException **) = mono_method_get_unmanaged_thunk(echo);
    MonoException *thrown;
    MonoArray *array = mono_array_new(domain, mono_get_int32_class(), 100);
    volatile int sum = 0;
    TIME("runtime_invoke", mono_runtime_invoke(echo, NULL, echo_args, &exc));
    TIME("invoke and icall", mono_runtime_invoke(call, NULL, call_args, &exc));
    TIME("unmanaged thunk", thunk(o, &thrown));
    TIME("gchandle new and free", mono_gchandle_free(mono_gchandle_new(o, 0)));
    uint32_t handle = mono_gchandle_new(o, 0);
    TIME("gchandle get_target", mono_gchandle_get_target(handle));
    TIME("string_new", mono_string_new(domain, "some text"));
    TIME("string_to_utf8", mono_free(mono_string_to_utf8(text)));
    TIME("string_length", sum += mono_string_length(text));
    TIME("array_get", sum += mono_array_get(array, int, i % 100));
    TIME("object_new", mono_object_new(domain, thing));
    TIME("value_box", mono_value_box(domain, mono_get_int32_class(), &x));
    mono_jit_cleanup(domain);
    return 0;
}
