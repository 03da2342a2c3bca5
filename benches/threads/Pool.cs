// The pool: items and tasks queued from one thread until all have run, forks of tasks, awaits, timers, asynchronous calls.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Pool
{
    static int left;

    static double Queue(int count)
    {
        using (var done = new ManualResetEvent(false)) {
            left = count;
            WaitCallback item = _ => { if (Interlocked.Decrement(ref left) == 0) done.Set(); };
            double seconds = Bench.Seconds(() => {
                for (int i = 0; i < count; i++) ThreadPool.QueueUserWorkItem(item);
                done.WaitOne();
            });
            Bench.Check(left == 0, "every item ran once");
            return seconds * 1e9 / count;
        }
    }

    static double Run(int count)
    {
        using (var done = new ManualResetEvent(false)) {
            left = count;
            Action item = () => { if (Interlocked.Decrement(ref left) == 0) done.Set(); };
            double seconds = Bench.Seconds(() => {
                for (int i = 0; i < count; i++) Task.Run(item);
                done.WaitOne();
            });
            Bench.Check(left == 0, "every task ran once");
            return seconds * 1e9 / count;
        }
    }

    static double RunAndKeep(int count)
    {
        var all = new Task<int>[count];
        long sum = 0;
        double seconds = Bench.Seconds(() => {
            for (int i = 0; i < count; i++) { int n = i; all[i] = Task.Run(() => n); }
            for (int i = 0; i < count; i++) sum += all[i].Result;
        });
        Bench.Check(sum == (long)count * (count - 1) / 2, "the tasks' results");
        return seconds * 1e9 / count;
    }

    static int Fork(int depth)
    {
        if (depth == 0) return 1;
        var other = Task.Run(() => Fork(depth - 1));
        return Fork(depth - 1) + other.Result;
    }

    static async Task<int> Yields(int count)
    {
        int n = 0;
        for (int i = 0; i < count; i++) { await Task.Yield(); n++; }
        return n;
    }

    static async Task<int> Leaf(int i) { await Task.CompletedTask; return i; }
    static async Task<int> Middle(int i) { return await Leaf(i) + 1; }
    static async Task<long> Calls(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++) sum += await Middle(i);
        return sum;
    }

    static double Timers(int count)
    {
        var all = new Timer[count];
        TimerCallback never = _ => { };
        double seconds = Bench.Seconds(() => {
            for (int i = 0; i < count; i++) all[i] = new Timer(never, null, 1000000 + i % 1000, -1);
            for (int i = 0; i < count; i++) all[i].Dispose();
        });
        return seconds * 1e9 / count;
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 1000000);
        Queue(count / 10);
        Bench.Figure("queue-user-work-item", Queue(count), "ns");
        Run(count / 10);
        Bench.Figure("task-run", Run(count), "ns");
        RunAndKeep(count / 10);
        Bench.Figure("task-run-kept", RunAndKeep(count), "ns");
        int depth = (int)Math.Log(count / 4, 2);
        Fork(depth - 3);
        int leaves = 0;
        double fork = Bench.Seconds(() => leaves = Fork(depth));
        Bench.Check(leaves == 1 << depth, "every fork came back");
        Bench.Figure("task-fork", fork * 1e9 / leaves, "ns");
        int yields = count / 2;
        Yields(yields / 10).Wait();
        double yield = Bench.Seconds(() => Bench.Check(Yields(yields).Result == yields, "every yield came back"));
        Bench.Figure("await-yield", yield * 1e9 / yields, "ns");
        Calls(count / 10).Wait();
        double calls = Bench.Seconds(() => Bench.Check(Calls(count).Result == (long)count * (count + 1) / 2, "the calls' results"));
        Bench.Figure("await-call", calls * 1e9 / (2.0 * count), "ns");
        Timers(count / 10);
        Bench.Figure("timer-arm-dispose", Timers(count), "ns");
    }
}
