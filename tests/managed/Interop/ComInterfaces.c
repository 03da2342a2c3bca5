/* A client of COM interfaces, and an object of its own. */
#include <stddef.h>
#include <pthread.h>
struct unknown { struct table *table; int count; };
struct table {
    int (*query)(struct unknown *, const unsigned char *, void **);
    int (*add)(struct unknown *);
    int (*release)(struct unknown *);
    int (*own)(struct unknown *, int, int *);
};
int call_own(struct unknown *p, int value, int *result) { return p->table->own(p, value, result); }

struct job { struct unknown *p; int value, result, answer; };
static void *run(void *data) {
    struct job *job = data;
    job->p->table->add(job->p);
    job->answer = job->p->table->own(job->p, job->value, &job->result);
    job->p->table->release(job->p);
    return NULL;
}
int call_from_thread(struct unknown *p, int value, int *result) {
    struct job job = { p, value, 0, -1 };
    pthread_t thread;
    pthread_create(&thread, NULL, run, &job);
    pthread_join(thread, NULL);
    *result = job.result;
    return job.answer;
}

static int query(struct unknown *self, const unsigned char *id, void **out) {
    *out = id[15] == 0x46 ? self : NULL;
    if (*out) self->count++;
    return *out ? 0 : (int)0x80004002;
}
static int add(struct unknown *self) { return ++self->count; }
static int release(struct unknown *self) { return --self->count; }
static struct table table = { query, add, release, NULL };
static struct unknown object = { &table, 1 };
void *native_object(void) { return &object; }
