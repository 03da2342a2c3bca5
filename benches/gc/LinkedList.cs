// A queue as a linked list: a node is appended and the oldest dropped, with a million in between; each dies old.
using System;

static class LinkedList
{
    sealed class Node { public Node Next; public long Value; }

    static void Run(int live, int count)
    {
        var head = new Node { Value = 0 };
        var tail = head;
        for (int i = 1; i < live; i++) { tail.Next = new Node { Value = i }; tail = tail.Next; }
        long dropped = 0;
        for (int i = live; i < count; i++) {
            tail.Next = new Node { Value = i };
            tail = tail.Next;
            dropped += head.Value;
            head = head.Next;
        }
        long last = count - live;
        Bench.Check(dropped == last * (last - 1) / 2, "the sum of what was dropped");
        int length = 0;
        for (var n = head; n != null; n = n.Next) { Bench.Check(n.Value == last + length, "the order"); length++; }
        Bench.Check(length == live, "the length");
    }

    static void Main(string[] args)
    {
        int live = Bench.Argument(args, 0, 1000000), count = Bench.Argument(args, 1, 50000000);
        Bench.Figure("linked-list", Bench.Seconds(() => Run(live, count)), "s");
    }
}
