// A mutex that a thread has abandoned may be released by any thread, as often as it likes, until somebody takes it. Limits of the
// pool.
using System;
using System.Threading;

static class ReleasedByOthers
{
    static void On(ThreadStart work)
    {
        var t = new Thread(work);
        t.Start();
        t.Join();
    }
    static string Release(Mutex m)
    {
        try { m.ReleaseMutex(); return "released"; }
        catch (Exception e) { return e.GetType().Name + ": " + e.Message; }
    }
    static string Take(Mutex m)
    {
        try { return m.WaitOne(0) ? "taken" : "busy"; }
        catch (AbandonedMutexException e) { return "abandoned " + e.MutexIndex; }
    }
    static void Main()
    {
        var m = new Mutex();
        Console.WriteLine(Release(m)); // expect: ApplicationException: Mutex is not owned
        On(() => m.WaitOne());
        Console.WriteLine(Release(m)); // expect: released
        Console.WriteLine(Release(m)); // expect: released
        On(() => Console.WriteLine(Release(m))); // expect: released
        Console.WriteLine(Take(m)); // expect: abandoned -1
        Console.WriteLine(Release(m)); // expect: released
        Console.WriteLine(Release(m)); // expect: ApplicationException: Mutex is not owned
        Console.WriteLine(Take(m)); // expect: taken
        On(() => Console.WriteLine(Take(m))); // expect: busy
        On(() => Console.WriteLine(Release(m))); // expect: ApplicationException: Mutex is not owned
        Console.WriteLine(Release(m)); // expect: released
        // Two levels are abandoned at once.
        On(() => { m.WaitOne(); m.WaitOne(); });
        Console.WriteLine(Release(m)); // expect: released
        On(() => Console.WriteLine(Take(m))); // expect: abandoned -1
        // That thread has abandoned it again.
        Console.WriteLine(Take(m)); // expect: abandoned -1
        Console.WriteLine(Release(m)); // expect: released
        Console.WriteLine(Release(m)); // expect: ApplicationException: Mutex is not owned

        int workers, io;
        Console.WriteLine(ThreadPool.SetMaxThreads(0x7fff, 0x7fff)); // expect: True
        Console.WriteLine(ThreadPool.SetMaxThreads(0x8000, 0x8001)); // expect: True
        ThreadPool.GetMaxThreads(out workers, out io);
        Console.WriteLine("{0} {1}", workers, io); // expect: 32767 32767
    }
}
