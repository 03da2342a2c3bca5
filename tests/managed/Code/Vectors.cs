// mcs: -r:System.Numerics.dll
// Vector<T> of every element type: operations give what the class library's own bodies give, also for edges, and throw where they throw.
using System;
using System.Collections.Generic;
using System.Numerics;
using System.Text;

static class Vectors
{
    static uint state = 12345;
    static uint Next() { state ^= state << 13; state ^= state >> 17; state ^= state << 5; return state; }

    // Elements: edges and random ones.
    static T[] Elements<T>(int count, Func<ulong, T> make, params T[] edges)
    {
        var all = new T[count];
        for (int i = 0; i < count; i++)
            all[i] = Next() % 3 == 0 ? edges[Next() % edges.Length] : make((ulong)Next() << 32 | Next());
        return all;
    }
    static ulong hash;
    static void Add(string text) { foreach (char c in text) hash = (hash ^ c) * 1099511628211; }
    static string Bits(object value)
    {
        if (value is float) return BitConverter.ToInt32(BitConverter.GetBytes((float)value), 0).ToString("x");
        if (value is double) return BitConverter.DoubleToInt64Bits((double)value).ToString("x");
        return value.ToString();
    }
    static void Note<T>(Vector<T> v) where T : struct
    {
        for (int i = 0; i < Vector<T>.Count; i++) { Add(Bits(v[i])); Add(" "); }
    }
    // NaNs of arithmetic differ in their signs between processors and compilers.
    static void NoteNumbers<T>(Vector<T> v) where T : struct
    {
        for (int i = 0; i < Vector<T>.Count; i++) { Add(v[i].ToString() == "NaN" ? "NaN" : Bits(v[i])); Add(" "); }
    }
    static string Caught(Action action)
    {
        try { action(); return "nothing"; }
        catch (Exception e) { return e.GetType().Name + ": " + e.Message; }
    }

    static ulong All<T>(T[] elements) where T : struct
    {
        hash = 14695981039346656037;
        int count = Vector<T>.Count;
        var to = new T[count + 3];
        for (int i = 0; i + count * 3 <= elements.Length; i++) {
            var a = new Vector<T>(elements, i);
            var b = new Vector<T>(elements, i + count);
            var c = new Vector<T>(elements, i + 2 * count);
            NoteNumbers(a + b); NoteNumbers(a - b); NoteNumbers(a * b); NoteNumbers(-a);
            NoteNumbers(a * b[0]); NoteNumbers(a[count - 1] * b);
            Note(a & b); Note(a | b); Note(a ^ b); Note(~a); Note(Vector.AndNot(a, b));
            Note(Vector.Equals(a, b)); Note(Vector.LessThan(a, b)); Note(Vector.LessThanOrEqual(a, b));
            Note(Vector.GreaterThan(a, b)); Note(Vector.GreaterThanOrEqual(a, b));
            Note(Vector.Max(a, b)); Note(Vector.Min(a, b));
            Note(Vector.ConditionalSelect(a, b, c));
            Note(Vector.ConditionalSelect(Vector.LessThan(a, b), b, c));
            Add((a == b) + " " + (a != b) + " " + a.Equals(b) + " " + (a == a) + " " + a.Equals((object)a));
            Add(Vector.EqualsAll(a, b) + " " + Vector.EqualsAny(a, b) + " " + Vector.LessThanAll(a, b) + " " + Vector.LessThanAny(a, b) + " " +
                Vector.GreaterThanAll(a, b) + " " + Vector.GreaterThanAny(a, b) + " " + Vector.LessThanOrEqualAll(a, b) + Vector.GreaterThanOrEqualAny(a, b));
            string dot = Bits(Vector.Dot(a, b)); Add(Vector.Dot(a, b).ToString() == "NaN" ? "NaN" : dot);
            Add(a.GetHashCode() == new Vector<T>(elements, i).GetHashCode() ? "same" : "other");
            Add(Caught(() => Note(Vector.Abs(a))));
            Add(Caught(() => NoteNumbers(a / b)));
            Add(Caught(() => NoteNumbers(Vector.SquareRoot(a))));
            a.CopyTo(to); Add(Bits(to[0]) + Bits(to[count - 1]) + Bits(to[count]));
            a.CopyTo(to, 2); Add(Bits(to[2]) + Bits(to[count + 1]));
            Note(new Vector<T>(elements[i])); Note(Vector.AsVectorByte(a)); Note(Vector.AsVectorDouble(b)); Note((Vector<short>)a);
            Note(Vector<T>.Zero); Note(Vector<T>.One);
            a += b; b = a; a = c; NoteNumbers(b); Note(a);
            a = Pick(i % 2 == 0, b, c); NoteNumbers(a);
        }
        return hash;
    }
    static Vector<T> Pick<T>(bool first, Vector<T> a, Vector<T> b) where T : struct { return first ? a : b; }

