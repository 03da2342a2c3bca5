// timeout: 120
// Eight threads allocate, link and check, while one collects all the time; then threads that come and go, and end.
using System;
using System.Collections.Generic;
using System.Threading;

static class ManyThreads
{
    sealed class Node { public int Id; public Node Next; public string Text; public int[] Numbers; }
    static volatile bool stop;
    static int bad, finished;
    static Node[] shared = new Node[64];

    static bool Right(Node n)
    {
        if (n.Text != "node " + n.Id || n.Numbers.Length != n.Id % 20) return false;
        foreach (int k in n.Numbers) if (k != n.Id) return false;
        return true;
    }
    static Node Make(int id, Node next)
    {
        var n = new Node { Id = id, Next = next, Text = "node " + id, Numbers = new int[id % 20] };
        for (int i = 0; i < n.Numbers.Length; i++) n.Numbers[i] = id;
        return n;
    }

    static void Work(int me, int rounds)
    {
        var kept = new Node[100];
        for (int round = 0; round < rounds; round++) {
            Node list = null;
            for (int i = 0; i < 100; i++) list = Make(me * 100000 + round * 100 + i, list);
            kept[round % kept.Length] = list;
            var other = Interlocked.Exchange(ref shared[(me + round) % shared.Length], list);
            if (other != null && !Right(other)) Interlocked.Increment(ref bad);
            var n = kept[(round * 7) % kept.Length];
            for (int i = 0; n != null; n = n.Next, i++) if (!Right(n)) Interlocked.Increment(ref bad);
        }
        Interlocked.Increment(ref finished);
    }

    static void Main()
    {
        var collector = new Thread(() => { for (int i = 0; !stop; i++) { GC.Collect(i % 4 == 0 ? 1 : 0); Thread.Sleep(1); } });
        collector.Start();
        var threads = new List<Thread>();
        for (int i = 0; i < 8; i++) { int me = i; threads.Add(new Thread(() => Work(me, 500))); }
        foreach (var t in threads) t.Start();
        foreach (var t in threads) t.Join();
        Console.WriteLine(finished + " " + bad);        // expect: 8 0

        // Threads that come and go.
        for (int round = 0; round < 50; round++) {
            threads.Clear();
            for (int i = 0; i < 8; i++) { int me = i; threads.Add(new Thread(() => Work(me, 3))); }
            foreach (var t in threads) t.Start();
            foreach (var t in threads) t.Join();
        }
        Console.WriteLine(finished + " " + bad);        // expect: 408 0

        // Threads in tight loops, and blocked ones, do not hold a collection up.
        bool go = true;
        long[] spins = new long[2];
        for (int i = 0; i < 2; i++) { int me = i; new Thread(() => { long n = 0; while (Volatile.Read(ref go)) n++; spins[me] = n; }) { IsBackground = true }.Start(); }
        var gate = new object();
        var blocked = new Thread(() => { lock (gate) { } }) { IsBackground = true };
        lock (gate) {
            blocked.Start();
            for (int i = 0; i < 20; i++) { GC.Collect(i % 2); Thread.Sleep(1); }
        }
        go = false;
        Console.WriteLine(blocked.Join(10000));         // expect: True
        stop = true;
        collector.Join();
        Console.WriteLine("done");                      // expect: done
    }
}
