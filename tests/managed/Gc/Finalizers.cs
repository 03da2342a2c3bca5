// Finalizers: each runs once, after its object is garbage, critical ones after ordinary ones; suppressed, registered
// again, brought back, and with everything an object refers to still whole.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ConstrainedExecution;
using System.Threading;

static class Finalizers
{
    static int count, wrong, threads;
    static object gate = new object();
    static List<string> order = new List<string>();

    class Counted
    {
        public int Id; public string Text; public Counted Next;
        public Counted(int id) { Id = id; Text = "text " + id; }
        ~Counted()
        {
            Interlocked.Increment(ref count);
            if (Text != "text " + Id || Next != null && Next.Text != "text " + Next.Id) wrong++;
            if (Thread.CurrentThread.ManagedThreadId == mainThread) threads++;
        }
    }
    sealed class Derived : Counted
    {
        public static int Own;
        public Derived(int id) : base(id) { }
        ~Derived() { Interlocked.Increment(ref Own); }
    }
    sealed class Ordinary { public Critical Other; ~Ordinary() { lock (gate) order.Add("ordinary"); } }
    sealed class Critical : CriticalFinalizerObject { ~Critical() { lock (gate) order.Add("critical"); } }
    sealed class Again
    {
        public static int Times;
        int own;
        ~Again() { Times++; if (++own < 3) GC.ReRegisterForFinalize(this); }
    }
    sealed class Back
    {
        public static Back Saved; public static int Times; public string Text = "whole";
        ~Back() { Times++; Saved = this; }
    }
    sealed class Makes { public static int Made; ~Makes() { for (int i = 0; i < 1000; i++) new Counted(i).Text += ""; GC.Collect(); Made++; } }
    sealed class Thrower
    {
        public Thrower() { throw new InvalidOperationException(); }
        public static int Times; ~Thrower() { Times++; }
    }
    sealed class Cloned : ICloneable { public static int Times; public object Clone() { return MemberwiseClone(); } ~Cloned() { Interlocked.Increment(ref Times); } }

    static int mainThread;
    static void Elsewhere(ThreadStart work)
    {
        var t = new Thread(() => Dig(30, work));
        t.Start();
        t.Join();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Dig(int depth, ThreadStart work) { if (depth == 0) work(); else Dig(depth - 1, work); }
    static void Collect() { for (int i = 0; i < 2; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); } }
    static string About(int n, int of) { return Math.Abs(n - of) <= 5 ? "about " + of : n.ToString(); }

    static void Main()
    {
        mainThread = Thread.CurrentThread.ManagedThreadId;
        Elsewhere(() => { Counted last = null; for (int i = 0; i < 1000; i++) last = new Counted(i) { Next = last }; });
        Collect();
        Console.WriteLine(About(count, 1000) + ", " + wrong + " wrong, " + threads + " on the main thread");  // expect: about 1000, 0 wrong, 0 on the main thread

        count = 0;
        Elsewhere(() => { for (int i = 0; i < 100; i++) new Derived(i); });
        Collect();
        Console.WriteLine(About(count, 100) + " " + (count == Derived.Own));        // expect: about 100 True

        count = 0;
        Elsewhere(() => { for (int i = 0; i < 100; i++) { var c = new Counted(i); if (i % 2 == 0) GC.SuppressFinalize(c); } });
        Collect();
        Console.WriteLine(About(count, 50));                                        // expect: about 50

        count = 0;
        Elsewhere(() => { for (int i = 0; i < 100; i++) { var c = new Counted(i); GC.SuppressFinalize(c); GC.ReRegisterForFinalize(c); } });
        Collect();
        Console.WriteLine(About(count, 100));                                       // expect: about 100

        // Suppressing what has no finalizer is harmless; null is not.
        GC.SuppressFinalize(new object());
        try { GC.SuppressFinalize(null); } catch (ArgumentNullException) { Console.WriteLine("null"); }     // expect: null
        try { GC.ReRegisterForFinalize(null); } catch (ArgumentNullException) { Console.WriteLine("null"); }    // expect: null

        // Critical finalizers come after ordinary ones of the same collection, whatever the order of making.
        Elsewhere(() => { for (int i = 0; i < 50; i++) { var c = new Critical(); new Ordinary { Other = c }; new Critical(); } });
        Collect();
        int firstCritical = order.IndexOf("critical"), lastOrdinary = order.LastIndexOf("ordinary");
        Console.WriteLine(About(order.Count, 150) + " " + (lastOrdinary < firstCritical));   // expect: about 150 True

        Elsewhere(() => { for (int i = 0; i < 30; i++) new Again(); });
        for (int i = 0; i < 4; i++) Collect();
        Console.WriteLine(About(Again.Times, 90));                                  // expect: about 90

        Elsewhere(() => new Back());
        Collect();
        Console.WriteLine(Back.Times + " " + Back.Saved.Text);                      // expect: 1 whole
        Elsewhere(() => Back.Saved = null);
        Collect();
        Console.WriteLine(Back.Times + " " + (Back.Saved == null));                 // expect: 1 True

        // A finalizer may allocate, also objects with finalizers, and collect.
        count = 0;
        Elsewhere(() => { for (int i = 0; i < 5; i++) new Makes(); });
        Collect();
        Collect();
        Console.WriteLine(About(Makes.Made, 5) + " " + (count > 3000));             // expect: about 5 True

        // An object whose constructor threw is finalized too, and so is a clone.
        Elsewhere(() => { for (int i = 0; i < 20; i++) try { new Thrower(); } catch (InvalidOperationException) { } });
        Elsewhere(() => { for (int i = 0; i < 20; i++) new Cloned().Clone(); });
        Collect();
        Console.WriteLine(About(Thrower.Times, 20) + ", " + About(Cloned.Times, 40));   // expect: about 20, about 40

        // Many at once, all exactly once.
        count = 0;
        Elsewhere(() => { for (int i = 0; i < 200000; i++) new Counted(i); });
        Collect();
        Collect();
        Console.WriteLine(About(count, 200000) + ", " + wrong + " wrong");          // expect: about 200000, 0 wrong

        // Waiting on the finalizer thread itself returns at once.
        Elsewhere(() => new Waits());
        Collect();
        Console.WriteLine(Waits.Done);                                              // expect: True
    }
    sealed class Waits { public static bool Done; ~Waits() { GC.WaitForPendingFinalizers(); Done = true; } }
}
