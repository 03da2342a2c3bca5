// Boxes of Nullable<T>, and Nullables from boxes: of every kind of T, with and without a value, and of the wrong class.
using System;
using System.Collections.Generic;

enum E : short { A, B = 5 }
enum Other : short { A }
struct Small { public byte X; }
struct Refs { public string S; public int N; public object O; public override string ToString() { return S + N + O; } }
struct Wide { public long A, B, C, D; public double E; public override string ToString() { return A + "," + D + "," + E; } }
struct Of<T> where T : struct { public T? N; }

static class Program
{
    static object Box<T>(T? n) where T : struct { object o = n; return o; }
    static T? Unbox<T>(object o) where T : struct { return (T?)o; }
    static string Show<T>(T? n) where T : struct { return n.HasValue ? n.Value.ToString() : "none"; }
    static string Round<T>(T value) where T : struct
    {
        object some = Box<T>(value), none = Box<T>(null);
        return some.GetType().Name + " " + some + " " + (none == null) + " " + Show(Unbox<T>(some)) + " " + Show(Unbox<T>(null)) + " " + Wrong<T>("text") + Wrong<T>(new object());
    }
    static string Wrong<T>(object o) where T : struct { try { return Show(Unbox<T>(o)); } catch (InvalidCastException) { return "no "; } }
    static object Generic<T>(T x) { return x; }
    static T Back<T>(object o) { return (T)o; }
    static bool Is<T>(object o) { return o is T; }
    static void Set(ref int? n, object o) { n = (int?)o; }
    static string Moved(int n)
    {
        string r = "";
        for (int i = 0; i < n; i++) {
            Refs? x = i % 3 == 0 ? (Refs?)null : new Refs { S = "s" + i, N = i, O = new string('o', i % 4) };
            object o = x;
            for (int k = 0; k < 50; k++) Generic(new byte[100]);
            Refs? back = (Refs?)o;
            if (back.HasValue != x.HasValue || back.ToString() != x.ToString()) r += "!" + i;
            if (i >= n - 3) r += back + ";";
        }
        return r;
    }
    static void Main()
    {
        for (int round = 0; round < 2; round++) {
            Console.WriteLine(Round(1) + "|" + Round(2L) + "|" + Round(1.5) + "|" + Round(2.5f) + "|" + Round(true) + "|" + Round('c') + "|" + Round((byte)7));
            Console.WriteLine(Round(E.B) + "|" + Round(new Refs { S = "s", N = 3, O = "o" }) + "|" + Round(new Wide { A = 1, D = 4, E = 2.5 }) + "|" + Round(DateTime.MinValue.Year) + "|" + Round(3.25m));
            Console.WriteLine(Round(new KeyValuePair<string, int>("k", 1)) + "|" + Unbox<Small>(new Small { X = 9 }).Value.X + "|" + Round(Guid.Empty));
        }
        Console.WriteLine(Wrong<E>((short)1) + Wrong<short>(E.B) + Wrong<E>(Other.A) + Wrong<int>(1L) + Wrong<uint>(1) + Wrong<int>(5u));
        Console.WriteLine(Generic<int?>(null) == null ? "null" : "not", Generic<int?>(4));
        Console.WriteLine(Back<int?>(5) + " " + (Back<int?>(null) == null) + " " + Is<int?>(5) + Is<int?>(null) + Is<int?>(5L) + Is<E?>(E.A));
        int? held = 3; Set(ref held, 8); Console.Write(held + " "); Set(ref held, null); Console.WriteLine(held.HasValue);
        Of<int> outer; outer.N = 4; object inside = outer.N; outer.N = null; Console.WriteLine(inside + " " + (outer.N == null));
        Console.WriteLine(Moved(400));
        var list = new List<object>(); for (int i = 0; i < 6; i++) { int? x = i % 2 == 0 ? (int?)i : null; list.Add(x); } Console.WriteLine(string.Join(",", list));
        var many = new int?[] { 1, null, 3 }; var boxed = (Array)many; Console.WriteLine(boxed.GetValue(0) + " " + (boxed.GetValue(1) == null) + " " + many.Length);
        try { object o = "x"; int? n = (int?)o; Console.WriteLine(n); } catch (InvalidCastException e) { Console.WriteLine(e.GetType().Name); }
        try { int? n = null; object o = n; o.ToString(); } catch (NullReferenceException) { Console.WriteLine("null"); }
        dynamicless(null); dynamicless(7);
    }
    static void dynamicless(int? n) { IComparable c = n; IFormattable f = n; Console.WriteLine(c == null ? "none" : c.CompareTo(7) + f.ToString("x4", null)); }
}
