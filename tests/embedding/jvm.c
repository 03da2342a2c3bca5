/* Two runtimes in one process: a JVM and this one. Both use SIGSEGV for null checks and more, both stop the process's threads.
 *
 *   jvm LIBJVM java|cli      which of them starts first, and so gets faults last
 */
#include <dlfcn.h>
#include <jni.h>
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static JavaVM *vm;
static jclass java_class;
static MonoDomain *domain;
static MonoClass *cli_class;
static int failures;

static JNIEnv *env(void)
{
    JNIEnv *e = NULL;
    (*vm)->GetEnv(vm, (void **)&e, JNI_VERSION_1_8);
    return e;
}
static int java(const char *name, int n)
{
    JNIEnv *e = env();
    jmethodID m = (*e)->GetStaticMethodID(e, java_class, name, strcmp(name, "overflow") ? "(I)I" : "()I");
    int result = (*e)->CallStaticIntMethod(e, java_class, m, n);
    if ((*e)->ExceptionCheck(e)) {
        (*e)->ExceptionDescribe(e);
        (*e)->ExceptionClear(e);
        return -1;
    }
    return result;
}
static int cli(const char *name, int n)
{
    void *args[] = {&n};
    MonoObject *exc = NULL, *result = mono_runtime_invoke(mono_class_get_method_from_name(cli_class, name, 1), NULL, args, &exc);
    if (exc)
        return -1;
    return *(int *)mono_object_unbox(result);
}
static int java_for_cli(int n) { return java("nulls", n); }
static jint JNICALL cli_for_java(JNIEnv *e, jclass c, jint n) { return cli("Nulls", n); }

static void expect(const char *what, int found, int wanted)
{
    if (found != wanted) {
        __sync_fetch_and_add(&failures, 1);
        printf("%s: %d, not %d\n", what, found, wanted);
    }
}
static void both(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        expect("java nulls", java("nulls", 16000), 1000);
        expect("cli nulls", cli("Nulls", 16000), 1000);
        expect("cli divides", cli("Divide", 100), 100 * 50 - 99 * 50);
        expect("cli, java", cli("Across", 3200), 210);
        expect("java, cli", java("across", 3200), 210);
        expect("java garbage", java("garbage", 20000), 200);
        expect("cli garbage", cli("Garbage", 20000), 200);
    }
}
static void *thread(void *arg)
{
    JNIEnv *e;
    (*vm)->AttachCurrentThread(vm, (void **)&e, NULL);
    MonoThread *t = mono_thread_attach(domain);
    both(4);
    expect("java's stack", java("overflow", 0), 1);
    expect("cli nulls afterwards", cli("Nulls", 1600), 100);
    mono_thread_detach(t);
    (*vm)->DetachCurrentThread(vm);
    return NULL;
}

static int start_java(const char *library)
{
    void *lib = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    jint (*create)(JavaVM **, void **, void *) = lib ? dlsym(lib, "JNI_CreateJavaVM") : NULL;
    JavaVMOption options[] = {{"-Djava.class.path=."}, {"-Xmx256m"}, {"-Xcheck:jni"}};
    JavaVMInitArgs args = {JNI_VERSION_1_8, 2, options, 0};
    JNIEnv *e;
    if (!create || create(&vm, (void **)&e, &args) != JNI_OK)
        return 0;
    java_class = (*e)->NewGlobalRef(e, (*e)->FindClass(e, "Jvm"));
    JNINativeMethod native = {"host", "(I)I", cli_for_java};
    return java_class && (*e)->RegisterNatives(e, java_class, &native, 1) == 0;
}
static int start_cli(void)
{
    setenv("MONO_THREADS_SUSPEND", "preemptive", 0);
    mono_config_parse(NULL);
    domain = mono_jit_init("jvm");
    MonoAssembly *a = domain ? mono_domain_assembly_open(domain, "Jvm.dll") : NULL;
    cli_class = a ? mono_class_from_name(mono_assembly_get_image(a), "", "Cli") : NULL;
    mono_add_internal_call("Cli::Java", java_for_cli);
    return cli_class != NULL;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    int java_first = !strcmp(argv[2], "java"), started = java_first ? start_java(argv[1]) && start_cli() : start_cli() && start_java(argv[1]);
    if (!started) {
        printf("not started\n");
        return 1;
    }
    both(3);
    printf("one thread is done\n");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 20; i++) {
        mono_gc_collect(mono_gc_max_generation());
        java("garbage", 100);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("four threads are done\n");
    mono_jit_cleanup(domain);
    expect("java goes on", java("nulls", 16000), 1000);
    printf("failures %d\n", failures);
    (*vm)->DestroyJavaVM(vm);
    return failures != 0;
}
