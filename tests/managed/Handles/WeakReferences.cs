// Weak references, tables of ephemerons and the figures of System.GC that do not depend on when collections happen.
using System;
using System.Runtime;
using System.Runtime.CompilerServices;

static class WeakReferences
{
    static void Say (string what, Func<object> work)
    {
        try {
            Console.WriteLine (what + ": " + work ());
        } catch (Exception e) {
            Console.WriteLine (what + ": " + e.GetType ().Name);
        }
    }
    static void Main ()
    {
        Say ("short", () => { var o = new object (); var w = new WeakReference (o); var r = w.IsAlive + " " + w.TrackResurrection + " " + (w.Target == o); w.Target = null; return r + " " + w.IsAlive; });
        Say ("long", () => { var o = new object (); var w = new WeakReference (o, true); return w.TrackResurrection + " " + (w.Target == o); });
        Say ("typed", () => { var w = new WeakReference<string> ("a"); w.TryGetTarget (out var s); w.SetTarget (null); return s + " " + w.TryGetTarget (out s); });
        Say ("table", () => {
            var table = new ConditionalWeakTable<object, string> ();
            var keys = new object [1000];
            int right = 0;
            for (int i = 0; i < keys.Length; i++)
                table.Add (keys [i] = new object (), "v" + i);
            GC.Collect ();
            for (int i = 0; i < keys.Length; i++)
                right += table.TryGetValue (keys [i], out var v) && v == "v" + i ? 1 : 0;
            table.Remove (keys [3]);
            return right + " " + table.TryGetValue (keys [3], out _) + " " + table.TryGetValue (new object (), out _);
        });
        Say ("table, twice", () => { var t = new ConditionalWeakTable<object, string> (); t.Add (t, "a"); t.Add (t, "b"); return 0; });
        Say ("Collect 5", () => { GC.Collect (5); return "done"; });
        Say ("Collect -1", () => { GC.Collect (-1); return "done"; });
        Say ("CollectionCount -1", () => GC.CollectionCount (-1));
        Say ("MaxGeneration", () => GC.MaxGeneration);
        Say ("GetGeneration null", () => GC.GetGeneration ((object) null));
        Say ("GetGeneration expired", () => GC.GetGeneration (new WeakReference (null)));
        Say ("SuppressFinalize null", () => { GC.SuppressFinalize (null); return 0; });
        Say ("ReRegisterForFinalize null", () => { GC.ReRegisterForFinalize (null); return 0; });
        Say ("both, no finalizer", () => { GC.SuppressFinalize (new object ()); GC.ReRegisterForFinalize (new object ()); return "done"; });
        Say ("WaitForPendingFinalizers", () => { GC.WaitForPendingFinalizers (); GC.WaitForPendingFinalizers (); return "done"; });
        Say ("AddMemoryPressure 0", () => { GC.AddMemoryPressure (0); return 0; });
        Say ("AddMemoryPressure", () => { GC.AddMemoryPressure (1000); GC.RemoveMemoryPressure (1000); return "done"; });
        Say ("RegisterForFullGCNotification", () => { GC.RegisterForFullGCNotification (10, 10); return 0; });
        Say ("LatencyMode", () => { GCSettings.LatencyMode = GCLatencyMode.LowLatency; return GCSettings.LatencyMode; });
        Say ("IsServerGC", () => GCSettings.IsServerGC);
        Say ("GetTotalMemory", () => GC.GetTotalMemory (true) > 0);
    }
}
