// A GC handle's two hot paths, alone and under contention: Alloc with Free, and Target, by 1, 2 and 8 threads.
using System;
using System.Runtime.InteropServices;

static class Handles
{
    static object[] objects = new object[64];

    static void AllocFree(int me, int count)
    {
        object o = objects[me];
        for (int i = 0; i < count; i++) {
            var handle = GCHandle.Alloc(o);
            handle.Free();
        }
    }

    static void Target(int me, int count, object[] seen)
    {
        var handle = GCHandle.Alloc(objects[me]);
        object last = null;
        for (int i = 0; i < count; i++) last = handle.Target;
        seen[me] = last;
        handle.Free();
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 3000000);
        for (int i = 0; i < objects.Length; i++) objects[i] = i;
        AllocFree(0, count / 10);
        Target(0, count / 10, new object[1]);
        foreach (int threads in new[] { 1, 2, 8 }) {
            int each = count / (threads > 2 ? 2 : 1);
            double seconds = Bench.OnThreads(threads, me => AllocFree(me, each));
            Bench.Figure("handle-alloc-free-" + threads, Bench.NanosecondsEach(seconds, threads, each), "ns");
        }
        foreach (int threads in new[] { 1, 2, 8 }) {
            int each = count * 2 / (threads > 2 ? 2 : 1);
            var seen = new object[threads];
            double seconds = Bench.OnThreads(threads, me => Target(me, each, seen));
            for (int i = 0; i < threads; i++) Bench.Check(seen[i] == objects[i], "the target of a handle");
            Bench.Figure("handle-target-" + threads, Bench.NanosecondsEach(seconds, threads, each), "ns");
        }
    }
}
