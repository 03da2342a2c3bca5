// What a long-running program does to its runtime, all at once, for the given seconds: `Soak SECONDS [WORKER,...]`.
//
// Each worker repeats rounds, counts its operations and checks what it reads. Timers of a foreign library (tests/stress/native.c)
// interrupt every thread, and collections are asked for without waiting for them, so that they run beside the workers.
// Standard output has a line `count NAME N` for each counter, then `ok`. A wrong value ends the process with exit code 1, a worker
// that stands still for eight minutes, or does not end, with 3; the stacks of all threads come before that. (A loaded machine may give a worker nothing for a minute.)
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

sealed class Worker
{
    readonly Func<int, int> round;
    readonly Thread thread;
    long rounds, operations;
    public readonly string Name;
    public long Rounds { get { return Interlocked.Read(ref rounds); } }
    public long Operations { get { return Interlocked.Read(ref operations); } }

    // A round is told its number and gives the number of its operations.
    public Worker(string name, Func<int, int> round)
    {
        Name = name;
        this.round = round;
        thread = new Thread(Run, 4 << 20) { IsBackground = true };
    }
    public void Start() { thread.Start(); }
    public bool Join() { return thread.Join(240000); }
    void Run()
    {
        if (Native.stress_thread_begin(Soak.Interval) != 0) Soak.Fail("timers of " + Name);
        try {
            for (int n = 0; !Soak.Stop; n++) {
                Interlocked.Add(ref operations, round(n));
                Interlocked.Increment(ref rounds);
            }
        } catch (Exception e) { Soak.Fail(Name + ": " + e); }
        Native.stress_thread_end();
    }
}

sealed class Node
{
    public Node Next;
    public readonly long Id;
    public readonly long Check;
    public Node(long id, Node next) { Id = id; Check = ~id; Next = next; }
    public void Verify(string where) { if (Check != ~Id) Soak.Fail("a node in " + where); }
}

sealed class Finalized
{
    public static long Made, Ended;
    readonly Node node;
    public Finalized() { node = new Node(Interlocked.Increment(ref Made), null); }
    ~Finalized() { node.Verify("a finalizer"); Interlocked.Increment(ref Ended); }
}

static class Soak
{
    public const int Interval = 1000;   // microseconds between a timer's signals to one thread
    public static volatile bool Stop;
    static readonly Dictionary<string, long> extra = new Dictionary<string, long>();

    public static void Fail(string what)
    {
        Console.Error.WriteLine("soak: wrong: " + what);
        Console.Error.Flush();
        Native._exit(1);
    }

    static void Count(string name, long n)
    {
        lock (extra) {
            long before;
            extra.TryGetValue(name, out before);
            extra[name] = before + n;
        }
    }

    // ---- memory --------------------------------------------------------------------------------------------------

    // Objects, strings and arrays of all sizes, some of which grow old.
    static Func<int, int> Allocation(int seed)
    {
        var random = new Random(seed);
        var old = new object[4096];
        return round => {
            for (int i = 0; i < 5000; i++) {
                object made;
                switch (random.Next(6)) {
                    case 0: made = new Node(i, new Node(i + 1, null)); break;
                    case 1: made = new string((char)('a' + i % 26), random.Next(100)); break;
                    case 2: made = new int[random.Next(300)]; break;
                    case 3: made = new object[random.Next(100)]; break;
                    case 4: made = (long)i; break;
                    default: made = new List<Node> { new Node(i, null) }; break;
                }
                if (i % 8 == 0) old[random.Next(old.Length)] = made;
                var back = old[random.Next(old.Length)];
                var node = back as Node;
                if (node != null) { node.Verify("the ring"); node.Next.Verify("the ring"); }
                var text = back as string;
                if (text != null && text.Length > 0 && text[0] != text[text.Length - 1]) Fail("a string");
            }
            return 5000;
        };
    }

    // A long list that is cut and grown again: deep marking, and much that dies old.
    static Node list;
    static int List(int round)
    {
        int length = 200000 + round % 5 * 100000;
        Node head = null;
        for (int i = 0; i < length; i++) head = new Node(i, head);
        list = head;
        int seen = 0;
        for (var n = list; n != null; n = n.Next) {
            if (n.Id != length - 1 - seen) Fail("the list");
            n.Verify("the list");
            seen++;
        }
        if (seen != length) Fail("the length of the list");
        return length;
    }

