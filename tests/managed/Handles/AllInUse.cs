// env: VERVET_DEBUG_PLAN=handle-bits=12
// A program that uses all handles up gets OutOfMemoryException wherever one is wanted, and goes on when it has freed some.
using System;
using System.Collections.Generic;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;

static class AllInUse
{
    static readonly object one = new object();
    static readonly List<GCHandle> all = new List<GCHandle>();

    static string Outcome(Action what)
    {
        try { what(); return "done"; } catch (OutOfMemoryException) { return "out of memory"; }
    }
    static void StartAThread()
    {
        int came = 0;
        var t = new Thread(() => came = 1);
        t.Start();
        t.Join();
        if (came != 1) Console.WriteLine("the thread did not run");
    }
    static void AbortMyself()
    {
        try { Thread.CurrentThread.Abort("a reason"); }
        catch (ThreadAbortException e) {
            if ((string)e.ExceptionState != "a reason") Console.WriteLine("not that reason: " + e.ExceptionState);
            Thread.ResetAbort();
        }
    }
    static void AbortAnother()
    {
        string reason = null;
        var started = new ManualResetEvent(false);
        var t = new Thread(() => {
            try { started.Set(); Thread.Sleep(-1); }
            catch (ThreadAbortException e) { reason = (string)e.ExceptionState; Thread.ResetAbort(); }
        });
        t.Start();
        started.WaitOne();
        Use();
        Console.WriteLine(Outcome(() => t.Abort("another")));
        Free();
        t.Abort("another");
        t.Join();
        Console.WriteLine(reason);
    }
    static void Use()
    {
        try { for (;;) all.Add(GCHandle.Alloc(one)); } catch (OutOfMemoryException) { }
    }
    static void Free()
    {
        foreach (var h in all) h.Free();
        all.Clear();
    }
    static void Main()
    {
        all.Capacity = 10000;
        Use();
        Console.WriteLine(all.Count > 3000); // expect: True
        Console.WriteLine(Outcome(StartAThread)); // expect: out of memory
        Console.WriteLine(Outcome(AbortMyself)); // expect: out of memory
        Console.WriteLine(Thread.CurrentThread.ThreadState); // expect: Running
        Free();
        Console.WriteLine(Outcome(StartAThread)); // expect: done
        Console.WriteLine(Outcome(AbortMyself)); // expect: done
        AbortAnother();
        // expect: out of memory
        // expect: another
        // (Threads that have ended may give theirs back between.)
        for (int i = 0; i < 50; i++) {
            Use();
            Outcome(StartAThread);
            Free();
            StartAThread();
        }
        Console.WriteLine("and goes on"); // expect: and goes on
    }
}
