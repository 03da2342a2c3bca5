// A thread of the pool that is aborted or interrupted when its item has ended: the next items run all the same.
// expect: 200 items ran
using System;
using System.Threading;

static class AbortedIdle {
    static void Main () {
        int ran = 0;
        for (int i = 0; i < 200; i++) {
            Thread worker = null;
            var done = new ManualResetEvent (false);
            ThreadPool.QueueUserWorkItem (state => {
                worker = Thread.CurrentThread;
                done.Set ();
            });
            if (!done.WaitOne (10000))
                break;
            ran++;
            Thread.SpinWait (i * 37 % 3000);
            if (i % 2 == 0)
                worker.Abort ();
            else
                worker.Interrupt ();
        }
        Console.WriteLine ("{0} items ran", ran);
    }
}
