// Choices between constants, nested, in loops, with other values that differ, and of every width.
using System;
using System.Runtime.CompilerServices;

enum Level { Low = -3, High = 300 }

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)] static int Sign(int x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
    [MethodImpl(MethodImplOptions.NoInlining)] static long Wide(bool b) { return b ? long.MinValue : 1L << 40; }
    [MethodImpl(MethodImplOptions.NoInlining)] static byte Byte(object o) { return o == null ? (byte)255 : (byte)1; }
    [MethodImpl(MethodImplOptions.NoInlining)] static char Letter(double d) { return d > 0.5 ? 'y' : 'n'; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Level Rate(float f) { return f != f ? Level.Low : Level.High; }
    [MethodImpl(MethodImplOptions.NoInlining)] static bool Both(int a, int b) { return a > 3 && b < 5; }
    [MethodImpl(MethodImplOptions.NoInlining)] static bool Either(int a, int b) { return a > 3 || b < 5; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Same(bool b) { return b ? 7 : 7; }
    [MethodImpl(MethodImplOptions.NoInlining)] static double Float(bool b) { return b ? 1.5 : -2.5; }
    [MethodImpl(MethodImplOptions.NoInlining)] static string Name(bool b) { return b ? "yes" : "no"; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Thrown(int x) { return x >= 0 ? 1 : throw new ArgumentException("x"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Index(int[] a, bool b) { return a[b ? 1 : 2]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Two(bool b, int x) { int y = 5, z = 6; if (b) { y = 8; z = x; } return y * 100 + z; }
    [MethodImpl(MethodImplOptions.NoInlining)] static IntPtr Native(bool b) { return b ? (IntPtr)1 : IntPtr.Zero; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Loop(int[] items, int limit)
    {
        long sum = 0;
        int state = 0;
        for (int i = 0; i < items.Length; i++) {
            state = items[i] > limit ? 1 : 0;
            sum = sum * 3 + (items[i] % 2 == 0 ? 10 : -4) + state;
            if (state == 1) limit = 2; else limit = 5;
            sum += limit;
        }
        return sum;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Machine(string text)
    {
        int state = 0;
        foreach (char c in text) {
            switch (state) {
                case 0: state = c == 'a' ? 1 : 0; break;
                case 1: state = c == 'b' ? 2 : c == 'a' ? 1 : 0; break;
                default: state = c == 'c' ? 3 : 2; break;
                case 3: return 3;
            }
        }
        return -state;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Guarded(int x)
    {
        int y = 0;
        try { y = x > 2 ? 10 : 20; if (x == 5) throw new InvalidOperationException(); y = x > 3 ? 30 : 40; }
        catch (InvalidOperationException) { y++; }
        finally { y += x < 0 ? 1000 : 2000; }
        return y;
    }

    static void Main()
    {
        foreach (int x in new[] { int.MinValue, -1, 0, 1, 4, 5, int.MaxValue })
            Console.WriteLine("{0} {1} {2} {3} {4}", Sign(x), Both(x, 3), Either(x, 6), Guarded(x), Two(x > 0, x));
        foreach (bool b in new[] { true, false })
            Console.WriteLine("{0} {1} {2} {3} {4} {5} {6}", Wide(b), Same(b), Float(b), Name(b), Index(new[] { 4, 5, 6 }, b), Native(b), Byte(b ? null : "x"));
        Console.WriteLine("{0}{1}{2} {3} {4}", Letter(0.6), Letter(0.5), Letter(double.NaN), Rate(float.NaN), Rate(0));
        Console.WriteLine(Thrown(3));
        try { Thrown(-1); } catch (ArgumentException e) { Console.WriteLine(e.Message); }
        var random = new Random(3);
        var items = new int[1000];
        for (int i = 0; i < items.Length; i++) items[i] = random.Next(-10, 10);
        Console.WriteLine("{0} {1} {2} {3}", Loop(items, 3), Machine("xaabxxcq"), Machine("aab"), Machine(""));
    }
}
