// Threads that do everything a thread can be doing when the world is stopped, all at once, for the given seconds.
//
// A foreign library's signal handlers interrupt each of them constantly, and one thread collects constantly. Every
// object knows what it must hold, and each worker checks what it reads. Ends with `ok` if every worker made progress
// and nothing was ever wrong; otherwise it says which object, and exits with 1. A worker that stands still for 30
// seconds is a hang: exit code 3.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

// An object that knows what it must hold.
sealed class Cell
{
    public struct Pair { public object First; public long Number; public string Second; }

    readonly int id;
    readonly int hash;
    readonly int[] numbers;
    readonly string text;
    readonly object box;
    readonly Pair[] pairs;
    readonly Func<int> closure;
    Cell next;

    public Cell(int id, Cell next)
    {
        this.id = id;
        this.next = next;
        numbers = new int[id % 60];
        for (int i = 0; i < numbers.Length; i++) numbers[i] = id * 31 + i;
        text = id.ToString() + "/" + new string((char)('a' + id % 26), id % 40);
        box = id;
        pairs = new Pair[id % 3];
        for (int i = 0; i < pairs.Length; i++) pairs[i] = new Pair { First = box, Number = id + i, Second = text };
        closure = () => id;
        if (id % 5 == 0) hash = RuntimeHelpers.GetHashCode(this);
    }

    public static void Fail(string what)
    {
        Console.Error.WriteLine("stress: wrong content: " + what);
        Environment.Exit(1);
    }

    void CheckThis()
    {
        if (numbers.Length != id % 60) Fail("the length of numbers of " + id);
        for (int i = 0; i < numbers.Length; i++) if (numbers[i] != id * 31 + i) Fail("numbers of " + id);
        if (!text.StartsWith(id.ToString()) || text[text.Length - 1] != (id % 40 == 0 ? '/' : (char)('a' + id % 26))) Fail("text of " + id);
        if ((int)box != id) Fail("box of " + id);
        for (int i = 0; i < pairs.Length; i++)
            if (pairs[i].First != box || pairs[i].Number != id + i || pairs[i].Second != text) Fail("pairs of " + id);
        if (closure() != id) Fail("closure of " + id);
        if (id % 5 == 0 && hash != RuntimeHelpers.GetHashCode(this)) Fail("hash of " + id);
    }

    // Checks the chain, and cuts it after `depth`, so that what is kept stays small.
    public void Check(int depth)
    {
        var c = this;
        for (int i = 0; i < depth && c != null; i++, c = c.next) {
            c.CheckThis();
            if (i == depth - 1) c.next = null;
        }
    }
}

sealed class Thrown : Exception
{
    public readonly Cell Cell;
    public Thrown(Cell cell) { Cell = cell; }
}

static class Stress
{
    const int Interval = 400;   // microseconds between a timer's signals to one thread

    static volatile bool stop;
    static readonly List<Worker> workers = new List<Worker>();
    static Cell[] shared = new Cell[256];

    sealed class Worker
    {
        readonly string name;
        readonly Action<int> round;
        readonly Thread thread;
        int rounds;
        public int Rounds { get { return Volatile.Read(ref rounds); } }
        public string Name { get { return name; } }

        public Worker(string name, Action<int> round)
        {
            this.name = name;
            this.round = round;
            thread = new Thread(Run) { IsBackground = true };
        }
        public void Start() { thread.Start(); }
        public bool Join() { return thread.Join(30000); }
        void Run()
        {
            if (Native.stress_thread_begin(Interval) != 0) Cell.Fail("timers of " + name);
            while (!stop) round(rounds++);
            Native.stress_thread_end();
        }
    }

    // Objects, strings, arrays and boxes, kept in a ring that grows old, and in one that all threads share.
    static Action<int> Allocator(int seed)
    {
        var ring = new Cell[512];
        return round => {
            Cell chain = null;
            for (int i = 0; i < 200; i++) {
                int id = (seed * 1000003 + round * 211 + i) & 0xffffff;
                chain = new Cell(id, chain);
                int at = (id * 7 + i) % ring.Length;
                var old = ring[at];
                ring[at] = chain;
                if (old != null && i % 8 == 0) old.Check(4);
                if (i % 16 == 0) {
                    var other = Interlocked.Exchange(ref shared[(id + i) % shared.Length], chain);
                    if (other != null) other.Check(1);
                }
                if (i % 32 == 31) { chain.Check(32); chain = null; }
            }
        };
    }

