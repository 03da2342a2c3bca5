/* A game loop in C whose rules are a script in C#.
 *
 * The script's class is found by name, its methods are called each frame, and it calls the game by an internal call. A GC handle keeps the
 * script's object between frames, because the collector does not look into the game's own memory. */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/mono-config.h>
#include <stdio.h>
#include <stdlib.h>

struct game {
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

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "Rules.dll";
    mono_config_parse(NULL);
    MonoDomain *domain = mono_jit_init("game");
    MonoAssembly *assembly = domain ? mono_domain_assembly_open(domain, file) : NULL;
    if (!assembly) {
        fprintf(stderr, "game: cannot load %s\n", file);
        return 1;
    }
    mono_add_internal_call("Rules::Say", say);
    MonoClass *class = mono_class_from_name(mono_assembly_get_image(assembly), "", "Rules");
    MonoObject *rules = mono_object_new(domain, class);
    mono_runtime_object_init(rules);
    game.rules = mono_gchandle_new(rules, 0);
    game.step = mono_method_get_unmanaged_thunk(mono_class_get_method_from_name(class, "Step", 1));

    for (game.frame = 1; game.frame <= 4; game.frame++) {
        MonoException *thrown = NULL;
        float height = game.step(mono_gchandle_get_target(game.rules), 0.25f, &thrown);
        if (thrown) {
            mono_print_unhandled_exception((MonoObject *)thrown);
            break;
        }
        printf("frame %d: height %.3f\n", game.frame, height);
    }
    mono_gchandle_free(game.rules);
    mono_jit_cleanup(domain);
    return 0;
}
