/* A game loop in C whose rules are a script in C#, loaded again while the game runs.
 *
 * The script lives in a domain of its own, which is unloaded with everything of it when the script is to be loaded again. The script's class is
 * found by name, its methods are called each frame, and it calls the game by an internal call. A GC handle keeps the script's object between
 * frames, because the collector does not look into the game's own memory. */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/mono-config.h>
#include <stdio.h>
#include <stdlib.h>

struct game {
    MonoDomain *root, *scripts;                              /* the game's domain, and that of the script */
    uint32_t rules;                                          /* the script's object */
    float (*step)(MonoObject *, float, MonoException **);    /* its Step, as a C function */
    int frame;
};
static struct game game;

static void say(MonoString *text)
{
    char *utf8 = mono_string_to_utf8(text);
    printf("frame %d: %s\n", game.frame, utf8);
    mono_free(utf8);
}

/* Lets go of the script, if there is one. */
static void unload(void)
{
    if (!game.scripts)
        return;
    mono_gchandle_free(game.rules);
    mono_domain_set(game.root, 0); /* a domain is unloaded from outside */
    mono_domain_unload(game.scripts);
    game.scripts = NULL;
}

/* Loads the script from its file as it is now. */
static int load(const char *file)
{
    unload();
    game.scripts = mono_domain_create_appdomain("scripts", NULL);
    if (!game.scripts || !mono_domain_set(game.scripts, 0))
        return 0;
    MonoAssembly *assembly = mono_domain_assembly_open(game.scripts, file);
    if (!assembly)
        return 0;
    MonoClass *class = mono_class_from_name(mono_assembly_get_image(assembly), "", "Rules");
    MonoObject *rules = mono_object_new(game.scripts, class);
    mono_runtime_object_init(rules);
    game.rules = mono_gchandle_new(rules, 0);
    game.step = mono_method_get_unmanaged_thunk(mono_class_get_method_from_name(class, "Step", 1));
    return 1;
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "Rules.dll";
    mono_config_parse(NULL);
    game.root = mono_jit_init("game");
    if (!game.root)
        return 1;
    mono_add_internal_call("Rules::Say", say);

    for (game.frame = 1; game.frame <= 8; game.frame++) {
        MonoException *thrown = NULL;
        /* A game would look at the time of the file; this one loads it anew after four frames. */
        if (game.frame % 4 == 1 && !load(file)) {
            fprintf(stderr, "game: cannot load %s\n", file);
            return 1;
        }
        float height = game.step(mono_gchandle_get_target(game.rules), 0.25f, &thrown);
        if (thrown) {
            mono_print_unhandled_exception((MonoObject *)thrown);
            break;
        }
        printf("frame %d: height %.3f\n", game.frame, height);
    }
    unload();
    mono_jit_cleanup(game.root);
    return 0;
}
