// A thread that is aborted between a cast and the use of its result, and lives on, keeps nothing of what it cast alive.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

interface I<T> { }
class A { } class B { } class C { } class D { }
class Cast : I<A>, I<B>, I<C>, I<D>, I<I<A>>, I<I<B>>, I<I<C>>, I<I<D>>, I<A[]>, I<B[]>, I<C[]>, I<D[]>, I<I<A[]>>, I<I<B[]>>, I<I<C[]>>, I<I<D[]>> { }

public static class AbortInColdCasts
{
    static int begun;

    // More interfaces than a VTable remembers: casts keep asking the runtime. No call here polls, so an abort meets the loop anywhere.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Casts(object o)
    {
        long n = 0;
        do {
            if ((I<A>)o != null) n++;
            if ((I<B>)o != null) n++;
            if ((I<C>)o != null) n++;
            if ((I<D>)o != null) n++;
            if ((I<I<A>>)o != null) n++;
            if ((I<I<B>>)o != null) n++;
            if ((I<I<C>>)o != null) n++;
            if ((I<I<D>>)o != null) n++;
            if ((I<A[]>)o != null) n++;
            if ((I<B[]>)o != null) n++;
            if ((I<C[]>)o != null) n++;
            if ((I<D[]>)o != null) n++;
            if ((I<I<A[]>>)o != null) n++;
            if ((I<I<B[]>>)o != null) n++;
            if ((I<I<C[]>>)o != null) n++;
            if ((I<I<D[]>>)o != null) n++;
        } while (n % 16 == 0);
        return n;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Loop(WeakReference into)
    {
        var o = new Cast();
        into.Target = o;
        Interlocked.Increment(ref begun);
        Casts(o);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void LoopUntilAborted(WeakReference into)
    {
        try { Loop(into); } catch (ThreadAbortException) { Thread.ResetAbort(); }
    }
    unsafe struct Words { public fixed long Of[64]; }
    // What the frames below left on the stack is overwritten: nearly all of a frame is a local that is cleared. (Small frames have gaps, which nothing writes.)
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        var words = new Words();
        return depth == 0 ? 0 : Clear(depth - 1) + Sum(ref words) & 1;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe int Sum(ref Words words) { fixed (long* of = words.Of) return (int)of[first]; }
    static int first;

    static void Main()
    {
        const int Count = 24;
        var weak = new WeakReference[Count];
        var threads = new Thread[Count];
        var done = new ManualResetEvent(false);
        var aborted = new CountdownEvent(Count);
        for (int i = 0; i < Count; i++) {
            var mine = weak[i] = new WeakReference(null);
            threads[i] = new Thread(() => { LoopUntilAborted(mine); Clear(40); aborted.Signal(); done.WaitOne(); });
            threads[i].IsBackground = true;
            threads[i].Start();
            while (Volatile.Read(ref begun) <= i) Thread.Sleep(1);
            threads[i].Abort();
        }
        aborted.Wait();
        int kept = 0;
        for (int n = 0; n < 3; n++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
        foreach (var w in weak) if (w.IsAlive) kept++;
        // A stale word in one of the stacks may keep an object: they are scanned conservatively.
        Console.WriteLine(kept <= 1 ? "free" : kept + " kept"); // expect: free
        done.Set();
        foreach (var t in threads) t.Join();
    }
}