    // Small things only, through the inline allocators, as fast as can be; all checked.
    static void Small(int round)
    {
        object kept = round;
        for (int i = 0; i < 20000; i++) {
            object box = i;
            var array = new object[i & 7];
            if (array.Length > 0) array[array.Length - 1] = box;
            var s = new string('x', i & 15);
            if ((int)box != i || s.Length != (i & 15) || array.Length > 0 && array[array.Length - 1] != box) Cell.Fail("a small object");
        }
        if ((int)kept != round) Cell.Fail("a box held across");
    }

    // No call and no allocation inside: only a signal can stop this.
    static void Tight(int round)
    {
        var cell = new Cell(round & 0xffff, null);
        var data = new int[1000];
        long sum = 0;
        for (int k = 0; k < 20000; k++)
            for (int i = 0; i < data.Length; i++) { data[i] += i; sum += data[i]; }
        if (sum != 999L * 500 * 20000 * 20001L / 2) Cell.Fail("the sum of a tight loop, " + sum);
        cell.Check(1);
    }

    static void Sleep(int round)
    {
        var cell = new Cell(round, null);
        Native.stress_sleep(3000);
        cell.Check(1);
    }

    // An array that native code writes to while it must not move.
    static void Fill(int round)
    {
        var memory = new int[500];
        Native.stress_fill(memory, memory.Length, round);
        for (int i = 0; i < memory.Length; i++) if (memory[i] != round + i) Cell.Fail("an array filled by native code");
    }

    static void Read(int round)
    {
        var cell = new Cell(round, null);
        long value = Native.stress_read();
        if (value != round && value != long.MaxValue) Cell.Fail("a pipe: " + value + " instead of " + round);
        cell.Check(1);
    }

    static void Write(int round)
    {
        Native.stress_write(round);
        Thread.Sleep(round & 1);
    }

    static readonly IntPtr add = Native.stress_add_address();
    static void Calli(int round)
    {
        var cell = new Cell(round, null);
        for (int i = 0; i < 2000; i++) if (NativeCall.Add(add, i, round) != i + round) Cell.Fail("a calli");
        cell.Check(1);
    }

    static int Called(int i)
    {
        var cell = new Cell(i, new Cell(i + 1, null));
        if (i % 16 == 0) Thread.Sleep(0);
        cell.Check(2);
        return i;
    }
    static readonly Native.Callback called = Called;

    static void CallBack(int round)
    {
        if (Native.stress_call_back(called, 64) != 63 * 32) Cell.Fail("a call back");
    }

    static void Foreign(int round)
    {
        if (Native.stress_call_back_from_thread(called, 16) != 15 * 8) Cell.Fail("a call back from a foreign thread");
    }

    [ThreadStatic] static Cell own;
    static void Threads(int round)
    {
        var threads = new Thread[4];
        int done = 0;
        for (int i = 0; i < threads.Length; i++) {
            int id = round + i;
            threads[i] = new Thread(() => {
                Native.stress_thread_begin(Interval);
                own = new Cell(id, null);
                var a = Allocator(id);
                a(id);
                own.Check(1);
                Interlocked.Increment(ref done);
                Native.stress_thread_end();
            });
            threads[i].Start();
        }
        foreach (var t in threads) t.Join();
        if (done != threads.Length) Cell.Fail("threads that ended");
    }

    static void Deep(int depth, Cell cell)
    {
        if (depth == 0) throw new Thrown(cell);
        try { Deep(depth - 1, cell); }
        finally { new Cell(depth, null).Check(1); }
    }
    static void Exceptions(int round)
    {
        var cell = new Cell(round, null);
        try { Deep(round % 20, cell); }
        catch (Thrown e) {
            if (e.Cell != cell) Cell.Fail("an exception's field");
            e.Cell.Check(1);
        }
    }

