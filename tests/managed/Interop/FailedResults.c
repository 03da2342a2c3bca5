int fail(int hresult) { return hresult; }
double half(double x) { return x / 2; }
const char *text(void) { return "text"; }
