#include <malloc.h>
#include <stdint.h>
#include <string.h>
void leave(void *p) { (void)p; }
void replace(intptr_t *h) { *h += 100; }
long in_use(void) { struct mallinfo2 m = mallinfo2(); return (long)(m.uordblks + m.hblkhd); }
int odd_bstr(const uint16_t *s) { int n = 0; while (s[n]) n++; return n; }
int with_null(int (*f)(void *)) { return f(0); }
struct big { int64_t a, b, c, d, e; };
int64_t with_big(int (*f)(struct big *)) { struct big b = { 1, 2, 3, 4, 500 }; return f(&b) + b.a; }
int call(int (*f)(int), int x) { return f(x); }
void *echo(void *f) { return f; }
