// env: MONO_GC_PARAMS=max-heap-size=64m,major=marksweep
// timeout: 120
// gc-debug: no, it fills the heap object by object
// Past the limit there is an exception that can be caught, and what was alive before is whole after.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

static class OutOfMemory
{
    sealed class Node { public Node Next; public int Id; public byte[] Data; }

    static Node Build(int count)
    {
        Node head = null;
        for (int i = 0; i < count; i++) head = new Node { Next = head, Id = i, Data = new byte[i % 50] };
        return head;
    }
    static bool Whole(Node head, int count)
    {
        for (int i = count - 1; i >= 0; i--, head = head.Next)
            if (head.Id != i || head.Data.Length != i % 50) return false;
        return head == null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Large(int count)
    {
        var large = new List<byte[]>();
        try { while (large.Count < count) large.Add(new byte[1000000]); }
        catch (OutOfMemoryException) { return -large.Count; }
        return large.Count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Small(int count)
    {
        var small = new object[count];
        int made = 0;
        bool caught = false;
        try { for (; made < count; made++) small[made] = new object[10]; }
        catch (OutOfMemoryException) { caught = true; }
        for (int i = 0; i < made; i++) if (((object[])small[i]).Length != 10) throw new Exception("wrong content");
        Array.Clear(small, 0, count);
        return caught;
    }

    // In a thread of its own, so that afterwards no stack refers to what filled the heap.
    static T Elsewhere<T>(Func<T> work)
    {
        T result = default(T);
        var t = new Thread(() => result = work());
        t.Start();
        t.Join();
        GC.Collect();
        return result;
    }

    static void Main()
    {
        var kept = Build(50000);

        // One array that can never fit.
        try { var a = new byte[200000000]; Console.WriteLine(a.Length); }
        catch (OutOfMemoryException) { Console.WriteLine("one large array"); }              // expect: one large array

        // Large arrays until there is no more; then the memory is to be had again, many times.
        int fitted = Elsewhere(() => Large(1000));
        Console.WriteLine(fitted < -20 && fitted > -70);                                    // expect: True
        Console.WriteLine(Whole(kept, 50000));                                              // expect: True
        bool all = true;
        for (int round = 0; round < 20; round++) all &= Elsewhere(() => Large(20)) == 20;
        Console.WriteLine(all + " " + Whole(kept, 50000));                                  // expect: True True

        // Small objects until there is no more.
        Console.WriteLine(Elsewhere(() => Small(2000000)));                                 // expect: True
        Console.WriteLine(Whole(kept, 50000));                                              // expect: True

        // A string, and a request no heap can ever meet.
        try { Console.WriteLine(new string('x', 100000000).Length); }
        catch (OutOfMemoryException) { Console.WriteLine("a string"); }                     // expect: a string
        try { Console.WriteLine(new long[int.MaxValue].Length); }
        catch (OutOfMemoryException) { Console.WriteLine("the longest array"); }            // expect: the longest array

        var more = Build(50000);
        Console.WriteLine(Whole(kept, 50000) && Whole(more, 50000));                        // expect: True
    }
}