    // Fields, arrays and boxes of vectors, and vectors that are changed through references.
    struct Pair { public Vector<float> A; public int N; public Vector<float> B; public string S; }
    class Holder { public Pair P; public Vector<int> V; public static Vector<double> D; }
    static void Twice(ref Vector<float> v) { v = v + v; }
    static Pair Swap(Pair p) { var a = p.A; p.A = p.B; p.B = a; p.N++; return p; }
    static string Show<T>(Vector<T> v) where T : struct { return v.ToString(); }

    static void Places()
    {
        var h = new Holder();
        h.P.A = new Vector<float>(new float[] { 1, 2, 3, 4 });
        h.P.B = new Vector<float>(5);
        h.P.S = "s";
        Twice(ref h.P.A);
        h.P = Swap(h.P);
        var copy = h.P;
        copy.A += Vector<float>.One;
        Console.WriteLine("{0} {1} {2} {3} {4}", h.P.A, h.P.B, h.P.N, h.P.S, copy.A);
        var array = new Vector<int>[3];
        array[1] = new Vector<int>(7);
        array[2] = array[1] * array[1];
        h.V = array[2] - array[1];
        Holder.D = new Vector<double>(0.5) * new Vector<double>(3);
        object box = h.V;
        Console.WriteLine("{0} {1} {2} {3}", array[0], h.V, Holder.D, (Vector<int>)box == h.V);
        var list = new List<Vector<int>> { array[1], array[2] };
        var sum = Vector<int>.Zero;
        foreach (var v in list) sum += v;
        Console.WriteLine(Show(sum));
        Func<Vector<int>, Vector<int>> closure = v => v + sum;
        Console.WriteLine(closure(array[1]));
        try { sum += new Vector<int>(new int[8], 6); } catch (IndexOutOfRangeException) { sum -= Vector<int>.One; }
        Console.WriteLine(sum);
    }

    static void Conversions()
    {
        var floats = new Vector<float>(new float[] { 1.5f, -2.5f, float.MaxValue, 1e-45f });
        Vector<double> low, high;
        Vector.Widen(floats, out low, out high);
        Console.WriteLine("{0} {1} {2}", low, high[0] == float.MaxValue, high[1] > 0);
        Console.WriteLine(Vector.Narrow(low, high) == floats);
        var bytes = new byte[16]; for (int i = 0; i < 16; i++) bytes[i] = (byte)(i * 37 + 100);
        Vector<ushort> l, h;
        Vector.Widen(new Vector<byte>(bytes), out l, out h);
        Console.WriteLine("{0} {1}", l, h);
        Vector<short> sl, sh;
        Vector.Widen((Vector<sbyte>)new Vector<byte>(bytes), out sl, out sh);
        Console.WriteLine("{0} {1}", sl, sh);
        Console.WriteLine(Vector.Narrow(l * l, h * h) == new Vector<byte>(bytes) * new Vector<byte>(bytes));
        Vector<long> ll, lh;
        Vector.Widen(new Vector<int>(new[] { 1, -1, int.MinValue, 7 }), out ll, out lh);
        Console.WriteLine("{0} {1} {2}", ll, lh, Vector.Narrow(ll, lh));
        Vector<ulong> ul, uh;
        Vector.Widen(new Vector<uint>(new uint[] { 1, uint.MaxValue, 5, 7 }), out ul, out uh);
        Console.WriteLine("{0} {1} {2}", ul, uh, Vector.Narrow(ul * 4294967297ul, uh));
        Console.WriteLine(Vector.ConvertToSingle(new Vector<int>(new[] { 16777217, -3, int.MinValue, int.MaxValue })));
        Console.WriteLine(Vector.ConvertToInt32(new Vector<float>(-2.5f)));
        Console.WriteLine(Vector.ConvertToDouble(new Vector<long>(1L << 53)));
    }

