// The class library's small operations, and structs: rows that say what the code of a loop over them costs.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

struct Vector
{
    public double x, y, z;
    public Vector(double x, double y, double z) { this.x = x; this.y = y; this.z = z; }
    public static Vector operator +(Vector a, Vector b) { return new Vector(a.x + b.x, a.y + b.y, a.z + b.z); }
}

static class Library
{
    static long Structs(int n) { var s = new Vector(); var one = new Vector(1, 1, 1); for (int i = 0; i < n; i++) s = s + one; return (long)s.z; }
    static long ListAdd(int n) { var list = new List<int>(); for (int i = 0; i < n; i++) { if ((i & 1023) == 0) list.Clear(); list.Add(i); } return list[list.Count - 1] + 1; }
    static long LookUp(Dictionary<string, int> d, string[] keys, int n) { long x = 0; for (int i = 0; i < n; i++) x += d[keys[i & 63]]; return x; }
    static long Append(int n) { var b = new StringBuilder(); long x = 0; for (int i = 0; i < n; i++) { if ((i & 1023) == 0) { x += b.Length; b.Clear(); } b.Append('x'); } return x + b.Length; }
    static long Format(int n) { long x = 0; for (int i = 0; i < n; i++) x += int.Parse(i.ToString(CultureInfo.InvariantCulture), CultureInfo.InvariantCulture) - i + 1; return x; }
    static long IndexOf(string s, int n) { long x = 0; for (int i = 0; i < n; i++) x += s.IndexOf('y') - 98; return x; }
    static long Linq(int[] items, int n) { long x = 0; for (int i = 0; i < n; i++) x += items.Where(k => (k & 1) == 0).Select(k => k + 1).Sum() - 99; return x; }
    // Dot products, and sums of what is more than a limit, over 1,024 elements by vectors: `n` elements together.
    static long Dots(float[] a, float[] b, int n)
    {
        long x = 0;
        for (int k = 0; k < n / a.Length; k++) {
            var sum = System.Numerics.Vector<float>.Zero;
            for (int i = 0; i < a.Length; i += System.Numerics.Vector<float>.Count)
                sum += new System.Numerics.Vector<float>(a, i) * new System.Numerics.Vector<float>(b, i);
            x += (long)System.Numerics.Vector.Dot(sum, System.Numerics.Vector<float>.One);
        }
        return x;
    }
    static long Selects(int[] a, int n)
    {
        long x = 0;
        var limit = new System.Numerics.Vector<int>(511);
        for (int k = 0; k < n / a.Length; k++) {
            var sum = System.Numerics.Vector<int>.Zero;
            for (int i = 0; i < a.Length; i += System.Numerics.Vector<int>.Count) {
                var v = new System.Numerics.Vector<int>(a, i);
                var mask = System.Numerics.Vector.GreaterThan(v, limit);
                sum += System.Numerics.Vector.ConditionalSelect(mask, System.Numerics.Vector<int>.One, System.Numerics.Vector<int>.Zero);
            }
            x += System.Numerics.Vector.Dot(sum, System.Numerics.Vector<int>.One);
        }
        return x;
    }
    static long Sort(int[] items, int n)
    {
        long x = 0;
        var copy = new int[items.Length];
        for (int i = 0; i < n; i++) {
            Array.Copy(items, copy, items.Length);
            Array.Sort(copy);
            x += copy[500] - 499;
        }
        return x;
    }

    // The best of seven, after a run that lets a tiered compiler see the loop; `expected` is what `n` rounds give.
    static void Row(string name, int n, long expected, string unit, double units, Func<int, long> loop)
    {
        for (int i = 0; i < 30; i++) loop(n / 100);
        double best = double.MaxValue;
        for (int i = 0; i < 7; i++) {
            long got = 0;
            best = Math.Min(best, Bench.Seconds(() => got = loop(n)));
            Bench.Check(got == expected, name);
        }
        Bench.Figure(name, best * units / n, unit);
    }

    static void Main(string[] args)
    {
        int n = Bench.Argument(args, 0, 10000000), slow = n / 10;
        var keys = Enumerable.Range(0, 64).Select(i => "key number " + i).ToArray();
        var dictionary = keys.ToDictionary(k => k, k => 1);
        var text = new string('x', 99) + "y";
        var twenty = Enumerable.Range(0, 20).ToArray();
        var thousand = Enumerable.Range(0, 1000).Select(i => i * 617 % 1000).ToArray();
        Row("struct-of-3-doubles", n, n, "ns", 1e9, Structs);
        Row("list-add", n, n, "ns", 1e9, ListAdd);
        Row("dictionary-look-up", n, n, "ns", 1e9, k => LookUp(dictionary, keys, k));
        Row("append-char", n, n, "ns", 1e9, Append);
        Row("format-parse-int", slow, slow, "ns", 1e9, Format);
        Row("index-of-char-100", slow, slow, "ns", 1e9, k => IndexOf(text, k));
        Row("linq-20", slow / 10, slow / 10, "ns", 1e9, k => Linq(twenty, k));
        var floats = Enumerable.Repeat(1f, 1024).ToArray();
        var ints = Enumerable.Range(0, 1024).ToArray();
        int elements = n / 102400 * 102400;
        Row("vector-dot", elements, elements, "ns", 1e9, k => Dots(floats, floats, k));
        Row("vector-select", elements, elements / 2, "ns", 1e9, k => Selects(ints, k));
        Row("sort-1000-ints", n / 10000, n / 10000, "us", 1e6, k => Sort(thousand, k));
    }
}
