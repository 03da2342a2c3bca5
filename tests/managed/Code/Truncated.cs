// Math.Truncate keeps the sign of zero, NaN and infinities, in loops and of constants.
// expect: 2 -2 -0 0 NaN Infinity -Infinity -0 4503599627370497 1E+300
// expect: decimal 2 -2
using System;

static class Truncated
{
    static string Text(double x) { return x == 0 && 1 / x < 0 ? "-0" : x.ToString("R"); }
    static void Main()
    {
        double[] all = { 2.9, -2.9, -0.5, 0.5, double.NaN, double.PositiveInfinity, double.NegativeInfinity, -0.0, 4503599627370497.5, 1e300 };
        var texts = new string[all.Length];
        for (int i = 0; i < all.Length; i++) texts[i] = Text(Math.Truncate(all[i]));
        Console.WriteLine(string.Join(" ", texts));
        Console.WriteLine("decimal {0} {1}", Math.Truncate(2.9m), Math.Truncate(-2.9m));
    }
}
