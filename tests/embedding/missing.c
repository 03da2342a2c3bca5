/* Calls a function that the library does not have. */
#include <mono/jit/jit.h>
#include <mono/metadata/loader.h>

int main(void)
{
    mono_stack_walk_async_safe(NULL, NULL, NULL);
    return 0;
}
