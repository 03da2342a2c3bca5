// Array.GetLowerBound and GetLength of vectors, arrays with bounds and nothing; Math functions called by generated code; Equals and GetHashCode of structs.
using System;

struct Mixed { public byte A; public long B; public short C; public string S; public double D; }
struct Plain { public int A; public byte B; public long C; public char D; }

class Program
{
    static string Try(Func<object> f) { try { return f().ToString(); } catch (Exception e) { return e.GetType().Name; } }
    static void Main()
    {
        Array vector = new int[3], matrix = new int[2, 5], from = Array.CreateInstance(typeof(int), new[] { 4 }, new[] { -2 }), none = null;
        foreach (var a in new[] { vector, matrix, from, none })
            Console.WriteLine("{0} {1} {2} {3} {4} {5}", Try(() => a.GetLowerBound(0)), Try(() => a.GetLength(0)), Try(() => a.GetLowerBound(1)), Try(() => a.GetLength(1)), Try(() => a.GetLength(-1)), Try(() => a.GetUpperBound(0)));
        int[] direct = { 1, 2, 3 }, gone = null;
        Console.WriteLine("{0} {1} {2}", direct.GetLength(0), direct.GetLowerBound(0), Try(() => gone.GetLength(0)));
        Array.Copy(direct, 0, direct, 1, 2); Array.Clear(direct, 0, 1);
        Console.WriteLine(string.Join(",", direct));

        double[] xs = { 0, -0.0, 1, -1, 0.5, 1000, -1e-300, double.NaN, double.PositiveInfinity, double.NegativeInfinity };
        long bits = 0;
        foreach (double x in xs)
        {
            foreach (double v in new[] { Math.Sin(x), Math.Cos(x), Math.Tan(x), Math.Asin(x), Math.Acos(x), Math.Atan(x), Math.Exp(x), Math.Log(x), Math.Log10(x), Math.Log(x, 2) })
                bits = bits * 31 + (double.IsNaN(v) ? 7 : BitConverter.DoubleToInt64Bits(v));
            foreach (double y in xs)
                bits = bits * 31 + (double.IsNaN(Math.Pow(x, y)) ? 7 : BitConverter.DoubleToInt64Bits(Math.Pow(x, y))) + (double.IsNaN(Math.Atan2(x, y)) ? 3 : BitConverter.DoubleToInt64Bits(Math.Atan2(x, y)));
        }
        Console.WriteLine("{0} {1} {2} {3}", bits, Math.Pow(2, 10), Math.Log(8, 2), Math.Sin(1f));

        var p = new Plain { A = -1, B = 255, C = long.MinValue, D = 'x' }; var q = p;
        Console.WriteLine("{0} {1}", p.Equals(q), p.GetHashCode() == q.GetHashCode());
        q.D = 'y'; Console.WriteLine("{0} {1} {2}", p.Equals(q), p.Equals(null), p.Equals("p"));
        var m = new Mixed { A = 1, B = 2, C = 3, S = "s", D = 0.0 }; var k = m; k.S = new string('s', 1);
        Console.WriteLine("{0} {1}", m.Equals(k), m.GetHashCode() == k.GetHashCode());
        k.D = -0.0; Console.Write("{0} ", m.Equals(k)); k.D = double.NaN; Console.Write("{0} ", k.Equals(k)); k.C = 4; Console.WriteLine(m.Equals(k));
    }
}
