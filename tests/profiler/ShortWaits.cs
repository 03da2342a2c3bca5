// Threads that call native code and wait, for next to nothing, on stacks of changing depth: what the sampler reads of one that has gone on meanwhile is no sample.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class ShortWaits
{
    [DllImport("libc")] static extern int getppid();
    [DllImport("libc")] static extern int usleep(uint time);
    [DllImport("libc")] static extern int sched_yield();

    static volatile bool stop;

    static int Deep(int depth, int kind)
    {
        if (depth > 0) return Deep(depth - 1, kind) + 1;
        return kind == 0 ? sched_yield() : kind == 1 ? usleep(0) : getppid();
    }

    static void Main()
    {
        var all = new Thread[4];
        for (int t = 0; t < all.Length; t++) {
            int kind = t;
            all[t] = new Thread(() => {
                var o = new object();
                for (int i = 0; !stop; i++) {
                    Deep(i % 7, kind % 3);
                    if (kind % 2 == 0) lock (o) Monitor.Wait(o, 0);
                    Thread.Sleep(0);
                }
            });
            all[t].Start();
        }
        Thread.Sleep(3000);
        stop = true;
        foreach (var t in all) t.Join();
    }
}
