// Native code gets COM interfaces of objects where a parameter, a field or an element is an interface, or says that it is IUnknown or IDispatch. It gets no reference of its
// own for the time of a call; what it gives by `out` or returns is a reference that is let go, what managed code returns to it is one more.
// cc: -O1
using System;
using System.Runtime.InteropServices;

[Guid("11111111-2222-3333-4444-555555555551"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface ITwice { int Twice(int value); }
public class Served : ITwice { public int Twice(int value) { return 2 * value; } }
class Hidden { }

struct Holder { public long Number; public ITwice Object; }
interface IPlain { }
[StructLayout(LayoutKind.Sequential)] class OfPlain { public byte X; public IPlain Object; public byte Y; }
struct UnknownHolder { public long Number; [MarshalAs(UnmanagedType.IUnknown)] public object Object; }
struct DispatchHolder { public long Number; [MarshalAs(UnmanagedType.IDispatch)] public object Object; }
[StructLayout(LayoutKind.Sequential)] class HolderClass { public long Number; public ITwice Object; }

static class PassedInterfaces
{
    const string Library = "PassedInterfaces";
    [DllImport(Library)] static extern int references(ITwice p);
    [DllImport(Library, EntryPoint = "references")] static extern int ofUnknown([MarshalAs(UnmanagedType.IUnknown)] object p);
    [DllImport(Library, EntryPoint = "references")] static extern int ofInterface([MarshalAs(UnmanagedType.Interface)] object p);
    [DllImport(Library, EntryPoint = "references")] static extern int ofDispatch([MarshalAs(UnmanagedType.IDispatch)] object p);
    [DllImport(Library, EntryPoint = "references")] static extern int ofClass([MarshalAs(UnmanagedType.Interface)] Served p);
    [DllImport(Library)] static extern int twice(ITwice p, int value, out int result);
    [DllImport(Library)] static extern int twice_of(ITwice[] p, int i);
    [DllImport(Library)] static extern ITwice same(ITwice p);
    [DllImport(Library, EntryPoint = "same")] [return: MarshalAs(UnmanagedType.IUnknown)] static extern object sameUnknown(ITwice p);
    [DllImport(Library)] static extern void given(ITwice p, out ITwice result);
    [DllImport(Library, EntryPoint = "given")] static extern void givenUnknown([MarshalAs(UnmanagedType.IUnknown)] object p, [MarshalAs(UnmanagedType.IUnknown)] out object result);
    [DllImport(Library, EntryPoint = "given")] static extern void givenRef(ITwice p, ref ITwice result);
    [DllImport(Library, EntryPoint = "given")] static extern void givenInOut(ITwice p, [In, Out] ref ITwice result);
    [DllImport(Library)] static extern int references_of(ref ITwice p);
    [DllImport(Library, EntryPoint = "references_of")] static extern int references_of_inout([In, Out] ref ITwice p);
    [DllImport(Library)] static extern int held(ref Holder holder);
    [DllImport(Library, EntryPoint = "held")] static extern int heldUnknown(ref UnknownHolder holder);
    [DllImport(Library, EntryPoint = "held")] static extern int heldDispatch(ref DispatchHolder holder);
    [DllImport(Library, EntryPoint = "held")] static extern int heldClass(HolderClass holder);
    [DllImport(Library)] static extern int held_by_value(Holder holder);
    [DllImport(Library)] static extern void hold(ref Holder holder, ITwice p);
    [DllImport(Library)] static extern int is_null(ITwice p);
    [DllImport(Library, EntryPoint = "is_null")] static extern int is_null_of([MarshalAs(UnmanagedType.IUnknown)] object p);
    delegate ITwice Callback(ITwice p);
    delegate int HolderCallback(ref Holder holder);
    [DllImport(Library)] static extern int call(Callback f, ITwice p);
    [DllImport(Library)] static extern int call_holding(HolderCallback f, ITwice p);

    static IntPtr unknown;
    static int Count() { Marshal.AddRef(unknown); return Marshal.Release(unknown); }

    // With how many references the object has more than before.
    static void Show(string what, Func<object> f)
    {
        int before = Count();
        string shown;
        try { shown = Convert.ToString(f()); }
        catch (Exception e) { shown = e.GetType() + ": " + e.Message; }
        Console.WriteLine(what + ": " + shown + ", " + (Count() - before));
    }

    static void Main()
    {
        var o = new Served();
        unknown = Marshal.GetIUnknownForObject(o);
        for (int i = 1; i < 50; i++) Marshal.AddRef(unknown);
        Show("null", () => is_null(null) + " " + is_null_of(null) + " " + is_null(o) + " " + is_null_of(o));
        Show("references", () => references(o) + " " + ofUnknown(o) + " " + ofInterface(o) + " " + ofDispatch(o) + " " + ofClass(o));
        Show("hidden", () => ofUnknown(new Hidden()));
        Show("hidden, by IDispatch", () => ofDispatch(new Hidden()));
        Show("a string", () => ofUnknown("text"));
        Show("twice", () => { int r; return twice(o, 21, out r) + " " + r; });
        Show("elements", () => { var all = new ITwice[] { o, null, o }; return twice_of(all, 0) + " " + twice_of(all, 1) + " " + twice_of(all, 2); });
        Show("same", () => same(o) == o);
        Show("same of null", () => same(null) == null);
        Show("same as an object", () => sameUnknown(o) == o);
        Show("out", () => { ITwice r; given(o, out r); return r == o; });
        Show("out of null", () => { ITwice r = o; given(null, out r); return r == null; });
        Show("out as an object", () => { object r; givenUnknown(o, out r); return r == o; });
        Show("ref", () => { ITwice r = null; givenRef(o, ref r); return r == null; });
        Show("ref in", () => { ITwice r = o; return references_of(ref r) + " " + (r == o); });
        Show("in out", () => { ITwice r = null; givenInOut(o, ref r); return r == o; });
        Show("in out, in", () => { ITwice r = o; return references_of_inout(ref r) + " " + (r == null); });
        Show("held", () => { var h = new Holder { Object = o }; return held(ref h) + " " + (h.Object == o); });
        Show("held as IUnknown", () => { var h = new UnknownHolder { Object = o }; return heldUnknown(ref h) + " " + (h.Object == o); });
        Show("held as IDispatch", () => { var h = new DispatchHolder { Object = o }; return heldDispatch(ref h) + " " + (h.Object == o); });
        Show("held by a class", () => heldClass(new HolderClass { Object = o }));
        Show("held by value", () => held_by_value(new Holder { Object = o }));
        Show("hold", () => { var h = new Holder(); hold(ref h, o); return h.Object == o; });
        Show("hold null", () => { var h = new Holder { Object = o }; hold(ref h, null); return h.Object == null; });
        Show("callback", () => call(p => p, o) + " " + call(p => p, null));
        Show("callback with a struct", () => call_holding((ref Holder h) => h.Object == o ? 1 : 0, o));
        Structures(o);
    }

    static void Structures(Served o)
    {
        // What says nothing of COM is embedded as a class without fields is.
        Console.WriteLine(Marshal.SizeOf(typeof(OfPlain)) + " " + Marshal.OffsetOf(typeof(OfPlain), "Object") + " " + Marshal.OffsetOf(typeof(OfPlain), "Y"));
        foreach (var type in new[] { typeof(Holder), typeof(UnknownHolder), typeof(DispatchHolder), typeof(HolderClass) })
        {
            var field = type.GetField("Object");
            Show(type.Name, () => Marshal.SizeOf(type) + " " + Marshal.OffsetOf(type, "Object"));
            Show(type.Name, () =>
            {
                IntPtr memory = Marshal.AllocHGlobal(16);
                object value = Activator.CreateInstance(type);
                Marshal.StructureToPtr(value, memory, false);
                bool isNull = Marshal.ReadIntPtr(memory, 8) == IntPtr.Zero;
                field.SetValue(value, o);
                Marshal.StructureToPtr(value, memory, false);
                bool same = field.GetValue(Marshal.PtrToStructure(memory, type)) == o;
                Marshal.DestroyStructure(memory, type);
                Marshal.FreeHGlobal(memory);
                return isNull + " " + same;
            });
        }
    }
}
