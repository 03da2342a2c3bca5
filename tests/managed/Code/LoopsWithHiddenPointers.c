static int *kept; void keep(int *x) { kept = x; } void bump(void) { (*kept)++; }
