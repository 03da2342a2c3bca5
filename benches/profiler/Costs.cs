// What a recording costs: two single events, and everyday work of which a recording sees samples only.
//
// `call` and `allocate` are what one call of an empty method, and one new object of 24 bytes, takes: under a mode that records each
// of them, the event is nearly all of it. The other figures are work with calls, allocations, locks and handles in a common mix.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Costs
{
    class Node { public Node Next; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Empty() { }

    static Node kept;

    static void Calls(int n) { for (int i = 0; i < n; i++) Empty(); }

    static void Allocations(int n) { for (int i = 0; i < n; i++) kept = new Node(); }

    static int Words(int n)
    {
        var counts = new Dictionary<string, int>();
        var text = new StringBuilder();
        var numbers = new Numbers(7);
        for (int i = 0; i < n; i++) {
            text.Clear().Append('w').Append(numbers.Next() % 500);
            string word = text.ToString();
            int count;
            counts.TryGetValue(word, out count);
            counts[word] = count + 1;
        }
        return counts.Count;
    }

    static int Trees(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            Node list = null;
            for (int k = 0; k < 100; k++) list = new Node { Next = list };
            for (; list != null; list = list.Next) sum++;
        }
        return sum;
    }

    static double Arithmetic(int n)
    {
        double x = 1;
        for (int i = 1; i < n; i++) x = x * 1.0000001 + 1.0 / i;
        return x;
    }

    static int Locks(int n)
    {
        var gate = new object();
        int held = 0;
        for (int i = 0; i < n; i++) lock (gate) held++;
        return held;
    }

    static int Handles(int n)
    {
        var target = new object();
        int live = 0;
        for (int i = 0; i < n; i++) {
            var handle = GCHandle.Alloc(target, GCHandleType.Weak);
            if (handle.Target != null) live++;
            handle.Free();
        }
        return live;
    }

    // The quickest of five turns, after one that compiles what is called.
    static void Time(string name, int operations, Action<int> work)
    {
        double best = double.MaxValue;
        work(Math.Min(operations, 20000));
        for (int i = 0; i < 5; i++) best = Math.Min(best, Bench.Seconds(() => work(operations)));
        Bench.Figure(name, best * 1e9 / operations, "ns");
    }

    static void Main(string[] args)
    {
        int million = Bench.Argument(args, 0, 1) * 1000000;
        bool events = Bench.Argument(args, 1, 0) == 1;
        if (events) {
            Time("call", million, Calls);
            Time("allocate", million, Allocations);
            return;
        }
        Time("words", million, n => Bench.Check(Words(n) == Math.Min(n, 500), "words"));
        Time("trees", million / 10, n => Bench.Check(Trees(n) == n * 100, "trees"));
        Time("arithmetic", million * 10, n => Bench.Check(Arithmetic(n) > 1, "arithmetic"));
        Time("lock", million * 2, n => Bench.Check(Locks(n) == n, "lock"));
        Time("handle", million * 2, n => Bench.Check(Handles(n) == n, "handle"));
    }
}
