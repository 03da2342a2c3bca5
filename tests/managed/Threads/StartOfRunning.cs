// A thread that runs cannot be started, also one that managed code has not made.
using System;
using System.Threading;

static class StartOfRunning
{
    static void Try(Action action)
    {
        try { action(); }
        catch (ThreadStateException e) { Console.WriteLine(e.Message); }
    }
    static void Main()
    {
        Try(() => Thread.CurrentThread.Start()); // expect: Thread has already been started.
        Try(() => Thread.CurrentThread.Start(4)); // expect: Thread has already been started.
        var done = new ManualResetEvent(false);
        ThreadPool.QueueUserWorkItem(_ => { Try(() => Thread.CurrentThread.Start()); done.Set(); }); // expect: Thread has already been started.
        done.WaitOne();
    }
}
