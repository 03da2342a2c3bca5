/* Objects with COM interfaces: IUnknown and one of their own. */
#include <stdlib.h>
struct object { struct table *table; int count; };
struct table {
    int (*query)(struct object *, const unsigned char *, void **);
    int (*add)(struct object *);
    int (*release)(struct object *);
    int (*twice)(struct object *, int, int *);
    int (*fail)(struct object *);
    int (*length)(struct object *, void *, int *);
    int (*kept)(struct object *, int);
    int (*other)(struct object *, struct object *, void **);
    int (*sum)(struct object *, double, long, short, int, int, int, double *);
    int (*text)(struct object *, void **);
    int (*changed)(struct object *, int *, short *);
};
static int query(struct object *self, const unsigned char *id, void **out) {
    int is_unknown = id[0] == 0 && id[15] == 0x46, is_own = id[15] == 0x51;
    *out = is_unknown || is_own ? self : NULL;
    if (*out) self->count++;
    return *out ? 0 : (int)0x80004002;
}
static int add(struct object *self) { return ++self->count; }
static int release(struct object *self) { return --self->count; }
static int twice(struct object *self, int value, int *result) { *result = 2 * value; return 0; }
static int fail(struct object *self) { return 0x80070057; }
static int length(struct object *self, void *text, int *result) { *result = text ? ((int *)text)[-1] / 2 : -1; return 0; }
static int kept(struct object *self, int value) { return 3 * value; }
static int other(struct object *self, struct object *p, void **result) { *result = p; if (p) p->table->add(p); return 1; }
static int sum(struct object *self, double a, long b, short c, int d, int e, int f, double *result) { *result = a + b + c + d + e + f; return 0; }
static int text(struct object *self, void **result) {
    static const unsigned short hello[] = { 10, 0, 'h', 'e', 'l', 'l', 'o', 0 };
    char *p = malloc(sizeof hello);
    for (unsigned i = 0; i < sizeof hello; i++) p[i] = ((const char *)hello)[i];
    /* The block begins with the length. */
    *result = p + 4;
    return 0;
}
static int changed(struct object *self, int *number, short *flag) { *number += 1; *flag = *flag ? 0 : -1; return 0; }
static struct table table = { query, add, release, twice, fail, length, kept, other, sum, text, changed };
void *make(void) { struct object *p = malloc(sizeof *p); p->table = &table; p->count = 1; return p; }
void make_out(void **p) { *p = make(); }
int count_of(struct object *p) { return p->count; }
void given(struct object *p, void **result) { *result = p; if (p) p->table->add(p); }
