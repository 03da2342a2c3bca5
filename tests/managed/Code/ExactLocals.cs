// Locals that are stored once, with an object whose class is known exactly: calls on them need no look-up, but may find null.
using System;
using System.Collections.Generic;

interface IShape { string Name(); int Area(int scale); }
class Shape : IShape { public virtual string Name() { return "shape"; } public virtual int Area(int scale) { return scale; } public override string ToString() { return "a " + Name(); } }
class Square : Shape { readonly int side; public Square(int side) { this.side = side; } public override string Name() { return "square"; } public override int Area(int scale) { return side * side * scale; } }
sealed class Cube : Square, IShape { public Cube(int side) : base(side) { } string IShape.Name() { return "cube"; } public override int Area(int scale) { return base.Area(scale) * 6; } }
class Explodes : IShape { public Explodes() { throw new InvalidOperationException("no such shape"); } public string Name() { return "?"; } public int Area(int scale) { return 0; } }
class Key : IEquatable<Key> { public int N; public bool Equals(Key other) { return other != null && other.N == N; } public override bool Equals(object o) { return o is Key && Equals((Key)o); } public override int GetHashCode() { return N & 3; } }

class Program
{
    static string Once(int side) { IShape s = new Cube(side); Shape t = new Square(side); return s.Name() + s.Area(2) + t.Name() + t.Area(2) + t; }
    // The store may not have been reached.
    static string Skipped(bool skip)
    {
        Shape s;
        if (skip) goto use;
        s = new Square(3);
        return s.Name();
    use:
        s = null;
        try { return s.Name(); } catch (NullReferenceException) { return "null"; }
    }
    static string Later(int n)
    {
        IShape s = null; string all = "";
        for (int i = 0; i < n; i++)
        {
            try { all += i < 2 && s == null ? "-" : s.Name(); } catch (NullReferenceException) { all += "!"; }
            if (i == 2) s = new Cube(i);
        }
        return all;
    }
    static string Failed()
    {
        IShape s = null;
        try { s = new Explodes(); return s.Name(); } catch (InvalidOperationException e) { return e.Message + (s == null); }
    }
    static string Rewritten(bool other) { IShape s = new Square(2); if (other) s = new Cube(2); return s.Name() + s.Area(1); }
    static void Change(ref IShape s) { s = new Cube(1); }
    static string ByRef() { IShape s = new Square(2); Change(ref s); return s.Name() + s.Area(1); }
    static string Captured() { IShape s = new Square(2); Action a = () => s = new Cube(2); a(); return s.Name(); }
    static int Area(IShape s) { return s.Area(3); }
    static int Passed() { return Area(new Square(2)) + Area(new Cube(2)); }
    static string Through(IShape s) { var t = s; return t.Name(); }
    static string Handler()
    {
        Shape s = new Square(4); int n = 0;
        try { n = s.Area(1); throw new Exception(); } catch (Exception) { return s.Name() + n + s.Area(2); } finally { n = s.Area(n); }
    }
    static int Finds<T>(T[] all, T wanted)
    {
        var comparer = EqualityComparer<T>.Default;
        for (int i = 0; i < all.Length; i++) if (comparer.Equals(all[i], wanted)) return i;
        return -1;
    }
    static string Null() { IShape s = NoShape(); IShape t = s; try { return t.Name(); } catch (NullReferenceException) { return "null"; } }
    static Cube NoShape() { return null; }
    static object Boxed() { object o = 5; object p = new[] { 1 }; return o.ToString() + o.GetHashCode() + o.Equals(5) + p.GetType(); }

    static void Main()
    {
        for (int round = 0; round < 2; round++)
        {
            Console.WriteLine(Once(2));
            Console.WriteLine(Skipped(false) + " " + Skipped(true));
            Console.WriteLine(Later(5));
            Console.WriteLine(Failed());
            Console.WriteLine(Rewritten(false) + " " + Rewritten(true));
            Console.WriteLine(ByRef() + " " + Captured());
            Console.WriteLine(Passed() + Through(new Cube(1)) + Through(new Square(1)));
            Console.WriteLine(Handler());
            Console.WriteLine("{0} {1} {2} {3}", Finds(new[] { "a", "b" }, "b"), Finds(new[] { 1, 2 }, 3), Finds(new[] { new Key { N = 1 }, new Key { N = 2 } }, new Key { N = 2 }), Finds(new object[] { 1, null }, null));
            Console.WriteLine(Null() + " " + Boxed());
        }
    }
}
