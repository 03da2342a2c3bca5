// Products with small constants, and the larger and the smaller of two integers: of every width and sign, at the ends of their ranges.
using System;
using System.Runtime.CompilerServices;

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)] static int Threes(int x) { return x * 3 + 5 * x + x * 9 + -3 * x + x * 1 + x * 0 + x * 7; }
    [MethodImpl(MethodImplOptions.NoInlining)] static long Threes(long x) { return x * 3 + 5 * x + x * 9 + -3 * x + x * 1 + x * 0 + x * 7; }
    [MethodImpl(MethodImplOptions.NoInlining)] static uint Threes(uint x) { return x * 3 + 5 * x + x * 9 + x * 1 + x * 0 + x * 7; }
    [MethodImpl(MethodImplOptions.NoInlining)] static ulong Threes(ulong x) { return x * 3 + 5 * x + x * 9 + x * 1 + x * 0 + x * 7; }
    static string Checked(Func<int> f) { try { return f().ToString(); } catch (OverflowException) { return "overflow"; } }

    static int Main()
    {
        int[] ints = { 0, 1, -1, 7, 1000000007, int.MaxValue, int.MinValue, int.MinValue + 1 };
        long[] longs = { 0, 1, -1, 1L << 40, long.MaxValue, long.MinValue };
        foreach (int x in ints) {
            int k = x;
            Console.WriteLine("{0} {1} {2} {3}", Threes(x), Threes((uint)x), Checked(() => checked(k * 3)), Checked(() => checked(9 * k)));
        }
        foreach (long x in longs) Console.WriteLine("{0} {1}", Threes(x), Threes((ulong)x));
        foreach (int a in ints) foreach (int b in ints) {
            Console.WriteLine("{0} {1} {2} {3} | {4} {5} {6} {7} | {8} {9} {10} {11} | {12} {13} {14} {15}", Math.Max(a, b), Math.Min(a, b), Math.Max((uint)a, (uint)b), Math.Min((uint)a, (uint)b),
                Math.Max((short)a, (short)b), Math.Min((short)a, (short)b), Math.Max((ushort)a, (ushort)b), Math.Min((ushort)a, (ushort)b),
                Math.Max((sbyte)a, (sbyte)b), Math.Min((sbyte)a, (sbyte)b), Math.Max((byte)a, (byte)b), Math.Min((byte)a, (byte)b),
                Math.Max(a, (long)b), Math.Min(a, (long)b), Math.Max((ulong)a, (ulong)b), Math.Min((ulong)a, (ulong)b));
        }
        Console.WriteLine("{0} {1} {2} {3}", Math.Max(1.5, double.NaN), Math.Min(-0.0, 0.0), Math.Max(2m, 3m), Math.Min(1f, float.NaN));
        int largest = int.MinValue;
        foreach (int x in ints) largest = Math.Max(largest, Math.Min(x, 5000));
        Console.WriteLine(largest);
        return 0;
    }
}
