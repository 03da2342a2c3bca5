// grafts:
// env: VERVET_DEBUG_STEP_WALKS=1
// gc-debug: no, each instruction of a collection would be stepped
// A green thread is run one instruction at a time through calls on a stack that grows, a throw, and switches to others and back: at each instruction the
// sampler's walk is compared with the calls and returns.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class StepWalks
{
    [DllImport("libc")] static extern int raise(int signal);
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n - 1); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int n) { if (n == 0) throw new InvalidOperationException(); Throw(n - 1); }

    static readonly object gate = new object();
    static volatile bool ends;

    static int Work()
    {
        int sum = Deep(100);
        Thread.Yield();
        lock (gate) sum += Deep(3);
        try { Throw(3); } catch (InvalidOperationException) { sum++; }
        Thread.Sleep(1);
        return sum + Deep(100);
    }

    static void Main()
    {
        var other = Task.RunAsGreenThread(() => { while (!ends) Thread.Yield(); });
        var stepped = Task.RunAsGreenThread(() => {
            int first = Work();
            raise(0);
            raise(5);
            int second = Work();
            raise(5);
            Console.WriteLine(first == second); // expect: True
        });
        stepped.Wait();
        ends = true;
        other.Wait();
    }
}
