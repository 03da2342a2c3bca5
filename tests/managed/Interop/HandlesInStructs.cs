// A SafeHandle in a struct goes to native memory, and what is there afterwards is not looked at. A CriticalHandle is a class without a layout there.
using System;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

struct OfHandle { public int X; public SafeFileHandle Handle; }
struct OfAbstract { public int X; public SafeHandle Handle; }
[StructLayout(LayoutKind.Sequential)] class ClassOfHandle { public int X; public SafeFileHandle Handle; }
class Critical : CriticalHandle
{
    public Critical() : base(IntPtr.Zero) { }
    public override bool IsInvalid { get { return false; } }
    protected override bool ReleaseHandle() { return true; }
}
struct OfCritical { public int X; public Critical Handle; }

static class HandlesInStructs
{
    static void Show(string what, Func<object> f)
    {
        try { Console.WriteLine(what + ": " + f()); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType() + ": " + e.Message); }
    }
    static void Main()
    {
        IntPtr p = Marshal.AllocHGlobal(64);
        for (int i = 0; i < 64; i++) Marshal.WriteByte(p, i, 1);
        var handle = new SafeFileHandle((IntPtr)5, false);
        Show("new", () => ((OfHandle)Marshal.PtrToStructure(p, typeof(OfHandle))).Handle == null);
        Show("new, abstract", () => ((OfAbstract)Marshal.PtrToStructure(p, typeof(OfAbstract))).Handle == null);
        Show("filled", () => { var o = new ClassOfHandle { Handle = handle }; Marshal.PtrToStructure(p, o); return (o.Handle == handle) + " " + o.X + " " + handle.DangerousGetHandle(); });
        Show("to native", () => { Marshal.StructureToPtr(new OfAbstract { Handle = handle }, p, false); return Marshal.ReadIntPtr(p, 8); });
        Show("critical", () => Marshal.SizeOf(typeof(OfCritical)) + " " + Marshal.OffsetOf(typeof(OfCritical), "Handle"));
        Show("critical", () => { Marshal.StructureToPtr(new OfCritical { Handle = new Critical() }, p, false); return "converted"; });
        Show("critical", () => ((OfCritical)Marshal.PtrToStructure(p, typeof(OfCritical))).Handle == null);
    }
}
