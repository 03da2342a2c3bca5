// GC handles of every kind; what is no handle, or none any more, gives an exception and nothing worse.
using System;
using System.Runtime.InteropServices;

struct Blittable { public int A, B; }
struct WithString { public string S; }
class Automatic { public int A; }
[StructLayout (LayoutKind.Sequential)] class Ordered { public int A; }
enum Colour { Red }

static class GCHandles
{
    static void Say (string what, Func<object> work)
    {
        try {
            Console.WriteLine (what + ": " + work ());
        } catch (Exception e) {
            Console.WriteLine (what + ": " + e.GetType ().Name + ": " + e.Message.Split ('\n') [0]);
        }
    }
    static void Pin (object o)
    {
        Say ("pin " + (o == null ? "null" : o.GetType ().Name), () => {
            var h = GCHandle.Alloc (o, GCHandleType.Pinned);
            try {
                return h.AddrOfPinnedObject () == IntPtr.Zero ? "no address" : "address";
            } finally {
                h.Free ();
            }
        });
    }
    static void Main ()
    {
        foreach (GCHandleType kind in Enum.GetValues (typeof (GCHandleType)))
            Say (kind.ToString (), () => {
                var h = GCHandle.Alloc ("first", kind);
                var before = h.Target;
                h.Target = "second";
                var same = GCHandle.FromIntPtr (GCHandle.ToIntPtr (h));
                var after = same.Target;
                h.Target = null;
                var r = before + " " + after + " " + (h.Target == null) + " " + (same == h) + " " + h.IsAllocated;
                h.Free ();
                return r + " " + h.IsAllocated;
            });
        Say ("null", () => { var h = GCHandle.Alloc (null); return h.IsAllocated + " " + (h.Target == null); });
        Say ("kind -1", () => GCHandle.Alloc ("x", (GCHandleType) (-1)).Target);
        Say ("kind 4", () => GCHandle.Alloc ("x", (GCHandleType) 4).Target);

        var text = "pinned";
        var characters = GCHandle.Alloc (text, GCHandleType.Pinned);
        Console.WriteLine ((char) Marshal.ReadInt16 (characters.AddrOfPinnedObject (), 4));
        var numbers = GCHandle.Alloc (new [] { 7, 8 }, GCHandleType.Pinned);
        Marshal.WriteInt32 (numbers.AddrOfPinnedObject (), 4, 9);
        Console.WriteLine (((int []) numbers.Target) [1]);
        var box = GCHandle.Alloc (new Blittable { B = 5 }, GCHandleType.Pinned);
        Console.WriteLine (Marshal.ReadInt32 (box.AddrOfPinnedObject (), 4));
        foreach (var o in new object [] { 5, 'c', true, 1m, new WithString (), new Automatic (), new Ordered (), new object (),
            new DateTime (), Colour.Red, new string [1], new int [2, 2], new Colour [1], IntPtr.Zero, null })
            Pin (o);
        Say ("not pinned", () => GCHandle.Alloc ("x").AddrOfPinnedObject ());
        Say ("pinned to another", () => {
            var h = GCHandle.Alloc (new int [1], GCHandleType.Pinned);
            h.Target = new Automatic ();
            return h.AddrOfPinnedObject ();
        });

        Say ("freed twice", () => { var h = GCHandle.Alloc ("x"); h.Free (); h.Free (); return "nothing"; });
        Say ("a copy freed", () => { var h = GCHandle.Alloc ("x"); var c = h; h.Free (); c.Free (); return "nothing"; });
        Say ("stale read", () => { var h = GCHandle.Alloc ("x"); var c = h; h.Free (); return c.Target; });
        Say ("stale write", () => { var h = GCHandle.Alloc ("x"); var c = h; h.Free (); c.Target = "y"; return "nothing"; });
        Say ("stale address", () => { var h = GCHandle.Alloc ("x", GCHandleType.Pinned); var c = h; h.Free (); return c.AddrOfPinnedObject (); });
        Say ("stale value", () => { var h = GCHandle.Alloc ("x"); var p = (IntPtr) h; h.Free (); return ((GCHandle) p).Target; });
        Say ("zero", () => GCHandle.FromIntPtr (IntPtr.Zero).Target);
        foreach (var junk in new [] { 1, 8, 0x17, 0x7ffffff3, -1, int.MinValue + 1 })
            Say ("junk " + junk, () => GCHandle.FromIntPtr ((IntPtr) junk).Target);

        // Growth: buckets do not move, values do not repeat.
        var many = new GCHandle [100000];
        for (int i = 0; i < many.Length; i++)
            many [i] = GCHandle.Alloc (many.GetType (), (GCHandleType) (i % 4));
        var seen = new System.Collections.Generic.HashSet<IntPtr> ();
        foreach (var h in many)
            seen.Add ((IntPtr) h);
        Console.WriteLine (seen.Count);
        int right = 0;
        for (int i = 0; i < many.Length; i++) {
            right += many [i].Target == (object) many.GetType () ? 1 : 0;
            many [i].Free ();
        }
        Console.WriteLine (right);
    }
}
