/* An attached thread sleeps for longer than the period by which it is sampled. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    mono_jit_init("nap");
    for (int i = 0; i < 3; i++) {
        usleep(50000);
        poll(NULL, 0, 50);
    }
    puts("awake");
    return 0;
}
