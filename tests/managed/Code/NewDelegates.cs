// `new` of delegates of every binding: those whose fields the code stores itself, and those that need a helper and a thunk.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;

struct Large { public long a, b, c; }

class Base
{
    public int n;
    public int Plain(int x) { return n + x; }
    public virtual int Virtual(int x) { return n - x; }
    public sealed override string ToString() { return "base " + n; }
    public Large Struct(int x) { return new Large { a = n, b = x, c = n + x }; }
    public T Generic<T>(T x) { return x; }
    public static int Static(int x) { return 2 * x; }
}
class Derived : Base { public override int Virtual(int x) { return n * x; } }
struct Value
{
    public int n;
    public int Next(int x) { n += x; return n; }
}
static class Extensions
{
    public static int Sum(this Base b, int x) { return b == null ? -x : b.n + x; }
    public static Large Both(this Base b, int x) { return new Large { a = b == null ? -1 : b.n, c = x }; }
    public static string Of(this string s) { return s ?? "null"; }
}

static class Program
{
    delegate int Number(int x);
    delegate Large Struct(int x);
    delegate int Open(Base b, int x);

    [MethodImpl(MethodImplOptions.NoInlining)] static Number Plain(Base b) { return b.Plain; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Number Virtual(Base b) { return b.Virtual; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Struct Buffer(Base b) { return b.Struct; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Number Extension(Base b) { return b.Sum; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Struct ExtensionBuffer(Base b) { return b.Both; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Func<T, T> Generic<T>(Base b) { return b.Generic<T>; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Number InHandler(Base b)
    {
        try { return b.Plain; } catch (ArgumentException) { return null; } finally { n++; }
    }
    static int n;

    static void Show(Delegate d, object result)
    {
        Console.WriteLine("{0} {1} {2}", d.Method.Name, d.Target == null ? "none" : d.Target.GetType().Name, result);
    }

    static void Main()
    {
        var b = new Base { n = 7 };
        var d = new Derived { n = 7 };
        Show(Plain(b), Plain(b)(3));                            // expect: Plain Base 10
        Show(Virtual(b), Virtual(b)(3));                        // expect: Virtual Base 4
        Show(Virtual(d), Virtual(d)(3));                        // expect: Virtual Derived 21
        Show(Buffer(b), Buffer(b)(3).c);                        // expect: Struct Base 10
        Show(Extension(b), Extension(b)(3));                    // expect: Sum Base 10
        Show(Extension(null), Extension(null)(3));              // expect: Sum none -3
        Show(ExtensionBuffer(b), ExtensionBuffer(b)(3).a);      // expect: Both Base 7
        Show(ExtensionBuffer(null), ExtensionBuffer(null)(3).a); // expect: Both none -1
        Show(Generic<int>(b), Generic<int>(b)(5));              // expect: Generic Base 5
        Show(Generic<string>(b), Generic<string>(b)("x"));      // expect: Generic Base x
        Show(InHandler(b), InHandler(b)(n));                    // expect: Plain Base 9
        Func<string> text = b.ToString, of = "a".Of, none = ((string)null).Of;
        Show(text, text());                                     // expect: ToString Base base 7
        Show(of, of());                                         // expect: Of String a
        Show(none, none());                                     // expect: Of none null
        Number fixedOne = Base.Static;
        Show(fixedOne, fixedOne(4));                            // expect: Static none 8
        var value = new Value { n = 1 };
        Number next = value.Next;
        Console.WriteLine(next(1) + " " + next(1) + " " + value.n); // expect: 2 3 1
        var open = (Open)Delegate.CreateDelegate(typeof(Open), typeof(Base).GetMethod("Plain"));
        Show(open, open(b, 1));                                 // expect: Plain none 8

        // Equal targets and methods are equal delegates, however they were made.
        var reflected = (Number)Delegate.CreateDelegate(typeof(Number), b, "Plain");
        Console.WriteLine(Plain(b).Equals(reflected) + " " + (Plain(b) == InHandler(b)) + " " + (Plain(b) == Plain(d)));
        // expect: True True False
        Console.WriteLine(Plain(b).GetHashCode() == reflected.GetHashCode()); // expect: True

        // Several of them, one taken away.
        var all = Plain(b) + Virtual(d) + Extension(b);
        all -= Virtual(d);
        foreach (Number one in all.GetInvocationList()) Console.Write(one(1) + " ");
        Console.WriteLine(all(2));                              // expect: 8 8 9

        // An instance method without a target.
        try { Plain(null); } catch (ArgumentException e) { Console.WriteLine(e.GetType().Name); } // expect: ArgumentException
        Console.WriteLine(InHandler(null) == null);             // expect: True
        try { Virtual(null); } catch (NullReferenceException e) { Console.WriteLine(e.GetType().Name); } // expect: NullReferenceException

        // Delegates are the only thing that keeps their targets.
        var kept = new List<Func<int>>();
        for (int i = 0; i < 100000; i++) { int k = i; kept.Add(() => k); }
        GC.Collect();
        long sum = 0;
        foreach (var one in kept) sum += one();
        Console.WriteLine(sum);                                 // expect: 4999950000
    }
}
