// Loops that spend nearly all of their time in an internal call, a leaf helper or a helper that preserves every register: each can be aborted.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

interface I<T> { }
class Many : I<int>, I<uint>, I<long>, I<ulong>, I<short>, I<ushort>, I<byte>, I<sbyte>, I<char>, I<bool>, I<float>, I<double>, I<int[]>, I<uint[]>, I<long[]>, I<ulong[]> { }

static class Program {
    static volatile bool entered;
    static long last;
    static object subject = new object();

    static void Timestamps() { entered = true; for (;;) last = Stopwatch.GetTimestamp(); }
    static void Dates() { entered = true; var end = DateTime.MaxValue; while (DateTime.UtcNow < end) { } }
    static void TickCounts() { entered = true; for (;;) last = Environment.TickCount; }
    static void Hashes() { entered = true; for (;;) last = RuntimeHelpers.GetHashCode(subject); }
    static void Counts() { entered = true; for (;;) last = GC.CollectionCount(0); }

    // More interfaces than a VTable remembers: casts keep asking the runtime.
    static void Casts() {
        object o = new Many();
        entered = true;
        for (;;) {
            last += ((I<int>)o == null || (I<uint>)o == null || (I<long>)o == null || (I<ulong>)o == null) ? 1 : 0;
            last += ((I<short>)o == null || (I<ushort>)o == null || (I<byte>)o == null || (I<sbyte>)o == null) ? 1 : 0;
            last += ((I<char>)o == null || (I<bool>)o == null || (I<float>)o == null || (I<double>)o == null) ? 1 : 0;
            last += ((I<int[]>)o == null || (I<uint[]>)o == null || (I<long[]>)o == null || (I<ulong[]>)o == null) ? 1 : 0;
        }
    }

    static void Yields() { entered = true; for (;;) Thread.Yield(); }

    static bool Try(ThreadStart loop) {
        for (int i = 0; i < 40; i++) {
            entered = false;
            bool caught = false;
            var thread = new Thread(() => {
                try { loop(); } catch (ThreadAbortException) { caught = true; Thread.ResetAbort(); }
            });
            thread.IsBackground = true;
            thread.Start();
            while (!entered) Thread.Sleep(1);
            Thread.Sleep(1);
            thread.Abort();
            if (!thread.Join(20000) || !caught) return false;
        }
        return true;
    }

    static void Main() {
        foreach (ThreadStart loop in new ThreadStart[] { Timestamps, Dates, TickCounts, Hashes, Counts, Casts, Yields }) {
            Console.WriteLine("{0}: {1}", loop.Method.Name, Try(loop));
        }
        // expect: Timestamps: True
        // expect: Dates: True
        // expect: TickCounts: True
        // expect: Hashes: True
        // expect: Counts: True
        // expect: Casts: True
        // expect: Yields: True
    }
}
