#include <pthread.h>

static int (*function)(int);
static void *call(void *unused) { for (int i = 0;; i++) function(i); return unused; }
int call_for_ever(int (*f)(int)) { pthread_t t; function = f; return pthread_create(&t, 0, call, 0); }
