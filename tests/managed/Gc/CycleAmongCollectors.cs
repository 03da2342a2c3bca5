// A full collection ends although sixteen threads stop the world all the time.
// gc-debug: no, the verifier reads 800,000 objects twice at each of thousands of stops
using System;
using System.Threading;

class Node { public Node Next; public long A; }

static class CycleAmongCollectors
{
    static volatile bool stop;

    static Node List(int count)
    {
        Node list = null;
        for (int i = 0; i < count; i++) list = new Node { Next = list, A = i };
        return list;
    }

    static void Main()
    {
        // More than is marked in one stop.
        var keep = List(800000);
        var threads = new Thread[16];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread(() => {
                while (!stop) { List(100); GC.Collect(0); }
            });
            threads[i].Start();
        }
        for (int i = 0; i < 3; i++) {
            int before = GC.CollectionCount(2);
            GC.Collect();
            Console.WriteLine(GC.CollectionCount(2) > before); // expect: True
                                                               // expect: True
                                                               // expect: True
        }
        stop = true;
        foreach (var t in threads) t.Join();
        long sum = 0;
        for (var n = keep; n != null; n = n.Next) sum += n.A;
        Console.WriteLine(sum); // expect: 319999600000
    }
}
