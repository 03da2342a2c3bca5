// green: no, an OS thread is meant
// When Thread.Start returns, the thread has begun: the runtime has given it an identity.
using System;
using System.Reflection;
using System.Threading;

static class StartReturnsWhenBegun
{
    static void Main()
    {
        const BindingFlags hidden = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public;
        var inner = typeof(Thread).GetProperty("Internal", hidden);
        int late = 0;
        for (int i = 0; i < 200; i++)
        {
            var leave = new ManualResetEvent(false);
            var thread = new Thread(() => leave.WaitOne());
            thread.Start();
            object begun = inner.GetValue(thread, null);
            if (Convert.ToUInt64(begun.GetType().GetField("thread_id", hidden).GetValue(begun)) == 0) late++;
            leave.Set();
            thread.Join();
        }
        Console.WriteLine(late);
        // expect: 0
    }
}
