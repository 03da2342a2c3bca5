// A hash map that grows and shrinks: a million entries live, keys leave in the order they came, values are objects.
using System;
using System.Collections.Generic;

static class HashMap
{
    sealed class Entry { public int Key; }

    static void Run(int live, int count)
    {
        var map = new Dictionary<int, Entry>();
        for (int i = 0; i < count; i++) {
            int key = unchecked((int)(i * 2654435761u));
            map.Add(key, new Entry { Key = key });
            if (i >= live) {
                int old = unchecked((int)((i - live) * 2654435761u));
                Entry e;
                Bench.Check(map.TryGetValue(old, out e) && e.Key == old, "an entry that was put in");
                map.Remove(old);
            }
            // Every so often all is copied, as a growing map does.
            if (i % (live * 2) == live) map = new Dictionary<int, Entry>(map);
        }
        Bench.Check(map.Count == live, "the number of entries");
        foreach (var pair in map) Bench.Check(pair.Value.Key == pair.Key, "each entry at its key");
    }

    static void Main(string[] args)
    {
        int live = Bench.Argument(args, 0, 1000000), count = Bench.Argument(args, 1, 15000000);
        Bench.Figure("hash-map", Bench.Seconds(() => Run(live, count)), "s");
    }
}
