// Loops that do nothing but choose between constants, so that no instruction of theirs is left as it was written: their threads are aborted, and suspended, all the same.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class Program
{
    static volatile bool entered;

    [MethodImpl(MethodImplOptions.NoInlining)] static void Two(int x) { for (;;) { if (x > 3) x = 1; else x = 9; } }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Choice(int x) { for (;;) x = x > 3 ? 1 : 9; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Turn(bool b) { again: b = b ? false : true; goto again; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Four(int x, int y) { while (true) { if (x == y) x = 2; else x = 3; if (x == y) y = 4; else y = 5; } }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Flags(bool a) { bool b = false; while (true) { if (a) b = true; else b = false; if (b) a = false; else a = true; } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nested(int x) { while (true) { int k = 0; do { x = x > 3 ? 1 : 9; x = x == 1 ? 4 : 7; k = k < 1 ? 1 : 2; } while (k != 2); } }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Empty() { for (;;) { } }

    static void Abort(string name, Action loop)
    {
        bool ended = false;
        entered = false;
        var thread = new Thread(() => {
            try { entered = true; loop(); }
            catch (ThreadAbortException) { Thread.ResetAbort(); ended = true; }
        });
        thread.IsBackground = true;
        thread.Start();
        while (!entered) Thread.Sleep(1);
        Thread.Sleep(20);
        thread.Abort();
        bool joined = thread.Join(20000);
        Console.WriteLine("{0}: {1} {2}", name, joined, ended);
        if (!joined) Environment.Exit(1);
    }

    static void Main()
    {
        Abort("two", () => Two(5));
        Abort("choice", () => Choice(5));
        Abort("turn", () => Turn(true));
        Abort("four", () => Four(1, 2));
        Abort("flags", () => Flags(true));
        Abort("nested", () => Nested(5));
        Abort("empty", () => Empty());
    }
}
