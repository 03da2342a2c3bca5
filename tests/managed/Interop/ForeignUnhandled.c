// A thread of a library's own that calls managed code.
#include <pthread.h>

typedef void (*callback)(void);

static void *run(void *function)
{
    (*(callback *)function)();
    return 0;
}

void call_from_thread(callback function)
{
    pthread_t thread;

    if (pthread_create(&thread, 0, run, &function) == 0) pthread_join(thread, 0);
}
