// A thread of the pool that is aborted or interrupted when its item has ended: the pool goes on.
// (An abort that comes when the thread has already taken the next item ends that one, as in mono.)
// expect: the last item ran
using System;
using System.Threading;

static class AbortedIdle {
    static Thread Run () {
        Thread worker = null;
        var done = new ManualResetEvent (false);
        ThreadPool.QueueUserWorkItem (state => {
            worker = Thread.CurrentThread;
            done.Set ();
        });
        return done.WaitOne (5000) ? worker : null;
    }

    static void Main () {
        int lost = 0;
        for (int i = 0; i < 200 && lost < 10; i++) {
            var worker = Run ();
            if (worker == null) {
                lost++;
                continue;
            }
            Thread.SpinWait (i * 37 % 3000);
            if (i % 2 == 0)
                worker.Abort ();
            else
                worker.Interrupt ();
        }
        Console.WriteLine (lost < 10 && (Run () ?? Run ()) != null ? "the last item ran" : "the pool has stopped");
    }
}
