// grafts:
// Abort and Interrupt reach green threads wherever they are: parked, ready, computing.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Requests
{
    static Thread Begin(Action work, out Task task)
    {
        Thread thread = null;
        var known = new ManualResetEvent(false);
        task = Task.RunAsGreenThread(() => { thread = Thread.CurrentThread; known.Set(); work(); });
        known.WaitOne();
        return thread;
    }

    // An abort before the code has come to its `try` would leave the task as it is, as under mono.
    static void AwaitWait(Thread t) { while ((t.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1); }

    static void Main()
    {
        Task task;
        string said = null;
        var t = Begin(() => { try { Thread.Sleep(-1); } catch (ThreadInterruptedException) { said = "interrupted"; } }, out task);
        AwaitWait(t);
        t.Interrupt();
        task.Wait();
        Console.WriteLine(said); // expect: interrupted

        t = Begin(() => { try { Thread.Sleep(-1); } catch (ThreadAbortException) { said = "aborted"; Thread.ResetAbort(); } }, out task);
        AwaitWait(t);
        t.Abort();
        task.Wait();
        Console.WriteLine(said); // expect: aborted

        bool begun = false;
        t = Begin(() => { try { for (;;) begun = true; } catch (ThreadAbortException) { said = "aborted in a loop"; Thread.ResetAbort(); } }, out task);
        while (!Volatile.Read(ref begun)) Thread.Sleep(1);
        t.Abort();
        task.Wait();
        Console.WriteLine(said); // expect: aborted in a loop

        for (int i = 0; i < 100; i++) {
            var o = new object();
            t = Begin(() => { try { lock (o) Monitor.Wait(o); } catch (ThreadAbortException) { Thread.ResetAbort(); } }, out task);
            AwaitWait(t);
            t.Abort();
            task.Wait();
        }
        Console.WriteLine("and in a hundred waits"); // expect: and in a hundred waits

        // An abort that nobody resets ends what the thread does, and the next task's thread is whole. (The class library leaves the task as it is.)
        bool ended = false;
        t = Begin(() => { try { Thread.Sleep(-1); } finally { ended = true; } }, out task);
        AwaitWait(t);
        t.Abort();
        while (!Volatile.Read(ref ended)) Thread.Sleep(1);
        Console.WriteLine(Task.RunAsGreenThread(() => Thread.CurrentThread.ThreadState).Result); // expect: Background
    }
}
