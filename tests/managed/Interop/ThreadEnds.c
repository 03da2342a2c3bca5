// Threads whose key destructors call back, in every round that the C library grants, and in more orders than one: the key made
// before or after the caller's own, the first call of the thread in its last round.
#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>

typedef int (*callback)(int);

struct job { callback function; int from, round; };

static pthread_key_t keys[8];
static atomic_int calls;

static void destructor(void *data, int key)
{
    struct job *job = data;

    // The key is set again, so that there is a next round, until the library has enough of it.
    job->round++;
    if (job->round > job->from) {
        job->function(job->round);
        calls++;
    }
    pthread_setspecific(keys[key], job);
}
#define DESTRUCTOR(n) static void destructor##n(void *data) { destructor(data, n); }
DESTRUCTOR(0)
DESTRUCTOR(1)

// Makes one of the two keys.
int make_key(int n)
{
    return pthread_key_create(&keys[n], n == 0 ? destructor0 : destructor1);
}

static void *run(void *data)
{
    struct job *job = data;

    if (job->from == 0) job->function(0);
    pthread_setspecific(keys[0], job);
    pthread_setspecific(keys[1], job);
    return NULL;
}

// So many threads, one after the other; the destructors call from that round on (counting both keys). How often they called.
int end_threads(callback function, int count, int from)
{
    calls = 0;
    for (int i = 0; i < count; i++) {
        struct job job = { function, from, 0 };
        pthread_attr_t attributes;
        pthread_t thread;

        pthread_attr_init(&attributes);
        // A stack of its own, not one that the library keeps for the next.
        pthread_attr_setstacksize(&attributes, (size_t)(128 + i % 7 * 64) << 10);
        if (pthread_create(&thread, &attributes, run, &job) != 0) abort();
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
    return calls;
}
