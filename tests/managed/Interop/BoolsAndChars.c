/* What the test passes and gets back: whole words. */
#include <stdint.h>

uint64_t same(uint64_t value) { return value; }
void store(uint32_t *to, uint32_t value) { *to = value; }
uint64_t call(uint64_t (*function)(uint64_t), uint64_t value) { return function(value); }
