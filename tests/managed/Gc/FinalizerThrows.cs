// exit: 255
// An exception that leaves a finalizer is an unhandled exception: it ends the process, after the event.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class FinalizerThrows
{
    sealed class Throws { ~Throws() { throw new InvalidOperationException("from a finalizer"); } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int depth) { if (depth > 0) Make(depth - 1); else for (int i = 0; i < 10; i++) new Throws(); }

    static void Main()
    {
        AppDomain.CurrentDomain.UnhandledException += (sender, e) => {
            Console.WriteLine(((Exception)e.ExceptionObject).Message + " " + e.IsTerminating);   // expect: from a finalizer True
        };
        var t = new Thread(() => Make(30));
        t.Start();
        t.Join();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Thread.Sleep(5000);
        Console.WriteLine("still here");
    }
}
