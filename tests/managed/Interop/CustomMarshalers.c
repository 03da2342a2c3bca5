#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <stdint.h>
struct cm { int tag, value; };
void *cm_echo(void *p) { return p; }
int cm_in(int *p) { return p ? *p : -1; }
void cm_out(int **p) { int *q = malloc(8); q[0] = 77; *p = q; }
void cm_ref(int **p) { int *q = malloc(8); q[0] = *p ? **p + 1 : 5; *p = q; }
typedef void *(*cb)(void *);
int cm_call(cb f, int v) { int *q = malloc(8); q[0] = v; int *r = f(v < 0 ? NULL : q); return r ? *r : -1; }
typedef void (*cbr)(void **);
int cm_callref(cbr f, int v) { int *q = malloc(8); q[0] = v; void *w = v < 0 ? NULL : q; f(&w); return w ? *(int*)w : -1; }
double date(double d, double *e) { *e = d + 1; return d + 2; }
struct ds { int a; double d; };
double dates(struct ds *s) { double r = s->d; s->d += 1; return r; }
int any(void *p, int what) { switch (what) { case 0: return p == 0; case 1: return *(int*)p; case 2: return strlen(p); case 3: return ((short*)p)[0]; case 4: return ((int*)p)[1]; case 5: ((int*)p)[1] = 9; return 0;} return -1; }
void refarr(int **p) { (*p)[0] += 10; }
void refstrs(char ***p) { puts((*p)[0]); fflush(stdout); (*p)[0] = strdup("new"); }
int letters(unsigned char *p) { int r = p[0] * 10000 + p[7] * 100 + p[8]; p[0] = 'Z'; p[8] = ')'; return r; }
