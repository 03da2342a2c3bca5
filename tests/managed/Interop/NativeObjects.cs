// Managed code calls objects of native code by COM interfaces: a proxy stands for the object, has the imported interfaces that the object grants, and holds references
// until it is released.
// cc: -O1
using System;
using System.Runtime.InteropServices;

[ComImport, Guid("11111111-2222-3333-4444-555555555551"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface IOwn
{
    int Twice(int value);
    void Fail();
    int Length([MarshalAs(UnmanagedType.BStr)] string text);
    [PreserveSig] int Kept(int value);
    IOwn Other(IOwn p);
    double Sum(double a, long b, short c, int d, int e, int f);
    [return: MarshalAs(UnmanagedType.BStr)] string Text();
    void Changed(ref int number, [MarshalAs(UnmanagedType.VariantBool)] ref bool flag);
}
[ComImport, Guid("99999999-2222-3333-4444-555555555550"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface IForeign { int Twice(int value); }
[Guid("11111111-2222-3333-4444-555555555551"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface INotImported { int Twice(int value); }

static class NativeObjects
{
    const string Library = "NativeObjects";
    [DllImport(Library)] static extern IntPtr make();
    [DllImport(Library, EntryPoint = "make")] static extern IOwn makeOwn();
    [DllImport(Library, EntryPoint = "make")] [return: MarshalAs(UnmanagedType.IUnknown)] static extern object makeUnknown();
    [DllImport(Library, EntryPoint = "make")] static extern INotImported makeNotImported();
    [DllImport(Library)] static extern void make_out(out IOwn p);
    [DllImport(Library)] static extern int count_of(IntPtr p);
    [DllImport(Library, EntryPoint = "count_of")] static extern int count_of_object(IOwn p);
    [DllImport(Library)] static extern void given(IOwn p, out IOwn q);

    static void Show(string what, Func<object> f)
    {
        try { Console.WriteLine(what + ": " + f()); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType() + ": " + e.Message); }
    }

    static void Main()
    {
        IntPtr p = make();
        object o = Marshal.GetObjectForIUnknown(p);
        Show("type", () => o.GetType() + " " + o + " " + Marshal.IsComObject(o) + " " + count_of(p));
        Show("the same", () => ReferenceEquals(Marshal.GetObjectForIUnknown(p), o) + " " + count_of(p));
        Show("is", () => (o is IOwn) + " " + (o is IForeign) + " " + (o is INotImported) + " " + (o is IDisposable) + " " + count_of(p));
        Show("cast", () => ((IOwn)o != null) + " " + (o as IForeign == null));
        Show("refused cast", () => (IForeign)o);
        var own = (IOwn)o;
        Show("Twice", () => own.Twice(4) + " " + count_of(p));
        Show("Fail", () => { own.Fail(); return "returned"; });
        Show("Length", () => own.Length("hello") + " " + own.Length(null));
        Show("Kept", () => own.Kept(5));
        Show("Other", () => (own.Other(own) == own) + " " + (own.Other(null) == null) + " " + count_of(p));
        Show("Sum", () => own.Sum(0.5, 1L << 33, -3, 4, 5, 6));
        Show("Text", () => own.Text());
        Show("Changed", () => { int n = 4; bool flag = true; own.Changed(ref n, ref flag); return n + " " + flag; });
        Show("by reflection", () => typeof(IOwn).GetMethod("Twice").Invoke(o, new object[] { 21 }));
        Show("by reflection, ref", () => { var all = new object[] { 1, false }; typeof(IOwn).GetMethod("Changed").Invoke(o, all); return all[0] + " " + all[1]; });
        Show("by reflection, failed", () => { try { return typeof(IOwn).GetMethod("Fail").Invoke(o, null); } catch (Exception e) { return e.InnerException.GetType(); } });
        Show("by a delegate", () => ((Func<int, int>)own.Twice)(21));
        Show("IUnknown", () => (Marshal.GetIUnknownForObject(o) == p) + " " + count_of(p));
        Show("interface", () => (Marshal.GetComInterfaceForObject(o, typeof(IOwn)) == p) + " " + count_of(p));
        Show("passed", () => count_of_object(own) + " " + count_of(p));
        Show("given", () => { IOwn q; given(own, out q); return ReferenceEquals(q, o) + " " + count_of(p); });
        Show("equals", () => o.Equals(o) + " " + o.Equals("text") + " " + (o.GetHashCode() == o.GetHashCode()));
        Releases(p, o);
        Made();
    }

    static void Releases(IntPtr p, object o)
    {
        for (int i = 0; i < 3; i++) Show("release", () => Marshal.ReleaseComObject(o) + " " + count_of(p));
        Show("still", () => ((IOwn)o).Twice(4));
        Show("last release", () => Marshal.ReleaseComObject(o) + " " + count_of(p));
        Show("again", () => Marshal.ReleaseComObject(o));
        Show("anew", () =>
        {
            object other = Marshal.GetObjectForIUnknown(p);
            return ReferenceEquals(o, other) + " " + ((IOwn)other).Twice(5) + " " + Marshal.FinalReleaseComObject(other) + " " + count_of(p);
        });
    }

    static void Made()
    {
        Show("result", () => { var made = makeOwn(); return made.Twice(7) + " " + Marshal.IsComObject(made) + " " + count_of_object(made); });
        Show("result as an object", () => makeUnknown().GetType());
        Show("result that has no such interface", () => makeNotImported());
        Show("out", () => { IOwn made; make_out(out made); return made.Twice(7) + " " + count_of_object(made); });
        for (int i = 0; i < 300; i++)
        {
            var made = makeOwn();
            if (made.Twice(i) != 2 * i) Console.WriteLine("another result");
            if (i % 100 == 0) { GC.Collect(); GC.WaitForPendingFinalizers(); }
        }
    }
}
