// More threads are asked to abort, and cannot yet, than the retry thread redirects in one try: one that runs a loop without calls has its turn all the same.
// expect: True
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class ManyAborts
{
    [DllImport("libc")]
    static extern int usleep(uint microseconds);

    static volatile int count;
    static readonly ManualResetEvent go = new ManualResetEvent(false);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Loop()
    {
        usleep(1000000);
        for (;;)
            count++;
    }

    static void Main()
    {
        const int Waiting = 80;
        // The oldest thread is the last in the list.
        var looping = new Thread(() => { go.WaitOne(); Loop(); }) { IsBackground = true };
        looping.Start();
        int inside = 0;
        var waiting = new Thread[Waiting];
        for (int i = 0; i < Waiting; i++)
        {
            waiting[i] = new Thread(() => { try { } finally { Interlocked.Increment(ref inside); Thread.Sleep(60000); } }, 65536);
            waiting[i].IsBackground = true;
            waiting[i].Start();
        }
        while (Volatile.Read(ref inside) < Waiting)
            Thread.Sleep(10);
        foreach (var thread in waiting)
            thread.Abort();
        go.Set();
        Thread.Sleep(200);
        looping.Abort();
        Console.WriteLine(looping.Join(30000));
        Environment.Exit(0);
    }
}
