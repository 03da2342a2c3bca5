// env: MONO_GC_PARAMS=max-heap-size=64m
// timeout: 120
// gc-debug: no, it fills the heap object by object
// The limit holds for a program that asks for minor collections all the time, and for one that goes on after OutOfMemoryException.
using System;
using System.Threading;

static class LimitAndCollections
{
    sealed class Node { public Node Next; public long A, B, C, D; }

    // How many megabytes of nodes there are when it is too much, at most so many.
    static long Fill(int most, int ask)
    {
        const int Bytes = 48;
        Node head = null;
        long n = 0;
        try {
            for (; n * Bytes >> 20 < most; n++) {
                head = new Node { Next = head };
                if (ask != 0 && n % ask == 0) GC.Collect(0);
            }
        } catch (OutOfMemoryException) { }
        GC.KeepAlive(head);
        return n * Bytes >> 20;
    }
    // The same, but what cannot be had is asked for again and again.
    static long FillOn(int tries)
    {
        const int Bytes = 48;
        Node head = null;
        long n = 0;
        for (int failed = 0; failed < tries; ) {
            try { for (;;) { head = new Node { Next = head }; n++; } }
            catch (OutOfMemoryException) { failed++; }
            if (n * Bytes >> 20 > 1000) break;
        }
        GC.KeepAlive(head);
        return n * Bytes >> 20;
    }
    // Fills on a thread of its own: stacks are scanned conservatively, and what its dead frames still name is forgotten with its stack.
    static long OnThread(Func<long> fill)
    {
        long filled = 0;
        var thread = new Thread(() => filled = fill());
        thread.Start();
        thread.Join();
        return filled;
    }
    static void Main()
    {
        long plain = OnThread(() => Fill(300, 0));
        Console.WriteLine("{0} {1}", plain > 40, plain < 80); // expect: True True
        GC.Collect();
        long asking = OnThread(() => Fill(300, 2000));
        Console.WriteLine("{0} {1}", asking > 40, asking < 80); // expect: True True
        GC.Collect();
        long on = OnThread(() => FillOn(40));
        Console.WriteLine("{0} {1}", on > 40, on < 90); // expect: True True
        GC.Collect();
        Console.WriteLine(GC.GetTotalMemory(true) < 8 << 20); // expect: True
    }
}
