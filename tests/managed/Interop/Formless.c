struct S { unsigned long w[4]; };
int words(struct S s) { int r = 0; for (int i = 0; i < 4; i++) r = r * 10 + (s.w[i] == 0 ? 0 : s.w[i] < 10 ? (int)s.w[i] : 9); return r; }
int first(unsigned long *p) { return !p ? -1 : p[0] == 0 ? 0 : p[0] < 10 ? (int)p[0] : 9; }
int is_null(void *p) { return !p; }
int is_cell_null(void **p) { return !p ? -1 : !*p; }
void *same(void *p) { return p; }
