// How long a thread that never allocates is kept from running, with 1 GB of live objects (see Graph.cs).
//
// A spinning thread reads the clock; a step of more than 50 us is a gap, and the collection counts say what lay in it.
// Other work on the machine makes gaps too, so the longest gap without a collection is printed beside them: it is the
// measurement's noise. Where the runtime has events of its own for its stops (CoreCLR's listener; Mono's log, which
// the driver reads between the lines `# part`), their longest is printed as well.
//
// Three parts: objects change and die as they do (minor collections, and full ones when the runtime thinks it is time);
// `GC.Collect` that need not block while the objects go on changing; `GC.Collect` that blocks.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Reflection;
using System.Threading;

static class Pauses
{
    // The gaps of one part, written by the spinning thread alone.
    sealed class Gaps
    {
        public readonly long[] Ticks = new long[1 << 16];
        public readonly byte[] Kinds = new byte[1 << 16];
        public int Count;

        public double Longest(int kind)
        {
            long most = 0;
            for (int i = 0; i < Count; i++) if ((Kinds[i] == kind || kind < 0) && Ticks[i] > most) most = Ticks[i];
            return Milliseconds(most);
        }
        public double Percentile(int kind, double share)
        {
            var all = new List<long>();
            for (int i = 0; i < Count; i++) if (Kinds[i] == kind) all.Add(Ticks[i]);
            if (all.Count == 0) return 0;
            all.Sort();
            return Milliseconds(all[(int)Math.Min(all.Count - 1, Math.Floor(all.Count * share))]);
        }
        public int Number(int kind)
        {
            int n = 0;
            for (int i = 0; i < Count; i++) if (Kinds[i] == kind) n++;
            return n;
        }
    }

    const int None = 0, Minor = 1, Full = 2;
    static volatile Gaps current;
    static volatile bool stop;
    static volatile int seen;

    static double Milliseconds(long ticks) { return ticks * 1e3 / Stopwatch.Frequency; }

    static void Spin()
    {
        long least = Stopwatch.Frequency / 20000, last = Stopwatch.GetTimestamp();
        int minors = GC.CollectionCount(0), fulls = GC.CollectionCount(GC.MaxGeneration);
        Gaps gaps = null;
        while (!stop) {
            long now = Stopwatch.GetTimestamp();
            if (now - last > least || gaps != current) {
                // A stop that comes while the counts are read belongs to the same gap.
                int m, f;
                while (true) {
                    m = GC.CollectionCount(0); f = GC.CollectionCount(GC.MaxGeneration);
                    long again = Stopwatch.GetTimestamp();
                    bool settled = again - now < least;
                    now = again;
                    if (settled) break;
                }
                if (gaps != null && now - last > least && gaps.Count < gaps.Ticks.Length) {
                    gaps.Ticks[gaps.Count] = now - last;
                    gaps.Kinds[gaps.Count] = (byte)(f != fulls ? Full : m != minors ? Minor : None);
                    gaps.Count++;
                }
                gaps = current; minors = m; fulls = f; seen++;
            }
            last = now;
        }
    }

    static Gaps Part(string name, Action work)
    {
        Console.WriteLine("# " + name);
        var gaps = new Gaps();
        int before = seen;
        current = gaps;
        while (seen == before) Thread.Sleep(1);
        work();
        before = seen;
        current = new Gaps();
        while (seen == before) Thread.Sleep(1);
        return gaps;
    }

    // The stops CoreCLR tells of: from the beginning of a suspension to the end of the restart.
    sealed class Stops : EventListener
    {
        static readonly PropertyInfo time = typeof(EventWrittenEventArgs).GetProperty("TimeStamp");
        DateTime began;
        double longest;

        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == "Microsoft-Windows-DotNETRuntime")
                EnableEvents(source, EventLevel.Informational, (EventKeywords)1);
        }
        protected override void OnEventWritten(EventWrittenEventArgs e)
        {
            if (e.EventId != 9 && e.EventId != 3 || time == null) return;   // GCSuspendEEBegin, GCRestartEEEnd
            var at = (DateTime)time.GetValue(e, null);
            if (e.EventId == 9) began = at;
            else if (began != default(DateTime)) longest = Math.Max(longest, (at - began).TotalMilliseconds);
        }
        public double Take() { Thread.Sleep(300); double l = longest; longest = 0; return l; }
    }

    static object Listen() { return new Stops(); }
    static void Events(object listener, string part)
    {
        if (listener != null) Bench.Figure("pause-" + part + "-events-longest", ((Stops)listener).Take(), "ms");
    }

    static void Main(string[] args)
    {
        int trees = Bench.Argument(args, 0, Graph.Trees), steps = Bench.Argument(args, 1, 500000);
        var roots = Graph.Build(trees);
        var numbers = new Numbers(11);
        object listener = Type.GetType("Mono.Runtime") == null ? Listen() : null;
        current = new Gaps();
        var spinner = new Thread(Spin) { IsBackground = true };
        spinner.Start();
        while (seen == 0) Thread.Sleep(1);

        var natural = Part("natural", () => Graph.Mutate(roots, steps, ref numbers));
        Events(listener, "natural");
        var asked = Part("asked", () => {
            int before = GC.CollectionCount(GC.MaxGeneration);
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, false);
            for (int i = 0; i < 1000 && GC.CollectionCount(GC.MaxGeneration) == before; i++) Graph.Mutate(roots, 100, ref numbers);
            Graph.Mutate(roots, steps / 10, ref numbers);
        });
        Events(listener, "asked");
        var blocking = Part("blocking", () => { for (int i = 0; i < 3; i++) { GC.Collect(); Thread.Sleep(50); } });
        Events(listener, "blocking");
        stop = true;
        spinner.Join();
        Graph.CheckAll(roots);

        // No figure rather than a nought for what did not happen.
        Bench.Figure("pause-minor-number", natural.Number(Minor), "gaps");
        if (natural.Number(Minor) > 0) {
            Bench.Figure("pause-minor-p50", natural.Percentile(Minor, 0.5), "ms");
            Bench.Figure("pause-minor-p99", natural.Percentile(Minor, 0.99), "ms");
            Bench.Figure("pause-minor-longest", natural.Longest(Minor), "ms");
        }
        Bench.Figure("pause-natural-full-number", natural.Number(Full), "gaps");
        if (natural.Number(Full) > 0) Bench.Figure("pause-natural-full-longest", natural.Longest(Full), "ms");
        Bench.Figure("pause-natural-noise", natural.Longest(None), "ms");
        Bench.Figure("pause-asked-longest", asked.Longest(-1), "ms");
        Bench.Figure("pause-blocking-longest", blocking.Longest(-1), "ms");
    }
}
