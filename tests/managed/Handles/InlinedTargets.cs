// Targets are read in place: what is a handle, what was one, and any other 32 bits, from loops, from long methods, under
// handlers, through fields and arrays; and while objects move, expire and are exchanged by other threads.
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

// A handle of any value, past all checks of the library.
[StructLayout (LayoutKind.Explicit)]
struct Raw
{
    [FieldOffset (0)] public GCHandle Handle;
    [FieldOffset (0)] public int Bits;
}
class Holder { public GCHandle Handle; public WeakReference<Box> Weak; }
class Box { public int Value; public Box Next; public Box (int value) { Value = value; } }

static class InlinedTargets
{
    static GCHandle shared;
    static GCHandle [] several = new GCHandle [4];

    static string Say (Func<object> work)
    {
        try {
            return (work () ?? "null").ToString ();
        } catch (Exception e) {
            return e.GetType ().Name + ": " + e.Message;
        }
    }

    // A loop: optimised.
    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Loop (GCHandle handle, int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += ((Box) handle.Target).Value;
        return sum;
    }
    // In a protected region, and the handle is behind a reference to it.
    [MethodImpl (MethodImplOptions.NoInlining)]
    static object Protected (ref GCHandle handle)
    {
        object target = "nothing";
        try {
            target = handle.Target;
        } catch (InvalidOperationException e) {
            return "caught " + e.Message;
        } catch (NullReferenceException) {
            return "caught null";
        } finally {
            shared = handle;
        }
        return target;
    }
    // Long and without a loop: compiled quickly.
    [MethodImpl (MethodImplOptions.NoInlining)]
    static string Long (Holder holder, GCHandle argument)
    {
        GCHandle local = argument;
        several [1] = argument;
        shared = argument;
        holder.Handle = argument;
        string s = "";
        s += ((Box) local.Target).Value; s += ' '; s += ((Box) argument.Target).Value; s += ' ';
        s += ((Box) holder.Handle.Target).Value; s += ' '; s += ((Box) several [1].Target).Value; s += ' ';
        s += ((Box) shared.Target).Value; s += ' '; s += local.IsAllocated; s += ' '; s += several [2].IsAllocated; s += ' ';
        s += holder.Weak.TryGetTarget (out var box) ? box.Value.ToString () : "gone"; s += ' ';
        holder.Weak.SetTarget (new Box (77));
        s += holder.Weak.TryGetTarget (out box) ? box.Value >= 0 : true; s += ' ';
        holder.Weak.SetTarget (null);
        s += holder.Weak.TryGetTarget (out box); s += ' '; s += box == null;
        local.Target = holder; s += ' '; s += argument.Target == (object) holder;
        local.Target = null; s += ' '; s += argument.Target == null;
        return s;
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static object Read (int bits) { var raw = new Raw { Bits = bits }; return raw.Handle.Target; }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static void MakeWeak (WeakReference<Box> [] typed, WeakReference [] plain, GCHandle [] raw)
    {
        for (int i = 0; i < typed.Length; i++) {
            typed [i] = new WeakReference<Box> (new Box (i));
            plain [i] = new WeakReference (new Box (i), i % 2 != 0);
            raw [i] = GCHandle.Alloc (new Box (i), (GCHandleType) (i % 2));
        }
    }
    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Deeper (int n) { return n == 0 ? 0 : 1 + Deeper (n - 1); }

    static void Expire ()
    {
        const int Count = 1000;
        var typed = new WeakReference<Box> [Count];
        var plain = new WeakReference [Count];
        var raw = new GCHandle [Count];
        var maker = new Thread (() => MakeWeak (typed, plain, raw));
        maker.Start ();
        maker.Join ();
        Deeper (100);
        GC.Collect ();
        int left = 0, wrong = 0;
        for (int i = 0; i < Count; i++) {
            if (typed [i].TryGetTarget (out var box)) { left++; wrong += box.Value == i ? 0 : 1; }
            if (plain [i].Target is Box b) { left++; wrong += b.Value == i ? 0 : 1; }
            if (raw [i].Target is Box c) { left++; wrong += c.Value == i ? 0 : 1; }
            wrong += raw [i].IsAllocated ? 0 : 1;
            raw [i].Free ();
        }
        Console.WriteLine ("expired: " + (left < 50) + " " + wrong);
    }

    // The objects move and die under the reads.
    static void Moving ()
    {
        var box = new Box (1);
        var strong = GCHandle.Alloc (box);
        var weak = GCHandle.Alloc (box, GCHandleType.Weak);
        box = null;
        int wrong = 0;
        for (int i = 1; i < 200000; i++) {
            var now = (Box) strong.Target;
            wrong += now.Value == i ? 0 : 1;
            wrong += weak.Target == now ? 0 : 1;
            strong.Target = weak.Target = new Box (i + 1);
            if (i % 50000 == 0)
                GC.Collect ();
        }
        strong.Free ();
        weak.Free ();
        Console.WriteLine ("moving: " + wrong);
    }

    // Another thread exchanges the target; a loop that reads it sees that.
    static void Exchanged ()
    {
        object before = new Box (1), after = new Box (2);
        var handle = GCHandle.Alloc (before);
        var started = new ManualResetEvent (false);
        object seen = null;
        var reader = new Thread (() => {
            started.Set ();
            while (handle.Target == before) { }
            seen = handle.Target;
        });
        reader.Start ();
        started.WaitOne ();
        Thread.Sleep (5);
        handle.Target = after;
        reader.Join ();
        Console.WriteLine ("exchanged: " + (seen == after));
        handle.Free ();
    }

    // Handles made by one thread and freed by another, while a third collects.
    static void Passed ()
    {
        const int Rounds = 40, Batch = 500;
        var batches = new GCHandle [Rounds] [];
        int wrong = 0;
        bool done = false;
        var maker = new Thread (() => {
            for (int r = 0; r < Rounds; r++) {
                var batch = new GCHandle [Batch];
                for (int i = 0; i < Batch; i++)
                    batch [i] = GCHandle.Alloc (new Box (r * Batch + i), i % 3 == 0 ? GCHandleType.Pinned - 1 : GCHandleType.Normal);
                Volatile.Write (ref batches [r], batch);
            }
        });
        var taker = new Thread (() => {
            for (int r = 0; r < Rounds; r++) {
                GCHandle [] batch;
                while ((batch = Volatile.Read (ref batches [r])) == null)
                    Thread.Yield ();
                for (int i = 0; i < Batch; i++) {
                    wrong += ((Box) batch [i].Target).Value == r * Batch + i ? 0 : 1;
                    batch [i].Free ();
                }
            }
        });
        var collector = new Thread (() => { while (!Volatile.Read (ref done)) { GC.Collect (0); Thread.Sleep (1); } });
        collector.Start (); maker.Start (); taker.Start ();
        maker.Join (); taker.Join ();
        Volatile.Write (ref done, true);
        collector.Join ();
        Console.WriteLine ("passed: " + wrong);
    }

    static void Main ()
    {
        var handle = GCHandle.Alloc (new Box (3));
        Console.WriteLine (Loop (handle, 1000));
        var holder = new Holder { Weak = new WeakReference<Box> (new Box (4)) };
        var kept = new Box (5);
        holder.Weak.SetTarget (kept);
        Console.WriteLine (Long (holder, handle));
        GC.KeepAlive (kept);

        handle.Target = "text";
        Console.WriteLine (Protected (ref handle));
        var none = new GCHandle ();
        Console.WriteLine (Protected (ref none));
        Console.WriteLine (Protected (ref several [3]));
        Console.WriteLine (Say (() => none.Target));
        Console.WriteLine (Say (() => ((Holder) null).Handle.Target));
        var stale = handle;
        handle.Free ();
        Console.WriteLine (Protected (ref stale));
        Console.WriteLine (Say (() => { stale.Target = "again"; return "set"; }));
        try {
            Loop (none, 1);
        } catch (InvalidOperationException e) {
            Console.WriteLine (e.StackTrace.Contains ("GCHandle.get_Target") + " " + e.StackTrace.Contains ("InlinedTargets.Loop"));
        }

        // Any bits at all.
        var results = new System.Collections.Generic.SortedDictionary<string, int> ();
        var random = new Random (7);
        for (int i = 0; i < 20000; i++) {
            int bits = i < 4096 ? (i / 64 << 3 | i % 8) + (1 << (i % 29)) : i % 2 == 0 ? random.Next () : -random.Next ();
            if ((bits & 7) >= 1 && (bits & 7) <= 4 && (uint) bits >> 3 < 4096)
                continue; // may be a handle of the library's
            var said = Say (() => Read (bits));
            results [said] = results.TryGetValue (said, out int n) ? n + 1 : 1;
        }
        foreach (var said in results.Keys)
            Console.WriteLine (said);
        Console.WriteLine (Say (() => Read (0)));

        // More of each kind than a thread has at hand, with a kind that is known when it runs only.
        foreach (var kind in new [] { -5, 0, 1, 2, 3, 9 }) {
            var all = Enumerable.Range (0, 700).Select (i => GCHandle.Alloc (i.ToString (), (GCHandleType) kind)).ToArray ();
            GC.KeepAlive (all);
            Console.WriteLine (kind + ": " + all.Select (h => (IntPtr) h).Distinct ().Count () + " "
                + all.All (h => ((int) (IntPtr) h & 7) == (kind < 0 || kind > 3 ? 3 : kind + 1)));
            foreach (var h in all)
                h.Free ();
        }
        Expire ();
        Moving ();
        Exchanged ();
        Passed ();
    }
}
