// What the collector tells of itself: memory falls after a collection, counts rise, pressure and modes are accepted.
using System;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Threading;

static class Counters
{
    static byte[][] large;
    static object[] small;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill()
    {
        large = new byte[50][];
        for (int i = 0; i < large.Length; i++) large[i] = new byte[400000];
        small = new object[200000];
        for (int i = 0; i < small.Length; i++) small[i] = new int[10];
    }
    static void Elsewhere(ThreadStart work) { var t = new Thread(work); t.Start(); t.Join(); }


    static void Main()
    {
        GC.Collect();
        long before = GC.GetTotalMemory(true);
        Elsewhere(Fill);
        long full = GC.GetTotalMemory(false);
        Console.WriteLine(full - before > 25000000);                            // expect: True
        Console.WriteLine(full - before < 60000000);                            // expect: True
        large = null;
        small = null;
        GC.Collect();
        long after = GC.GetTotalMemory(true);
        Console.WriteLine(after - before < 3000000);                            // expect: True

        int minors = GC.CollectionCount(0), fulls = GC.CollectionCount(1);
        GC.Collect(0);
        Console.WriteLine((GC.CollectionCount(0) > minors) + " " + (GC.CollectionCount(1) == fulls));   // expect: True True
        GC.Collect();
        GC.Collect(1);
        Console.WriteLine(GC.CollectionCount(1) >= fulls + 2);                  // expect: True
        Console.WriteLine(GC.CollectionCount(7) == GC.CollectionCount(1));      // expect: True
        try { GC.CollectionCount(-1); } catch (ArgumentOutOfRangeException) { Console.WriteLine("range"); }  // expect: range

        // Allocating collects by itself.
        minors = GC.CollectionCount(0);
        object last = null;
        for (int i = 0; i < 2000000; i++) last = new object[i % 8];
        Console.WriteLine(GC.CollectionCount(0) > minors && last != null);      // expect: True

        // Kept alive up to the call, and no longer needed after it.
        var watched = new object();
        var weak = new WeakReference(watched);
        GC.Collect();
        Console.WriteLine(weak.IsAlive);                                        // expect: True
        GC.KeepAlive(watched);

        GC.AddMemoryPressure(100000000);
        GC.RemoveMemoryPressure(100000000);
        try { GC.AddMemoryPressure(0); } catch (ArgumentOutOfRangeException) { Console.WriteLine("range"); }     // expect: range
        try { GC.RemoveMemoryPressure(-5); } catch (ArgumentOutOfRangeException) { Console.WriteLine("range"); } // expect: range

        GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced);
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Optimized, false);
        GC.Collect(0, GCCollectionMode.Default, true);
        try { GC.Collect(0, (GCCollectionMode)9); } catch (ArgumentOutOfRangeException) { Console.WriteLine("range"); }  // expect: range
        Console.WriteLine(GCSettings.IsServerGC);                               // expect: False
        Console.WriteLine(GCSettings.LatencyMode);                              // expect: Interactive
        GCSettings.LatencyMode = GCLatencyMode.Batch;
        GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
        GC.Collect();
        Console.WriteLine("end");                                               // expect: end
    }
}
