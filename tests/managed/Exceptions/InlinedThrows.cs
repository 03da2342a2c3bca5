// Methods with a `throw` are inlined; what they throw, and the traces, are as if they were called.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

struct Point
{
    public int X, Y;
    public Point(int x, int y) { X = x; Y = y; }
    public int Checked() { if (X < 0) throw new InvalidOperationException("X is " + X); return X + Y; }
    public void Move(int by) { if (by > 100) throw new ArgumentException("too far: " + by); X += by; }
}

struct Large { public long A, B, C, D, E, F; }

class Box<T>
{
    readonly T value; readonly bool has; public int Reads;
    public Box(T value, bool has) { this.value = value; this.has = has; }
    public T Value { get { if (!has) throw new InvalidOperationException("no " + typeof(T).Name); return value; } }
    public T Counted { get { Reads++; if (!has) throw new InvalidOperationException("counted"); return value; } }
}

sealed class Volatile
{
    public volatile int State;
    public int Get() { if (State == 2) throw new ObjectDisposedException("Volatile"); return State; }
}

static class Program
{
    static int Positive(int x) { if (x <= 0) throw new ArgumentOutOfRangeException("x", "not positive: " + x); return x; }
    static int Assigned(int x) { x += 5; if (x > 10) throw new ArgumentException("assigned " + x); return x; }
    static int Through(ref int x) { if (x == 3) throw new ArgumentException("three"); return x++; }
    static int Stored(ref int x) { x = x + 1; if (x == 3) throw new ArgumentException("now three"); return x; }
    static long Sum(Large l, long limit) { if (l.A + l.F > limit) throw new OverflowException("A+F=" + (l.A + l.F)); return l.A + l.F; }
    static Large Same(Large l) { if (l.B == 7) throw new ArgumentException("B"); return l; }
    static string NotNull(string s, string name) { if (s == null) throw new ArgumentNullException(name); if (s == "x") throw new ArgumentException(name); return s; }
    static object Or(object o) { if (o is string) return 1; return o ?? (object)Fail("null"); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Fail(string why) { throw new NotSupportedException(why); }
    static double Half(double d) { if (double.IsNaN(d)) throw new ArithmeticException("NaN"); return d / 2; }
    static int Nested(int x) { return Positive(x - 1) + Positive(x); }
    static T Item<T>(T[] items, int at) { if (at >= items.Length) throw new IndexOutOfRangeException("at " + at); return items[at]; }

    static void Say(Action action)
    {
        try { action(); Console.WriteLine("no exception"); }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType() + ": " + e.Message.Split('\n')[0]);
            foreach (string line in (e.StackTrace ?? "").Split('\n'))
                Console.WriteLine(line.Split(new[] { " in <" }, StringSplitOptions.None)[0].TrimEnd());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Loop(int from)
    {
        int sum = 0;
        for (int i = from; ; i--) sum += Positive(i);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Handlers(int x)
    {
        string s = "";
        for (int i = 0; i < 3; i++)
        {
            try { s += Positive(x - i); }
            catch (ArgumentOutOfRangeException e) { s += "[" + e.ParamName + "]"; }
            finally { s += ";"; }
        }
        return s;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Filtered(int x)
    {
        int seen = 0;
        try { seen = 1; seen = Positive(x); seen += 10; return "ok " + seen; }
        catch (Exception e) when (seen == 1 && e.Message.StartsWith("not")) { return "filtered " + seen; }
    }

    static void Main()
    {
        Console.WriteLine(Positive(3) + Assigned(1) + Nested(3) + new Point(1, 2).Checked());
        Say(() => Positive(0));
        Say(() => Nested(1));
        Say(() => Nested(0));
        Say(() => Assigned(6));
        int x = 3;
        Say(() => Through(ref x));
        x = 2;
        Say(() => Console.WriteLine(Through(ref x)));
        Console.WriteLine(x);
        x = 2;
        Say(() => Stored(ref x));
        Console.WriteLine(x);
        var large = new Large { A = 4, B = 6, F = 5 };
        Say(() => Console.WriteLine(Sum(large, 10)));
        Say(() => Sum(large, 8));
        Say(() => Console.WriteLine(Same(large).F));
        large.B = 7;
        Say(() => Same(large));
        Say(() => NotNull(null, "the name"));
        Say(() => Or(null));
        Say(() => Console.WriteLine(Half(3.0)));
        Say(() => Half(double.NaN));
        var p = new Point(-1, 5);
        Say(() => p.Checked());
        Say(() => p.Move(101));
        p.Move(10);
        Say(() => Console.WriteLine(p.Checked()));
        Say(() => Console.WriteLine(new Box<int>(5, true).Value));
        Say(() => Console.WriteLine(new Box<int>(5, false).Value));
        Say(() => Console.WriteLine(new Box<string>("s", false).Value));
        Say(() => Console.WriteLine(new Box<Large>(large, true).Value.A));
        Say(() => Console.WriteLine(new Box<Large>(large, false).Value.A));
        var counted = new Box<string>("c", false);
        Say(() => Console.WriteLine(counted.Counted));
        Console.WriteLine(counted.Reads);
        Say(() => Item(new[] { "a" }, 1));
        Say(() => Console.WriteLine(Item(new[] { 'a' }, 0)));
        Say(() => Loop(4));
        Console.WriteLine(Handlers(2));
        Console.WriteLine(Filtered(0));
        Console.WriteLine(Filtered(4));
        var v = new Volatile();
        Say(() => Console.WriteLine(v.Get()));
        v.State = 2;
        Say(() => v.Get());
        Volatile none = null;
        Say(() => none.Get());
        Box<int> nobody = null;
        Say(() => Console.WriteLine(nobody.Value));

        // The class library's.
        int? null_ = null;
        Say(() => Console.WriteLine(null_.Value));
        Say(() => Console.WriteLine(new List<int> { 1 }[1]));
        Say(() => { foreach (var i in new ArraySegment<int>()) { } });
        Say(() => Console.WriteLine(default(GCHandle).Target));
        var list = new List<int> { 1, 2 };
        Say(() => { foreach (int i in list) list.Add(i); });
        Say(() => Console.WriteLine("abc".Substring(4)));
        Say(() => new Dictionary<string, int>().Add(null, 1));
        Say(() => Console.WriteLine(new Dictionary<string, int>()["none"]));
    }
}
