// Handles that compiled code makes and frees without a call: of locals, fields and elements, twice, by several threads at once, more
// than a thread keeps for itself.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Holder
{
    public GCHandle Field;
    public static GCHandle Static;
}

static class MadeAndFreedInPlace
{
    static string Twice (Action first, Action second)
    {
        first ();
        try {
            second ();
            return "freed twice";
        } catch (InvalidOperationException e) {
            return e.Message + " " + e.StackTrace.Contains ("System.Runtime.InteropServices.GCHandle.Free ()");
        }
    }

    static string Local ()
    {
        var h = GCHandle.Alloc (new object ());
        h.Free ();
        try {
            h.Free ();
            return "freed twice";
        } catch (InvalidOperationException e) {
            return e.Message + " " + h.IsAllocated + " " + e.StackTrace.Contains ("GCHandle.Free ()");
        }
    }

    static void FreeBy (ref GCHandle h) { h.Free (); }

    // A copy does not know that the handle is gone; freeing it again is nothing.
    static string Copy ()
    {
        var h = GCHandle.Alloc ("copy");
        var copy = h;
        h.Free ();
        copy.Free ();
        return h.IsAllocated + " " + copy.IsAllocated;
    }

    static bool Null (Holder holder)
    {
        try {
            holder.Field.Free ();
            return false;
        } catch (NullReferenceException) {
            return true;
        }
    }

    // Every variable is freed by one of the threads that try, and nothing is freed that another has made meanwhile.
    static int FreedAtOnce (int threads, int count)
    {
        var handles = new GCHandle [count];
        for (int i = 0; i < count; i++)
            handles [i] = GCHandle.Alloc (i, (GCHandleType) (i & 3));
        int freed = 0, wrong = 0;
        var all = new Thread [threads];
        for (int t = 0; t < threads; t++) {
            all [t] = new Thread (() => {
                int mine = 0;
                for (int i = 0; i < count; i++) {
                    try {
                        handles [i].Free ();
                        mine++;
                        var own = GCHandle.Alloc (handles);
                        if (own.Target != handles)
                            Interlocked.Increment (ref wrong);
                        own.Free ();
                    } catch (InvalidOperationException) {
                    }
                    // Let the others come first now and then.
                    if (i % 1000 == 0)
                        Thread.Yield ();
                }
                Interlocked.Add (ref freed, mine);
            });
            all [t].Start ();
        }
        foreach (var t in all)
            t.Join ();
        return wrong == 0 ? freed : -wrong;
    }

    static bool Many (int count)
    {
        var handles = new GCHandle [count];
        var objects = new object [count];
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < count; i++)
                handles [i] = GCHandle.Alloc (objects [i] = i, (GCHandleType) (i & 3));
            GC.Collect (0);
            for (int i = 0; i < count; i += 2)
                handles [i].Free ();
            for (int i = 0; i < count; i += 4)
                handles [i] = GCHandle.Alloc (objects [i], GCHandleType.Weak);
            GC.Collect ();
            for (int i = 0; i < count; i++) {
                if (handles [i].IsAllocated != (i % 4 != 2) || handles [i].IsAllocated && handles [i].Target != objects [i])
                    return false;
                if (handles [i].IsAllocated)
                    handles [i].Free ();
            }
        }
        return true;
    }

    static void Main ()
    {
        Console.WriteLine (Local ());
        var holder = new Holder ();
        holder.Field = GCHandle.Alloc (holder);
        Console.WriteLine (Twice (() => holder.Field.Free (), () => holder.Field.Free ()));
        Holder.Static = GCHandle.Alloc (holder, GCHandleType.Pinned);
        Console.WriteLine (Twice (() => Holder.Static.Free (), () => Holder.Static.Free ()));
        var one = new [] { GCHandle.Alloc (holder, GCHandleType.Weak) };
        Console.WriteLine (Twice (() => FreeBy (ref one [0]), () => FreeBy (ref one [0])));
        Console.WriteLine (Copy ());
        Console.WriteLine (Null (null));
        var nothing = GCHandle.Alloc (null, GCHandleType.Pinned);
        Console.WriteLine (nothing.Target == null);
        nothing.Free ();
        Console.WriteLine (FreedAtOnce (4, 20000));
        Console.WriteLine (Many (20000));
    }
}
