// Calls whose receivers the compiler guesses: what the guess names, what it does not, and what comes later.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

struct Wide { public long A, B, C; public object Text; public override string ToString() { return A + "," + B + "," + C + "," + Text; } }
interface IShape { int Sides { get; } Wide Measure(int by, ref int calls); T Same<T>(T x); }
abstract class Shape : IShape
{
    public int Count;
    public abstract int Sides { get; }
    public virtual string Name { get { return "shape"; } }
    public virtual Wide Measure(int by, ref int calls) { calls++; return new Wide { A = by, B = Sides, Text = Name }; }
    public virtual void Touch() { Count++; }
    public virtual T Same<T>(T x) { return x; }
    public virtual int Fail(int x) { return 100 / x; }
    public virtual short Narrow(int x) { return (short)x; }
    public virtual Shape Me() { return this; }
}
class Triangle : Shape { public override int Sides { get { return 3; } } public override int Fail(int x) { if (x == 7) throw new ArgumentException("seven"); return x; } }
class Square : Shape { public override int Sides { get { return 4; } } public override string Name { get { return "square"; } } public override void Touch() { Count += 10; } }
class Later : Shape { public override int Sides { get { return 99; } } public override string Name { get { return "later"; } } public override void Touch() { Count += 1000; } public override Wide Measure(int by, ref int calls) { calls += 50; return new Wide { A = -by, Text = "later" }; } public override short Narrow(int x) { return -1; } }
struct Point : IShape, IEquatable<Point>
{
    public int X;
    public int Sides { get { return X++; } }
    public Wide Measure(int by, ref int calls) { calls += 2; X += by; return new Wide { C = X, Text = "point" }; }
    public T Same<T>(T x) { return x; }
    public bool Equals(Point other) { return X == other.X; }
}
class Remote : MarshalByRefObject, IEnumerable<int> { public IEnumerator<int> GetEnumerator() { yield return 5; yield return 6; } IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); } }

static class Guards
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Sum(Shape[] all)
    {
        int sides = 0, calls = 0, narrow = 0; var text = ""; Wide last = default(Wide);
        for (int i = 0; i < 6; i++) { var s = all[i % all.Length]; sides += s.Sides; s.Touch(); last = s.Measure(i, ref calls); narrow += s.Narrow(70000 + i); text += s.Me().Name[0]; }
        return sides + " " + calls + " " + last + " " + narrow + " " + text + " " + all[0].Count;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Interface(IShape[] all)
    {
        int sides = 0, calls = 0; var text = "";
        for (int i = 0; i < 5; i++) { var s = all[i % all.Length]; sides += s.Sides; text += s.Measure(i, ref calls) + ";" + s.Same("x") + s.Same(i); }
        return sides + " " + calls + " " + text;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Caught(Shape s, int x)
    {
        int before = 1;
        try { before = 2; before += s.Fail(x); return "got " + before; }
        catch (DivideByZeroException) { return "zero after " + before; }
        catch (ArgumentException e) { return e.Message + " after " + before; }
        catch (NullReferenceException) { return "null after " + before; }
        finally { if (s != null) s.Touch(); }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Null(Shape s) { return s.Sides; }
    // A struct on the stack is a value: a call that changes the variable afterwards does not change it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Order(Shape s) { var w = new Wide { A = 1 }; Wide v = w; int calls = 0; return Pair(w, Change(s, ref w, ref calls)) + v; }
    static int Change(Shape s, ref Wide w, ref int calls) { w = s.Measure(5, ref calls); return s.Sides; }
    static string Pair(Wide w, int n) { return w + "/" + n + " "; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Walk(IEnumerable<int> all) { int sum = 0; foreach (int i in all) sum = sum * 3 + i; return sum; }
    static IEnumerable<int> Three() { yield return 1; yield return 2; yield return 3; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Casts(object o) { return (o is IShape) + " " + (o is IEnumerable<int>) + " " + (o as IList != null) + " " + (o is IComparable<string>) + " " + (o is Func<object>) + " " + (o is int[]) + " " + (o is IEnumerable<object>); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Cast(object o) { try { return ((IShape)o).GetType().Name; } catch (InvalidCastException) { return "no"; } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Frames(Shape s) { try { s.Fail(0); } catch (DivideByZeroException e) { return new System.Diagnostics.StackTrace(e).GetFrame(0).GetMethod().DeclaringType.Name; } return "none"; }

    static void Main()
    {
        for (int round = 0; round < 3; round++) {
            Console.WriteLine(Sum(new Shape[] { new Triangle() }));
            Console.WriteLine(Sum(new Shape[] { new Square(), new Triangle() }));
            if (round == 2) Console.WriteLine(Sum(new Shape[] { (Shape)Activator.CreateInstance(Type.GetType("Later")), new Square(), new Triangle() }));
            Console.WriteLine(Interface(new IShape[] { new Triangle(), new Square() }));
            Console.WriteLine(Interface(new IShape[] { new Point { X = 4 } }));
            Console.WriteLine(Interface(new IShape[] { new Point { X = 4 }, new Square(), new Triangle() }));
            foreach (int x in new[] { 0, 7, 20 }) Console.WriteLine(Caught(new Triangle(), x) + ", " + Caught(new Square(), x) + ", " + Caught(null, x));
            try { Null(null); } catch (NullReferenceException) { Console.WriteLine("null"); }
            Console.WriteLine(Null(new Triangle()) + Null(new Square()));
            Console.WriteLine(Order(new Triangle()) + " " + Order(new Later()));
            Console.WriteLine(Walk(Three()) + " " + Walk(new List<int> { 4, 5 }) + " " + Walk(new[] { 7, 8 }) + " " + Walk(new Remote()));
            foreach (var o in new object[] { new Triangle(), new Point(), new[] { 1 }, "text", new List<string>(), (Func<string>)(() => ""), new uint[0], new string[0], null }) Console.WriteLine(Casts(o) + " " + (o == null ? "null" : Cast(o)));
            Console.WriteLine(Frames(new Square()));
        }
    }
}
