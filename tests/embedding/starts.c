/* The host learns of a thread that has started, and waits there for what its starter does next. */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/profiler.h>
#include <stdio.h>
#include <unistd.h>

static volatile int armed, goes_on;

static void go(void) { goes_on = 1; }
static void started(MonoProfiler *none, uintptr_t id)
{
    if (!armed) return;
    for (int i = 0; i < 1000 && !goes_on; i++) usleep(10000);
    puts(goes_on ? "the starter went on" : "the starter waits");
    fflush(stdout);
}

int main(void)
{
    char *args[] = {"Starts.exe", NULL};
    MonoProfilerHandle profiler = mono_profiler_create(NULL);
    mono_profiler_set_thread_started_callback(profiler, started);
    MonoDomain *domain = mono_jit_init("starts");
    mono_add_internal_call("Starts::Go", go);
    MonoAssembly *assembly = mono_domain_assembly_open(domain, "Starts.exe");
    armed = 1;
    mono_jit_exec(domain, assembly, 1, args);
    armed = 0;
    mono_jit_cleanup(domain);
    return 0;
}
