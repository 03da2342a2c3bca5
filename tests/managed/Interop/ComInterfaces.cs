// Native code calls objects by COM interfaces: IUnknown, IDispatch and the interfaces that classes declare. References that it holds keep the object. Marshal calls
// native code's interfaces in the same way.
// cc: -O1 -pthread
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

[Guid("11111111-2222-3333-4444-555555555551"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface IOwn { int Twice(int value); }
[Guid("11111111-2222-3333-4444-555555555552"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface IMany
{
    void Throw(); int Length(string s); [PreserveSig] int Kept(int x); string Text(int x); bool Not(bool b);
    void Changed(out int a, ref long b); long Long(); double Double(double d); void Nine(int a, int b, int c, int d, int e, int f, double g, short h, out int sum);
}
[Guid("11111111-2222-3333-4444-555555555553")]
public interface IDual { int Negated(int x); int P { get; set; } }
[InterfaceType(ComInterfaceType.InterfaceIsIDispatch)] public interface IDispatched { void A(); }
public interface IDerived : IDispatched { void Q(); }
public class Served : IOwn, IMany, IDual
{
    public int Twice(int value) { if (value < 0) throw new ArgumentException("negative"); return 2 * value; }
    public void Throw() { throw new InvalidOperationException(); }
    public int Length(string s) { return s == null ? -1 : s.Length; }
    public int Kept(int x) { return x * 3; }
    public string Text(int x) { return "text " + x; }
    public bool Not(bool b) { return !b; }
    public void Changed(out int a, ref long b) { a = 5; b++; }
    public long Long() { return 1L << 40; }
    public double Double(double d) { return 2 * d; }
    public void Nine(int a, int b, int c, int d, int e, int f, double g, short h, out int sum) { sum = a + b + c + d + e + f + (int)g + h; }
    public int Negated(int x) { return -x; }
    public int P { get; set; }
}
class Hidden { }
[ComVisible(false)] public class Invisible { }

static class ComInterfaces
{
    const string Library = "ComInterfaces";
    [DllImport(Library)] static extern int call_own(IntPtr p, int value, out int result);
    [DllImport(Library)] static extern int call_from_thread(IntPtr p, int value, out int result);
    [DllImport(Library)] static extern IntPtr native_object();

    delegate int Plain(IntPtr p);
    delegate int OfWord(IntPtr p, IntPtr a, out int r);
    delegate int OfInt(IntPtr p, int a);
    delegate int OfText(IntPtr p, int a, out IntPtr s);
    delegate int OfChanged(IntPtr p, out int a, ref long b);
    delegate int OfLong(IntPtr p, out long r);
    delegate int OfDouble(IntPtr p, double d, out double r);
    delegate int OfNine(IntPtr p, int a, int b, int c, int d, int e, int f, double g, short h, out int sum);
    delegate int Names(IntPtr p, ref Guid unused, [MarshalAs(UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPWStr)] string[] names, int count, int culture, int[] ids);
    delegate int Count(IntPtr p, out int count);

    static T Function<T>(IntPtr p, int number) { return Marshal.GetDelegateForFunctionPointer<T>(Marshal.ReadIntPtr(Marshal.ReadIntPtr(p), number * IntPtr.Size)); }

    static void Show(string what, Func<object> f)
    {
        try { Console.WriteLine(what + ": " + f()); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType() + ": " + e.Message); }
    }

    static void Main()
    {
        var o = new Served();
        References(o);
        Calls(Marshal.GetComInterfaceForObject(o, typeof(IMany)));
        Show("own", () => { int r; return call_own(Marshal.GetComInterfaceForObject(o, typeof(IOwn)), 21, out r) + " " + r; });
        Show("own, thrown", () => { int r; return call_own(Marshal.GetComInterfaceForObject(o, typeof(IOwn)), -1, out r).ToString("x"); });
        Show("from a thread", () => { int r; return call_from_thread(Marshal.GetComInterfaceForObject(o, typeof(IOwn)), 4, out r) + " " + r; });
        Show("dual", () => { int r; IntPtr p = Marshal.GetComInterfaceForObject(o, typeof(IDual)); return Function<OfWord>(p, 7)(p, (IntPtr)21, out r) + " " + r; });
        Dispatch(o);
        Lifetimes();
        Slots();
        Native();
        Refused(o);
    }

    static void References(Served o)
    {
        IntPtr unknown = Marshal.GetIUnknownForObject(o);
        Show("the same", () => Marshal.GetIUnknownForObject(o) == unknown);
        Show("AddRef", () => Marshal.AddRef(unknown) + " " + Function<Plain>(unknown, 1)(unknown));
        Show("Release", () => Marshal.Release(unknown) + " " + Function<Plain>(unknown, 2)(unknown));
        Show("the object", () => ReferenceEquals(Marshal.GetObjectForIUnknown(unknown), o));
        foreach (string id in new[] { "00000000-0000-0000-C000-000000000046", "00020400-0000-0000-C000-000000000046", "11111111-2222-3333-4444-555555555551",
            "11111111-2222-3333-4444-555555555553", "99999999-2222-3333-4444-555555555551", "00000003-0000-0000-C000-000000000046" })
            Show("QueryInterface", () =>
            {
                IntPtr found;
                var guid = new Guid(id);
                int result = Marshal.QueryInterface(unknown, ref guid, out found);
                return result.ToString("x") + " " + (found != IntPtr.Zero) + " " + (found == unknown);
            });
        foreach (object other in new object[] { "text", 5, new int[1], new Action(Main), new Hidden() })
            Show("IUnknown of " + other.GetType(), () => ReferenceEquals(Marshal.GetObjectForIUnknown(Marshal.GetIUnknownForObject(other)), other));
    }

    static void Calls(IntPtr p)
    {
        Show("Throw", () => Function<Plain>(p, 3)(p).ToString("x"));
        Show("Length", () => { int r; IntPtr b = Marshal.StringToBSTR("hello"); return Function<OfWord>(p, 4)(p, b, out r) + " " + r; });
        Show("Length of null", () => { int r; return Function<OfWord>(p, 4)(p, IntPtr.Zero, out r) + " " + r; });
        Show("Kept", () => Function<OfInt>(p, 5)(p, 7));
        Show("Text", () => { IntPtr s; return Function<OfText>(p, 6)(p, 7, out s) + " " + Marshal.PtrToStringBSTR(s); });
        Show("Not", () => { int r; return Function<OfWord>(p, 7)(p, IntPtr.Zero, out r) + " " + (r & 0xffff).ToString("x"); });
        Show("Changed", () => { int a; long b = 41; return Function<OfChanged>(p, 8)(p, out a, ref b) + " " + a + " " + b; });
        Show("Long", () => { long r; return Function<OfLong>(p, 9)(p, out r) + " " + r; });
        Show("Double", () => { double r; return Function<OfDouble>(p, 10)(p, 1.5, out r) + " " + r; });
        Show("Nine", () => { int r; return Function<OfNine>(p, 11)(p, 1, 2, 3, 4, 5, 6, 7.5, 8, out r) + " " + r; });
    }

    static void Dispatch(Served o)
    {
        IntPtr p = Marshal.GetIDispatchForObject(o);
        Show("GetTypeInfoCount", () => { int c; return Function<Count>(p, 3)(p, out c) + " " + c; });
        Show("GetTypeInfo", () => Function<Plain>(p, 4)(p).ToString("x"));
        Show("GetIDsOfNames", () =>
        {
            var ids = new int[2];
            var guid = Guid.Empty;
            int result = Function<Names>(p, 5)(p, ref guid, new[] { "Twice", "Nothing" }, 2, 0, ids);
            return result.ToString("x") + " " + (ids[0] == typeof(Served).GetMethod("Twice").MetadataToken) + " " + ids[1];
        });
        Show("Invoke", () => Function<Plain>(p, 6)(p).ToString("x"));
        foreach (object other in new object[] { "text", 5, new int[1], new Hidden(), new Invisible(), new ComInterfacesValue() })
            Show("IDispatch of " + other.GetType(), () => Marshal.GetIDispatchForObject(other) != IntPtr.Zero);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(WeakReference weak, out IntPtr interfacePointer, bool released)
    {
        var o = new Served();
        weak.Target = o;
        interfacePointer = Marshal.GetIUnknownForObject(o);
        if (released) Marshal.Release(interfacePointer);
    }

    static void Lifetimes()
    {
        foreach (bool released in new[] { true, false })
        {
            var weak = new WeakReference(null);
            IntPtr p = IntPtr.Zero;
            var thread = new Thread(() => Make(weak, out p, released));
            thread.Start();
            thread.Join();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            Show("alive", () => weak.IsAlive);
            if (!released) Show("still the object", () => ReferenceEquals(Marshal.GetObjectForIUnknown(p), weak.Target));
        }
        for (int i = 0; i < 1000; i++)
        {
            var o = new Served { P = i };
            IntPtr p = Marshal.GetIUnknownForObject(o);
            if (((Served)Marshal.GetObjectForIUnknown(p)).P != i) Console.WriteLine("another object");
            Marshal.Release(p);
            if (i % 300 == 0) GC.Collect();
        }
    }

    static void Slots()
    {
        foreach (Type type in new[] { typeof(IOwn), typeof(IMany), typeof(IDual), typeof(IDispatched), typeof(IDerived), typeof(IDisposable) })
            foreach (MethodInfo method in type.GetMethods())
                Show(type.Name + "." + method.Name, () => Marshal.GetComSlotForMethodInfo(method));
    }

    static void Native()
    {
        IntPtr p = native_object();
        Show("native AddRef", () => Marshal.AddRef(p));
        Show("native QueryInterface", () => { IntPtr q; var guid = new Guid("00000000-0000-0000-C000-000000000046"); return Marshal.QueryInterface(p, ref guid, out q) + " " + (q == p); });
        Show("native QueryInterface", () => { IntPtr q; var guid = Guid.Empty; return Marshal.QueryInterface(p, ref guid, out q).ToString("x") + " " + q; });
        Show("native Release", () => Marshal.Release(p));
    }

    static void Refused(Served o)
    {
        Show("no object", () => Marshal.GetIUnknownForObject(null));
        Show("no object", () => Marshal.GetIDispatchForObject(null));
        Show("no object", () => Marshal.GetComInterfaceForObject(null, typeof(IOwn)));
        Show("no interface", () => Marshal.AddRef(IntPtr.Zero));
        Show("no interface", () => Marshal.GetObjectForIUnknown(IntPtr.Zero));
        Show("no COM object", () => Marshal.ReleaseComObject(o));
        Show("no COM object", () => Marshal.IsComObject(o));
        Show("of a class", () => Marshal.GetComSlotForMethodInfo(typeof(Served).GetMethod("Twice")));
        Show("variant", () =>
        {
            IntPtr m = Marshal.AllocHGlobal(24);
            for (int i = 0; i < 24; i++) Marshal.WriteByte(m, i, 0);
            Marshal.GetNativeVariantForObject(o, m);
            return Marshal.ReadInt16(m) + " " + ReferenceEquals(Marshal.GetObjectForNativeVariant(m), o);
        });
    }
}
struct ComInterfacesValue { }
