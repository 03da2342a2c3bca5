// 1.6 million handles of all four kinds: built, read, collected, freed in part, with bursts of short-lived ones between.
using System;
using System.Runtime.InteropServices;

static class ManyHandles
{
    static GCHandle[] handles;

    static void Build(int count)
    {
        handles = new GCHandle[count];
        for (int i = 0; i < count; i++) handles[i] = GCHandle.Alloc(i, (GCHandleType)(i & 3));
    }

    // Every handle has its own number or, if weak, may have lost it.
    static int Read()
    {
        int live = 0;
        for (int i = 0; i < handles.Length; i++) {
            if (!handles[i].IsAllocated) continue;
            object o = handles[i].Target;
            if (o == null) Bench.Check((i & 3) < 2, "a strong handle keeps its object");
            else { Bench.Check((int)o == i, "a handle has its own object"); live++; }
        }
        return live;
    }

    static void Free(int every)
    {
        for (int i = 0; i < handles.Length; i += every)
            if (handles[i].IsAllocated) handles[i].Free();
    }

    static void Burst(int count)
    {
        var burst = new GCHandle[count];
        for (int i = 0; i < count; i++) burst[i] = GCHandle.Alloc(i, (GCHandleType)(i & 3));
        for (int i = 0; i < count; i++) burst[i].Free();
    }

    static void Round(int count)
    {
        Build(count);
        Read();
        GC.Collect();
        int live = Read();
        Bench.Check(live >= count / 2 && live < count / 2 + count / 4, "most weak handles expired");
        Free(10);
        Read();
        Free(4);
        Read();
        GC.Collect();
        for (int i = 0; i < 10; i++) Burst(count / 2);
        Read();
        Free(1);
        Bench.Check(Read() == 0, "all handles are free");
        GC.Collect();
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 1600000) / 4 * 4, rounds = Bench.Argument(args, 1, 2);
        Bench.Figure("handles-1600k", Bench.Seconds(() => { for (int i = 0; i < rounds; i++) Round(count); }), "s");
    }
}