    static void Throws()
    {
        Console.WriteLine(Caught(() => new Vector<int>(new int[3])));
        Console.WriteLine(Caught(() => new Vector<int>(new int[9], 6)));
        Console.WriteLine(Caught(() => new Vector<int>(new int[9], -1)));
        Console.WriteLine(Caught(() => new Vector<int>(new int[9], int.MaxValue)));
        Console.WriteLine(Caught(() => new Vector<int>(new int[9], 5)));
        Console.WriteLine(Caught(() => new Vector<int>((int[])null)));
        Console.WriteLine(Caught(() => new Vector<int>((int[])null, 1)));
        var v = new Vector<int>(3);
        Console.WriteLine(Caught(() => v.CopyTo(null)));
        Console.WriteLine(Caught(() => v.CopyTo(new int[3])));
        Console.WriteLine(Caught(() => v.CopyTo(new int[8], 5)));
        Console.WriteLine(Caught(() => v.CopyTo(new int[8], -1)));
        Console.WriteLine(Caught(() => v.CopyTo(new int[8], 8)));
        int four = 4;
        Console.WriteLine(Caught(() => Console.Write(v[four])));
        Console.WriteLine(Caught(() => Console.Write(v[-1])));
        Console.WriteLine(Caught(() => Console.Write(Vector.Abs(new Vector<short>(short.MinValue)))));
        Console.WriteLine(Caught(() => Console.Write(v / Vector<int>.Zero)));
        Console.WriteLine(Caught(() => Console.Write(new Vector<char>('a'))));
        Console.WriteLine(Caught(() => Console.Write(Vector<decimal>.Zero + Vector<decimal>.Zero)));
    }

    static void Main()
    {
        for (int round = 0; round < 2; round++) {
            state = 12345;
            Console.WriteLine(All(Elements(120, x => (byte)x, (byte)0, (byte)255, (byte)128, (byte)1)).ToString("x"));
            Console.WriteLine(All(Elements(120, x => (sbyte)x, (sbyte)0, sbyte.MinValue, sbyte.MaxValue, (sbyte)-1)).ToString("x"));
            Console.WriteLine(All(Elements(80, x => (ushort)x, (ushort)0, ushort.MaxValue, (ushort)32768)).ToString("x"));
            Console.WriteLine(All(Elements(80, x => (short)x, (short)0, short.MinValue, short.MaxValue, (short)-1)).ToString("x"));
            Console.WriteLine(All(Elements(60, x => (uint)x, 0u, uint.MaxValue, 1u << 31)).ToString("x"));
            Console.WriteLine(All(Elements(60, x => (int)x, 0, int.MinValue, int.MaxValue, -1)).ToString("x"));
            Console.WriteLine(All(Elements(60, x => x, 0ul, ulong.MaxValue, 1ul << 63, 1ul << 32)).ToString("x"));
            Console.WriteLine(All(Elements(60, x => (long)x, 0L, long.MinValue, long.MaxValue, -1L, 1L << 32)).ToString("x"));
            Console.WriteLine(All(Elements(60, x => BitConverter.ToSingle(BitConverter.GetBytes(x), 0), 0f, -0f, 1f, float.NaN, float.PositiveInfinity, float.NegativeInfinity, float.Epsilon, float.MaxValue)).ToString("x"));
            Console.WriteLine(All(Elements(60, x => BitConverter.Int64BitsToDouble((long)x), 0.0, -0.0, 1.0, double.NaN, double.PositiveInfinity, double.NegativeInfinity, double.Epsilon, double.MaxValue)).ToString("x"));
        }
        Places();
        Conversions();
        Throws();
    }
}
