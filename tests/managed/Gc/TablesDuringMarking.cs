// gc-debug: no, its long list would be verified a thousand times; the tests of crates/heap grow tables beside a slow marker
// Tables of ephemerons that grow while a major collection marks: the grown array is large, so it is born old and marked, and all that
// keeps the values of old keys is that the collector knows the array.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class TablesDuringMarking
{
    sealed class Node { public Node Next; public object Payload; }
    sealed class Key { public int Id; }
    sealed class Value { public int Id; public int[] More; }

    const int Tables = 8, Before = 600, After = 1200, Nodes = 1500000, Rounds = 3;
    static Node list;
    static Key[][] keys;

    // The tables hang at the end of a long list, so the marker comes to them late.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Build()
    {
        var tables = new ConditionalWeakTable<Key, Value>[Tables];
        keys = new Key[Tables][];
        for (int t = 0; t < Tables; t++) {
            tables[t] = new ConditionalWeakTable<Key, Value>();
            keys[t] = new Key[After];
            for (int i = 0; i < Before; i++) Add(tables[t], t, i);
        }
        list = new Node { Payload = tables };
        for (int i = 0; i < Nodes; i++) list = new Node { Next = list };
    }
    static void Add(ConditionalWeakTable<Key, Value> table, int t, int i)
    {
        keys[t][i] = new Key { Id = i };
        table.Add(keys[t][i], new Value { Id = i, More = new[] { i, i + 1 } });
    }
    static ConditionalWeakTable<Key, Value>[] Find()
    {
        var n = list;
        while (n.Next != null) n = n.Next;
        return (ConditionalWeakTable<Key, Value>[])n.Payload;
    }
    // No stack refers to the tables when the cycle begins: they are looked for when it has begun.
    static void Grow()
    {
        Thread.Sleep(1);
        var tables = Find();
        for (int t = 0; t < Tables; t++)
            for (int i = Before; i < After; i++) Add(tables[t], t, i);
    }
    static int Wrong()
    {
        int wrong = 0;
        var tables = Find();
        for (int t = 0; t < Tables; t++)
            for (int i = 0; i < After; i++) {
                Value v;
                if (!tables[t].TryGetValue(keys[t][i], out v) || v.Id != i || v.More.Length != 2 || v.More[1] != i + 1) wrong++;
            }
        return wrong;
    }

    static void Main()
    {
        for (int round = 0; round < Rounds; round++) {
            list = null;
            Build();
            GC.Collect();
            int before = GC.CollectionCount(1);
            var grower = new Thread(Grow);
            GC.AddMemoryPressure(1L << 40);
            grower.Start();
            grower.Join();
            GC.RemoveMemoryPressure(1L << 40);
            for (int i = 0; GC.CollectionCount(1) == before && i < 300; i++) Thread.Sleep(1);
            for (int i = 0; i < 5; i++) { var garbage = new object[200]; for (int k = 0; k < garbage.Length; k++) garbage[k] = new int[100]; GC.Collect(0); }
            Console.WriteLine(Wrong());     // expect: 0
        }                                   // expect: 0
    }                                       // expect: 0
}
