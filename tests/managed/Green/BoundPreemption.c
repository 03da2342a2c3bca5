typedef int (*callback)(void);
int call_back(callback f) { return f(); }
