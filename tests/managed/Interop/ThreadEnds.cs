// A library's threads call managed code while they end, from the destructors of thread-specific keys, in every round of them.
// Each is a thread that has ended afterwards: it can be joined, and none is counted as running.
// cc: -pthread
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

static class ThreadEnds
{
    delegate int Callback(int round);
    [DllImport("ThreadEnds")] static extern int make_key(int n);
    [DllImport("ThreadEnds")] static extern int end_threads(Callback function, int count, int from);

    static readonly List<Thread> seen = new List<Thread>();
    [ThreadStatic] static object own;

    static int Called(int round)
    {
        // Something in the thread's own memory, window and handles.
        own = new byte[1000];
        var handle = GCHandle.Alloc(own);
        handle.Free();
        lock (seen) if (seen.Count == 0 || seen[seen.Count - 1] != Thread.CurrentThread) seen.Add(Thread.CurrentThread);
        if (round % 3 == 0) GC.Collect(0);
        return round;
    }

    static void Main()
    {
        make_key(0);
        Callback called = Called;
        called(0);
        seen.Clear();
        // The second key is made when the runtime has one for its threads.
        end_threads(called, 1, 0);
        make_key(1);
        foreach (int from in new[] { 0, 1, 2, 5, 6, 7 }) {
            seen.Clear();
            int calls = end_threads(called, 40, from);
            GC.Collect();
            int joined = 0, alive = 0;
            foreach (var t in seen) { if (!t.Join(3000)) break; joined++; }
            foreach (var t in seen) if (t.IsAlive) alive++;
            Console.WriteLine("from " + from + ": " + calls / 40 + " calls of each, all joined " + (joined == seen.Count) + ", alive " + alive);
        }
        GC.Collect();
    }
}
