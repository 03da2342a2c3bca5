// timeout: 120
// gc-debug: no, each collection would verify ten million objects
// A list of ten million nodes, a tree that is a list, and an array chain as deep: marking must not recurse.
using System;

static class DeepList
{
    sealed class Node { public Node Next; public int Id; }
    sealed class Fork { public Fork Left, Right; public int Id; }

    static Node list;
    static object[] nested;

    static void Main()
    {
        for (int i = 0; i < 10000000; i++) list = new Node { Next = list, Id = i };
        GC.Collect();
        GC.Collect(0);
        long sum = 0;
        int count = 0;
        for (var n = list; n != null; n = n.Next) { sum += n.Id; count++; }
        Console.WriteLine(count + " " + sum);           // expect: 10000000 49999995000000

        // Reversed in place: old objects, all changed.
        Node reversed = null;
        for (var n = list; n != null; ) { var next = n.Next; n.Next = reversed; reversed = n; n = next; }
        list = reversed;
        GC.Collect();
        count = 0;
        for (var n = list; n != null; n = n.Next) if (n.Id != count++) throw new Exception("wrong order");
        Console.WriteLine(count);                       // expect: 10000000
        list = null;
        reversed = null;

        // A tail that grows at an old end, young node by young node.
        var head = new Node();
        var tail = head;
        for (int i = 1; i < 1000000; i++) { tail.Next = new Node { Id = i }; tail = tail.Next; if (i % 250000 == 0) GC.Collect(); }
        count = 0;
        for (var n = head; n != null; n = n.Next) if (n.Id != count++) throw new Exception("wrong order");
        Console.WriteLine(count);                       // expect: 1000000

        Fork fork = null;
        for (int i = 0; i < 1000000; i++) fork = i % 2 == 0 ? new Fork { Left = fork, Right = new Fork { Id = i }, Id = i } : new Fork { Right = fork, Left = fork, Id = i };
        GC.Collect();
        count = 0;
        for (var f = fork; f != null; f = f.Id % 2 == 0 ? f.Left : f.Right) count++;
        Console.WriteLine(count);                       // expect: 1000000

        for (int i = 0; i < 1000000; i++) nested = new object[] { i, nested };
        GC.Collect();
        count = 0;
        for (var a = nested; a != null; a = (object[])a[1]) if ((int)a[0] != 999999 - count++) throw new Exception("wrong order");
        Console.WriteLine(count);                       // expect: 1000000
    }
}
