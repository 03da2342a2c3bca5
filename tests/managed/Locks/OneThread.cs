// Monitors as one thread sees them: free, entered, recursive, with a hash, left once too often; synchronized methods.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Synchronized
{
    public int Depth;
    [MethodImpl(MethodImplOptions.Synchronized)]
    public int Down(int n) { Depth++; return n == 0 ? (Monitor.IsEntered(this) ? Depth : -1) : Down(n - 1); }
    [MethodImpl(MethodImplOptions.Synchronized)]
    public void Fail() { throw new ApplicationException("inside"); }
    [MethodImpl(MethodImplOptions.Synchronized)]
    public static bool Static() { return Monitor.IsEntered(typeof(Synchronized)); }
}

static class OneThread
{
    static string Try(Action a)
    {
        try { a(); return "nothing"; } catch (Exception e) { return e.GetType().Name; }
    }

    static int Recursive(object o, int n)
    {
        lock (o) return n == 0 ? 0 : 1 + Recursive(o, n - 1);
    }

    static int Main()
    {
        var o = new object();
        Console.WriteLine(Monitor.IsEntered(o));  // expect: False
        lock (o) Console.WriteLine(Monitor.IsEntered(o));  // expect: True
        Console.WriteLine(Monitor.IsEntered(o));  // expect: False

        // More often than a thin word can count.
        Console.WriteLine(Recursive(o, 700) + " " + Monitor.IsEntered(o));  // expect: 700 False
        lock (o) lock (o) { }
        Console.WriteLine(Monitor.IsEntered(o));  // expect: False

        // A hash before, and one taken inside.
        var hashed = new object();
        int hash = RuntimeHelpers.GetHashCode(hashed);
        lock (hashed) Console.WriteLine(RuntimeHelpers.GetHashCode(hashed) == hash);  // expect: True
        Console.WriteLine(RuntimeHelpers.GetHashCode(hashed) == hash && !Monitor.IsEntered(hashed));  // expect: True
        var inside = new object();
        lock (inside) hash = RuntimeHelpers.GetHashCode(inside);
        Console.WriteLine(RuntimeHelpers.GetHashCode(inside) == hash && !Monitor.IsEntered(inside));  // expect: True
        lock (inside) Console.WriteLine(Monitor.IsEntered(inside));  // expect: True

        Console.WriteLine(Try(() => Monitor.Enter(null)));  // expect: ArgumentNullException
        Console.WriteLine(Try(() => Monitor.Exit(null)));  // expect: ArgumentNullException
        Console.WriteLine(Try(() => Monitor.Exit(o)));  // expect: SynchronizationLockException
        Console.WriteLine(Try(() => Monitor.Exit(new object())));  // expect: SynchronizationLockException
        Console.WriteLine(Try(() => { bool taken = true; Monitor.Enter(o, ref taken); }));  // expect: ArgumentException
        bool got = false;
        Monitor.Enter(o, ref got);
        Console.WriteLine(got + " " + Monitor.IsEntered(o));  // expect: True True
        Monitor.Exit(o);
        got = false;
        Console.WriteLine(Try(() => Monitor.Enter(null, ref got)) + " " + got);  // expect: ArgumentNullException False

        // An exception leaves what a lock entered.
        Console.WriteLine(Try(() => { lock (o) throw new FormatException(); }) + " " + Monitor.IsEntered(o));  // expect: FormatException False

        var s = new Synchronized();
        Console.WriteLine(s.Down(300) + " " + Monitor.IsEntered(s));  // expect: 301 False
        Console.WriteLine(Try(s.Fail) + " " + Monitor.IsEntered(s));  // expect: ApplicationException False
        Console.WriteLine(Synchronized.Static() + " " + Monitor.IsEntered(typeof(Synchronized)));  // expect: True False
        return 0;
    }
}
