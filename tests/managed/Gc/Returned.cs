// timeout: 120
// What the runtime keeps for threads, handles, finalizable objects and inflated monitors is given back or used again: after
// a first round, further rounds of the same take no more memory and no more mappings.
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class Returned
{
    sealed class Finalized { public static int Count; public int Id; ~Finalized() { Interlocked.Increment(ref Count); } }
    [ThreadStatic] static object own;

    static long Resident()
    {
        foreach (var line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmRSS:")) return long.Parse(line.Substring(6).Replace("kB", "").Trim()) >> 10;
        return 0;
    }
    static int Mappings() { return File.ReadAllLines("/proc/self/maps").Length; }

    static void Elsewhere(ThreadStart work) { var t = new Thread(work); t.Start(); t.Join(); }

    static void Threads()
    {
        for (int round = 0; round < 250; round++) {
            var threads = new Thread[8];
            for (int i = 0; i < threads.Length; i++) {
                threads[i] = new Thread(() => { own = new object[100]; lock (own) Monitor.Wait(own, 0); });
                threads[i].Start();
            }
            foreach (var t in threads) t.Join();
        }
    }
    static void Handles()
    {
        var handles = new GCHandle[100000];
        for (int i = 0; i < handles.Length; i++) handles[i] = GCHandle.Alloc(handles, (GCHandleType)(i % 3));
        for (int i = 0; i < handles.Length; i++) handles[i].Free();
        for (int i = 0; i < handles.Length; i++) new WeakReference(null);
    }
    static void Finalizers() { for (int i = 0; i < 100000; i++) new Finalized { Id = i }; }
    static void Monitors()
    {
        var objects = new object[100000];
        for (int i = 0; i < objects.Length; i++) lock (objects[i] = new object()) Monitor.Wait(objects[i], 0);
        for (int i = 0; i < objects.Length; i++) lock (objects[i]) if (!Monitor.IsEntered(objects[i])) throw new Exception("not inside");
    }

    static void Round(ThreadStart work)
    {
        Elsewhere(work);
        for (int i = 0; i < 2; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
    }
    static void Check(string what, ThreadStart work, int megabytes)
    {
        for (int i = 0; i < 2; i++) Round(work);
        long resident = Resident();
        int mappings = Mappings();
        for (int i = 0; i < 4; i++) Round(work);
        long more = Resident() - resident;
        int maps = Mappings() - mappings;
        // What the C library keeps of stacks and arenas depends on how many threads happened to run at once; 8,000 were started.
        Console.WriteLine(what + " " + (more <= megabytes ? "flat" : "took " + more + " MiB more")
            + (maps <= 200 ? "" : ", " + maps + " mappings more"));
    }

    static void Main()
    {
        Check("threads", Threads, 16);      // expect: threads flat
        Check("handles", Handles, 16);      // expect: handles flat
        Check("finalizers", Finalizers, 16);    // expect: finalizers flat
        Check("monitors", Monitors, 16);    // expect: monitors flat
        Console.WriteLine(Finalized.Count > 590000 ? "finalized" : "finalized only " + Finalized.Count);    // expect: finalized
    }
}
