// tiers: all
// Structs whose slots become values in optimised code: every way that bytes of a struct are read, written, copied and shared.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

struct Point { public double X, Y, Z; public Point(double x, double y, double z) { X = x; Y = y; Z = z; } }
struct Mixed { public int A; public byte B; public short C; public long D; }
struct Named { public string Name; public int Count; public object Tag; }
struct Pair { public Named First; public Mixed Second; }
[StructLayout(LayoutKind.Explicit)] struct Union {
    [FieldOffset(0)] public long Long; [FieldOffset(0)] public double Double; [FieldOffset(0)] public int Low; [FieldOffset(4)] public int High;
    [FieldOffset(0)] public byte First; [FieldOffset(3)] public short Odd;
}
[StructLayout(LayoutKind.Sequential, Pack = 1)] struct Packed { public byte A; public long B; public int C; }
struct Counter { int n; public int Next() { return n++; } public int Value { get { return n; } } }

static unsafe class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)] static int Show(Mixed m) { return m.A + m.B * 3 + m.C * 5 + (int) m.D * 7; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Collect() { GC.Collect(); for (int i = 0; i < 100; i++) new object(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Throw(int n) { if (n >= 0) throw new InvalidOperationException(n.ToString()); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Increment(ref Mixed m) { m.A++; m.D += m.A; }
    static Mixed Make(int n) { Mixed m = new Mixed(); m.A = n; m.B = (byte) n; m.C = (short) -n; m.D = n * 1000L; return m; }
    static Named Name(int n) { Named m; m.Name = "n" + n; m.Count = n; m.Tag = null; return m; }

    // The same fields in every iteration, and a copy of the one before.
    static double Loop(int n)
    {
        var p = new Point(1, 2, 3); var before = new Point();
        for (int i = 0; i < n; i++) {
            before = p;
            p = new Point(before.Y, before.Z, before.X + 1);
        }
        return p.X * 100 + before.Y * 10 + p.Z;
    }
    // Narrow fields keep their signs, and copies keep the bytes between them.
    static int Narrow(int n)
    {
        int sum = 0;
        var all = new Mixed[4];
        for (int i = 0; i < n; i++) {
            Mixed m = Make(i * 50); Mixed copy = m;
            copy.B += 250; copy.C -= 30000;
            all[i & 3] = copy; m = all[(i + 3) & 3];
            sum += m.A + copy.B + copy.C + m.C + (int) m.D + Show(copy);
        }
        return sum;
    }
    static string References(int n)
    {
        var heap = new Named[3]; var list = new List<Named>();
        Named last = new Named();
        for (int i = 0; i < n; i++) {
            Named m = Name(i); Collect();
            m.Tag = last.Name; heap[i % 3] = m; Named back = heap[i % 3]; Collect();
            list.Add(back); last = back;
        }
        string s = "";
        foreach (Named m in list) s += m.Name + "/" + m.Count + "/" + (m.Tag ?? "-") + " ";
        return s;
    }
    static string Nested(int n)
    {
        Pair pair = new Pair();
        for (int i = 0; i < n; i++) {
            Pair other = pair; other.First.Name = i.ToString(); other.Second.B = (byte) i; other.Second.D = ~0L - i;
            if ((i & 1) == 0) pair = other; else pair.Second = other.Second;
        }
        return pair.First.Name + " " + pair.Second.B + " " + pair.Second.D + " " + (pair.First.Tag == null);
    }
    static string Unions(double d)
    {
        Union u = new Union(); u.Double = d; Union v = u; v.High ^= 1 << 31; Union w = v; w.First = 7; w.Odd = -2;
        return u.Long.ToString("x") + " " + v.Double + " " + w.Low.ToString("x") + " " + w.High.ToString("x");
    }
    static long Unaligned(int n)
    {
        Packed p = new Packed(); p.A = (byte) n; p.B = n * 77777777777L; p.C = -n; Packed q = p; q.B++;
        var a = new Packed[2]; a[1] = q; p = a[1];
        return p.A + p.B + p.C;
    }
    static string Nullables(int n)
    {
        int? sum = null; long? wide = 3; bool? flag = null; DateTime? date = null;
        for (int i = 0; i < n; i++) {
            if (i == 2) sum = 0;
            sum += i; wide = wide * 2 ?? 1; if (i > 3) flag = !(flag ?? false); date = i == 1 ? new DateTime(2000, 1, 2) : date;
        }
        return sum + " " + wide + " " + flag + " " + (date.HasValue ? date.Value.Day : -1) + " " + sum.GetValueOrDefault(5) + " " + (sum == 7);
    }
    static string Handlers(int n)
    {
        Mixed m = Make(n); string s = ""; Counter inTry = new Counter();
        for (int i = 0; i < 3; i++) {
            try { m.A += i; inTry.Next(); Throw(i - 1); m.B = 1; }
            catch (InvalidOperationException e) when (m.A >= 0 && e.Message != "9") { s += m.A + ":" + e.Message + ":" + inTry.Value + " "; m.D++; }
            finally { m.C++; s += m.C + " "; }
        }
        Mixed local = m;
        try { local.A = -1; Throw(5); } catch (InvalidOperationException) { local.B = 2; }
        return s + m.D + " " + local.A + " " + local.B;
    }
    static int Carried(int n)
    {
        // A struct on the stack over a branch.
        int sum = 0;
        for (int i = 0; i < n; i++) sum += Show(i % 3 == 0 ? Make(i) : i % 3 == 1 ? new Mixed() : Make(-i));
        return sum;
    }
    static string Addresses(int n)
    {
        Mixed m = Make(n); Increment(ref m); Mixed* p = &m; p->B = 9; ((int*) p)[0] += 100; Mixed copy = *p;
        int one = n; int* q = &one; *q += 5; ref int r = ref one; r *= 2;
        return copy.A + " " + copy.B + " " + copy.D + " " + one;
    }
    static int Pinned(int n)
    {
        var array = new int[8]; int sum = 0;
        fixed (int* p = array) {
            for (int i = 0; i < n; i++) { p[i & 7] += i; Collect(); sum += array[i & 7]; }
            p[7] = sum;
        }
        return array[7];
    }
    static long Uninitialised(int n) { Mixed m = default(Mixed); long s = 0; while (n-- > 0) { s += m.D; if (n == 2) m.D = 5; Mixed t; t.A = n; s += t.A; } return s; }
    static string Boxes(int n) { object o = Make(n); Mixed m = (Mixed) o; m.A++; object p = m; return ((Mixed) o).A + " " + ((Mixed) p).A + " " + ((IComparable<int>) (object) m.A).CompareTo(n); }
    static int Spans(int n) { var c = new Counter(); var d = c; for (int i = 0; i < n; i++) { c.Next(); if ((i & 1) == 0) d = c; } return c.Value * 100 + d.Value; }
    static IEnumerable<int> Numbers(int n) { for (int i = 0; i < n; i++) yield return i; }
    static string Enumerators(int n)
    {
        var list = new List<int>(Numbers(n)); var map = new Dictionary<string, int>(); int sum = 0;
        foreach (int i in list) { sum += i; map["k" + i] = i * i; }
        foreach (KeyValuePair<string, int> e in map) sum += e.Key.Length + e.Value;
        try { foreach (int i in list) if (i == 2) list.Add(i); } catch (InvalidOperationException) { sum += 1000; }
        var t = new Tuple<int, int>(1, 2); var v = (a: sum, b: "x", c: t.Item2); var w = v; w.a++; w.c = v.c + 1;
        return sum + " " + w.a + w.b + w.c + v.c;
    }

    static void Main()
    {
        for (int round = 0; round < 2; round++) {
            Console.WriteLine(Loop(10));
            Console.WriteLine(Narrow(30));
            Console.WriteLine(References(4));
            Console.WriteLine(Nested(7));
            Console.WriteLine(Unions(-1.5));
            Console.WriteLine(Unaligned(11));
            Console.WriteLine(Nullables(5));
            Console.WriteLine(Handlers(3));
            Console.WriteLine(Carried(20));
            Console.WriteLine(Addresses(6));
            Console.WriteLine(Pinned(20));
            Console.WriteLine(Uninitialised(5));
            Console.WriteLine(Boxes(4));
            Console.WriteLine(Spans(9));
            Console.WriteLine(Enumerators(6));
        }
    }
}
