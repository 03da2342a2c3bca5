/* Reads its argument after a while. */
#include <time.h>

static void rest(int us) { struct timespec t = {0, us * 1000L}; nanosleep(&t, 0); }
long slow_sum(int *all, int n, int us) { rest(us); long s = 0; for (int i = 0; i < n; i++) s += all[i]; return s; }
int slow_read(int *at, int us) { rest(us); return *at; }
long slow_word(long word, int us) { rest(us); return word; }
double slow_mix(double a, int *at, float b, int us) { rest(us); return a + b + *at; }
