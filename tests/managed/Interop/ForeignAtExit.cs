// The process ends while a library's thread calls managed code all the time: the thread is aborted quietly, and the finally of
// another has the time it needs.
// cc: -pthread
// exit: 7
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class ForeignAtExit
{
    delegate int Callback(int i);
    [DllImport("ForeignAtExit")] static extern int call_for_ever(Callback f);

    static Callback callback;
    static int calls;

    static int Main()
    {
        var ready = new ManualResetEvent(false);
        var other = new Thread(() =>
        {
            try { ready.Set(); Thread.Sleep(Timeout.Infinite); }
            finally { Thread.Sleep(300); Console.WriteLine("finally"); }  // expect: finally
        });
        other.IsBackground = true;
        other.Start();
        callback = i => { calls++; return i; };
        call_for_ever(callback);
        while (calls < 1000) Thread.Sleep(1);
        ready.WaitOne();
        return 7;
    }
}
