// Calls of delegates whose methods are noted and guessed: every way in which a delegate can be bound, delegates that change, and what a guess must not change.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

delegate int Step(int x);
delegate object Make(string s);
delegate int Of(Counter counter, int x);
delegate Triple Tripled(int x);
delegate int ByReference(ref int x);

struct Triple { public long A, B, C; public Triple(long a) { A = a; B = a + 1; C = a + 2; } }

class Counter
{
    public int Total;
    public int Add(int x) { Total += x; return Total; }
    public virtual int Twice(int x) { return x * 2; }
    public int Unused(int x) { return x + 7; }
}
sealed class Special : Counter { public override int Twice(int x) { return x * 20; } }

class Remote : MarshalByRefObject
{
    int own = 5;
    public int Own(int x) { return own + x; }
}
class Answering : RealProxy
{
    public Answering() : base(typeof(Remote)) { }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        return new ReturnMessage(1000 + (int)call.InArgs[0], null, 0, call.LogicalCallContext, call);
    }
}

static class Extensions
{
    public static int First(this Counter c, int x) { return c == null ? -x : c.Total + x; }
}

static class Program
{
    const int Rounds = 30000;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Sum(Step step, int rounds)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) sum += step(i & 7);
        return sum;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Once(Step step, int x) { return step(x); }

    static void Say(string what, Func<object> f)
    {
        try { Console.WriteLine("{0}: {1}", what, f()); }
        catch (Exception e) { Console.WriteLine("{0}: {1}", what, e.GetType().Name); }
    }

    static int Plain(int x) { return x + 1; }
    static int Throwing(int x) { if (x == 7) throw new InvalidOperationException("seven"); return x; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Many(Make make, int rounds)
    {
        object last = null;
        for (int i = 0; i < rounds; i++) last = make("s");
        return last;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Open(Of of, Counter[] counters, int rounds)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) sum += of(counters[i % counters.Length], 1);
        return sum;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Triples(Tripled f, int rounds)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) { var t = f(i & 3); sum += t.A + t.B + t.C; }
        return sum;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int References(ByReference f, int rounds)
    {
        int x = 0;
        for (int i = 0; i < rounds; i++) f(ref x);
        return x;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Frames(Step step)
    {
        try { return step(7).ToString(); }
        catch (InvalidOperationException e) { return string.Join(" ", e.StackTrace.Split('\n').Select(l => l.Trim().Split(' ')[1])); }
    }

    static void Main()
    {
        var counter = new Counter();
        int kept = 3;
        Step closure = x => x + kept;
        // The first that a method sees becomes its guess; all others must be as right.
        Say("static", () => Sum(Plain, Rounds));
        Say("closure", () => Sum(closure, Rounds));
        kept = 4;
        Say("closure again", () => Sum(closure, Rounds));
        Say("instance", () => Sum(counter.Add, 100));
        Say("virtual", () => Sum(new Special().Twice, Rounds));
        Say("virtual of the base", () => Sum(new Counter().Twice, Rounds));
        Say("extension", () => Sum(counter.First, Rounds));
        Say("extension of null", () => Sum(((Counter)null).First, Rounds));
        Say("two", () => Sum((Step)Plain + closure, Rounds));
        Say("proxy", () => Sum(((Remote)new Answering().GetTransparentProxy()).Own, 100));
        Say("null", () => Sum(null, 1));
        var nullTarget = (Step)Delegate.CreateDelegate(typeof(Step), null, typeof(Counter).GetMethod("Unused"));
        Say("null target", () => Sum(nullTarget, Rounds));
        var touching = (Step)Delegate.CreateDelegate(typeof(Step), null, typeof(Counter).GetMethod("Add"));
        Say("null target that is used", () => Sum(touching, Rounds));
        var made = new DynamicMethod("Made", typeof(int), new[] { typeof(int) });
        var il = made.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4_S, (sbyte)9); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret);
        Say("dynamic", () => Sum((Step)made.CreateDelegate(typeof(Step)), Rounds));
        Say("throws", () => Sum(Throwing, Rounds));

        // Outside of loops, and in turn.
        var steps = new Step[] { Plain, closure, counter.Unused, Plain };
        long all = 0;
        for (int i = 0; i < Rounds; i++) all += Once(steps[i < Rounds / 2 ? 0 : i % 4], i & 3);
        Console.WriteLine("once: {0}", all);
        for (int i = 0; i < Rounds; i++) Frames(Plain);
        Console.WriteLine("frames: {0}", Frames(Throwing));
        for (int i = 0; i < 2000; i++) Frames(Throwing);
        Console.WriteLine("frames: {0}", Frames(Throwing));

        // References may differ as the delegate allows.
        Func<object, string> wide = o => o + "!";
        Make variance = new Make(wide);
        Say("variance", () => Many(variance, Rounds));
        Say("variance, another", () => Many(s => s.Length, Rounds));

        var open = (Of)Delegate.CreateDelegate(typeof(Of), typeof(Counter).GetMethod("Twice"));
        Say("open virtual", () => Open(open, new[] { new Counter(), new Special() }, Rounds));
        var unused = (Of)Delegate.CreateDelegate(typeof(Of), typeof(Counter).GetMethod("Unused"));
        Say("open instance", () => Open(unused, new[] { new Counter(), null }, Rounds));
        Say("open static", () => Open((c, x) => c.Total + x, new[] { new Counter { Total = 2 } }, Rounds));
        Say("open static of null", () => Open((c, x) => c.Total + x, new Counter[] { null }, Rounds));
        Say("structs", () => Triples(x => new Triple(x + kept), Rounds));
        Say("structs, static", () => Triples(x => new Triple(x), Rounds));
        Say("by reference", () => References((ref int x) => x += kept, Rounds));

        // The class library's loops.
        var list = Enumerable.Range(0, 5000).ToList();
        for (int i = 0; i < 5; i++) {
            int limit = i;
            Console.WriteLine("{0} {1} {2}", list.Where(x => x % 5 != limit).Select(x => x * 3 + limit).Sum(), list.FindIndex(x => x == 4000 + limit),
                list.Where(x => x % 2 == 0).Select(x => x.ToString()).Aggregate(0, (a, s) => a + s.Length));
        }
        var descending = list.ToArray();
        Array.Sort(descending, (x, y) => y.CompareTo(x));
        Console.WriteLine("{0} {1}", descending[0], descending[4999]);
        Array.Sort(descending, (x, y) => x.CompareTo(y));
        Console.WriteLine("{0} {1}", descending[0], descending[4999]);
    }
}
