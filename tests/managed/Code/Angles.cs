// Sine and cosine that code calls are those of the processor's instructions, which reduce large angles with fewer digits; of constants, and through delegates and reflection,
// they are the C library's.
// tiers: all
// mcs: -r:System.Numerics
using System;
using System.Numerics;
using System.Runtime.CompilerServices;

static class Angles
{
    [MethodImpl(MethodImplOptions.NoInlining)] static double Same(double x) { return x; }
    static double Sine(double x) { return Math.Sin(x); }
    static double SineOf(bool given, double x) { return Math.Sin(given ? x : 3.0); }

    static void Main()
    {
        foreach (double x in new[] { 0, 0.5, 1, Math.PI / 2, Math.PI, -Math.PI, 1e5, 1e10, 1e22, -1e300, 5e-324, double.NaN, double.PositiveInfinity })
            Console.WriteLine("{0:R}: {1:R} {2:R} {3:R}", x, Math.Sin(x), Math.Cos(x), Math.Tan(x));
        Console.WriteLine("{0:R} {1:R} {2:R}", Math.Sin(Math.PI), Math.Cos(Math.PI / 2), Math.Sin(1e22));
        Console.WriteLine("{0:R} {1:R}", Sine(Math.PI), Math.Sin(Same(Math.PI)));
        Func<double, double> cosine = Math.Cos;
        Console.WriteLine("{0:R} {1:R}", cosine(1e5), typeof(Math).GetMethod("Sin").Invoke(null, new object[] { Math.PI }));
        Console.WriteLine(Complex.Exp(new Complex(0, Math.PI)));
        Console.WriteLine("{0:R} {1:R}", SineOf(true, 1e15), SineOf(false, 1e15));
        float single = 1e5f;
        Console.WriteLine("{0:R} {1:R}", Math.Sin(single), 1 / Math.Sin(Same(-0.0)));
    }
}
