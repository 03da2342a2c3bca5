// What a program records of itself by Mono.Profiler.Log.LogProfiler: parts between two switches, of code that runs before and after as well.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Mono.Profiler.Log;

class Before { public int X; }
class Within { public int X; }
class After { public int X; }

static class Live {
    static object kept;

    [MethodImpl (MethodImplOptions.NoInlining)]
    static object Make<T> () where T : new () { return new T (); }

    // The same code each time: it is compiled before anything is switched on.
    [MethodImpl (MethodImplOptions.NoInlining)]
    static void Work (int what, int count) {
        for (int i = 0; i < count; i++) {
            if (what == 0) kept = new Before ();
            else if (what == 1) kept = new Within ();
            else kept = new After ();
            GCHandle handle = GCHandle.Alloc (kept, GCHandleType.Weak);
            handle.Free ();
            try { throw new InvalidOperationException (); } catch (InvalidOperationException) { }
        }
    }

    static void Switch (bool on) {
        LogProfiler.GCAllocationEventsEnabled = on;
        LogProfiler.GCHandleEventsEnabled = on;
        LogProfiler.ExceptionEventsEnabled = on;
    }

    static void Print () {
        Console.WriteLine ("frames {0} of {1}, depth {2}", LogProfiler.StackTraceFrames, LogProfiler.MaxStackTraceFrames, LogProfiler.CallDepth);
        Console.WriteLine ("heapshot {0} {1} {2}", LogProfiler.HeapshotMode, LogProfiler.HeapshotMillisecondsFrequency, LogProfiler.HeapshotCollectionsFrequency);
        Console.WriteLine ("sample {0} {1}", LogProfiler.SampleMode, LogProfiler.SampleFrequency);
        Console.WriteLine ("events {0} {1} {2} {3} {4} {5} {6} {7} {8} {9}", LogProfiler.ExceptionEventsEnabled, LogProfiler.MonitorEventsEnabled,
            LogProfiler.GCEventsEnabled, LogProfiler.GCAllocationEventsEnabled, LogProfiler.GCMoveEventsEnabled, LogProfiler.GCRootEventsEnabled,
            LogProfiler.GCHandleEventsEnabled, LogProfiler.GCFinalizationEventsEnabled, LogProfiler.CounterEventsEnabled, LogProfiler.JitEventsEnabled);
    }

    static int Main () {
        Console.WriteLine ("attached: " + LogProfiler.IsAttached);
        if (!LogProfiler.IsAttached) {
            try { LogProfiler.TriggerHeapshot (); } catch (MissingMethodException) { Console.WriteLine ("missing"); }
            return 0;
        }
        Print ();
        Work (0, 2000);
        // Another thread is in the middle of it.
        bool stops = false;
        var other = new Thread (() => { while (!Volatile.Read (ref stops)) Work (0, 1); });
        other.Start ();
        Switch (true);
        Volatile.Write (ref stops, true);
        other.Join ();
        Work (1, 100);
        Switch (false);
        Work (2, 2000);

        LogProfiler.StackTraceFrames = 3;
        LogProfiler.CallDepth = 4;
        LogProfiler.HeapshotMillisecondsFrequency = 60000;
        LogProfiler.HeapshotMode = LogHeapshotMode.OnDemand;
        LogProfiler.TriggerHeapshot ();
        GC.Collect ();
        Console.WriteLine (LogProfiler.SetSampleParameters (LogSampleMode.Process, 500));
        Print ();
        var watch = System.Diagnostics.Stopwatch.StartNew ();
        while (watch.ElapsedMilliseconds < 300) Spin ();
        Console.WriteLine (LogProfiler.SetSampleParameters (LogSampleMode.None, 1));
        return 0;
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static void Spin () { for (int i = 0; i < 100000; i++) kept = null; }
}
