// Very large arrays are zero up to their last element, wherever they end, also where others were before.
using System;

static class ArraysOverOldOnes {
    static int Check<T>(Func<int, T[]> make, Func<T, bool> isZero, Action<T[]> fill) {
        int bad = 0;
        for (int k = 0; k < 12; k++) {
            var a = make(5000000 - 37 * k);
            for (int i = 0; i < a.Length; i++) if (!isZero(a[i])) bad++;
            fill(a);
        }
        return bad;
    }
    static void Main() {
        Console.WriteLine(Check(n => new long[n], x => x == 0, a => { for (int i = 0; i < a.Length; i++) a[i] = 0x0101010101010101; })); // expect: 0
        Console.WriteLine(Check(n => new object[n], x => x == null, a => { for (int i = 0; i < a.Length; i += 1000) a[i] = a; a[a.Length - 1] = a; })); // expect: 0
    }
}
