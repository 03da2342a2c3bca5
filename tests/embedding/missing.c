/* Calls a function that the library does not have. */
#include <mono/jit/jit.h>
#include <mono/metadata/mono-gc.h>

int main(void)
{
    mono_gc_walk_heap(0, NULL, NULL);
    return 0;
}
