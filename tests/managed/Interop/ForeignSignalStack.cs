// A library's alternate signal stack and handler, on a thread that is stopped for collections again and again: often while
// the handler runs, on a stack that is neither the thread's nor ours.
// cc:
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class ForeignSignalStack
{
    [DllImport("ForeignSignalStack")] static extern int begin();
    [DllImport("ForeignSignalStack")] static extern int end();

    sealed class Node { public Node Next; public int Value; }

    static volatile bool done;
    static volatile int collections;

    static void Main()
    {
        Console.WriteLine(begin()); // expect: 0
        var collector = new Thread(() => {
            // The signals of the timer are for the first thread.
            while (!done) { GC.Collect(0); collections++; }
        });
        collector.Start();
        var until = DateTime.UtcNow.AddSeconds(1.5);
        int wrong = 0;
        while (DateTime.UtcNow < until || collections < 200) {
            Node list = null;
            for (int i = 0; i < 1000; i++) list = new Node { Next = list, Value = i };
            int k = 1000;
            for (var n = list; n != null; n = n.Next) if (n.Value != --k) wrong++;
        }
        done = true;
        collector.Join();
        Console.WriteLine(end() > 20); // expect: True
        Console.WriteLine("wrong " + wrong); // expect: wrong 0
    }
}
