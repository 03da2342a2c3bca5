// Weak references, short and long: what expires when, and what a finalizer that brings its object back changes.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class WeakReferences
{
    sealed class Plain { public int Id; }
    sealed class Returns
    {
        public int Id;
        ~Returns() { saved[Id] = this; }
    }

    const int Count = 100;
    static WeakReference[] shorts = new WeakReference[Count], longs = new WeakReference[Count];
    static WeakReference<Plain>[] generic = new WeakReference<Plain>[Count];
    static Returns[] saved = new Returns[Count];
    static Plain[] kept = new Plain[Count];

    static void Elsewhere(ThreadStart work)
    {
        var t = new Thread(() => Dig(30, work));
        t.Start();
        t.Join();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Dig(int depth, ThreadStart work) { if (depth == 0) work(); else Dig(depth - 1, work); }

    static int Alive(WeakReference[] all) { int n = 0; foreach (var w in all) if (w.IsAlive) n++; return n; }
    static void Collect() { GC.Collect(); GC.WaitForPendingFinalizers(); }
    static string About(int n, int of) { return n <= 5 ? "few" : n >= of - 5 ? "all" : n.ToString(); }

    static void Main()
    {
        // Objects without finalizer; half of them kept.
        Elsewhere(() => {
            for (int i = 0; i < Count; i++) {
                var p = new Plain { Id = i };
                shorts[i] = new WeakReference(p);
                longs[i] = new WeakReference(p, true);
                generic[i] = new WeakReference<Plain>(p);
                if (i % 2 == 0) kept[i] = p;
            }
        });
        Collect();
        int right = 0, dead = 0;
        for (int i = 0; i < Count; i += 2) {
            Plain p;
            if (shorts[i].Target == kept[i] && longs[i].Target == kept[i] && generic[i].TryGetTarget(out p) && p == kept[i] && p.Id == i) right++;
        }
        for (int i = 1; i < Count; i += 2) {
            Plain p;
            if (!shorts[i].IsAlive && !longs[i].IsAlive && !generic[i].TryGetTarget(out p)) dead++;
        }
        Console.WriteLine(right);                                                   // expect: 50
        Console.WriteLine(About(dead, 50));                                         // expect: all
        Console.WriteLine(shorts[0].TrackResurrection + " " + longs[0].TrackResurrection);  // expect: False True

        // The finalizer brings them back: short ones have expired, long ones follow.
        int before = GC.CollectionCount(0);
        Elsewhere(() => {
            for (int i = 0; i < Count; i++) {
                var r = new Returns { Id = i };
                shorts[i] = new WeakReference(r);
                longs[i] = new WeakReference(r, true);
            }
        });
        Console.WriteLine((Alive(shorts) == Count || GC.CollectionCount(0) != before) + " " + Alive(longs));    // expect: True 100
        Collect();
        int back = 0, same = 0;
        for (int i = 0; i < Count; i++) {
            if (saved[i] != null) back++;
            if (saved[i] != null && longs[i].Target == saved[i] && saved[i].Id == i) same++;
        }
        Console.WriteLine(About(back, Count) + " back, " + (same == back));         // expect: all back, True
        Console.WriteLine(About(Alive(shorts), Count) + " short alive");            // expect: few short alive

        // They are not finalized twice: once let go, they are gone.
        Elsewhere(() => Array.Clear(saved, 0, Count));
        Collect();
        Collect();
        Console.WriteLine(About(Alive(longs), Count) + " long alive");              // expect: few long alive

        // A target can be changed, also after it expired.
        shorts[0].Target = kept[0];
        Collect();
        Console.WriteLine(shorts[0].Target == kept[0]);                             // expect: True
        generic[1].SetTarget(kept[2]);
        Plain q;
        Console.WriteLine(generic[1].TryGetTarget(out q) && q == kept[2]);          // expect: True
        var none = new WeakReference(null);
        Console.WriteLine(none.IsAlive + " " + (none.Target == null));              // expect: False True

        // Many, most of which die young: what lives is right.
        var many = new WeakReference[100000];
        var live = new object[many.Length];
        Elsewhere(() => {
            for (int i = 0; i < many.Length; i++) {
                object o = i;
                many[i] = new WeakReference(o);
                if (i % 10 == 0) live[i] = o;
            }
        });
        GC.Collect(0);
        GC.Collect();
        int wrong = 0, left = 0;
        for (int i = 0; i < many.Length; i++) {
            object o = many[i].Target;
            if (o != null && (int)o != i || i % 10 == 0 && o != live[i]) wrong++;
            if (o != null) left++;
        }
        Console.WriteLine(wrong + " wrong, " + (left < 10100));                     // expect: 0 wrong, True
    }
}
