// Counts the events of a recording with mono's own reader, in the order of time. With the name of a class, also the clauses that ran in its methods.
using System;
using System.Collections.Generic;
using System.IO;
using Mono.Profiler.Log;

sealed class Clauses : LogEventVisitor {
    readonly Dictionary<long, string> names = new Dictionary<long, string>();
    readonly SortedDictionary<string, int> counts = new SortedDictionary<string, int>();
    public override void Visit(JitEvent e) { names[e.MethodPointer] = e.Name; }
    public override void Visit(ExceptionClauseEvent e) {
        string key = String.Format("{0} {1} {2} {3}", e.MethodPointer, e.Type, e.Index, e.ObjectPointer == 0 ? "normal" : "unwinding");
        int n;
        counts.TryGetValue(key, out n);
        counts[key] = n + 1;
    }
    public void Print(string type) {
        var lines = new List<string>();
        foreach (var pair in counts) {
            var words = pair.Key.Split(' ');
            string name;
            if (names.TryGetValue(Int64.Parse(words[0]), out name) && name.StartsWith(type + ":"))
                lines.Add(String.Format("{0}: {1} {2}, {3}: {4}", name, words[1], words[2], words[3], pair.Value));
        }
        lines.Sort(String.CompareOrdinal);
        lines.ForEach(Console.WriteLine);
    }
}

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
        if (args.Length > 1) {
            var clauses = new Clauses();
            using (var file = File.OpenRead(args[0]))
                new LogProcessor(new LogStream(file), clauses, null).Process();
            clauses.Print(args[1]);
        }
        foreach (var pair in counter.Counts) Console.WriteLine("{0} {1}", pair.Key, pair.Value);
    }
}
