// Objects that do not escape become values: nothing may tell, whatever is done with them.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Escapes
{
    sealed class V
    {
        public readonly double X, Y; public V(double x, double y) { X = x; Y = y; }
        public static V operator +(V a, V b) { return new V(a.X + b.X, a.Y + b.Y); }
        public static V operator *(double s, V b) { return new V(s * b.X, s * b.Y); }
        public double Dot(V o) { return X * o.X + Y * o.Y; }
    }
    class M { public int N; public M Next; public string Text; public object Any; }
    class Small { public byte B; public sbyte S; public short H; public char C; public bool T; public float F; public long L; public ushort U; }
    struct Three { public int A; public string B; public double C; }
    class Holder { public Three T; public decimal D; public Three? N; public DateTime When; }
    [StructLayout(LayoutKind.Explicit)] class Union { [FieldOffset(0)] public double D; [FieldOffset(0)] public long L; [FieldOffset(4)] public int High; [FieldOffset(8)] public string S; }
    class Wide { public long A, B, C, D, E, F, G, H, I, J, K, L, M, N; public int Last; }
    class Large { public long A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R; public int Last; }
    class Shape { public int W = 3; public virtual int Area() { return W; } public override string ToString() { return "shape" + W; } }
    class Square : Shape { public int H = 4; public override int Area() { return W * H; } }
    sealed class Cube : Square { public override int Area() { return 6 * W * W; } }
    interface ICount { int Up(); }
    struct Counter : ICount { public int N; public int Up() { return ++N; } }
    class Final { public static int Ended; public int N; ~Final() { Ended++; } }
    class Pair<A, B> { public A First; public B Second; public Pair(A a, B b) { First = a; Second = b; } }
    static M kept; static object sink;

    static double Temporaries(int n) { double s = 0; for (int i = 0; i < n; i++) { var a = new V(i, -i); var b = 0.5 * a + new V(1, i); s += a.Dot(b); } return s; }
    static double Accumulated(int n) { var sum = new V(1, 2); for (int i = 0; i < n; i++) if (i % 3 != 1) sum = sum + new V(i, 1); return sum.X * 1000 + sum.Y; }
    // Two parameters of one block change places: both are read before either is written.
    static double Swapped(int n) { V a = new V(1, 2), b = new V(3, 5); for (int i = 0; i < n; i++) { var t = a; a = b; b = t; } return a.X * 1000 + a.Y * 100 + b.X * 10 + b.Y; }
    static double Fibonacci(int n) { V a = new V(0, 1), b = new V(1, 1); for (int i = 0; i < n; i++) { var t = a + b; a = b; b = t; } return a.X + b.Y / 1e3; }
    // One object with two names.
    static int Aliased(int n) { int s = 0; for (int i = 0; i < n; i++) { var a = new M(); var b = i % 2 == 0 ? a : new M(); a.N = i; s += b.N; b.N += 5; s = s * 3 + a.N; } return s; }
    // The name that is kept from the turn before is the object of the turn before, changed after it was kept.
    static int ChangedLater(int n) { int s = 0; var before = new M(); for (int i = 0; i < n; i++) { var now = new M(); now.N = i; s = s * 3 + before.N; before = now; now.N += 100; s += before.N; } return s; }
    static int ChangedThrough(int n) { int s = 0; var m = new M(); for (int i = 0; i < n; i++) { m.N += i; s ^= m.N; if (i % 4 == 0) m = new M(); } return s + m.N; }
    static int Cleared(int n) { int s = 0; for (int i = 0; i < n; i++) { var m = new M(); s += m.N; if (m.Text != null) s += 1000; if (i % 2 == 0) { m.N = i; m.Text = "x"; } s ^= m.N; } return s; }
    static int Nested(int n) { int s = 0; for (int i = 0; i < n; i++) { var a = new M { N = i }; var b = new M { N = 2, Next = a }; var c = new Pair<M, M>(a, b); c.Second.Next.N++; s += a.N + c.First.N * b.N; } return s; }
    static int Circle(int n) { int s = 0; for (int i = 0; i < n; i++) { var a = new M { N = i }; var b = new M { N = 1, Next = a }; a.Next = b; s += a.Next.Next.N + b.Next.Next.N; } return s; }
    static int Same(int n) { int s = 0; M last = null; for (int i = 0; i < n; i++) { var a = new M(); var b = i % 3 == 0 ? a : new M(); if (a == b) s++; if (b == last) s += 100; if (a != null && ReferenceEquals(a, a)) s += 2; last = i % 5 == 0 ? a : b; } return s; }
    static int Rarely(int n) { int s = 0; for (int i = 0; i < n; i++) { var a = new M { N = i }; if (i % 1000 == 999) kept = a; a.N++; s += a.N; if (kept == a) s += 7; } return s + kept.N; }
    static int Thrown(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) {
            var a = new M { N = i, Text = "t" };
            try { a.N += 2; if (i % 7 == 0) throw new InvalidOperationException(); a.N *= 2; }
            catch (InvalidOperationException) { s += a.N; a.N = -1; }
            finally { s = s * 3 + a.N + a.Text.Length; }
        }
        return s;
    }
    static long Narrow(int n)
    {
        long s = 0;
        for (int i = 0; i < n; i++) {
            var a = new Small { B = (byte)i, S = (sbyte)(i * 7), H = (short)(i * 1001), C = (char)(i * 77), T = i % 2 == 0, F = i * 0.5f, L = i * 99999999999L, U = (ushort)(i * 1001) };
            a.B++; a.S--; a.H += 3; a.C++; a.F += 1;
            s = s * 5 + a.B + a.S + a.H + a.C + (a.T ? 1 : 0) + (long)a.F + a.L + a.U;
        }
        return s;
    }
    static string Structs(int n)
    {
        decimal d = 0; double c = 0; int k = 0; long t = 0;
        for (int i = 0; i < n; i++) {
            var h = new Holder { D = i, When = new DateTime(2000 + i % 50, 1, 1) };
            if (i % 2 == 0) h.T.B = "even"; h.T.A = i; h.T.C = i * 0.25;
            if (i % 3 == 0) h.N = h.T; var copy = h.T; h.T.A = -1;
            d += h.D; c += copy.C; k += copy.A + h.T.A + (copy.B ?? "").Length + (h.N.HasValue ? h.N.Value.A : 1); t += h.When.Year;
        }
        return d + " " + c + " " + k + " " + t;
    }
    static long Unions(int n) { long s = 0; for (int i = 0; i < n; i++) { var u = new Union { D = i + 0.5, S = "u" }; s ^= u.L; u.High = i; s += u.L ^ u.S.Length; u.L = i; s += (long)(u.D * 1e300); } return s; }
    static long Sizes(int n)
    {
        long s = 0;
        for (int i = 0; i < n; i++) {
            var w = new Wide { A = i, N = 2 * i, Last = i }; var l = new Large { A = i, R = 3 * i, Last = i };
            s += w.A + w.B + w.N + w.Last + l.A + l.R + l.Last + l.H;
        }
        return s;
    }
    static int Virtual(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) {
            Shape a = new Shape(), b = new Square(), c = new Cube(); c.W = i & 3;
            var d = i % 2 == 0 ? a : b; var e = i % 3 == 0 ? b : new Square();
            s = s * 3 + a.Area() + b.Area() + c.Area() + d.Area() + e.Area() + (d is Square ? 1 : 0) + (c is Shape ? 2 : 0) + (((object)a) as Square == null ? 4 : 0) + (b.GetType() == typeof(Square) ? 8 : 0);
        }
        return s;
    }
    static int Boxes(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) {
            object o = i; s += (int)o; object e = (DayOfWeek)(i % 7); s += (int)(DayOfWeek)e + (int)e;
            ICount c = new Counter { N = i }; c.Up(); s += c.Up() + ((Counter)c).N; IComparable k = i; s += k.CompareTo(5);
            try { if (i % 500 == 0) s += (int)(long)o; } catch (InvalidCastException) { s += 3; }
            int? q = i % 2 == 0 ? i : (int?)null; object b = q; if (b != null) s += (int)b; if (o.Equals(i)) s++; if (o is int) s += 2;
        }
        return s;
    }
    static string Identities()
    {
        var a = new M(); var b = new M(); var seen = new HashSet<int>();
        lock (a) { a.N++; }
        var set = new HashSet<object> { a, b, a }; var weak = new WeakReference(a);
        return set.Count + " " + (RuntimeHelpers.GetHashCode(a) == a.GetHashCode()) + " " + a.Equals(b) + " " + ReferenceEquals(weak.Target, a) + " " + new Shape() + " " + new M().GetType().Name;
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Ends(int n) { for (int i = 0; i < n; i++) { var f = new Final { N = i }; if (f.N < 0) Console.WriteLine("?"); } }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Change(ref int n) { n += 3; }
    static int ByRef(int n) { int s = 0; for (int i = 0; i < n; i++) { var a = new M { N = i }; Change(ref a.N); s += a.N; var b = new M { N = i }; int r = Add(ref b.N, 4); s += b.N * r; } return s; }
    static int Add(ref int n, int by) { n += by; return n & 1; }
    // References in objects that are none are found by the collector.
    static int Collected(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) {
            var m = new M { Text = new string('c', 5 + i), Any = new int[i + 1] }; var p = new Pair<object, string>(new List<int> { i }, i.ToString());
            GC.Collect(); sink = new byte[1000];
            s += m.Text.Length + ((int[])m.Any).Length + ((List<int>)p.First)[0] + p.Second.Length + (m.Text[i] == 'c' ? 1 : 0);
        }
        return s;
    }
    static string Delegates(int n) { int s = 0; for (int i = 0; i < n; i++) { int k = i; Func<int, int> f = x => x + k; k++; s += f(2); var m = new M { N = i }; Func<string> g = m.ToString; s += g().Length; } return s.ToString(); }
    static int Tuples(int n) { int s = 0; for (int i = 0; i < n; i++) { var t = Tuple.Create(i, "a", (object)i); var u = new KeyValuePair<int, V>(i, new V(i, 1)); s += t.Item1 + t.Item2.Length + (int)t.Item3 + (int)u.Value.X; } return s; }
    static int Loops(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) {
            var outer = new M { N = i };
            for (int j = 0; j < 5; j++) { var inner = new M { N = j, Next = outer }; outer.N += inner.N; while (inner.N < 3) { inner.N++; var x = new M { N = inner.N }; if (x.N == 2) continue; s += x.N; } inner.Next.N ^= 1; }
            s = s * 3 + outer.N;
        }
        return s;
    }

    static void Main()
    {
        for (int round = 0; round < 3; round++) {
            int n = round == 0 ? 20 : 20000;
            Console.WriteLine("{0} {1} {2} {3}", Temporaries(n), Accumulated(n), Swapped(n + 1), Fibonacci(30));
            Console.WriteLine("{0} {1} {2} {3} {4} {5}", Aliased(n), ChangedLater(n), ChangedThrough(n), Cleared(n), Nested(n), Circle(n));
            Console.WriteLine("{0} {1} {2} {3}", Same(n), Rarely(20000), Thrown(n), Narrow(n));
            Console.WriteLine("{0} {1} {2} {3} {4}", Structs(n), Unions(n), Sizes(n), Virtual(n), Boxes(n));
            Console.WriteLine("{0} {1} {2} {3} {4} {5}", Identities(), ByRef(n), Collected(20), Delegates(n), Tuples(n), Loops(n));
        }
        Ends(1000); GC.Collect(); GC.WaitForPendingFinalizers(); Ends(1); GC.Collect(); GC.WaitForPendingFinalizers();
        Console.WriteLine(Final.Ended >= 990);
    }
}
