// What it costs to start threads, to switch between them and to have a million of them, three ways: `green` threads, `threads` of the
// operating system, and `async`. The first two run the same code (Blocking.cs).
//
//   Green green|threads|async switch SECONDS    yield, spawn, deep stacks, ping-pong, throw; each figure takes about so many seconds
//   Green green|threads|async park COUNT        COUNT of them wait: time to start, memory, minor collections
using System;
using System.Globalization;
using System.IO;
using System.Threading.Tasks;

// A way to run many things. The rounds of a figure are divided among those that take part.
abstract class Way
{
    public const int Frames = 1000, Batch = 1000;

    // Each gives the seconds that `count` rounds took.
    public abstract double Yield(int count, int parties);
    public abstract double Spawn(int count);
    public abstract double SpawnAndWait(int count);
    public abstract double Deep(int count);
    // All are deep at the same time.
    public abstract double DeepAtOnce(int count);
    public abstract double PingPong(int count, int pairs);
    // Of each, `frames` deep and after a wait, an exception goes to the outermost frame.
    public abstract double Throw(int count, int frames);

    // Starts `count` that all wait; gives the seconds until all have begun.
    public abstract double Park(int count);
    // Ends those; gives the seconds that took.
    public abstract double Unpark();
}

static class Green
{
    static double target;

    // Makes ever more rounds until they take long enough, by when their code is compiled. Prints what one of as many takes.
    static void Measure(string name, int processors, Func<int, double> rounds)
    {
        double count = 200, seconds = rounds((int)count);
        while (seconds < target / 2 && count < 1e9) {
            count *= Math.Max(2, Math.Min(10, target / seconds));
            seconds = rounds((int)count);
        }
        Bench.Figure(name, rounds((int)count) * 1e9 * processors / count, "ns");
    }

    static void Switch(Way way)
    {
        int processors = Environment.ProcessorCount;
        // The first are the ones whose stacks nobody has used.
        way.DeepAtOnce(1);
        Bench.Figure("deep-new", way.DeepAtOnce(Way.Batch) * 1e9 / Way.Batch, "ns");
        // What one processor takes.
        Measure("yield", processors, count => way.Yield(count, 4 * processors));
        Measure("spawn", 1, way.Spawn);
        Measure("spawn-wait", 1, way.SpawnAndWait);
        Measure("deep-reused", 1, way.Deep);
        Measure("ping-pong-1", 1, count => way.PingPong(count, 1));
        Measure("ping-pong-64", 1, count => way.PingPong(count, 64));
        Measure("throw-10", 1, count => way.Throw(count, 10));
        Measure("throw-100", 1, count => way.Throw(count, 100));
        var blocking = way as Blocking;
        if (blocking != null) {
            double[] calls = blocking.Calls();
            Bench.Figure("call", calls[calls.Length / 2], "ns");
            Bench.Figure("call-slowest", calls[calls.Length - 1], "ns");
        }
    }

    static long Resident()
    {
        string[] pages = File.ReadAllText("/proc/self/statm").Split(' ');
        return long.Parse(pages[1], CultureInfo.InvariantCulture) * Environment.SystemPageSize;
    }

    // The median time of a minor collection of a megabyte of which some lives.
    static double MinorPause()
    {
        var times = new double[101];
        for (int i = 0; i < times.Length; i++) {
            var live = new byte[16][];
            for (int n = 0; n < 1024; n++) live[n % 16] = new byte[1000];
            times[i] = Bench.Seconds(() => GC.Collect(0));
            GC.KeepAlive(live);
        }
        Array.Sort(times);
        return times[times.Length / 2] * 1e6;
    }

    static void Park(Way way, int count)
    {
        way.Park(100);
        way.Unpark();
        GC.Collect();
        double pause = MinorPause();
        long before = Resident();
        double seconds = way.Park(count);
        // Time for the last ones to get from their first line into their wait.
        System.Threading.Thread.Sleep(500);
        long parked = Resident();
        Bench.Figure("park-start", seconds * 1e6 / count, "us");
        Bench.Figure("park-memory", (parked - before) / (double)count, "B");
        Bench.Figure("minor-pause-0", pause, "us");
        Bench.Figure("minor-pause-first", Bench.Seconds(() => GC.Collect(0)) * 1e6, "us");
        Bench.Figure("minor-pause-parked", MinorPause(), "us");
        GC.Collect();
        // What a runtime gives back of threads that wait for long: until it does not become less, a quarter of a minute at least.
        long later = Resident();
        for (int n = 0; n < 60; n++) {
            System.Threading.Thread.Sleep(2000);
            long now = Resident();
            if (n > 7 && now > later - later / 100) break;
            later = now;
        }
        Bench.Figure("park-memory-later", (Resident() - before) / (double)count, "B");
        Bench.Figure("park-end", way.Unpark() * 1e6 / count, "us");
        // A heap as large as one with so many threads' objects, without the threads: what of the pause is the heap's.
        GC.Collect();
        var heap = new byte[count][];
        for (int i = 0; i < count; i++) heap[i] = new byte[500];
        GC.Collect();
        Bench.Figure("minor-pause-heap", MinorPause(), "us");
        GC.KeepAlive(heap);
    }

    static int Main(string[] args)
    {
        Way way = null;
        if (args.Length > 2)
            switch (args[0]) {
                case "green": way = new Blocking(GreenThreads.Run); break;
                case "threads": way = new Blocking(Blocking.Thread); break;
                case "async": way = new Async(); break;
            }
        if (way == null || args[1] != "switch" && args[1] != "park") {
            Console.Error.WriteLine("usage: Green green|threads|async switch SECONDS | park COUNT");
            return 2;
        }
        if (args[1] == "switch") {
            target = double.Parse(args[2], CultureInfo.InvariantCulture);
            Switch(way);
        }
        else Park(way, Bench.Argument(args, 2, 1000000));
        Environment.Exit(0);
        return 0;
    }
}
