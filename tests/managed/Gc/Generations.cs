// A graph with cycles and sharing keeps its content through many collections of both kinds, young and old.
using System;
using System.Collections.Generic;

sealed class Node
{
    public int Id;
    public Node[] Out;
    public string Name;
    public long Sum() { return Id * 31L + Name.Length + Out.Length; }
}

static class Generations
{
    const int Count = 20000;
    static Node[] nodes;
    static object garbage;

    static Node Make(int id) { return new Node { Id = id, Name = "node " + id, Out = new Node[id % 5] }; }

    static void Link(int id)
    {
        var n = nodes[id];
        for (int i = 0; i < n.Out.Length; i++) n.Out[i] = nodes[(int)((id * 7919L + i * 104729L) % Count)];
    }

    // Walks everything that can be reached from a few nodes; the order is that of discovery.
    static long Checksum()
    {
        var seen = new HashSet<Node>();
        var queue = new Queue<Node>();
        for (int i = 0; i < Count; i += 100) if (seen.Add(nodes[i])) queue.Enqueue(nodes[i]);
        long sum = 0;
        while (queue.Count > 0) {
            var n = queue.Dequeue();
            if (n.Name != "node " + n.Id || nodes[n.Id] != n) throw new Exception("wrong node " + n.Id);
            sum = unchecked(sum * 1000003 + n.Sum());
            foreach (var o in n.Out) if (seen.Add(o)) queue.Enqueue(o);
        }
        return unchecked(sum + seen.Count);
    }

    static void Main()
    {
        Console.WriteLine(GC.MaxGeneration);                    // expect: 1
        nodes = new Node[Count];
        for (int i = 0; i < Count; i++) nodes[i] = Make(i);
        for (int i = 0; i < Count; i++) Link(i);
        long first = Checksum();
        bool same = true;
        for (int round = 0; round < 60; round++) {
            for (int i = 0; i < 5000; i++) garbage = new Node { Name = "garbage", Out = new Node[3] };
            if (round % 6 == 0) GC.Collect(); else GC.Collect(0);
            if (round % 5 == 0) same &= Checksum() == first;
        }
        Console.WriteLine(same);                                // expect: True

        // Half of the nodes are replaced by young ones with the same content, linked from old ones and to old ones.
        for (int round = 0; round < 20; round++) {
            for (int i = round % 2; i < Count; i += 2) nodes[i] = Make(i);
            for (int i = 0; i < Count; i++) Link(i);
            GC.Collect(round % 3 == 0 ? 1 : 0);
            same &= Checksum() == first;
        }
        Console.WriteLine(same);                                // expect: True

        // What has lived through a full collection is old.
        GC.Collect();
        int old = 0;
        for (int i = 0; i < Count; i += 10) old += GC.GetGeneration(nodes[i]);
        Console.WriteLine(old > Count / 10 - 20);               // expect: True
        Console.WriteLine(GC.GetGeneration(new object()));      // expect: 0
        var weak = new WeakReference(nodes);
        Console.WriteLine(GC.GetGeneration(weak));              // expect: 1
        try { GC.Collect(-1); } catch (ArgumentOutOfRangeException) { Console.WriteLine("range"); }     // expect: range
        GC.Collect(100);
        Console.WriteLine(Checksum() == first);                 // expect: True
    }
}
