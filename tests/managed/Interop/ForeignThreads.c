// Threads of a library's own that call managed code: all at once, with small stacks, again and again.
#include <pthread.h>
#include <stdlib.h>

typedef int (*callback)(int);

struct job { callback function; int argument, result; pthread_barrier_t *start; };

static void *run(void *data)
{
    struct job *job = data;

    if (job->start) pthread_barrier_wait(job->start);
    job->result = job->function(job->argument);
    return NULL;
}

// Calls back from `count` new threads at the same time; the sum of what they return.
int call_at_once(callback function, int count)
{
    struct job jobs[64];
    pthread_t threads[64];
    pthread_barrier_t start;
    int i, sum = 0;

    if (count > 64 || pthread_barrier_init(&start, NULL, (unsigned)count) != 0) return -1;
    for (i = 0; i < count; i++) {
        jobs[i] = (struct job) { function, i, 0, &start };
        if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) abort();
    }
    for (i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += jobs[i].result;
    }
    pthread_barrier_destroy(&start);
    return sum;
}

// Calls back from a new thread with so many KiB of stack.
int call_with_stack(callback function, int kilobytes)
{
    struct job job = { function, kilobytes, 0, NULL };
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)kilobytes << 10) != 0) return -1;
    if (pthread_create(&thread, &attributes, run, &job) != 0) return -1;
    pthread_attr_destroy(&attributes);
    pthread_join(thread, NULL);
    return job.result;
}
