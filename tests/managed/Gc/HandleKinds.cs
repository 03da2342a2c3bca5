// GCHandle: the four kinds, what their targets do across collections, and what wrong use is answered with.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class HandleKinds
{
    sealed class Thing { public int Id; }
    struct Mixed { public object O; }

    static GCHandle[] handles = new GCHandle[400];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill()
    {
        for (int i = 0; i < handles.Length; i++) {
            object o = i % 4 == 3 ? (object)new int[] { i } : new Thing { Id = i };
            handles[i] = GCHandle.Alloc(o, (GCHandleType)(i % 4));
        }
    }
    static int IdOf(object o) { return o is Thing ? ((Thing)o).Id : ((int[])o)[0]; }

    // Runs in a thread of its own, deep down, so that no stack refers to what it made.
    static void Elsewhere(ThreadStart work)
    {
        var t = new Thread(() => Dig(30, work));
        t.Start();
        t.Join();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Dig(int depth, ThreadStart work) { if (depth == 0) work(); else Dig(depth - 1, work); }

    static string Try(Action a) { try { a(); return "nothing"; } catch (Exception e) { return e.GetType().Name; } }

    static void Main()
    {
        Elsewhere(Fill);
        GC.Collect();
        GC.Collect();
        int weak = 0, track = 0, normal = 0, pinned = 0;
        for (int i = 0; i < handles.Length; i++) {
            object o = handles[i].Target;
            if (o == null) { if (i % 4 == 0) weak++; else if (i % 4 == 1) track++; continue; }
            if (IdOf(o) != i) Console.WriteLine("wrong target " + i);
            if (i % 4 == 2) normal++; else if (i % 4 == 3) pinned++;
        }
        Console.WriteLine("{0} {1} strong", normal, pinned);                        // expect: 100 100 strong
        Console.WriteLine(weak > 90 && track > 90);                                 // expect: True

        var a = GCHandle.Alloc("a");
        var b = GCHandle.FromIntPtr(GCHandle.ToIntPtr(a));
        Console.WriteLine(b.Target + " " + (a == b) + " " + a.Equals(b) + " " + (a != b));    // expect: a True True False
        b.Target = "b";
        Console.WriteLine(a.Target);                                                // expect: b
        a.Target = null;
        Console.WriteLine(a.Target == null && a.IsAllocated);                       // expect: True
        a.Free();
        Console.WriteLine(a.IsAllocated + " " + b.IsAllocated);                     // expect: False True

        var empty = GCHandle.Alloc(null);
        Console.WriteLine(empty.Target == null && empty.IsAllocated);               // expect: True
        empty.Target = "later";
        GC.Collect();
        Console.WriteLine(empty.Target);                                            // expect: later
        empty.Free();
        Console.WriteLine(Try(() => new GCHandle().Free()));                        // expect: InvalidOperationException
        Console.WriteLine(Try(() => { object o = new GCHandle().Target; }));        // expect: InvalidOperationException
        Console.WriteLine(Try(() => { var h = GCHandle.Alloc("x"); h.Free(); h.Free(); }));         // expect: InvalidOperationException
        Console.WriteLine(Try(() => { var h = GCHandle.Alloc("x"); h.AddrOfPinnedObject(); }));     // expect: InvalidOperationException
        // Mono does not ask whether what is pinned holds references.
        Console.WriteLine(Try(() => GCHandle.Alloc(new Mixed(), GCHandleType.Pinned)));             // expect: nothing
        Console.WriteLine(Try(() => GCHandle.Alloc(new object[1], GCHandleType.Pinned)));           // expect: nothing
        Console.WriteLine(Try(() => GCHandle.FromIntPtr(IntPtr.Zero)));             // expect: InvalidOperationException

        // Freed and used again: the new handle has its own object.
        var many = new GCHandle[10000];
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < many.Length; i++) many[i] = GCHandle.Alloc(i + round, (GCHandleType)(2 + i % 2));
            GC.Collect(round % 2);
            for (int i = 0; i < many.Length; i++) {
                if ((int)many[i].Target != i + round) Console.WriteLine("wrong number " + i);
                many[i].Free();
            }
        }
        Console.WriteLine("done");                                                  // expect: done
    }
}
