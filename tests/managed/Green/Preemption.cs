// grafts:
// tiers: all
// A green thread that never blocks does not keep others from running, in loops with calls and without.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Preemption
{
    static volatile bool stop;
    static int Call(int n) { return n + 1; }

    static void Main()
    {
        int busy = Environment.ProcessorCount * 2;
        var tasks = new Task[busy];
        long[] counts = new long[busy];
        for (int i = 0; i < busy; i++) {
            int k = i;
            tasks[i] = Task.RunAsGreenThread(() => {
                if (k % 2 == 0) while (!stop) counts[k]++;
                else { int n = 0; while (!stop) { n = Call(n); counts[k]++; } }
            });
        }
        // These run, and sleep, beside them.
        for (int i = 0; i < 20; i++) Task.RunAsGreenThread(() => Thread.Sleep(1)).Wait();
        for (int i = 0; i < busy; i++) while (Volatile.Read(ref counts[i]) == 0) Thread.Sleep(1);
        stop = true;
        Task.WaitAll(tasks);
        Console.WriteLine("all ran"); // expect: all ran
    }
}
