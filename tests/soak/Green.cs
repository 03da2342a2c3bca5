// What long-running programs do with green threads, all at once, for the given seconds: `Green SECONDS SEED [WORKER,...]`, with --green-threads=all.
//
// Each worker repeats rounds, each of which starts threads that wait for each other, checks what they have done, and counts them. Standard output has a
// line `count NAME N` for each worker, then `ok`. A wrong value ends the process with exit code 1; a worker that stands still for two minutes, with 3,
// after the stacks of all threads.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class Green
{
    static volatile bool stop;
    static int seed;

    static void Fail(string what)
    {
        Console.Error.WriteLine("soak: wrong: " + what);
        Console.Error.Flush();
        _exit(1);
    }
    [DllImport("libc")] static extern void _exit(int code);
    [DllImport("libc")] static extern int getpid();
    [DllImport("libc")] static extern int kill(int pid, int signal);
    delegate int Comparison(IntPtr a, IntPtr b);
    [DllImport("libc")] static extern void qsort(int[] array, IntPtr count, IntPtr size, Comparison compare);

    static Thread Begin(ThreadStart work) { var t = new Thread(work) { IsBackground = true }; t.Start(); return t; }
    static void End(Thread t, string where) { if (!t.Join(100000)) { Console.Error.WriteLine("soak: a thread of " + where + " does not end"); kill(getpid(), 3); Thread.Sleep(3000); _exit(3); } }

    sealed class Node
    {
        public Node Next; public readonly int Value, Check;
        public Node(int value, Node next) { Value = value; Check = ~value; Next = next; }
        public static Node List(int n) { Node list = null; for (int i = 1; i <= n; i++) list = new Node(i, list); return list; }
        public static void Verify(Node list, int n, string where)
        {
            int count = 0; long sum = 0;
            for (; list != null; list = list.Next) { if (list.Check != ~list.Value) Fail("a node in " + where); sum += list.Value; count++; }
            if (count != n || sum != (long)n * (n + 1) / 2) Fail("a list in " + where);
        }
    }

    // Many short threads and tasks.
    static int Spawn(Random random)
    {
        int count = random.Next(10, 400), done = 0;
        var threads = new List<Thread>();
        var tasks = new List<Task<int>>();
        for (int i = 0; i < count; i++) {
            int n = random.Next(1, 60);
            if (i % 3 == 0) threads.Add(Begin(() => { Node.Verify(Node.List(n), n, "spawn"); Interlocked.Increment(ref done); }));
            else tasks.Add(Task.Run(() => { Node.Verify(Node.List(n), n, "spawn"); return n; }).ContinueWith(t => { Thread.Yield(); return t.Result; }));
        }
        foreach (var t in threads) End(t, "spawn");
        if (!Task.WaitAll(tasks.ToArray(), 100000)) Fail("tasks of spawn do not end");
        if (done != threads.Count) Fail("spawn");
        return count;
    }

    // Threads that hand a token round by monitors, events and semaphores, while they hold objects.
    static int Block(Random random)
    {
        int count = random.Next(2, 100), rounds = random.Next(1, 20), turn = 0;
        var gate = new object();
        var slim = new SemaphoreSlim(0);
        var ended = new CountdownEvent(count);
        var ring = Enumerable.Range(0, count).Select(i => new AutoResetEvent(false)).ToArray();
        int kind = random.Next(3);
        var threads = Enumerable.Range(0, count).Select(i => Begin(() => {
            var held = Node.List(10 + i);
            for (int r = 0; r < rounds; r++) {
                switch (kind) {
                    case 0:
                        lock (gate) {
                            while (turn % count != i) Monitor.Wait(gate);
                            turn++;
                            Monitor.PulseAll(gate);
                        }
                        break;
                    case 1:
                        ring[i].WaitOne();
                        if (turn % count != i) Fail("a turn of events");
                        turn++;
                        ring[(i + 1) % count].Set();
                        break;
                    default:
                        slim.Wait();
                        turn++;
                        slim.Release();
                        break;
                }
                Node.Verify(held, 10 + i, "block");
            }
            ended.Signal();
        })).ToArray();
        if (kind == 1) ring[0].Set();
        if (kind == 2) slim.Release();
        if (!ended.Wait(100000)) { kill(getpid(), 3); Thread.Sleep(3000); Fail("a ring stands still: kind " + kind); }
        foreach (var t in threads) End(t, "block");
        if (turn != count * rounds) Fail("turns " + turn + " of " + count * rounds);
        return turn;
    }

    static int Descend(int depth, int at, Random random)
    {
        var held = new Node(depth, null);
        try {
            if (depth == 0) {
                if (at % 3 == 0) Thread.Yield();
                if (at % 3 == 1) Thread.Sleep(1);
                throw new InvalidOperationException(at.ToString());
            }
            return Descend(depth - 1, at, random) + 1;
        }
        catch (InvalidOperationException e) when (depth == at && e.Message == at.ToString()) { return 0; }
        finally { if (held.Check != ~depth) Fail("a node in throw"); }
    }
    // Exceptions through frames of several segments, after a wait.
    static int Throw(Random random)
    {
        int count = random.Next(1, 50);
        var threads = Enumerable.Range(0, count).Select(i => { int depth = random.Next(1, 400), at = random.Next(1, depth + 1); return Begin(() => {
            if (Descend(depth, at, null) != depth - at) Fail("a filter");
        }); }).ToArray();
        foreach (var t in threads) End(t, "throw");
        return count;
    }

    static int Sum(int depth) { var held = new Node(depth, null); int sum = depth == 0 ? 0 : Sum(depth - 1) + 1; if (held.Check != ~depth) Fail("a node in recurse"); return sum; }
    static int Forever(int depth) { return Forever(depth + 1) + 1; }
    static int Recurse(Random random)
    {
        int count = random.Next(1, 20), overflows = random.Next(20);
        var threads = Enumerable.Range(0, count).Select(i => { int depth = random.Next(1, 20000); return Begin(() => {
            if (Sum(depth) != depth) Fail("a sum");
            Thread.Sleep(depth % 5);
            if (Sum(depth / 2) != depth / 2) Fail("a sum");
        }); }).ToList();
        if (overflows == 0) threads.Add(Begin(() => { try { Forever(0); Fail("no overflow"); } catch (StackOverflowException) { } }));
        foreach (var t in threads) End(t, "recurse");
        return count;
    }

    static int Collect(Random random)
    {
        var garbage = new object[1000];
        for (int i = 0; i < 20000; i++) garbage[i % 1000] = new Node(i, null);
        if (random.Next(20) == 0) GC.Collect(); else GC.Collect(0);
        Thread.Sleep(random.Next(20));
        return 1;
    }

    // Threads that are aborted or interrupted wherever they are.
    static int Abort(Random random)
    {
        int count = random.Next(1, 60), served = 0;
        var gate = new object();
        var never = new ManualResetEvent(false);
        var threads = Enumerable.Range(0, count).Select(i => { int kind = random.Next(5); return Begin(() => {
            try {
                switch (kind) {
                    case 0: Thread.Sleep(-1); break;
                    case 1: lock (gate) Monitor.Wait(gate); break;
                    case 2: never.WaitOne(); break;
                    case 3: for (;;) Node.Verify(Node.List(20), 20, "abort"); 
                    default: for (;;) Thread.Sleep(1); 
                }
                Fail("a wait without end has ended");
            }
            catch (ThreadAbortException) { Interlocked.Increment(ref served); Thread.ResetAbort(); }
            catch (ThreadInterruptedException) { Interlocked.Increment(ref served); }
        }); }).ToArray();
        Thread.Sleep(random.Next(30));
        // (An interrupt ends a wait; who computes is aborted. A second abort is for who was not in its `try` yet.)
        foreach (var t in threads) { if (random.Next(3) == 0) t.Interrupt(); t.Abort(); }
        foreach (var t in threads) End(t, "abort");
        return count;
    }

    // Callbacks of native code that wait while others run.
    static int Callbacks(Random random)
    {
        int count = random.Next(1, 8);
        var threads = Enumerable.Range(0, count).Select(i => { var array = Enumerable.Range(0, 40).Select(k => random.Next(1000)).ToArray(); return Begin(() => {
            int calls = 0;
            qsort(array, (IntPtr)array.Length, (IntPtr)4, (a, b) => {
                if (++calls % 16 == 0) Thread.Sleep(1);
                if (calls % 16 == 8) Thread.Yield();
                return Marshal.ReadInt32(a).CompareTo(Marshal.ReadInt32(b));
            });
            for (int k = 1; k < array.Length; k++) if (array[k - 1] > array[k]) Fail("a sort");
        }); }).ToArray();
        foreach (var t in threads) End(t, "callbacks");
        return count;
    }

    // Waits that end by their time, some in the moment when they are signalled.
    static int TimeOuts(Random random)
    {
        int count = random.Next(1, 200), got = 0, lost = 0;
        var slim = new SemaphoreSlim(0);
        var kernel = new Semaphore(0, 100000);
        var threads = Enumerable.Range(0, count).Select(i => { int ms = random.Next(0, 20); bool isSlim = random.Next(2) == 0; return Begin(() => {
            bool ok = isSlim ? slim.Wait(ms) : kernel.WaitOne(ms);
            if (ok) Interlocked.Increment(ref got); else Interlocked.Increment(ref lost);
        }); }).ToArray();
        int given = 0;
        for (int i = 0; i < count / 2; i++) { if (random.Next(2) == 0) slim.Release(); else kernel.Release(); given++; if (random.Next(4) == 0) Thread.Sleep(1); }
        foreach (var t in threads) End(t, "time-outs");
        int left = slim.CurrentCount;
        while (kernel.WaitOne(0)) left++;
        if (got + left != given || got + lost != count) Fail("time-outs: " + got + " got, " + lost + " lost, " + left + " left of " + given);
        return count;
    }

    static Socket Tcp() { return new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp); }
    // Servers and clients; some sockets are closed, shut down or polled while others wait in them.
    static int Sockets(Random random)
    {
        int count = random.Next(1, 40), rounds = random.Next(1, 30);
        var listener = Tcp();
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(200);
        var end = listener.LocalEndPoint;
        var served = new ConcurrentBag<Socket>();
        var acceptors = Enumerable.Range(0, 3).Select(k => Begin(() => {
            try {
                for (;;) {
                    var s = listener.Accept();
                    served.Add(s);
                    Begin(() => {
                        var buffer = new byte[1 << 16];
                        try {
                            int n;
                            while ((n = s.Receive(buffer)) > 0) for (int at = 0; at < n; ) at += s.Send(buffer, at, n - at, SocketFlags.None);
                        } catch (SocketException) { } catch (ObjectDisposedException) { }
                        s.Close();
                    });
                }
            } catch (SocketException) { } catch (ObjectDisposedException) { }
        })).ToArray();
        int talked = 0;
        var clients = Enumerable.Range(0, count).Select(i => { int kind = random.Next(6), size = random.Next(1, kind == 5 ? 300000 : 3000), own = random.Next(); return Begin(() => {
            var s = Tcp();
            Thread closer = null;
            try {
                s.Connect(end);
                if (kind == 0) closer = Begin(() => { Thread.Sleep(own % 10); s.Close(); });
                var sent = new byte[size];
                for (int r = 0; r < rounds; r++) {
                    for (int k = 0; k < size; k += 7) sent[k] = (byte)(own + r + k);
                    Thread sender = null;
                    if (kind == 5) sender = Begin(() => { try { s.Send(sent); } catch (SocketException) { } catch (ObjectDisposedException) { } });
                    else s.Send(sent);
                    var got = new byte[size];
                    for (int at = 0; at < size; ) {
                        if (kind == 1) s.Poll(-1, SelectMode.SelectRead);
                        if (kind == 2) { var list = new List<Socket> { s }; var errors = new List<Socket> { s }; Socket.Select(list, null, errors, 1000000); }
                        int n = s.Receive(got, at, size - at, SocketFlags.None);
                        if (n == 0) throw new SocketException(10054);
                        at += n;
                    }
                    for (int k = 0; k < size; k += 7) if (got[k] != (byte)(own + r + k)) Fail("a byte");
                    if (sender != null) End(sender, "sockets' senders");
                    Interlocked.Increment(ref talked);
                    if (kind == 3) { s.ReceiveTimeout = 2; try { s.Receive(got); Fail("a byte too much"); } catch (SocketException) { } s.ReceiveTimeout = 0; }
                }
                if (kind == 4) s.Shutdown(SocketShutdown.Both);
            }
            catch (SocketException e) { if (kind != 0) Fail("sockets, kind " + kind + ": " + e.SocketErrorCode); }
            catch (ObjectDisposedException) { if (kind != 0) Fail("sockets, kind " + kind + " disposed"); }
            if (closer != null) End(closer, "sockets' closers");
            s.Close();
        }); }).ToArray();
        foreach (var t in clients) End(t, "sockets");
        listener.Close();
        foreach (var t in acceptors) End(t, "sockets' acceptors");
        foreach (var s in served) s.Close();
        return talked;
    }

    // Code that does not wait, so that it has to be interrupted.
    static int Compute(Random random)
    {
        int end = Environment.TickCount + random.Next(5, 40);
        long sum = 0, rounds = 0;
        while (Environment.TickCount - end < 0) { sum = 0; for (int i = 0; i < 10000; i++) sum += i; rounds++; if (sum != 49995000) Fail("a loop"); }
        return (int)rounds;
    }

    static void Main(string[] args)
    {
        int seconds = int.Parse(args[0]);
        seed = int.Parse(args[1]);
        var only = args.Length > 2 ? args[2].Split(',') : null;
        var kinds = new Dictionary<string, Func<Random, int>> { { "spawn", Spawn }, { "block", Block }, { "throw", Throw }, { "recurse", Recurse }, { "collect", Collect },
            { "abort", Abort }, { "callbacks", Callbacks }, { "time-outs", TimeOuts }, { "sockets", Sockets }, { "compute", Compute }, { "compute-2", Compute } };
        var names = kinds.Keys.Where(k => only == null || only.Contains(k)).ToArray();
        var counts = new long[names.Length];
        var beats = new int[names.Length];
        var workers = names.Select((name, i) => Begin(() => {
            var random = new Random(seed * 31 + i);
            try { while (!stop) { counts[i] += kinds[name](random); beats[i]++; } }
            catch (Exception e) { Fail(name + ": " + e); }
        })).ToArray();
        var seen = new int[names.Length];
        var since = new int[names.Length];
        for (int s = 0; s < seconds; s++) {
            Thread.Sleep(1000);
            for (int i = 0; i < names.Length; i++) {
                since[i] = beats[i] == seen[i] ? since[i] + 1 : 0;
                seen[i] = beats[i];
                if (since[i] > 120) { Console.Error.WriteLine("soak: " + names[i] + " stands still"); kill(getpid(), 3); Thread.Sleep(3000); _exit(3); }
            }
        }
        stop = true;
        foreach (var t in workers) End(t, "all");
        for (int i = 0; i < names.Length; i++) Console.WriteLine("count " + names[i] + " " + counts[i]);
        Console.WriteLine("count os-threads " + Directory.GetDirectories("/proc/self/task").Length);
        Console.WriteLine("ok");
    }
}
