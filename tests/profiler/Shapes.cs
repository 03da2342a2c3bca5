// A program whose recording is known: tests/profiler.sh compares the counts.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

#pragma warning disable 649
class Widget { public class Part<T> { public T Value; public Part<T> Next; } public long A; ~Widget() { } }

static class Shapes {
    static readonly object Gate = new object();
    static Widget.Part<string> parts;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fail(int depth) {
        if (depth == 0) throw new InvalidOperationException("x");
        Fail(depth - 1);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Catch(int times) {
        for (int i = 0; i < times; i++) {
            try {
                try { Fail(3); } finally { Gate.ToString(); }
            } catch (InvalidOperationException e) when (e.Message == "x") { }
        }
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handles(int times) {
        object o = new Widget();
        for (int i = 0; i < times; i++) {
            GCHandle pinned = GCHandle.Alloc("text", GCHandleType.Pinned), weak = GCHandle.Alloc(o, GCHandleType.Weak);
            weak.Free();
            pinned.Free();
        }
        GC.KeepAlive(o);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int times) {
        for (int i = 0; i < times; i++) {
            new Widget();
            parts = new Widget.Part<string> { Next = parts };
        }
    }
    static void Wait() {
        var ready = new ManualResetEvent(false);
        var waiter = new Thread(() => {
            ready.Set();
            lock (Gate) { }
        });
        waiter.Name = "Waiter";
        lock (Gate) {
            waiter.Start();
            ready.WaitOne();
            // The thread waits once its state says so: nothing else is slept for here.
            while ((waiter.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
        }
        waiter.Join();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill() {
        for (int i = 0; i < 256 * 1024; i++) new byte[1000].GetHashCode();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Spin() {
        int n = 0;
        for (var end = DateTime.UtcNow.AddMilliseconds(400); DateTime.UtcNow < end; )
            for (int i = 0; i < 1000000; i++) n = n * 31 + i;
        return n == 0 ? 1 : 0;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Doze() { Thread.Sleep(400); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Queue() {
        var other = new Thread(() => { lock (Gate) Thread.Sleep(300); });
        other.Start();
        while ((other.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Yield();
        lock (Gate) { }
        other.Join();
    }
    static int Main(string[] args) {
        Catch(10);
        Handles(7);
        Make(1000);
        Wait();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.KeepAlive(parts);
        Console.WriteLine("done");
        switch (args.Length == 0 ? "" : args[0]) {
            case "fill": Fill(); break;
            case "wait": Doze(); Queue(); break;
            case "spin": Console.WriteLine(Spin()); break;
            case "throw": throw new Exception("nobody catches this");
            case "exit": Environment.Exit(7); break;
            case "hang": Thread.Sleep(1500); Console.WriteLine("hangs"); Thread.Sleep(Timeout.Infinite); break;
        }
        return 0;
    }
}
