// grafts:
// tiers: all
// A green thread does not spin for one that its own carrier is to run; waits of the class library block.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Spinning
{
    static bool NextYields() { return new SpinWait().NextSpinWillYield; }

    static void Main()
    {
        bool several = Environment.ProcessorCount > 1;
        Console.WriteLine("OS {0} {1}", Thread.IsGreenThread, NextYields() != several); // expect: OS False True
        Task.RunAsGreenThread(() => Console.WriteLine("green {0} {1}", Thread.IsGreenThread, NextYields())).Wait(); // expect: green True True

        // Each carrier has threads that spin until others have run, some of which it has to run itself.
        int threads = 8 * Environment.ProcessorCount, turn = 0;
        Action<Action> relay = spin => {
            turn = 0;
            var all = new Task[threads];
            for (int i = 0; i < threads; i++) {
                int me = i;
                all[i] = Task.RunAsGreenThread(() => {
                    for (int round = 0; round < 50; round++) {
                        while (Volatile.Read(ref turn) != round * threads + me) spin();
                        Volatile.Write(ref turn, round * threads + me + 1);
                    }
                });
            }
            Task.WaitAll(all);
        };
        foreach (int turns in new[] { -1, 0, 1, 20, 4096, 5000 }) relay(() => Thread.SpinWait(turns));
        relay(() => Thread.Yield());
        relay(() => Thread.Sleep(0));
        Console.WriteLine("relay {0}", turn == 50 * threads); // expect: relay True
        Console.WriteLine("spin until {0}", SpinWait.SpinUntil(() => turn < 0, 5)); // expect: spin until False

        // One that yields with nobody beside it does not keep timers and the pool waiting.
        bool due = false;
        Task.RunAsGreenThread(() => {
            Task.Delay(5).ContinueWith(_ => due = true);
            Task.RunAsGreenThread(() => Thread.Sleep(3));
            while (!Volatile.Read(ref due)) Thread.Yield();
        }).Wait();
        Console.WriteLine("timers run"); // expect: timers run

        // Waits for events and tasks that end soon, late and never.
        var set = new ManualResetEventSlim(false, 100);
        var ends = new[] {
            Task.RunAsGreenThread(() => set.Wait()),
            Task.RunAsGreenThread(() => Console.WriteLine("late {0}", set.Wait(5))), // expect: late False
            Task.RunAsGreenThread(() => { Thread.Sleep(30); set.Set(); }),
        };
        Task.WaitAll(ends);
        Console.WriteLine("set {0}", set.Wait(0)); // expect: set True

        // A round trip of two threads costs far less than a millisecond: neither comes to where SpinWait sleeps.
        var balls = new[] { new SemaphoreSlim(1), new SemaphoreSlim(0) };
        var watch = System.Diagnostics.Stopwatch.StartNew();
        var players = new Task[2];
        for (int i = 0; i < 2; i++) {
            int me = i;
            players[i] = Task.RunAsGreenThread(() => {
                for (int n = 0; n < 20000; n++) { balls[me].Wait(); balls[1 - me].Release(); }
            });
        }
        Task.WaitAll(players);
        Console.WriteLine("ping-pong {0}", watch.ElapsedMilliseconds < 10000); // expect: ping-pong True
    }
}
