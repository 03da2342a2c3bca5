// Monitors and events: what an uncontended lock costs, and how fast two threads hand something to each other.
using System;
using System.Threading;

static class Monitors
{
    static int count;
    static readonly object gate = new object();
    class Own { public int value; }

    static void Locks(Own o, int n) { for (int i = 0; i < n; i++) lock (o) o.value++; }
    static void EnterExit(Own o, int n) { for (int i = 0; i < n; i++) { Monitor.Enter(o); o.value++; Monitor.Exit(o); } }
    static void Nested(Own o, int n) { lock (o) for (int i = 0; i < n; i++) lock (o) o.value++; }
    static void Tries(Own o, int n) { for (int i = 0; i < n; i++) if (Monitor.TryEnter(o)) { o.value++; Monitor.Exit(o); } }
    static void Plain(Own o, int n) { for (int i = 0; i < n; i++) { Interlocked.CompareExchange(ref o.value, i + 1, i); Interlocked.CompareExchange(ref o.value, i + 1, i); } }

    static void Loop(string name, Action<Own, int> loop, int n)
    {
        loop(new Own(), n / 10);
        double best = double.MaxValue;
        for (int i = 0; i < 5; i++) {
            var o = new Own();
            best = Math.Min(best, Bench.Seconds(() => loop(o, n)));
            Bench.Check(o.value == n, name);
        }
        Bench.Figure(name, best * 1e9 / n, "ns");
    }

    // Two threads, each of which does its half of every round.
    static void Pair(string name, int rounds, Action<int, int> half)
    {
        Bench.OnThreads(2, me => half(me, rounds / 10));
        double best = double.MaxValue;
        for (int i = 0; i < 3; i++) best = Math.Min(best, Bench.OnThreads(2, me => half(me, rounds)));
        Bench.Figure(name, best * 1e9 / rounds, "ns");
    }

    static void Main(string[] args)
    {
        int n = Bench.Argument(args, 0, 10000000), rounds = Bench.Argument(args, 1, 100000);
        Loop("two-exchanges", Plain, n);
        Loop("lock", Locks, n);
        Loop("enter-exit", EnterExit, n);
        Loop("lock-nested", Nested, n);
        Loop("try-enter", Tries, n);

        var inflated = new Own();
        lock (inflated) Monitor.Wait(inflated, 1);
        Locks(inflated, n / 10);
        Bench.Figure("lock-inflated", Bench.Seconds(() => Locks(inflated, n)) * 1e9 / n, "ns");

        Pair("contended", rounds * 10, (me, r) => { for (int i = 0; i < r; i++) lock (gate) count++; });
        int turn = 0;
        Pair("wait-pulse", rounds, (me, r) => {
            for (int i = 0; i < r; i++)
                lock (gate) {
                    while (turn != me) Monitor.Wait(gate);
                    turn = 1 - me;
                    Monitor.Pulse(gate);
                }
        });
        var events = new[] { new AutoResetEvent(true), new AutoResetEvent(false) };
        Pair("events", rounds, (me, r) => { for (int i = 0; i < r; i++) { events[me].WaitOne(); events[1 - me].Set(); } });
        var semaphores = new[] { new SemaphoreSlim(1), new SemaphoreSlim(0) };
        Pair("slim-semaphores", rounds, (me, r) => { for (int i = 0; i < r; i++) { semaphores[me].Wait(); semaphores[1 - me].Release(); } });
    }
}
