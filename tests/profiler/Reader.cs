// Counts the events of a recording with mono's own reader, in the order of time.
using System;
using System.Collections.Generic;
using System.IO;
using Mono.Profiler.Log;

sealed class Counter : LogEventVisitor {
    public readonly SortedDictionary<string, int> Counts = new SortedDictionary<string, int>();
    public override void VisitBefore(LogEvent e) {
        int n;
        Counts.TryGetValue(e.GetType().Name, out n);
        Counts[e.GetType().Name] = n + 1;
    }
}

static class Reader {
    static void Main(string[] args) {
        var counter = new Counter();
        using (var file = File.OpenRead(args[0]))
            new LogProcessor(new LogStream(file), null, counter).Process();
        foreach (var pair in counter.Counts) Console.WriteLine("{0} {1}", pair.Key, pair.Value);
    }
}