    // Large arrays of references, made, filled and dropped while marking may run.
    static object[][] larges = new object[16][];
    static int Large(int round)
    {
        int at = round % larges.Length, length = 2000 + round % 7 * 20000;
        var array = new object[length];
        for (int i = 0; i < length; i += 3) array[i] = new Node(i, null);
        var before = larges[at];
        larges[at] = array;
        if (before != null)
            for (int i = 0; i < before.Length; i += 3) {
                var node = (Node)before[i];
                if (node.Id != i) Fail("a large array");
                node.Verify("a large array");
            }
        for (int i = 1; i < length; i += 3) array[i] = array[i - 1];
        return length;
    }

    // Tables that grow over 10,000 entries while cycles run. The values are reachable through the tables only.
    static int Tables(int round)
    {
        var tables = new ConditionalWeakTable<Node, Node>[2];
        var keys = new List<Node>();
        for (int t = 0; t < tables.Length; t++) tables[t] = new ConditionalWeakTable<Node, Node>();
        int most = 12000 + round % 4 * 4000, looked = 0;
        for (int n = 0; n < most; n++) {
            var key = new Node(n, null);
            keys.Add(key);
            foreach (var t in tables) {
                t.Add(key, new Node(-n, key));
                // One that dies with its key, at once.
                if (n % 4 == 0) t.Add(new Node(n, null), new Node(n, null));
            }
            if (n % 3000 == 0) Cycle();
            if (n % 1000 == 999) looked += LookUp(tables, keys, n / 1000);
        }
        GC.Collect(0);
        looked += LookUp(tables, keys, 0);
        for (int n = 0; n < keys.Count; n += 2) if (!tables[0].Remove(keys[n])) Fail("an entry to be removed");
        Count("table entries", 2 * most);
        return 2 * most + looked;
    }
    static int LookUp(ConditionalWeakTable<Node, Node>[] tables, List<Node> keys, int from)
    {
        int looked = 0;
        for (int n = from; n < keys.Count; n += 7)
            foreach (var t in tables) {
                Node value;
                if (!t.TryGetValue(keys[n], out value)) Fail("entry " + n + " is gone");
                if (value.Id != -n || value.Next != keys[n]) Fail("the value of entry " + n);
                value.Verify("a table");
                looked++;
            }
        return looked;
    }

    // Asks for a cycle and does not wait for it.
    static void Cycle()
    {
        GC.AddMemoryPressure(1L << 40);
        GC.RemoveMemoryPressure(1L << 40);
        Count("cycles asked for", 1);
    }
    static int Collect(int round)
    {
        if (round % 16 == 0) GC.Collect();
        else if (round % 4 == 0) Cycle();
        else GC.Collect(0);
        Thread.Sleep(5);
        return 1;
    }

    static int Finalizers(int round)
    {
        for (int i = 0; i < 500; i++) {
            var f = new Finalized();
            if (i % 3 == 0) GC.SuppressFinalize(f);
            if (i % 5 == 0) GC.ReRegisterForFinalize(f);
        }
        Thread.Sleep(1);
        return 500;
    }

    // ---- handles --------------------------------------------------------------------------------------------------

    static Func<int, int> Handles(int seed)
    {
        var random = new Random(seed);
        var slots = new List<KeyValuePair<GCHandle, Node>>();
        return round => {
            for (int i = 0; i < 3000; i++) {
                if (slots.Count < 2000 && random.Next(2) == 0) {
                    var node = new Node(i, null);
                    var type = (GCHandleType)random.Next(3);
                    slots.Add(new KeyValuePair<GCHandle, Node>(GCHandle.Alloc(node, type), node));
                } else if (slots.Count > 0) {
                    int at = random.Next(slots.Count);
                    var entry = slots[at];
                    if (entry.Key.Target != entry.Value) Fail("the target of a handle");
                    entry.Value.Verify("a handle");
                    entry.Key.Free();
                    slots[at] = slots[slots.Count - 1];
                    slots.RemoveAt(slots.Count - 1);
                }
            }
            var bytes = new byte[64 + random.Next(20000)];
            var pin = GCHandle.Alloc(bytes, GCHandleType.Pinned);
            var address = pin.AddrOfPinnedObject();
            Thread.Sleep(0);
            if (address != pin.AddrOfPinnedObject()) Fail("a pinned array moved");
            pin.Free();
            return 3001;
        };
    }

