// grafts:
// cc:
// A green thread below native code that computes without end, or yields without end, lets others run: it gives its processor away and waits for its turn.
using System;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class BoundPreemption
{
    delegate int Callback();
    [DllImport("BoundPreemption")] static extern int call_back(Callback f);

    static volatile bool stop;
    static int begun;

    static void Main()
    {
        int count = Environment.ProcessorCount * 2;
        var tasks = new Task[count];
        for (int i = 0; i < count; i++) {
            bool yields = i % 2 == 0;
            tasks[i] = Task.RunAsGreenThread(() => call_back(() => {
                Interlocked.Increment(ref begun);
                while (!stop) if (yields) Thread.Yield();
                return 0;
            }));
        }
        while (Volatile.Read(ref begun) < count) Thread.Sleep(1);
        Task.RunAsGreenThread(() => stop = true).Wait();
        Task.WaitAll(tasks);
        Console.WriteLine("all ended"); // expect: all ended
    }
}
