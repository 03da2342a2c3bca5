/* A callee that is given COM interfaces: by value, by reference, in structs, in arrays, and by callbacks. */
struct object;
struct table {
    void *query;
    int (*add)(struct object *);
    int (*release)(struct object *);
    int (*twice)(struct object *, int, int *);
};
struct object { struct table *table; };
struct holder { long number; struct object *object; };

int references(struct object *p) { if (!p) return -1; p->table->add(p); return p->table->release(p); }
int twice(struct object *p, int value, int *result) { return p->table->twice(p, value, result); }
int twice_of(struct object **p, int i) { int result = -5; if (!p[i]) return -1; p[i]->table->twice(p[i], 4, &result); return result; }
struct object *same(struct object *p) { return p; }
void given(struct object *p, struct object **out) { *out = p; }
int references_of(struct object **p) { return references(*p); }
int held(struct holder *h) { return references(h->object); }
int held_by_value(struct holder h) { return references(h.object); }
void hold(struct holder *h, struct object *p) { h->object = p; }
int is_null(void *p) { return !p; }

typedef struct object *(*callback)(struct object *);
int call(callback f, struct object *p) { return f(p) == p; }
typedef int (*holder_callback)(struct holder *);
int call_holding(holder_callback f, struct object *p) { struct holder h = { 1, p }; return f(&h); }