    static readonly object[] locks = { new object(), new object(), new object() };
    static int inside;
    static void Lock(int round)
    {
        lock (locks[round % 3]) {
            if (round % 3 == 0 && Interlocked.Increment(ref inside) != 1) Cell.Fail("two threads inside a lock");
            new Cell(round & 0xffff, null).Check(1);
            if (round % 3 == 0) Interlocked.Decrement(ref inside);
        }
    }

    static void Weak(int round)
    {
        var weak = new WeakReference[64];
        var strong = new GCHandle[64];
        for (int i = 0; i < weak.Length; i++) {
            var cell = new Cell(i, null);
            weak[i] = new WeakReference(cell);
            strong[i] = GCHandle.Alloc(cell);
        }
        Thread.Sleep(0);
        for (int i = 0; i < weak.Length; i++) {
            var cell = (Cell)strong[i].Target;
            if (weak[i].Target != cell) Cell.Fail("a weak reference to a live object");
            cell.Check(1);
            strong[i].Free();
            var left = (Cell)weak[i].Target;
            if (left != null) left.Check(1);
        }
    }

    static void Collect(int round)
    {
        if (round % 8 == 0) GC.Collect();
        else GC.Collect(0);
        if (round % 64 == 0) Thread.Sleep(1);
    }

    static int Main(string[] args)
    {
        int seconds = args.Length > 0 ? int.Parse(args[0]) : 20;
        if (Native.stress_install() != 0 || Native.stress_pipe() != 0) Cell.Fail("setting up");
        workers.Add(new Worker("allocator 1", Allocator(1)));
        workers.Add(new Worker("allocator 2", Allocator(2)));
        workers.Add(new Worker("small", Small));
        workers.Add(new Worker("tight", Tight));
        workers.Add(new Worker("sleep", Sleep));
        workers.Add(new Worker("fill", Fill));
        workers.Add(new Worker("read", Read));
        workers.Add(new Worker("write", Write));
        workers.Add(new Worker("calli", Calli));
        workers.Add(new Worker("call back", CallBack));
        workers.Add(new Worker("foreign", Foreign));
        workers.Add(new Worker("threads", Threads));
        workers.Add(new Worker("exceptions", Exceptions));
        workers.Add(new Worker("lock 1", Lock));
        workers.Add(new Worker("lock 2", Lock));
        workers.Add(new Worker("weak", Weak));
        workers.Add(new Worker("collect", Collect));
        foreach (var w in workers) w.Start();
        Native.stress_process_timer(1000);

        var last = new int[workers.Count];
        for (int left = seconds; left > 0; ) {
            int now = Math.Min(left, 30);
            var until = DateTime.UtcNow.AddSeconds(now);
            while (DateTime.UtcNow < until) Thread.Sleep(100);
            left -= now;
            for (int i = 0; i < last.Length; i++) {
                int rounds = workers[i].Rounds;
                if (now == 30 && rounds == last[i]) { Console.Error.WriteLine("stress: '" + workers[i].Name + "' stands still"); Exit(3); }
                last[i] = rounds;
            }
        }
        stop = true;
        Native.stress_write(long.MaxValue);
        foreach (var w in workers)
            if (!w.Join()) { Console.Error.WriteLine("stress: '" + w.Name + "' does not end"); Exit(3); }
        Native.stress_process_timer(0);
        foreach (var w in workers) {
            Console.Error.WriteLine("{0,-12} {1,9} rounds", w.Name, w.Rounds);
            if (w.Rounds == 0) Cell.Fail(w.Name + " did nothing");
        }
        Console.Error.WriteLine("signals      {0,9} on the alternate stack, {1} on the thread's own, {2} to the process",
            Native.stress_signals(0), Native.stress_signals(1), Native.stress_signals(2));
        Console.Error.WriteLine("collections  {0,9} minor, {1} full", GC.CollectionCount(0), GC.CollectionCount(GC.MaxGeneration));
        for (int i = 0; i < 2; i++) if (Native.stress_signals(i) == 0) Cell.Fail("no signal came");
        if (GC.CollectionCount(0) == 0 || GC.CollectionCount(GC.MaxGeneration) == 0) Cell.Fail("nothing was collected");
        Console.WriteLine("ok");
        return 0;
    }

    // What hangs must not hang the end as well.
    static void Exit(int code) { Console.Error.Flush(); Native._exit(code); }
}
