// Methods of structs with a loop are inlined where they are called: enumerators that look for their next element.
using System;
using System.Collections.Generic;
using System.Threading;

static class StructLoops
{
    struct Primes
    {
        int at; readonly int end; public int Current { get; private set; }
        public Primes(int from, int to) { at = from; end = to; Current = 0; }
        public bool MoveNext()
        {
            while (at < end) {
                int n = at++;
                if (n < 2) continue;
                int d = 2;
                for (; d * d <= n; d++) if (n % d == 0) break;
                if (d * d > n) { Current = n; return true; }
            }
            return false;
        }
    }
    struct Forever { public int Turns; public void Run() { for (; ; ) Turns++; } }

    static long Sum(Dictionary<int, string> map, HashSet<long> set, SortedSet<int> sorted, LinkedList<int> list)
    {
        long x = 0;
        foreach (var pair in map) x = x * 3 + pair.Key + pair.Value.Length;
        foreach (var key in map.Keys) x ^= key;
        foreach (var value in map.Values) x += value.Length;
        foreach (long l in set) x = x * 5 + l;
        foreach (int i in sorted) x += i;
        foreach (int i in list) x -= i;
        for (var p = new Primes(0, 60); p.MoveNext();) x = x * 7 + p.Current;
        return x;
    }
    static string Changed(Dictionary<int, string> map)
    {
        try { foreach (var pair in map) map[pair.Key + 1000] = "new"; return "no"; }
        catch (InvalidOperationException e) { map.Remove(1000); return e.GetType().Name; }
    }
    static int Nested(Dictionary<int, string> map)
    {
        int n = 0;
        foreach (var a in map) { foreach (var b in map) { if (b.Key > a.Key) break; if (b.Key == 5) continue; n++; } if (n > 100000) return n; }
        return n;
    }

    static void Main()
    {
        var map = new Dictionary<int, string>(); var set = new HashSet<long>(); var sorted = new SortedSet<int>(); var list = new LinkedList<int>();
        for (int i = 0; i < 40; i++) { map[i] = new string('x', i % 5); set.Add(i * 7919L % 97); sorted.Add(i * 31 % 41); list.AddLast(i); }
        for (int i = 0; i < 40; i += 3) { map.Remove(i); set.Remove(i); }
        long sum = 0;
        for (int round = 0; round < 3000; round++) sum = sum * 11 + Sum(map, set, sorted, list) + Nested(map);
        Console.WriteLine(sum);
        map[0] = "zero";
        Console.WriteLine(Changed(map));
        // A loop that is inlined under a handler can be aborted.
        var thread = new Thread(() => { var f = new Forever(); try { f.Run(); } finally { Console.WriteLine("left"); } });
        thread.Start();
        Thread.Sleep(50);
        thread.Abort();
        Console.WriteLine(thread.Join(20000));
    }
}
