// env: VERVET_HOT_CALLS=9 VERVET_BACKGROUND_COMPILER=0
// A thread is aborted while it leaves a loop for other code: the locks and finally blocks around the loop are not passed over.
using System;
using System.Reflection;
using System.Threading;

class G<T> { }

static class AbortInReplacedLoops
{
    static readonly object gate = new object();
    static volatile int started;
    static int finallys;

    // Each type argument gives code of its own.
    public static void Locked<T>(object unused)
    {
        int x = 0;
        lock (gate) { started = 1; for (; ; ) x++; }
    }

    public static void InTry<T>(object unused)
    {
        int x = 0;
        try { started = 1; for (; ; ) x++; }
        finally { Interlocked.Increment(ref finallys); }
    }

    static void Abort(string method, Type type)
    {
        started = 0;
        MethodInfo made = typeof(AbortInReplacedLoops).GetMethod(method).MakeGenericMethod(type);
        Thread thread = new Thread((ParameterizedThreadStart)Delegate.CreateDelegate(typeof(ParameterizedThreadStart), made));
        thread.Start(null);
        while (started == 0) Thread.Yield();
        thread.Abort();
        thread.Join();
    }

    static void Main()
    {
        Type type = typeof(int);
        int free = 0;
        for (int i = 0; i < 12; i++)
        {
            type = typeof(G<>).MakeGenericType(type);
            Abort("Locked", type);
            if (Monitor.TryEnter(gate, 1000)) { free++; Monitor.Exit(gate); }
            Abort("InTry", type);
        }
        Console.WriteLine("free {0} finallys {1}", free, finallys);
    }
}
