// A large struct has its value behind a loop that was left for other code: it is zeroed where it is used first, which that code does not run.
// env: VERVET_HOT_CALLS=2 VERVET_BACKGROUND_COMPILER=0
using System;
using System.Runtime.CompilerServices;

struct Large { public long A, B, C, D, E, F; }
struct LargeWithObject { public object O; public long B, C, D, E, F; }

static class LoopsOfLargeStructs {
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Before(int n) {
        var s = new Large(); s.A = 5; s.F = n;
        long t = 0;
        for (int i = 0; i < n; i++) t += i;
        return t + s.A * 1000 + s.F * 100000;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Object(int n) {
        LargeWithObject s; s.O = "abc"; s.B = 1; s.C = 2; s.D = 4; s.E = 8; s.F = n;
        long t = 0;
        for (int i = 0; i < n; i++) t += i;
        if (t == 3) return 0;
        var u = s;
        return t + u.B + u.C + u.D + u.E + u.F + ((string)u.O).Length * 1000000;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Nested(int n) {
        long t = 0; var s = new Large(); s.B = 77;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < n; i++) t += i;
            t += s.B;
            s.B += k;
        }
        return t;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Late(int n) {
        long t = 0; Large s; int q = 0;
        if (n < 0) return 0;
        s = new Large(); s.C = 99;
        do { t += q; } while (++q < n);
        if (t == 1) return 1;
        return t + s.C;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long First(int n) {
        long t = 0;
        for (int i = 0; i < n; i++) t += i;
        if (t < 0) return 0;
        Large s = default(Large); if (n > 5) s.E = t;
        return s.A + s.E;
    }
    static void Main() {
        Console.WriteLine(Before(100)); // expect: 10009950
        Console.WriteLine(Object(100)); // expect: 3005065
        Console.WriteLine(Nested(100)); // expect: 15082
        Console.WriteLine(Late(100)); // expect: 5049
        Console.WriteLine(First(100)); // expect: 4950
    }
}
