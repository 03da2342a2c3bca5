static int add(int a, int b) { return a + b; }
static int length(const unsigned short *text) {
    int n = 0;
    while (text && text[n]) n++;
    return n;
}
void *address_of_add(void) { return (void *)add; }
void *address_of_length(void) { return (void *)length; }
