// A million closures queued to the pool from one thread, until all have run: the first time in the process, and warm.
using System;
using System.Threading;

static class QueueClosures
{
    static int left;

    static double Once(int count)
    {
        long sum = 0;
        left = count;
        using (var done = new ManualResetEvent(false)) {
            double seconds = Bench.Seconds(() => {
                for (int i = 0; i < count; i++) {
                    int k = i;
                    ThreadPool.QueueUserWorkItem(_ => {
                        Interlocked.Add(ref sum, k);
                        if (Interlocked.Decrement(ref left) == 0) done.Set();
                    });
                }
                done.WaitOne();
            });
            Bench.Check(sum == (long)count * (count - 1) / 2, "every closure ran once");
            return seconds * 1e9 / count;
        }
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 1000000);
        Bench.Figure("queue-closures-first", Once(count), "ns");
        double best = double.MaxValue;
        for (int i = 0; i < 5; i++) best = Math.Min(best, Once(count));
        Bench.Figure("queue-closures", best, "ns");
    }
}
