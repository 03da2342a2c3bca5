// Sixteen threads allocate, lock, throw and start others while they are sampled ten thousand times a second and the nursery is collected all the time; a
// library's handler nests on the sampler's. The sampler checks its samples itself.
// env: VERVET_DEBUG_SAMPLE=real,10000
// env: MONO_GC_PARAMS=nursery-size=256k,max-heap-size=1g
// cc: -pthread
// split: no, a handler without SA_ONSTACK needs more room than managed code leaves on a stack of 4 KiB
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

static class SampledHeap
{
    [DllImport("SampledHeap")] static extern int begin(int microseconds);
    [DllImport("SampledHeap")] static extern int end();
    [DllImport("SampledHeap")] static extern int send(int thread);
    [DllImport("SampledHeap")] static extern int thread_id();

    class Node { public Node Left, Right; public int Depth; public string Name; }

    static Node Tree(int depth)
    {
        var node = new Node { Depth = depth, Name = "n" + depth };
        if (depth > 0) { node.Left = Tree(depth - 1); node.Right = Tree(depth - 1); }
        return node;
    }
    static int Count(Node node)
    {
        if (node == null) return 0;
        if (node.Name != "n" + node.Depth) throw new Exception("a damaged node");
        return 1 + Count(node.Left) + Count(node.Right);
    }
    static void Throw(int n) { if (n == 0) throw new InvalidOperationException(); Throw(n - 1); }

    static readonly object gate = new object();
    static volatile bool ends;
    static int failures, rounds;
    static readonly int[] ids = new int[Threads];
    const int Threads = 16;

    static void Work(int me)
    {
        try {
            ids[me] = thread_id();
            var kept = Tree(6);
            var map = new Dictionary<string, byte[]>();
            for (int round = 0; !ends; round++) {
                if (Count(Tree(5)) != 63 || Count(kept) != 127) throw new Exception("a wrong count");
                map["k" + round % 50] = new byte[round % 3000];
                lock (gate) rounds++;
                if (round % 10 == 0) try { Throw(5); } catch (InvalidOperationException) { }
                if (round % 40 == 0) kept = Tree(6);
                if (round % 100 == 0) { var t = new Thread(() => Tree(3)); t.Start(); t.Join(); }
            }
        } catch (Exception e) { Console.WriteLine(e); Interlocked.Increment(ref failures); }
    }

    static void Main(string[] args)
    {
        int milliseconds = args.Length > 0 ? int.Parse(args[0]) : 1500;
        if (begin(1000) != 0) Console.WriteLine("no handler");
        var threads = new Thread[Threads];
        for (int i = 0; i < Threads; i++) { int k = i; threads[i] = new Thread(() => Work(k)); threads[i].Start(); }
        var clock = Stopwatch.StartNew();
        for (int i = 0; clock.ElapsedMilliseconds < milliseconds; i++) {
            if (ids[i % Threads] != 0) send(ids[i % Threads]);
            Thread.SpinWait(2000);
        }
        ends = true;
        foreach (var t in threads) t.Join();
        int signals = end();
        Console.WriteLine($"{failures} failures, {rounds > 100}, {signals > 100}"); // expect: 0 failures, True, True
    }
}
