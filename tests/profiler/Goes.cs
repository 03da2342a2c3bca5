// A program that goes on until a line is read: tests/profiler.sh starts recordings in it.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class Goes {
    static volatile bool end;
    static object last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make() {
        while (!end) for (int i = 0; i < 1000; i++) last = new byte[100];
    }
    static int Main() {
        var clerk = new Thread(Make) { Name = "clerk 1" };
        clerk.Start();
        Console.WriteLine("goes");
        Console.ReadLine();
        end = true;
        clerk.Join();
        GC.KeepAlive(last);
        return 3;
    }
}
