// Generic virtual methods, of classes and of interfaces, whose receivers the compiler guesses or knows.
using System;
using System.Collections.Generic;

interface IMaps { string Map<T>(T x); int Size<T>(); }
class Plain : IMaps {
    public virtual string Map<T>(T x) { return "Plain<" + typeof(T).Name + ">" + x; }
    public virtual int Size<T>() { return 1; }
    public virtual T Same<T>(T x) { return x; }
    public virtual void Fill<T>(T[] all, T x) { for (int i = 0; i < all.Length; i++) all[i] = x; }
}
class Inherits : Plain { public override int Size<T>() { return 2; } }
sealed class Sealed : Plain {
    public override string Map<T>(T x) { return "Sealed<" + typeof(T).Name + ">" + x; }
    public sealed override int Size<T>() { return 3 + base.Size<T>(); }
}
class Hides : Plain { public new virtual string Map<T>(T x) { return "Hides" + x; } }
class Explicit : IMaps {
    string IMaps.Map<T>(T x) { return "Explicit" + x; }
    int IMaps.Size<T>() { return 4; }
}
struct Value : IMaps {
    public int calls;
    public string Map<T>(T x) { calls++; return "Value" + calls + x; }
    public int Size<T>() { return 5 + ++calls; }
}
class Outer<U> : IMaps {
    public virtual string Map<T>(T x) { return typeof(U).Name + "/" + typeof(T).Name + x; }
    public int Size<T>() { return typeof(U) == typeof(T) ? 6 : 7; }
}
class Far : MarshalByRefObject, IMaps {
    public virtual string Map<T>(T x) { return "Far" + x; }
    public int Size<T>() { return 8; }
}
abstract class Visitor { public abstract R Visit<R>(Func<int, R> leaf, Func<R, R, R> node); }
class Leaf : Visitor { readonly int v; public Leaf(int v) { this.v = v; } public override R Visit<R>(Func<int, R> leaf, Func<R, R, R> node) { return leaf(v); } }
class Node : Visitor {
    readonly Visitor l, r; public Node(Visitor l, Visitor r) { this.l = l; this.r = r; }
    public override R Visit<R>(Func<int, R> leaf, Func<R, R, R> node) { return node(l.Visit(leaf, node), r.Visit(leaf, node)); }
}
class Throws : Plain { public override T Same<T>(T x) { throw new InvalidOperationException(typeof(T).Name); } }

static class Program
{
    static string All(Plain p) { return p.Map(1) + " " + p.Map("s") + " " + p.Map(2.5) + " " + p.Size<int>() + p.Size<string>() + p.Same(7) + p.Same("x"); }
    static string AllOf(IMaps p) { return p.Map(1) + " " + p.Map("s") + " " + p.Map(new Value { calls = 3 }.calls) + " " + p.Size<int>() + p.Size<string>(); }
    static string Caught(Action what) { try { what(); return "none"; } catch (NullReferenceException) { return "null"; } catch (InvalidOperationException e) { return e.Message; } }
    static long Loop(Plain p, int n) { long sum = 0; for (int i = 0; i < n; i++) sum += p.Same(i) + p.Same((long)i) + p.Size<Guid>(); return sum; }
    static Guid Big(Plain p, Guid g) { return p.Same(g); }
    static KeyValuePair<string, int> Pair(Plain p, KeyValuePair<string, int> x) { return p.Same(x); }

    static void Main()
    {
        for (int round = 0; round < 3; round++) {
            foreach (var p in new Plain[] { new Plain(), new Inherits(), new Sealed(), new Hides() }) Console.WriteLine(All(p));
            foreach (var p in new IMaps[] { new Plain(), new Sealed(), new Hides(), new Explicit(), new Value(), new Outer<int>(), new Outer<string>(), new Far() }) Console.WriteLine(AllOf(p));
        }
        Console.WriteLine(Loop(new Plain(), 100000) + " " + Loop(new Sealed(), 100000));
        var known = new Sealed(); Console.WriteLine(known.Map('c') + known.Size<char>());
        var outer = new Outer<Plain>(); Console.WriteLine(outer.Map(outer.Size<Plain>()) + outer.Size<int>());
        IMaps boxed = new Value(); boxed.Map(1); Console.WriteLine(boxed.Map(2) + boxed.Size<int>() + ((Value)boxed).calls);
        var array = new string[3]; Plain filler = new Hides(); filler.Fill(array, "f"); Console.WriteLine(string.Join(",", array));
        var numbers = new int[2]; filler.Fill(numbers, 9); Console.WriteLine(string.Join(",", numbers));
        Console.WriteLine(Caught(() => ((Plain)null).Map(1)) + Caught(() => ((IMaps)null).Size<int>()) + Caught(() => new Throws().Same(1L)) + Caught(() => { Plain t = new Throws(); t.Same("s"); }));
        var g = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11); Console.WriteLine(Big(new Plain(), g) == g);
        Console.WriteLine(Pair(new Inherits(), new KeyValuePair<string, int>("k", 3)));
        Visitor tree = new Node(new Node(new Leaf(1), new Leaf(2)), new Leaf(3));
        Console.WriteLine(tree.Visit(i => i, (a, b) => a + b) + " " + tree.Visit(i => i.ToString(), (a, b) => "(" + a + "+" + b + ")") + " " + tree.Visit(i => 1.5 * i, (a, b) => a * b));
        try { filler.Fill<object>(array, 1); } catch (ArrayTypeMismatchException e) { Console.WriteLine(e.GetType().Name); }
    }
}
