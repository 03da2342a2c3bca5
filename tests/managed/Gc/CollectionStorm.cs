// gc-debug: no, every one of very many collections would be verified
// A full collection ends however many threads ask for minor collections meanwhile.
using System;
using System.Threading;

static class CollectionStorm
{
    sealed class Node { public Node Next; public object A, B; }

    static volatile bool stop;
    static void Main()
    {
        Node head = null;
        for (int i = 0; i < 500000; i++) head = new Node { Next = head };
        GC.Collect();
        var threads = new Thread[12];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread(() => { while (!stop) GC.Collect(0); });
            threads[i].Start();
        }
        Thread.Sleep(50);
        for (int i = 0; i < 3; i++) GC.Collect();
        Console.WriteLine("three full collections"); // expect: three full collections
        // Nobody waits for them: memory is found to be free again.
        GC.AddMemoryPressure(1L << 40);
        int before = GC.CollectionCount(1);
        while (GC.CollectionCount(1) == before) Thread.Sleep(1);
        Console.WriteLine("and one that nobody waits for"); // expect: and one that nobody waits for
        stop = true;
        foreach (var t in threads) t.Join();
        int count = 0;
        for (var n = head; n != null; n = n.Next) count++;
        Console.WriteLine(count); // expect: 500000
    }
}