    static int Weak(int round)
    {
        var kept = new List<Node>();
        var weak = new List<WeakReference>();
        for (int i = 0; i < 2000; i++) {
            var node = new Node(i, null);
            if (i % 2 == 0) kept.Add(node);
            weak.Add(new WeakReference(node, i % 3 == 0));
        }
        Thread.Sleep(round % 3);
        for (int i = 0; i < weak.Count; i++) {
            var node = (Node)weak[i].Target;
            if (node != null) { if (node.Id != i) Fail("a weak reference"); node.Verify("a weak reference"); }
            else if (i % 2 == 0) Fail("a weak reference lost what lives");
        }
        GC.KeepAlive(kept);
        return weak.Count;
    }

    // ---- threads -------------------------------------------------------------------------------------------------

    static readonly object[] locks = { new object(), new object(), new object(), new object() };
    static readonly long[] guarded = new long[4], guardedTwice = new long[4];
    static int Monitors(int round)
    {
        int n = round % locks.Length;
        for (int i = 0; i < 2000; i++)
            lock (locks[n]) {
                if (++guarded[n] != ++guardedTwice[n]) Fail("two threads inside a lock");
                if (i % 500 == 0) lock (locks[n]) Thread.Sleep(0);
            }
        // Monitors that become fat and die.
        for (int i = 0; i < 50; i++) {
            var o = new object();
            lock (o) { RuntimeHelpers.GetHashCode(o); Monitor.Wait(o, 0); }
        }
        return 2050;
    }

    static readonly Queue<Node> queue = new Queue<Node>();
    static int Produce(int round)
    {
        for (int i = 0; i < 200; i++)
            lock (queue) {
                while (queue.Count > 100 && !Stop) Monitor.Wait(queue, 100);
                queue.Enqueue(new Node(i, null));
                Monitor.PulseAll(queue);
            }
        return 200;
    }
    static int Consume(int round)
    {
        int taken = 0;
        lock (queue) {
            if (queue.Count == 0) Monitor.Wait(queue, 100);
            while (queue.Count > 0) { queue.Dequeue().Verify("the queue"); taken++; }
            Monitor.PulseAll(queue);
        }
        return taken;
    }

