// Calls whose receivers are noted and guarded when the method is compiled again: results stay what they are, whatever comes later.
// expect: same 400000 mixed 14919996
// expect: interface 400000 then 820000
// expect: list 12497500 array 12497500 set 12497500
// expect: boxed 400000
// expect: generic 250000 text 30000
// expect: thrown 5000 at Third.Step
// expect: trace Third.Step Receivers.Sum Receivers.Main
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

abstract class Node
{
    public abstract int Step(int x);
}
sealed class First : Node { public override int Step(int x) { return x + 1; } }
sealed class Second : Node { public override int Step(int x) { return x + 2; } }
class Third : Node
{
    public bool fails, traces;
    public override int Step(int x)
    {
        if (traces) Receivers.Trace = new StackTrace();
        if (fails) throw new InvalidOperationException();
        return x + 3;
    }
}
sealed class Fourth : Third { public override int Step(int x) { return base.Step(x) * 2; } }

interface IGo { int Go(int x); }
class One : IGo { public int Go(int x) { return x + 1; } }
class Two : IGo { public int Go(int x) { return x + 2; } }
struct Three : IGo { public int step; public int Go(int x) { return x + step; } }
class Box<T> : IGo { public T value; public virtual int Go(int x) { return x + value.ToString().Length; } }

static class Receivers
{
    public static StackTrace Trace;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Sum(Node[] nodes, int n)
    {
        int x = 0;
        long sum = 0;
        for (int i = 0; i < n; i++) {
            x = nodes[i % nodes.Length].Step(x) & 0xffff;
            sum += nodes[i % nodes.Length].Step(0);
        }
        return sum;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Go(IGo[] all, int n)
    {
        int x = 0;
        for (int i = 0; i < n; i++) x = all[i % all.Length].Go(x);
        return x;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Items(IEnumerable<int> items)
    {
        long sum = 0;
        foreach (int i in items) sum += i;
        return sum;
    }

    // Enough calls for the method to be compiled again, and time for it.
    static T Often<T>(Func<T> call)
    {
        for (int i = 0; i < 20; i++) call();
        Thread.Sleep(100);
        for (int i = 0; i < 3; i++) call();
        return call();
    }

    static void Main()
    {
        foreach (Node node in new Node[] { new First(), new Second(), new Third(), new Fourth() }) node.Step(0);
        var thirds = new Node[] { new Third() };
        long same = Often(() => Sum(new Node[] { new First() }, 400000));
        long mixed = Often(() => Sum(new Node[] { new First(), new Second(), new Third(), new Fourth() }, 4973332));
        Console.WriteLine("same {0} mixed {1}", same, mixed);

        int one = Often(() => Go(new IGo[] { new One() }, 400000));
        int others = Go(new IGo[] { new Two(), new Two(), new Three { step = 3 }, new Box<string> { value = "x" } }, 400000) + 20000;
        Console.WriteLine("interface {0} then {1}", one, others);

        int[] numbers = Enumerable.Range(0, 5000).ToArray();
        var list = new List<int>(numbers);
        long inList = Often(() => Items(list));
        Console.WriteLine("list {0} array {1} set {2}", inList, Often(() => Items(numbers)), Items(new HashSet<int>(numbers)));

        Console.WriteLine("boxed {0}", Often(() => Go(new IGo[] { new Three { step = 1 } }, 400000)));
        int generic = Often(() => Go(new IGo[] { new Box<int> { value = 12345 } }, 50000));
        Console.WriteLine("generic {0} text {1}", generic, Go(new IGo[] { new Box<string> { value = "abc" } }, 10000));

        Often(() => Sum(thirds, 20000));
        int thrown = 0;
        string at = "";
        for (int i = 0; i < 5000; i++)
            try {
                Sum(new Node[] { new Third { fails = true } }, 1);
            } catch (InvalidOperationException e) {
                thrown++;
                var method = new StackTrace(e).GetFrame(0).GetMethod();
                at = method.DeclaringType.Name + "." + method.Name;
            }
        Console.WriteLine("thrown {0} at {1}", thrown, at);
        Sum(new Node[] { new Third { traces = true } }, 1);
        Console.WriteLine("trace " + string.Join(" ", Trace.GetFrames().Select(f => f.GetMethod().DeclaringType.Name + "." + f.GetMethod().Name)));
    }
}
