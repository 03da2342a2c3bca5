// The test of a loop that turns at most once, on a large struct that nothing has written: its copy in front of the loop sees zeros, too.
// tiers: all
using System;
using System.Runtime.CompilerServices;

unsafe struct Big { public long a, b, c, d, e, f, g, h; }

static class LateLocalsOfLoops
{
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe bool Check(Big* b) { return (b->a | b->b | b->c | b->d | b->e | b->f | b->g | b->h) != 0; }
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe int Once(int k) { Big b; while (Check(&b)) return 1; return 0; }
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe int Twice(int k) { if (k < 0) return 5; Big b; while (Check(&b)) return 1; for (int i = 0; i < k; i++) if (Check(&b)) return 2; b.d = k; return Check(&b) ? 0 : 3; }
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe long Dirty(long v) { Big x, y; x.a = x.b = x.c = x.d = x.e = x.f = x.g = x.h = v; y = x; Check(&y); Check(&x); return y.a + x.h; }

    static void Main()
    {
        int n = 0;
        for (int r = 0; r < 4; r++)
        {
            for (int i = 0; i < 10000; i++) { Dirty(-1 - i); n += Once(i); Dirty(-1 - i); n += Twice(1 + (i & 3)); }
            System.Threading.Thread.Sleep(5);
        }
        Console.WriteLine(n);
    }
}
