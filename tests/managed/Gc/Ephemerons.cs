// ConditionalWeakTable: a value lives as long as its key and no longer, even if it refers to the key, or to the key
// of another table whose value refers back.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

static class Ephemerons
{
    sealed class Key { public int Id; public object Back; }
    sealed class Value { public Key Key; public int Id; public object Other; ~Value() { Interlocked.Increment(ref finalized); } }

    const int Count = 200;
    static int finalized;
    static ConditionalWeakTable<Key, Value> table = new ConditionalWeakTable<Key, Value>();
    static ConditionalWeakTable<object, object>[] chain;
    static Key[] keys = new Key[Count];
    static WeakReference[] weak = new WeakReference[Count];

    static void Elsewhere(ThreadStart work)
    {
        var t = new Thread(() => Dig(30, work));
        t.Start();
        t.Join();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Dig(int depth, ThreadStart work) { if (depth == 0) work(); else Dig(depth - 1, work); }
    static void Collect() { GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); GC.WaitForPendingFinalizers(); }
    static bool About(int n, int of) { return Math.Abs(n - of) <= 5; }
    static int Alive() { int n = 0; foreach (var w in weak) if (w != null && w.Target != null) n++; return n; }

    static void Main()
    {
        // Each value refers to its own key: without ephemerons none of them would ever die.
        Elsewhere(() => {
            for (int i = 0; i < Count; i++) {
                var k = new Key { Id = i };
                var v = new Value { Key = k, Id = i };
                k.Back = v;
                table.Add(k, v);
                weak[i] = new WeakReference(k);
                if (i % 2 == 0) keys[i] = k;
            }
        });
        Collect();
        int right = 0;
        for (int i = 0; i < Count; i += 2) {
            Value v;
            if (table.TryGetValue(keys[i], out v) && v.Id == i && v.Key == keys[i]) right++;
        }
        Console.WriteLine(right);                                               // expect: 100
        Console.WriteLine(About(Alive(), Count / 2));                           // expect: True
        Console.WriteLine(About(finalized, Count / 2));                         // expect: True

        // And minor collections do not lose the values of old keys that were just put in.
        for (int i = 0; i < Count; i += 2) { table.Remove(keys[i]); table.Add(keys[i], new Value { Key = keys[i], Id = i + 1000 }); }
        GC.Collect(0);
        GC.Collect(0);
        right = 0;
        for (int i = 0; i < Count; i += 2) {
            Value v;
            if (table.TryGetValue(keys[i], out v) && v.Id == i + 1000 && v.Key == keys[i]) right++;
        }
        Console.WriteLine(right);                                               // expect: 100

        // The rest is let go.
        Elsewhere(() => Array.Clear(keys, 0, Count));
        Collect();
        Console.WriteLine(About(Alive(), 0));                                   // expect: True

        // A chain through many tables: the value in one is the key in the next; only the first key is kept.
        // The tables are registered in an order that makes one pass insufficient.
        var first = new object();
        Elsewhere(() => {
            chain = new ConditionalWeakTable<object, object>[50];
            for (int i = 0; i < chain.Length; i++) chain[i] = new ConditionalWeakTable<object, object>();
            object key = first;
            for (int i = chain.Length - 1; i >= 0; i--) {
                object value = new Key { Id = i };
                chain[i].Add(key, value);
                weak[i] = new WeakReference(value);
                key = value;
            }
        });
        Collect();
        object at = first;
        int steps = 0;
        for (int i = chain.Length - 1; i >= 0; i--) {
            object value;
            if (!chain[i].TryGetValue(at, out value) || ((Key)value).Id != i) break;
            at = value;
            steps++;
        }
        Console.WriteLine(steps);                                               // expect: 50
        GC.KeepAlive(first);
        at = null;

        // A ring through two tables: a's value in one is b, b's value in the other is a. Nothing holds either.
        var one = new ConditionalWeakTable<object, object>();
        var two = new ConditionalWeakTable<object, object>();
        for (int i = 0; i < Count; i++) weak[i] = null;
        Elsewhere(() => {
            for (int i = 0; i < 100; i++) {
                var a = new Key { Id = i };
                var b = new Key { Id = -i };
                one.Add(a, b);
                two.Add(b, a);
                weak[i] = new WeakReference(a);
                weak[100 + i] = new WeakReference(b);
            }
        });
        Collect();
        Console.WriteLine(About(Alive(), 0));                                   // expect: True

        // The table itself is garbage while its keys live: the values go.
        var lonely = new Key[100];
        finalized = 0;
        Elsewhere(() => {
            var t = new ConditionalWeakTable<Key, Value>();
            for (int i = 0; i < 100; i++) { lonely[i] = new Key(); t.Add(lonely[i], new Value { Key = lonely[i] }); }
        });
        Collect();
        Collect();
        Console.WriteLine(About(finalized, 100));                               // expect: True
        GC.KeepAlive(lonely);

        // Growing, with keys dying meanwhile.
        var big = new ConditionalWeakTable<object, string>();
        var some = new List<object>();
        Elsewhere(() => {
            for (int i = 0; i < 20000; i++) {
                object k = i;
                big.Add(k, "value " + i);
                if (i % 20 == 0) some.Add(k);
                if (i % 5000 == 0) GC.Collect(i % 10000 == 0 ? 1 : 0);
            }
        });
        Collect();
        right = 0;
        foreach (var k in some) { string v; if (big.TryGetValue(k, out v) && v == "value " + k) right++; }
        Console.WriteLine(right);                                               // expect: 1000
        Console.WriteLine(big.GetValue(some[0], k => "new")); // expect: value 0
    }
}
