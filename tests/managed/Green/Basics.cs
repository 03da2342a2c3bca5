// grafts:
// What a green thread does that Task.RunAsGreenThread starts: it waits, computes, recurses, throws and collects, a thousand at a time.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

static class Basics
{
    static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n - 1); }

    static void All(int count, Action<int> work)
    {
        var tasks = new Task[count];
        for (int i = 0; i < count; i++) {
            int k = i;
            tasks[i] = Task.RunAsGreenThread(() => work(k));
        }
        Task.WaitAll(tasks);
    }

    static void Main()
    {
        var gate = new SemaphoreSlim(0);
        int sum = 0;
        var waiting = new List<Task>();
        for (int i = 0; i < 1000; i++) {
            int k = i;
            waiting.Add(Task.RunAsGreenThread(() => { gate.Wait(); Interlocked.Add(ref sum, k); }));
        }
        gate.Release(1000);
        Task.WaitAll(waiting.ToArray());
        Console.WriteLine("semaphore {0}", sum); // expect: semaphore 499500

        object o = new object();
        int count = 0;
        All(100, _ => {
            for (int j = 0; j < 1000; j++)
                lock (o) { count++; if (j % 100 == 0) Thread.Yield(); }
        });
        Console.WriteLine("lock {0}", count); // expect: lock 100000

        bool go = false;
        int passed = 0;
        for (int i = 0; i < 500; i++)
            waiting.Add(Task.RunAsGreenThread(() => { lock (o) { while (!go) Monitor.Wait(o); passed++; } }));
        Thread.Sleep(20);
        lock (o) { go = true; Monitor.PulseAll(o); }
        Task.WaitAll(waiting.ToArray());
        Console.WriteLine("pulse {0}", passed); // expect: pulse 500

        int slept = 0;
        All(500, k => { for (int j = 0; j < 5; j++) Thread.Sleep(1 + k % 3); Interlocked.Increment(ref slept); });
        Console.WriteLine("sleep {0}", slept); // expect: sleep 500

        All(20, _ => {
            var kept = new List<byte[]>();
            for (int j = 0; j < 5000; j++) {
                kept.Add(new byte[100]);
                if (j % 500 == 0) { Thread.Sleep(1); kept.Clear(); }
            }
            GC.Collect();
            foreach (var bytes in kept) if (bytes.Length != 100) throw new Exception("not as it was");
        });
        Console.WriteLine("collections"); // expect: collections

        All(10, _ => { if (Deep(50000) != 50000) throw new Exception("depth"); });
        Console.WriteLine("depth"); // expect: depth
        try { Task.RunAsGreenThread(() => Deep(100000000)).Wait(); }
        catch (AggregateException e) { Console.WriteLine(e.InnerException.GetType().Name); } // expect: StackOverflowException
        Console.WriteLine(Task.RunAsGreenThread(() => Deep(1000)).Result); // expect: 1000

        // A timed wait that is over gives up, and nothing is left of its timer.
        All(200, _ => {
            var never = new ManualResetEventSlim();
            if (never.Wait(2)) throw new Exception("set");
            lock (never) if (Monitor.Wait(never, 1)) throw new Exception("pulsed");
            using (var e = new AutoResetEvent(false)) if (e.WaitOne(1)) throw new Exception("signalled");
        });
        Console.WriteLine("time-outs"); // expect: time-outs
    }
}
