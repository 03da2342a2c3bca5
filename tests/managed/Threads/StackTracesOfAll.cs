// Thread.GetStackTraces, through its managed half: every managed thread with its frames, whatever the thread does.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Threading;

static class StackTracesOfAll
{
    static readonly ManualResetEvent go = new ManualResetEvent(false);
    static readonly object gate = new object();
    static readonly CountdownEvent ready = new CountdownEvent(4);
    static volatile bool stop;

    static void Waits() { ready.Signal(); go.WaitOne(); }
    static void Sleeps() { ready.Signal(); try { Thread.Sleep(Timeout.Infinite); } catch (ThreadInterruptedException) { } }
    static void Spins() { ready.Signal(); while (!stop) { } }
    static void Locks() { ready.Signal(); lock (gate) { } }
    static void Deep(int depth) { if (depth > 0) { Deep(depth - 1); GC.KeepAlive(gate); } else go.WaitOne(); }
    static T Generic<T>(Func<T> get) { T it = get(); GC.KeepAlive(it); return it; }

    static Thread Start(string name, ThreadStart run)
    {
        var t = new Thread(run) { Name = name };
        t.Start();
        return t;
    }
    static Dictionary<Thread, StackTrace> Take()
    {
        var method = typeof(Thread).GetMethod("Mono_GetStackTraces", BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public);
        return (Dictionary<Thread, StackTrace>)method.Invoke(null, null);
    }
    // Methods of this program, innermost first.
    static string Own(StackTrace trace)
    {
        return string.Join(" ", trace.GetFrames().Select(f => f.GetMethod()).Where(m => m != null && m.DeclaringType == typeof(StackTracesOfAll)).Select(m => m.Name));
    }

    static void Main()
    {
        Monitor.Enter(gate);
        var threads = new[] { Start("waits", Waits), Start("sleeps", Sleeps), Start("spins", Spins), Start("locks", Locks) };
        ready.Wait();
        while ((threads[3].ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Yield();
        var never = new Thread(Waits);
        var all = Generic(Take);
        foreach (var t in threads) Console.WriteLine(t.Name + ": " + Own(all[t]));
        // expect: waits: Waits
        // expect: sleeps: Sleeps
        // expect: spins: Spins
        // expect: locks: Locks
        Console.WriteLine("this: " + Own(all[Thread.CurrentThread])); // expect: this: Take Generic Main
        Console.WriteLine(all.ContainsKey(never)); // expect: False
        var names = all[Thread.CurrentThread].GetFrames().Select(f => f.GetMethod()).Where(m => m != null).Select(m => m.Name).ToList();
        Console.WriteLine(names.IndexOf("InternalInvoke") < names.LastIndexOf("Invoke")); // expect: True

        // While stacks change: each is one that the thread has had.
        for (int i = 0; i < 200; i++)
        {
            if (Own(Take()[threads[2]]) != "Spins") Console.WriteLine("another stack");
            if (i % 50 == 0) GC.Collect();
        }
        var deep = new Thread(() => Deep(60), 1 << 20);
        deep.Start();
        while ((deep.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Yield();
        Console.WriteLine(Take()[deep].GetFrames().Count(f => f.GetMethod() != null && f.GetMethod().Name == "Deep")); // expect: 61
        var many = Enumerable.Range(0, 40).Select(i => Start("many" + i, () => Deep(i))).ToList();
        foreach (var t in many) while ((t.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Yield();
        all = Take();
        Console.WriteLine(many.Select((t, i) => all[t].GetFrames().Count(f => f.GetMethod() != null && f.GetMethod().Name == "Deep") - i).Distinct().Single()); // expect: 1

        stop = true;
        go.Set();
        threads[1].Interrupt();
        Monitor.Exit(gate);
        foreach (var t in threads.Concat(many).Concat(new[] { deep })) t.Join();
        all = Take();
        Console.WriteLine(threads.Count(all.ContainsKey)); // expect: 0
    }
}
