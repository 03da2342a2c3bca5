// Weak references made by ten threads, most of them garbage at once, while the main thread collects all the time.
//
// Each thread also keeps a ring of them, some with a target that lives, so that the tables are scanned and expired too.
using System;
using System.Threading;

static class WeakReferences
{
    const int Threads = 10, Ring = 1024;
    static int ended;

    static void Work(int me, int count)
    {
        var ring = new WeakReference[Ring];
        var kept = new object[Ring];
        for (int i = 0; i < count; i++) {
            var target = new object();
            int at = i % Ring;
            kept[at] = at % 8 == 0 ? target : null;
            ring[at] = new WeakReference(target);
        }
        for (int at = 0; at < Ring; at += 8) Bench.Check(ring[at].Target == kept[at], "a weak reference to a live object");
        Interlocked.Increment(ref ended);
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 40000), rounds = Bench.Argument(args, 1, 5), collections = 0;
        double seconds = Bench.Seconds(() => {
            for (int round = 0; round < rounds; round++) {
                ended = 0;
                var threads = new Thread[Threads];
                for (int i = 0; i < Threads; i++) {
                    int me = i;
                    threads[i] = new Thread(() => Work(me, count));
                }
                foreach (var t in threads) t.Start();
                while (Volatile.Read(ref ended) < Threads) { GC.Collect(); collections++; Thread.Sleep(1); }
                foreach (var t in threads) t.Join();
            }
        });
        Bench.Check(collections > 0, "collections ran");
        Bench.Figure("weak-references", seconds, "s");
    }
}
