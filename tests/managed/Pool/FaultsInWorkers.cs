// Every worker of the pool turns faults into exceptions, also one that was started because the others are blocked.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Item { public int Value; }

static class FaultsInWorkers
{
    static readonly Item nothing = null;
    static int zero;
    // Methods without handlers leave the checks to the hardware.
    [MethodImpl(MethodImplOptions.NoInlining)] static int Read(Item item) { return item.Value; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Divide(int n) { return 1 / n; }
    static void Main()
    {
        int min, other, caught = 0, ended = 0;
        ThreadPool.GetMinThreads(out min, out other);
        int count = min + 4;
        var release = new ManualResetEvent(false);
        for (int i = 0; i < count; i++)
            ThreadPool.QueueUserWorkItem(_ =>
            {
                try { Read(nothing); } catch (NullReferenceException) { Interlocked.Increment(ref caught); }
                try { Divide(zero); } catch (DivideByZeroException) { Interlocked.Increment(ref caught); }
                // All must come so far at once, so the last ones run on threads of their own.
                if (Interlocked.Increment(ref ended) == count) release.Set();
                release.WaitOne();
            });
        release.WaitOne();
        Console.WriteLine(caught == 2 * count);  // expect: True
    }
}