    static int Threads(int round)
    {
        int done = 0;
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread(() => { new Node(1, null).Verify("a thread"); Interlocked.Increment(ref done); }, 256 << 10);
            threads[i].Start();
        }
        foreach (var t in threads) t.Join();
        if (done != threads.Length) Fail("threads that ended");
        using (var all = new CountdownEvent(16)) {
            for (int i = 0; i < 16; i++) ThreadPool.QueueUserWorkItem(_ => { new Node(2, null).Verify("the pool"); all.Signal(); });
            if (!all.Wait(60000)) Fail("the pool stands still");
        }
        return 20;
    }

    // Blocking receives that are ended by an abort, by closing, or by what they wait for.
    static int Sockets(int round)
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var here = new TcpClient();
        here.Connect((IPEndPoint)listener.LocalEndpoint);
        var there = listener.AcceptTcpClient();
        listener.Stop();
        var begun = new ManualResetEventSlim();
        string ended = null;
        var t = new Thread(() => {
            Native.stress_thread_begin(Interval);
            try {
                begun.Set();
                var buffer = new byte[16];
                int n = here.Client.Receive(buffer);
                ended = "received " + n;
            }
            catch (ThreadAbortException) { ended = "aborted"; Thread.ResetAbort(); }
            catch (SocketException) { ended = "closed"; }
            catch (ObjectDisposedException) { ended = "closed"; }
            Native.stress_thread_end();
        });
        t.Start();
        begun.Wait();
        if (round % 4 != 0) Thread.Sleep(round % 3);
        switch (round % 3) {
            case 0: t.Abort(); break;
            case 1: here.Client.Close(); break;
            default: there.Client.Send(new byte[3]); break;
        }
        if (!t.Join(30000)) { Console.Error.WriteLine("soak: a receive was not cancelled, round " + round); Native.Stacks(); Thread.Sleep(5000); Native._exit(3); }
        if (ended == null || round % 3 == 2 && ended != "received 3") Fail("a receive ended with " + (ended ?? "nothing"));
        here.Close();
        there.Close();
        Count("sockets " + ended.Split(' ')[0], 1);
        return 1;
    }

    // ---- exceptions --------------------------------------------------------------------------------------------

    sealed class Thrown : Exception { public Node Node; }
    static int finallys;
    static void Deep(int depth, Node node)
    {
        if (depth == 0) throw new Thrown { Node = node };
        try { Deep(depth - 1, node); }
        catch (Thrown e) when (e.Node != node) { Fail("a filter"); }
        finally { finallys++; }
    }
    static int Exceptions(int round)
    {
        for (int i = 0; i < 20; i++) {
            var node = new Node(round, null);
            int before = finallys, depth = round % 30;
            try { Deep(depth, node); Fail("no exception"); }
            catch (Thrown e) { if (e.Node != node) Fail("an exception's field"); e.Node.Verify("an exception"); }
            if (finallys - before != depth) Fail("finally blocks: " + (finallys - before) + " of " + depth);
            Node none = i < 0 ? node : null;
            try { if (none.Id == 1) Fail("a null reference"); } catch (NullReferenceException) { }
            int zero = round - round;
            try { if (10 / zero == 1) Fail("a division"); } catch (DivideByZeroException) { }
        }
        return 60;
    }

    static int Overflow(int depth, Node node) { return depth < 0 ? 0 : 1 + Overflow(depth + 1, new Node(depth, node)); }
    static int StackOverflows(int round)
    {
        bool caught = false;
        var t = new Thread(() => {
            try { Overflow(0, null); }
            catch (StackOverflowException) { caught = true; }
        }, 256 << 10);
        t.Start();
        t.Join();
        if (!caught) Fail("a stack overflow was not caught");
        Thread.Sleep(20);
        return 1;
    }

    static int Main(string[] args)
    {
        int seconds = int.Parse(args[0]);
        int seed = args.Length > 1 ? int.Parse(args[1]) : Environment.TickCount & 0xFFFFFF;
        var only = args.Length > 2 ? new HashSet<string>(args[2].Split(',')) : null;
        if (Native.stress_install() != 0) Fail("setting up");
        Console.WriteLine("seed " + seed);
        var workers = new List<Worker>();
        Action<string, Func<int, int>> add = (name, round) => {
            if (only == null || only.Contains(name)) workers.Add(new Worker(name, round));
        };
        add("allocation", Allocation(seed));
        add("allocation-2", Allocation(seed + 1));
        add("list", List);
        add("large", Large);
        add("tables", Tables);
        add("collect", Collect);
        add("finalizers", Finalizers);
        add("handles", Handles(seed + 2));
        add("handles-2", Handles(seed + 3));
        add("weak", Weak);
        add("monitors", Monitors);
        add("monitors-2", Monitors);
        add("produce", Produce);
        add("consume", Consume);
        add("threads", Threads);
        add("sockets", Sockets);
        add("sockets-2", Sockets);
        add("exceptions", Exceptions);
        add("overflows", StackOverflows);
        foreach (var w in workers) w.Start();
        Native.stress_process_timer(5000);

        var last = new long[workers.Count];
        var still = new int[workers.Count];
        for (int left = seconds; left > 0; ) {
            int now = Math.Min(left, 60);
            var until = DateTime.UtcNow.AddSeconds(now);
            while (DateTime.UtcNow < until) Thread.Sleep(100);
            left -= now;
            for (int i = 0; i < last.Length; i++) {
                long rounds = workers[i].Rounds;
                still[i] = now == 60 && rounds == last[i] ? still[i] + 1 : 0;
                if (still[i] == 4 || still[i] == 8) {
                    Console.Error.WriteLine("soak: '" + workers[i].Name + "' stands still, for " + still[i] + " minutes");
                    Native.Stacks();
                    Thread.Sleep(10000);
                }
                if (still[i] == 8) {
                    Console.Error.WriteLine("soak: it is given up");
                    Native._exit(3);
                }
                last[i] = rounds;
            }
        }
        Stop = true;
        foreach (var w in workers)
            if (!w.Join()) { Console.Error.WriteLine("soak: '" + w.Name + "' does not end"); Native.Stacks(); Thread.Sleep(5000); Native._exit(3); }
        Native.stress_process_timer(0);
        foreach (var w in workers) {
            Console.WriteLine("count " + w.Name + " " + w.Operations);
            if (w.Rounds == 0) Fail(w.Name + " did nothing");
        }
        foreach (var e in extra) Console.WriteLine("count " + e.Key.Replace(' ', '-') + " " + e.Value);
        Console.WriteLine("count finalized " + Interlocked.Read(ref Finalized.Ended));
        Console.WriteLine("count signals " + (Native.stress_signals(0) + Native.stress_signals(1) + Native.stress_signals(2)));
        Console.WriteLine("count minor-collections " + GC.CollectionCount(0));
        Console.WriteLine("count full-collections " + GC.CollectionCount(GC.MaxGeneration));
        Console.WriteLine("ok");
        return 0;
    }
}
