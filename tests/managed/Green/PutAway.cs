// Threads that wait for long have their frames put away: what lies on their stacks is the same afterwards, whatever they wait for, whether they go on by
// themselves, are interrupted or are aborted, and whether the heap is collected meanwhile.
// env: VERVET_DEBUG_TRIM_MS=4
// mcs: -unsafe
// grafts:
// tiers: all
// timeout: 120
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class PutAway
{
    const int Each = 60;

    struct Pair { public object Reference; public double Number; public long Zero; public int[] Array; }

    static int arrived, wrong;
    static readonly List<Task> tasks = new List<Task>();
    static readonly List<Thread> interrupted = new List<Thread>(), aborted = new List<Thread>();

    // Locals of all kinds around a wait, in frames of which the outer ones have by-refs to.
    static void Check(int seed, int depth, ref Pair outer, Action wait)
    {
        var own = new Pair { Reference = "s" + seed, Number = seed * 1.5, Array = new[] { seed, depth } };
        double x = seed / 3.0, y = Math.Sqrt(seed);
        long l = (long)seed << 33;
        object boxed = seed;
        if (depth > 0) {
            Check(seed + 1, depth - 1, ref own, wait);
        } else {
            Interlocked.Increment(ref arrived);
            wait();
        }
        bool right = x == seed / 3.0 && y == Math.Sqrt(seed) && l == (long)seed << 33 && (int)boxed == seed
            && (string)own.Reference == "s" + seed && own.Number == (depth > 0 ? seed * 1.5 + 1 : seed * 1.5) && own.Zero == (depth > 0 ? 7 : 0)
            && own.Array[0] == seed && own.Array[1] == depth;
        if (!right) Interlocked.Increment(ref wrong);
        outer.Number++;
        outer.Zero = 7;
    }

    static void Start(Action wait, int depth = 3)
    {
        for (int i = 0; i < Each; i++) {
            int seed = i + 1;
            tasks.Add(Task.RunAsGreenThread(() => {
                Pair first = default(Pair);
                first.Number = 5;
                Check(seed, depth, ref first, wait);
                if (first.Number != 6 || first.Zero != 7) Interlocked.Increment(ref wrong);
            }));
        }
    }

    static void Settle(int count)
    {
        while (Volatile.Read(ref arrived) < count) Thread.Sleep(1);
        for (int i = 0; i < 10; i++) {
            Thread.Sleep(15);
            var garbage = new object[2000];
            for (int n = 0; n < garbage.Length; n++) garbage[n] = new int[30];
            GC.Collect(i % 2 == 0 ? 0 : 1);
        }
    }

    static void Main()
    {
        for (int round = 0; round < 3; round++) Round();
        Console.WriteLine("wrong: " + wrong); // expect: wrong: 0
    }

    static void Round()
    {
        arrived = 0;
        tasks.Clear();
        interrupted.Clear();
        aborted.Clear();
        var slim = new SemaphoreSlim(0);
        var never = new SemaphoreSlim(0);
        var semaphore = new Semaphore(0, 1000);
        var manual = new ManualResetEvent(false);
        var manualSlim = new ManualResetEventSlim();
        var source = new TaskCompletionSource<int>();
        var pulse = new object();
        bool pulsed = false;
        var entered = new object();
        var items = new BlockingCollection<int>();
        var others = new ManualResetEvent[] { new ManualResetEvent(false), manual };
        int kinds = 0;
        Action<Action> start = wait => { Start(wait, kinds % 7); kinds++; };
        Monitor.Enter(entered);
        start(() => slim.Wait());
        start(() => semaphore.WaitOne());
        start(() => manual.WaitOne());
        start(() => manualSlim.Wait());
        start(() => source.Task.Wait());
        start(() => { lock (pulse) while (!pulsed) Monitor.Wait(pulse); });
        start(() => { lock (entered) { } });
        start(() => items.Take());
        start(() => WaitHandle.WaitAny(others));
        start(() => WaitHandle.WaitAny(others, 100000));
        start(() => Thread.Sleep(300));
        start(() => {
            lock (interrupted) interrupted.Add(Thread.CurrentThread);
            try { Thread.Sleep(100000); Interlocked.Increment(ref wrong); } catch (ThreadInterruptedException) { }
        });
        start(() => {
            lock (aborted) aborted.Add(Thread.CurrentThread);
            try { never.Wait(100000); Interlocked.Increment(ref wrong); } catch (ThreadAbortException) { Thread.ResetAbort(); }
        });
        // Sockets.
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var clients = new List<Socket>();
        for (int i = 0; i < Each; i++) {
            var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            client.Connect(listener.LocalEndpoint);
            clients.Add(client);
        }
        var servers = new ConcurrentQueue<Socket>();
        for (int i = 0; i < Each; i++) servers.Enqueue(listener.AcceptSocket());
        start(() => {
            Socket socket;
            servers.TryDequeue(out socket);
            var buffer = new byte[4];
            if (socket.Receive(buffer) != 1 || buffer[0] != 9) Interlocked.Increment(ref wrong);
            socket.Close();
        });

        Settle(kinds * Each);
        slim.Release(Each);
        semaphore.Release(Each);
        manual.Set();
        manualSlim.Set();
        source.SetResult(1);
        lock (pulse) { pulsed = true; Monitor.PulseAll(pulse); }
        Monitor.Exit(entered);
        for (int i = 0; i < Each; i++) items.Add(i);
        foreach (var thread in interrupted) thread.Interrupt();
        foreach (var thread in aborted) thread.Abort();
        foreach (var client in clients) client.Send(new byte[] { 9 });
        if (!Task.WaitAll(tasks.ToArray(), 60000)) Interlocked.Increment(ref wrong);
        foreach (var client in clients) client.Close();
        listener.Stop();
    }
}
