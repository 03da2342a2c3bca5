#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int data[5] = { 1, 2, 3, 4, 5 };
static const char *texts[3] = { "a", "b", "c" };

int with_count(int (*f)(int *, int), int n) { return f(data, n); }
int with_short_count(int (*f)(int *, int64_t), int16_t n) { return f(data, n | 0x777700000000); }
int with_many(int (*f)(int, int, int, int, int, int, int, int *, int), int n) { return f(1, 2, 3, 4, 5, 6, 7, data, n); }
int with_count_by_reference(int (*f)(int *, int *), int n) { return f(data, &n); }
int with_texts(int (*f)(const char **, int), int n) { return f(texts, n); }
int first_element(int i) { return data[i]; }
static int calls;
void *some_handle(void) { calls++; return &calls; }
void some_handle_out(void **h) { calls++; *h = &calls; }
int handles_made(void) { return calls; }
struct fixed { int before; unsigned char bytes[5]; int after; const char *text; };
int sum_fixed(const struct fixed *f)
{
	int sum = f->before + f->after, i;
	for (i = 0; i < 5; i++) sum += f->bytes[i];
	return sum;
}
static int (*last)(int);
static void at_end(void) { printf("at the end: %d\n", last(1)); }
void at_exit(int (*f)(int)) { last = f; atexit(at_end); }
