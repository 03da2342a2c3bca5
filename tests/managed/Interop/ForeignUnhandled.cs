// cc: -pthread
// exit: 1
// An exception that leaves managed code on a library's thread is unhandled: the event is raised and the process
// ends with code 1, as it does for threads of the program's own.
using System;
using System.Runtime.InteropServices;

static class ForeignUnhandled
{
    delegate void Callback();
    [DllImport("ForeignUnhandled")] static extern void call_from_thread(Callback function);

    static void Throws()
    {
        try { throw new InvalidOperationException("from a foreign thread"); }
        catch (ArgumentException) { Console.WriteLine("caught"); }
    }
    static void Main()
    {
        AppDomain.CurrentDomain.UnhandledException += (s, e) =>
            Console.WriteLine(((Exception)e.ExceptionObject).Message + ", terminating " + e.IsTerminating);
        // expect: from a foreign thread, terminating True
        Callback throws = Throws;
        call_from_thread(throws);
        Console.WriteLine("went on");
        GC.KeepAlive(throws);
    }
}
