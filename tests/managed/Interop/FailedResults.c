int fail(int hresult) { return hresult; }
int answer(int hresult, int *result) { *result = 42; return hresult; }
