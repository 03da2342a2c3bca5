// A thread that is seen to be started can be joined, whoever starts it; one that is not, cannot.
// expect: refused 0, joined True
// expect: not started
// expect: 500 starts, 1500 refused
using System;
using System.Threading;

static class JoinAsStarted
{
    static void Main()
    {
        int refused = 0; bool joined = false;
        for (int i = 0; i < 1500; i++) {
            var t = new Thread(() => { }) { IsBackground = true };
            var watcher = new Thread(() => {
                while ((t.ThreadState & ThreadState.Unstarted) != 0) { }
                try { t.Join(); joined = true; } catch (ThreadStateException) { Interlocked.Increment(ref refused); }
            });
            watcher.Start(); t.Start(); watcher.Join();
        }
        Console.WriteLine("refused " + refused + ", joined " + joined);
        try { new Thread(() => { }).Join(); } catch (ThreadStateException) { Console.WriteLine("not started"); }
        int starts = 0, twice = 0;
        for (int i = 0; i < 500; i++) {
            var t = new Thread(() => { Interlocked.Increment(ref starts); });
            var all = new Thread[3];
            for (int k = 0; k < 3; k++) { all[k] = new Thread(() => { try { t.Start(); } catch (ThreadStateException) { Interlocked.Increment(ref twice); } }); all[k].Start(); }
            try { t.Start(); } catch (ThreadStateException) { Interlocked.Increment(ref twice); }
            foreach (var other in all) other.Join();
            t.Join();
        }
        Console.WriteLine(starts + " starts, " + twice + " refused");
    }
}
