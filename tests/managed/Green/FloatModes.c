#include <fenv.h>
/* MXCSR and the control word of the x87 unit are set and read together; a computation says which of them holds. */
int set_rounding(int mode) { return fesetround(mode ? FE_UPWARD : FE_TONEAREST); }
static volatile double one = 1, three = 3;
static volatile long double long_one = 1, long_three = 3;
int rounding(void)
{
    volatile double down = -one / three, up = one / three;
    volatile long double long_down = -long_one / long_three, long_up = long_one / long_three;
    return (up + down > 0) + 2 * (long_up + long_down > 0);
}
typedef int (*callback)(void);
int call_back(callback f) { return 10 * f() + rounding(); }
