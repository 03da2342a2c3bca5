#include <unistd.h>
typedef int (*callback)(int);
int call_back(callback f, int n) { return f(n) + 1; }
static volatile int open;
void wait_until_open(void) { while (!open) usleep(1000); }
void open_all(void) { open = 1; }
