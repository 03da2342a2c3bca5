// grafts:
// mcs: -unsafe
// What a green thread leaves behind is not found by the next one with the same record: its name, its priority, requests that came too late. And a
// green thread has the memory for `stackalloc` that a thread has.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Reuse
{
    static unsafe int Recurse(int n)
    {
        byte* p = stackalloc byte[1024];
        p[n % 1024] = 1;
        return n == 0 ? p[0] : Recurse(n - 1) + p[n % 1024];
    }

    static void Main()
    {
        for (int i = 0; i < 200; i++) {
            Thread before = null;
            Task.RunAsGreenThread(() => {
                before = Thread.CurrentThread;
                before.Name = "named";
                before.Priority = ThreadPriority.Highest;
            }).Wait();
            before.Abort(); // Nothing runs on it.
            var next = Task.RunAsGreenThread(() => {
                var t = Thread.CurrentThread;
                string was = t.Name + t.Priority;
                t.Name = "mine";
                return was;
            });
            if (next.Result != "Normal") Console.WriteLine(next.Result);
        }
        Console.WriteLine("new each time"); // expect: new each time

        Console.WriteLine(Task.RunAsGreenThread(() => Recurse(500)).Result); // expect: 501
        // A monitor that a task leaves entered is its thread's, and the thread can still be interrupted.
        for (int i = 0; i < 20; i++) {
            Task.RunAsGreenThread(() => Monitor.Enter(new object())).Wait();
            Thread thread = null;
            var sleeping = Task.RunAsGreenThread(() => {
                thread = Thread.CurrentThread;
                try { Thread.Sleep(-1); return "woke"; } catch (ThreadInterruptedException) { return "interrupted"; }
            });
            while (thread == null || (thread.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
            thread.Interrupt();
            if (sleeping.Result != "interrupted") Console.WriteLine(sleeping.Result);
        }
        Console.WriteLine("interrupted"); // expect: interrupted
    }
}
