// grafts:
// cc: -lm -frounding-math
// How a thread rounds is its own, whatever native code it calls and whichever carrier runs it: what one green thread sets stays with it over all kinds
// of waits, and neither others, nor the next one with the same record, find it. A thread that a program starts rounds as the one that starts it.
using System;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class FloatModes
{
    delegate int Callback();
    [DllImport("FloatModes")] static extern int set_rounding(int mode);
    [DllImport("FloatModes")] static extern int rounding();
    [DllImport("FloatModes")] static extern int call_back(Callback f);

    const int Up = 3; // both units
    static int wrong;

    static void Expect(int mode) { if (rounding() != mode) Interlocked.Increment(ref wrong); }

    // Half of the threads round up, and wait in turn for each other in each way.
    static void Mixed(Action<int> wait)
    {
        var all = new Task[16];
        for (int i = 0; i < all.Length; i++) {
            int mode = i % 2 * Up;
            all[i] = Task.RunAsGreenThread(() => {
                Expect(0);
                set_rounding(mode);
                for (int round = 0; round < 20; round++) {
                    wait(round);
                    Expect(mode);
                }
            });
        }
        Task.WaitAll(all);
    }

    static void Main()
    {
        var turn = new SemaphoreSlim(1);
        var gate = new object();
        Mixed(_ => Thread.Yield());
        Mixed(_ => Thread.Sleep(1));
        Mixed(_ => { turn.Wait(); Thread.Yield(); turn.Release(); });
        Mixed(_ => { lock (gate) Monitor.Wait(gate, 1); });
        // Native frames are below the wait.
        Mixed(round => { if (call_back(() => { Thread.Sleep(1); return rounding(); }) % 11 != 0) Interlocked.Increment(ref wrong); });
        // It is made to let the others run.
        Mixed(round => { if (round % 10 == 0) for (long end = Environment.TickCount + 15; Environment.TickCount < end;) { } });
        Console.WriteLine(wrong); // expect: 0

        int started = Task.RunAsGreenThread(() => {
            set_rounding(1);
            int found = -1;
            var thread = new Thread(() => found = rounding());
            thread.Start();
            thread.Join();
            return found;
        }).Result;
        Console.WriteLine(started); // expect: 3
        Console.WriteLine(rounding()); // expect: 0
    }
}
