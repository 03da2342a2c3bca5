// Locks on 200,000 objects, of ten threads, across collections: free ones, nested ones, and ones held while it collects.
using System;
using System.Threading;

static class Locks
{
    const int Threads = 10;
    static object shared;
    static int total;

    static void Round(int count)
    {
        var own = new object();
        int entered = 0;
        lock (own) {
            var objects = new object[count];
            for (int i = 0; i < count; i++) objects[i] = new object();
            for (int i = 0; i < count; i++) {
                lock (objects[i]) {
                    var made = new string('x', 32);
                    shared = made;
                    if (i % 12 == 0) objects[i] = made;
                    entered++;
                }
            }
            GC.Collect();
            for (int i = 0; i < count; i++) lock (objects[i]) entered++;
            for (int i = 0; i < count; i += 64) {
                lock (objects[i])
                    for (int j = i; j < Math.Min(i + 64, count); j++) lock (objects[j]) entered++;
            }
        }
        Interlocked.Add(ref total, entered);
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 20000), rounds = Bench.Argument(args, 1, 50);
        double seconds = Bench.OnThreads(Threads, me => { for (int i = 0; i < rounds; i++) Round(count); });
        Bench.Check(total == Threads * rounds * count * 3 && shared != null, "each object was entered three times");
        Bench.Figure("locks-200k", seconds, "s");
    }
}
