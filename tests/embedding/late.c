/* A thread that is about to enter the domain it is in, by a thunk, when the domain is unloaded: it is sent home, and the thunk runs there. The thread steps itself
   through the thunk, and waits in its handler where the thunk is about to leave the host's code. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, STEPS = 300 };
static MonoDomain *root, *child;
static int (*kept)(MonoException **);
static volatile int armed, steps, waits, go;

static void trap(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    /* mov byte ptr [rax + 21], 1: the thread's state becomes Runtime. */
    int is_there = memcmp((void *)registers[REG_RIP], "\xc6\x40\x15\x01", 4) == 0;
    if (armed && is_there) {
        waits = 1;
        while (!go) { }
    }
    if (!armed || is_there || ++steps == STEPS) {
        armed = 0;
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
}

static void *worker(void *none)
{
    MonoException *e = NULL;
    mono_thread_attach(root);
    mono_domain_set(child, 0);
    printf("in the child: %d\n", kept(&e));
    armed = 1;
    asm volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n" ::: "memory", "cc");
    int found = kept(&e);
    printf("at home: %d, %s\n", found, mono_domain_get() == root ? "root" : "child");
    mono_thread_detach(mono_thread_current());
    return NULL;
}

int main(void)
{
    MonoException *e = NULL;
    root = mono_jit_init("late");
    struct sigaction action = {0};
    action.sa_sigaction = trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    child = mono_domain_create_appdomain("child", NULL);
    mono_domain_set(child, 0);
    MonoClass *node = mono_class_from_name(mono_assembly_get_image(mono_domain_assembly_open(child, "Thunks.dll")), "Thunks", "Node");
    void (*keep)(int, MonoException **) = mono_method_get_unmanaged_thunk(mono_class_get_method_from_name(node, "Keep", 1));
    keep(7, &e);
    kept = mono_method_get_unmanaged_thunk(mono_class_get_method_from_name(node, "Kept", 0));
    mono_domain_set(root, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    for (int i = 0; i < 1000 && !waits; i++) usleep(10000);
    printf("in the thunk: %d\n", waits);
    mono_domain_unload(child);
    go = 1;
    pthread_join(thread, NULL);
    return 0;
}
