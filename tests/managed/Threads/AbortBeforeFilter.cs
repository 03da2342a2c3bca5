// An abort that is asked for before a filter makes its frame waits until the filter has run: it does not escape the filter, which would
// count as "no" and lose both the catch and the abort.
using System;
using System.Threading;

static class AbortBeforeFilter
{
    static volatile bool started;
    static int filters;

    static bool Filter() { filters++; return true; }
    static void Deep(int n)
    {
        if (n == 0)
            throw new InvalidOperationException();
        Deep(n - 1);
        GC.KeepAlive(null);
    }
    static void Work()
    {
        started = true;
        while (true) {
            try {
                Deep(200);
            } catch (InvalidOperationException) when (Filter()) {
            }
        }
    }
    static int Main()
    {
        for (int round = 0; round < 30; round++) {
            started = false;
            var thread = new Thread(Work) { IsBackground = true };
            thread.Start();
            while (!started)
                Thread.Yield();
            Thread.Sleep(1);
            thread.Abort();
            if (!thread.Join(20000)) {
                Console.WriteLine("round " + round + ": the abort is lost");
                return 1;
            }
        }
        return 0;
    }
}
