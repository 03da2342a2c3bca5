// An abort that meets the start of its thread: the thread either never runs, or is aborted.
// expect: lost 0
using System;
using System.Threading;

static class AbortBesideStart
{
    static volatile Thread current;
    static volatile int asked, done;
    static volatile bool stop;

    static void Main()
    {
        int lost = 0;
        var aborter = new Thread(() => {
            int last = 0; var random = new Random(1);
            while (!stop) {
                int now = asked;
                if (now == last) { Thread.Yield(); continue; }
                last = now;
                var t = current;
                for (int i = random.Next(1200); i > 0; i--) Thread.MemoryBarrier();
                t.Abort();
                done = now;
            }
        });
        aborter.Start();
        for (int i = 1; i <= 400; i++) {
            bool ran = false;
            var t = new Thread(() => { for (int k = 0; k < 60; k++) Thread.Sleep(1); ran = true; }) { IsBackground = true };
            current = t; asked = i;
            for (int z = i * 7 % 900; z > 0; z--) Thread.MemoryBarrier();
            try { t.Start(); } catch (ThreadStateException) { }
            while (done != i) Thread.Yield();
            if ((t.ThreadState & ThreadState.Unstarted) != 0) continue;
            t.Join();
            if (ran && (t.ThreadState & ThreadState.Aborted) != 0) lost++;
        }
        stop = true;
        aborter.Join();
        Console.WriteLine("lost " + lost);
    }
}
