// mcs: -r:Mono.Tasklets.dll
// tiers: all
// split: no, continuations need a thread whose stack does not grow
// green: no, as above
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using Mono.Tasklets;

// Continuations: what is on the stack between Mark and Store is there again after Restore, and nothing else.
static class Tasklets
{
    static int times;
    static List<string> log = new List<string>();

    // A variable of the frame is again what it was; what is in the heap is as it is now.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Count()
    {
        var c = new Continuation();
        c.Mark();
        int local = 1;
        string text = "before " + times;
        int state = c.Store(5);
        local += state;
        if (times++ < 3) { text = "changed"; local = 100; c.Restore(10 * times); }
        c.Dispose();
        return text + ", local " + local + ", times " + times;
    }

    // From deeper and from higher than where it was stored.
    static int Deep(int depth, Continuation c)
    {
        if (depth > 0) return Deep(depth - 1, c) + 1;
        return c.Store(0);
    }
    static int Deeper(int depth, Continuation c)
    {
        var words = new int[depth + 1];
        if (depth > 0) return Deeper(depth - 1, c) + words[depth];
        c.Restore(1000);
        return -1;
    }
    static string UpAndDown()
    {
        var c = new Continuation();
        c.Mark();
        int[] seen = new int[1];
        int got = Deep(50, c);
        if (seen[0]++ == 0) Deeper(200, c);
        if (seen[0] == 2) c.Restore(2000);
        return got + " " + seen[0];
    }

    // Objects that only the copy refers to live on, and are found.
    class Node { public Node Next; public int Value; }
    static string Collected()
    {
        var c = new Continuation();
        c.Mark();
        return Inner(c);
    }
    static string Inner(Continuation c)
    {
        Node list = null;
        for (int i = 0; i < 1000; i++) list = new Node { Next = list, Value = i };
        int state = c.Store(0);
        if (state < 3) { list = null; Rubbish(); c.Restore(state + 1); }
        int sum = 0;
        for (var n = list; n != null; n = n.Next) sum += n.Value;
        return "sum " + sum;
    }
    static void Rubbish()
    {
        for (int i = 0; i < 20000; i++) GC.KeepAlive(new byte[100]);
        GC.Collect();
    }

    // Two that take turns.
    class Worker
    {
        public Continuation Cont = new Continuation();
        public int Id;
        public bool Started, Done;
    }
    static Queue<Worker> ready = new Queue<Worker>();
    static Worker current;
    static void Yield()
    {
        var me = current;
        if (me.Cont.Store(0) == 0) { ready.Enqueue(me); Next(); }
    }
    static void Next()
    {
        current = ready.Dequeue();
        if (current.Started) current.Cont.Restore(1);
        scheduler.Restore(1);
    }
    static Continuation scheduler = new Continuation();
    static void Work(int id)
    {
        for (int i = 0; i < 3; i++) { log.Add(id + ":" + i); Yield(); }
    }
    static void Schedule()
    {
        scheduler.Mark();
        scheduler.Store(0);
        while (current != null || ready.Count > 0) {
            var w = current ?? ready.Dequeue();
            if (w.Done) { current = null; continue; }
            current = w;
            if (!w.Started) { w.Started = true; Start(w); }
            current = null;
        }
    }
    static void Start(Worker w)
    {
        w.Cont.Mark();
        Work(w.Id);
        current.Done = true;
    }

    // What callers have handed out by reference stays as it is, however small the method that marks.
    static int Both(Continuation c, ref int n) { c.Mark(); return Turns(c, ref n); }
    static int Turns(Continuation c, ref int n)
    {
        int state = c.Store(0);
        n++;
        if (state < 3) c.Restore(state + 1);
        return state;
    }
    static string Callers()
    {
        int n = 0;
        int state = Both(new Continuation(), ref n);
        return state + " " + n;
    }

    // What is refused.
    static string Refused(Action a)
    {
        try { a(); return "none"; }
        catch (Exception e) { return e.GetType().Name + ": " + e.Message.Replace(Environment.NewLine, " "); }
    }

    static void Main()
    {
        Console.WriteLine(Count());
        Console.WriteLine(UpAndDown());
        Console.WriteLine(Collected());
        Console.WriteLine(Callers());
        for (int i = 1; i <= 3; i++) ready.Enqueue(new Worker { Id = i });
        Schedule();
        Console.WriteLine(string.Join(" ", log));
        Console.WriteLine(Refused(() => new Continuation().Store(1)));
        Console.WriteLine(Refused(() => new Continuation().Restore(1)));
        Console.WriteLine(Refused(() => { var c = new Continuation(); c.Mark(); c.Restore(1); }));
        Console.WriteLine(Refused(() => { var c = new Continuation(); c.Mark(); c.Mark(); }));
        Console.WriteLine(Refused(() => {
            var c = new Continuation();
            c.Mark();
            string inner = null;
            var t = new Thread(() => inner = Refused(() => c.Store(1)));
            t.Start();
            t.Join();
            throw new Exception(inner);
        }));
    }
}
