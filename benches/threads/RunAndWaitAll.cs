// Half a million closures as tasks from one thread, and WaitAll: the first time in the process, and warm.
using System;
using System.Threading;
using System.Threading.Tasks;

static class RunAndWaitAll
{
    static double Once(int count)
    {
        int odd = 0;
        double seconds = Bench.Seconds(() => {
            var all = new Task[count];
            for (int i = 0; i < count; i++) {
                int k = i;
                all[i] = Task.Run(() => { Interlocked.Add(ref odd, k & 1); });
            }
            Task.WaitAll(all);
        });
        Bench.Check(odd == count / 2, "every task ran once");
        return seconds * 1e9 / count;
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 500000);
        Bench.Figure("run-wait-all-first", Once(count), "ns");
        double best = double.MaxValue;
        for (int i = 0; i < 5; i++) best = Math.Min(best, Once(count));
        Bench.Figure("run-wait-all", best, "ns");
    }
}
