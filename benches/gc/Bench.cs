// What every program here shares: how a figure is printed, and how a wrong result ends the run.
//
// A figure is one line `name value unit` on standard output. A program whose own check fails exits with 1,
// and its figures count for nothing. The sources compile with mcs; the same file runs on every runtime.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;

static class Bench
{
    public static void Figure(string name, double value, string unit)
    {
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1:0.###} {2}", name, value, unit));
    }

    public static void Check(bool right, string what)
    {
        if (right) return;
        Console.Error.WriteLine("wrong result: " + what);
        Environment.Exit(1);
    }

    public static double Seconds(Action work)
    {
        long start = Stopwatch.GetTimestamp();
        work();
        return (Stopwatch.GetTimestamp() - start) / (double)Stopwatch.Frequency;
    }

    public static int Argument(string[] args, int index, int otherwise)
    {
        return index < args.Length ? int.Parse(args[index], CultureInfo.InvariantCulture) : otherwise;
    }

    // Runs `work(i)` on as many threads, and gives the wall time from before the first starts until all have ended.
    public static double OnThreads(int threads, Action<int> work)
    {
        var all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int me = i;
            all[i] = new Thread(() => work(me));
        }
        return Seconds(() => {
            foreach (var t in all) t.Start();
            foreach (var t in all) t.Join();
        });
    }

    // What one operation took of a processor: wall time, times the processors that could work on it, by operations.
    // Without contention it is the same for any number of threads.
    public static double NanosecondsEach(double seconds, int threads, long operationsPerThread)
    {
        int busy = Math.Min(threads, Environment.ProcessorCount);
        return seconds * 1e9 * busy / (threads * (double)operationsPerThread);
    }
}

// A generator with the same numbers on every runtime.
struct Numbers
{
    ulong state;
    public Numbers(ulong seed) { state = seed * 2685821657736338717UL + 88172645463325252UL; }
    public ulong Next()
    {
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        return state;
    }
    public int Below(int limit) { return (int)((Next() >> 33) % (ulong)limit); }
}
