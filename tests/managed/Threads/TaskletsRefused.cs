// mcs: -unsafe -r:Mono.Tasklets.dll
// split: no, the messages are those of an ordinary thread
// green: no, as above
using System;
using System.Reflection;
using Mono.Tasklets;

// Where a continuation cannot go on, an exception says why, and the program goes on.
static class TaskletsRefused
{
    static void Try(string what, Action a)
    {
        try { a(); Console.WriteLine("{0}: done", what); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message); }
    }

    static Continuation c;
    static int Marks() { c = new Continuation(); c.Mark(); return c.Store(0); }
    public static void Stores() { c.Store(0); }
    public static void Restores() { c.Restore(1); }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static unsafe int StoresWith(int n)
    {
        int* p = stackalloc int[n];
        p[n - 1] = c.Store(0);
        return p[n - 1];
    }
    static int step;
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static unsafe int Caller(int n)
    {
        int* p = stackalloc int[n];
        for (int i = 0; i < n; i++) p[i] = i;
        Marked();
        for (int i = 0; i < n; i++) if (p[i] != i) throw new Exception("overwritten");
        return p[n - 1];
    }
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static void Marked()
    {
        if (step++ == 0) { c = new Continuation(); c.Mark(); c.Store(0); }
        else c.Restore(1);
    }

    static void Main()
    {
        Try("callers gone", () => { Marks(); Restores(); });
        // expect: callers gone: NotSupportedException: The callers of the marked frame are not at the calls where it was marked
        Try("marked frame gone", () => { Marks(); Stores(); });
        // expect: marked frame gone: NotSupportedException: The marked frame is not active, or native frames lie behind it
        Try("native frames", () => {
            c = new Continuation();
            c.Mark();
            try { typeof(TaskletsRefused).GetMethod("Stores").Invoke(null, null); }
            catch (TargetInvocationException e) { throw e.InnerException; }
        });
        // expect: native frames: NotSupportedException: The marked frame is not active, or native frames lie behind it
        Try("native frames on the way back", () => {
            c = new Continuation();
            c.Mark();
            if (c.Store(0) != 0) throw new Exception("went on");
            try { typeof(TaskletsRefused).GetMethod("Restores").Invoke(null, null); }
            catch (TargetInvocationException e) { throw e.InnerException; }
        });
        // expect: native frames on the way back: NotSupportedException: The callers of the marked frame are not at the calls where it was marked
        Try("another number", () => {
            var field = typeof(Continuation).GetField("cont", BindingFlags.NonPublic | BindingFlags.Instance);
            var broken = new Continuation();
            field.SetValue(broken, (IntPtr)12345678);
            broken.Mark();
        });
        // expect: another number: ArgumentException: Continuation not initialized
        // expect: Parameter name: cont
        Try("stackalloc between", () => { c = new Continuation(); c.Mark(); StoresWith(100); });
        // expect: stackalloc between: NotSupportedException: Frames behind the mark have memory of stackalloc
        // (The memory would have been taken for that of a frame which is abandoned.)
        Try("another caller's stackalloc", () => { step = 0; foreach (int n in new[] { 4, 3000 }) Caller(n); });
        // expect: another caller's stackalloc: NotSupportedException: Frames behind the mark have memory of stackalloc
        // Threads that end give their contexts to later ones.
        var threads = new System.Collections.Generic.List<string>();
        step = 0;
        for (int i = 0; i < 3; i++) {
            var t = new System.Threading.Thread(() => {
                try { Marked(); threads.Add("done"); } catch (Exception e) { threads.Add(e.GetType().Name); }
            });
            t.Start();
            t.Join();
        }
        Console.WriteLine("threads: " + string.Join(" ", threads));
        // expect: threads: done ArgumentException ArgumentException
        Try("plain", () => {
            c = new Continuation();
            c.Mark();
            int state = c.Store(0);
            if (state < 3) c.Restore(state + 1);
        });
        // expect: plain: done
    }
}
