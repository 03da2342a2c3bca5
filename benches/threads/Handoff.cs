// Two threads that hand something to each other: events, Wait and Pulse, a contended lock; and a lock that nobody wants.
using System;
using System.Threading;

static class Handoff
{
    static readonly object door = new object();
    static int turn, shared;

    static double Events(int rounds)
    {
        using (var ping = new AutoResetEvent(false)) using (var pong = new AutoResetEvent(false)) {
            double seconds = Bench.OnThreads(2, me => {
                for (int i = 0; i < rounds; i++)
                    if (me == 0) { ping.Set(); pong.WaitOne(); }
                    else { ping.WaitOne(); pong.Set(); }
            });
            return seconds * 1e9 / rounds;
        }
    }

    static double WaitPulse(int rounds)
    {
        turn = 0;
        double seconds = Bench.OnThreads(2, me => {
            lock (door)
                for (int i = 0; i < rounds; i++) {
                    while (turn != me) Monitor.Wait(door);
                    turn = 1 - me;
                    Monitor.Pulse(door);
                }
        });
        return seconds * 1e9 / rounds;
    }

    static double Contended(int threads, int rounds)
    {
        shared = 0;
        double seconds = Bench.OnThreads(threads, me => {
            for (int i = 0; i < rounds; i++)
                lock (door) shared++;
        });
        Bench.Check(shared == threads * rounds, "the lock keeps others out");
        return seconds * 1e9 / ((double)threads * rounds);
    }

    static double Uncontended(int rounds)
    {
        var mine = new object();
        shared = 0;
        double seconds = Bench.Seconds(() => {
            for (int i = 0; i < rounds; i++)
                lock (mine) shared++;
        });
        return seconds * 1e9 / rounds;
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 200000);
        Events(count / 10);
        Bench.Figure("event-ping-pong", Events(count), "ns");
        WaitPulse(count / 10);
        Bench.Figure("wait-pulse-ping-pong", WaitPulse(count), "ns");
        Contended(2, count);
        Bench.Figure("lock-contended-2", Contended(2, 10 * count), "ns");
        Bench.Figure("lock-contended-8", Contended(8, 2 * count), "ns");
        Uncontended(10 * count);
        Bench.Figure("lock-uncontended", Uncontended(200 * count), "ns");
    }
}
