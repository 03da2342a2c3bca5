// Delegates as signal handlers, and called by a library's handler: in a native function, in managed code that allocates, locks
// and compiles, in the runtime, in the collector. Each call is made; one from a native function before that returns.
// cc: -pthread
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class SignalDelegates
{
    delegate void Handler(int number);
    delegate void Callback(int number, long big, double half);
    [DllImport("libc")] static extern IntPtr signal(int number, Handler handler);
    [DllImport("libc")] static extern int raise(int number);
    [DllImport("SignalDelegates")] static extern int install(int number, Callback f);
    [DllImport("SignalDelegates")] static extern int raise_here(int number);
    [DllImport("SignalDelegates")] static extern int storm_begin(int number);
    [DllImport("SignalDelegates")] static extern int storm_end();

    const int Usr1 = 10, Usr2 = 12, Winch = 28;
    static int direct, indirect, wrong;
    static readonly object gate = new object();
    static object kept;

    static void Direct(int number)
    {
        if (number != Usr1) wrong++;
        Interlocked.Increment(ref direct);
    }
    // Does what managed code does.
    static void Indirect(int number, long big, double half)
    {
        if (number != Usr2 || big != 1L << 40 || half != 0.5) wrong++;
        var text = new StringBuilder();
        for (int i = 0; i < 20; i++) text.Append(i);
        lock (gate) kept = text.ToString();
        if (Interlocked.Increment(ref indirect) % 64 == 0) GC.Collect(0);
    }

    static int Work(int seed)
    {
        var d = new Dictionary<string, int>();
        for (int i = 0; i < 200; i++) d["k" + (i ^ seed)] = i;
        lock (gate) kept = d;
        var list = Enumerable.Range(0, 100).Select(i => new object[i % 10]).ToList();
        if (seed % 50 == 0) GC.Collect(seed % 100 == 0 ? 2 : 0);
        return list.Count + d.Count;
    }

    static void Main()
    {
        Handler handler = Direct;
        Callback callback = Indirect;
        signal(Usr1, handler);
        Console.WriteLine(raise(Usr1) + " " + direct); // expect: 0 1
        Console.WriteLine(install(Usr2, callback)); // expect: 0
        Console.WriteLine(raise_here(Usr2) + " " + indirect); // expect: 0 1

        foreach (int number in new[] { Usr1, Usr2 }) {
            direct = indirect = 0;
            storm_begin(number);
            var end = DateTime.UtcNow.AddSeconds(1.5);
            int sum = 0, rounds = 0;
            while (DateTime.UtcNow < end || Volatile.Read(ref direct) + Volatile.Read(ref indirect) < 50) sum += Work(rounds++);
            int sent = storm_end();
            Thread.Sleep(100);
            int called = number == Usr1 ? direct : indirect;
            // The kernel merges signals that are pending.
            Console.WriteLine(number + " " + (called >= 50 && called <= sent) + " " + (sum == rounds * 300)); // expect: 10 True True
        } // expect: 12 True True
        Console.WriteLine("wrong " + wrong); // expect: wrong 0
        GC.KeepAlive(handler);
        GC.KeepAlive(callback);
    }
}
