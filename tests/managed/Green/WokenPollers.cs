// A carrier whose poll ends by itself, at a deadline, while another thread gives it a processor: it finds that on its seat.
// env: VERVET_GREEN_THREADS=all VERVET_CARRIERS=1
// gc-debug: no, it is about moments
// expect: never lost
using System;
using System.Diagnostics;
using System.Threading;

static class WokenPollers
{
    static void Main()
    {
        const int Milliseconds = 10;
        var go = new AutoResetEvent(false);
        var back = new AutoResetEvent(false);
        long due = 0, second = Stopwatch.Frequency;
        new Thread(() => { for (;;) { go.WaitOne(); back.Set(); } }) { IsBackground = true }.Start();
        new Thread(() =>
        {
            for (;;)
            {
                Volatile.Write(ref due, Stopwatch.GetTimestamp() + Milliseconds * second / 1000);
                Thread.Sleep(Milliseconds);
            }
        }) { IsBackground = true }.Start();
        var time = Stopwatch.StartNew();
        var random = new Random(1);
        // The event is set when the deadline of the only carrier's poll is over, more or less.
        while (time.ElapsedMilliseconds < 1500)
        {
            long last = Volatile.Read(ref due), moment = last + random.Next(-100, 1300) * second / 1000000;
            while (Stopwatch.GetTimestamp() < moment) { }
            go.Set();
            if (!back.WaitOne(20000))
            {
                Console.WriteLine("lost");
                Environment.Exit(1);
            }
            while (Volatile.Read(ref due) == last)
                Thread.Sleep(1);
        }
        Console.WriteLine("never lost");
    }
}
