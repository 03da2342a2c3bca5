// Calls of every kind, casts and statics: what one costs where the caller does nothing else.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

interface IStep { int Step(int x); }
interface IOther { int Other(int x); }
abstract class Base { public abstract int Virtual(int x); public virtual T Generic<T>(T x) { return x; } }
sealed class First : Base, IStep, IOther
{
    public int Step(int x) { return x + 1; }
    public int Other(int x) { return x + 1; }
    public override int Virtual(int x) { return x + 1; }
    public override T Generic<T>(T x) { return x; }
}
sealed class Second : Base, IStep, IOther
{
    public int Step(int x) { return x + 2; }
    public int Other(int x) { return x + 2; }
    public override int Virtual(int x) { return x + 2; }
}
class Made { public int value = 1; }
class Remotable : MarshalByRefObject
{
    public int Field = 1;
    [MethodImpl(MethodImplOptions.NoInlining)] public int Call(int x) { return x + 1; }
}

static class Calls
{
    [ThreadStatic] static int own;
    [DllImport("libm.so.6")] static extern double fabs(double x);
    [MethodImpl(MethodImplOptions.NoInlining)] public static int Target(int x) { return x + 1; }
    [MethodImpl(MethodImplOptions.NoInlining)] static T Make<T>() where T : new() { return new T(); }

    static long Interface(IStep[] steps, int n) { int x = 0; for (int i = 0; i < n; i++) x = steps[i & 1].Step(x); return x; }
    static long Virtual(Base[] bases, int n) { int x = 0; for (int i = 0; i < n; i++) x = bases[i & 1].Virtual(x); return x; }
    static long CastInterface(object[] objects, int n) { int x = 0; for (int i = 0; i < n; i++) x = ((IOther)objects[i & 1]).Other(x); return x; }
    static long CastClass(object[] objects, int n) { int x = 0; for (int i = 0; i < n; i++) if ((First)objects[i & 1] != null) x++; return x; }
    static long Delegate(Func<int, int> f, int n) { int x = 0; for (int i = 0; i < n; i++) x = f(x); return x; }
    static long GenericVirtual(Base b, int n) { int x = 0; for (int i = 0; i < n; i++) x += b.Generic(1); return x; }
    static long RemotableField(Remotable r, int n) { int x = 0; for (int i = 0; i < n; i++) { x += r.Field; r.Field = 1; } return x; }
    static long RemotableCall(Remotable r, int n) { int x = 0; for (int i = 0; i < n; i++) x = r.Call(x); return x; }
    static long Native(int n) { double x = 0; for (int i = 0; i < n; i++) x += fabs(-1); return (long)x; }
    static long ThreadStatic(int n) { own = 0; for (int i = 0; i < n; i++) own++; return own; }
    static long Box(int n) { long x = 0; for (int i = 0; i < n; i++) { object o = i & 1; x += (int)o * 2 + 1 - (i & 1) * 2; } return x; }
    static long Activate(int n) { long x = 0; for (int i = 0; i < n; i++) x += Make<Made>().value; return x; }
    static long Name(object o, int n) { long x = 0; for (int i = 0; i < n; i++) x += o.GetType().Name.Length; return x / 5; }
    static long Invoke(MethodInfo m, int n)
    {
        int x = 0;
        var arguments = new object[1];
        for (int i = 0; i < n; i++) { arguments[0] = x; x = (int)m.Invoke(null, arguments); }
        return x;
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Throw(int depth) { if (depth > 1) Throw(depth - 1); else throw new InvalidOperationException(); GC.KeepAlive(null); }
    static long Catch(int depth, int n) { long x = 0; for (int i = 0; i < n; i++) try { Throw(depth); } catch (InvalidOperationException) { x++; } return x; }

    // The best of seven, after a run that lets a tiered compiler see the loop; `expected` is what `n` rounds give.
    static void Row(string name, int n, long expected, Func<int, long> loop)
    {
        for (int i = 0; i < 30; i++) loop(n / 100);
        double best = double.MaxValue;
        for (int i = 0; i < 7; i++) {
            long got = 0;
            best = Math.Min(best, Bench.Seconds(() => got = loop(n)));
            Bench.Check(got == expected, name);
        }
        Bench.Figure(name, best * 1e9 / n, "ns");
    }

    static void Main(string[] args)
    {
        int n = Bench.Argument(args, 0, 10000000), slow = n / 50;
        var first = new First();
        var second = new Second();
        Row("interface-one-class", n, n, k => Interface(new IStep[] { first, first }, k));
        Row("interface-two-classes", n, n + n / 2, k => Interface(new IStep[] { first, second }, k));
        Row("virtual-one-class", n, n, k => Virtual(new Base[] { first, first }, k));
        Row("virtual-two-classes", n, n + n / 2, k => Virtual(new Base[] { first, second }, k));
        Row("generic-virtual", n, n, k => GenericVirtual(first, k));
        Row("cast-to-interface-and-call", n, n + n / 2, k => CastInterface(new object[] { first, second }, k));
        Row("cast-to-class", n, n, k => CastClass(new object[] { first, new First() }, k));
        Row("remotable-field", n, n, k => RemotableField(new Remotable(), k));
        Row("remotable-call", n, n, k => RemotableCall(new Remotable(), k));
        Row("delegate", n, n, k => Delegate(x => x + 1, k));
        Row("pinvoke-fabs", n, n, Native);
        Row("thread-static", n, n, ThreadStatic);
        Row("box-unbox", n, n, Box);
        Row("activator-generic", slow, slow, Activate);
        Row("type-name", slow, slow, k => Name(first, k));
        var target = typeof(Calls).GetMethod("Target");
        Row("method-invoke", slow, slow, k => Invoke(target, k));
        Row("throw-catch-1", slow / 10, slow / 10, k => Catch(1, k));
        Row("throw-catch-20", slow / 100, slow / 100, k => Catch(20, k));
    }
}
