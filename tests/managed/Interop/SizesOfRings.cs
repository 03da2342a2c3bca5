// mcs: -nowarn:649,169
// Native sizes of classes that contain themselves where they are marshalled: one byte at the very start stands for the class that is being computed, so the sizes of a ring
// depend on which class was asked for first. Handles and delegates have the size of what they are in native memory.
using System;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

[StructLayout(LayoutKind.Sequential)] class Node { public long Value; public Node Next; public int Tag; }
[StructLayout(LayoutKind.Sequential)] class FirstA { public int X; public FirstB B; public int Y; }
[StructLayout(LayoutKind.Sequential)] class FirstB { public long X; public FirstA A; public byte Y; }
[StructLayout(LayoutKind.Sequential)] class SecondA { public int X; public SecondB B; public int Y; }
[StructLayout(LayoutKind.Sequential)] class SecondB { public long X; public SecondA A; public byte Y; }
[StructLayout(LayoutKind.Sequential)] class Parent { public int X; public Child C; public short Y; }
[StructLayout(LayoutKind.Sequential)] class Child : Parent { public long Z; }
[StructLayout(LayoutKind.Explicit)] class Placed { [FieldOffset(0)] public int X; [FieldOffset(8)] public Placed Self; [FieldOffset(4)] public int Y; }
[StructLayout(LayoutKind.Sequential)] class OfException : Exception { public int Number; }
[StructLayout(LayoutKind.Sequential)] class OwnHandle : SafeHandle
{
    public int Number;
    public OwnHandle() : base(IntPtr.Zero, true) { }
    public override bool IsInvalid => true;
    protected override bool ReleaseHandle() => true;
}
class Automatic { public int X; public Automatic Next; }
[StructLayout(LayoutKind.Sequential)] struct OfAutomatic { public int X; public Automatic A; public int Y; }
[StructLayout(LayoutKind.Sequential)] struct OfNode { public int X; public Node N; public byte Y; }
[StructLayout(LayoutKind.Sequential)] struct OfText { public StringBuilder Text; public byte Y; }
[StructLayout(LayoutKind.Sequential)] struct OfToken { public CancellationToken Token; public byte Y; }

static class SizesOfRings
{
    static void Sizes(params Type[] types)
    {
        foreach (var type in types)
            try { Console.WriteLine(type + " " + Marshal.SizeOf(type)); }
            catch (ArgumentException e) { Console.WriteLine(e.Message); }
    }

    static void Offsets(Type type, params string[] names)
    {
        Console.Write(type);
        foreach (var name in names)
            Console.Write(" " + name + " " + Marshal.OffsetOf(type, name));
        Console.WriteLine();
    }

    static void Main()
    {
        Sizes(typeof(Node), typeof(FirstA), typeof(FirstB), typeof(SecondB), typeof(SecondA), typeof(Parent), typeof(Child), typeof(Placed));
        Sizes(typeof(OfAutomatic), typeof(OfNode), typeof(OfText), typeof(OfToken), typeof(OfException), typeof(OwnHandle), typeof(Automatic));
        Sizes(typeof(StringBuilder), typeof(Exception), typeof(Thread), typeof(WaitHandle), typeof(SafeHandle), typeof(CriticalHandle));
        Sizes(typeof(Delegate), typeof(MulticastDelegate), typeof(Action), typeof(MarshalByRefObject), typeof(AppDomain));
        Offsets(typeof(Node), "Value", "Next", "Tag");
        Offsets(typeof(FirstA), "X", "B", "Y");
        Offsets(typeof(FirstB), "X", "A", "Y");
        Offsets(typeof(SecondA), "X", "B", "Y");
        Offsets(typeof(SecondB), "X", "A", "Y");
        Offsets(typeof(OfNode), "X", "N", "Y");
        Offsets(typeof(Child), "X", "C", "Y", "Z");
        Console.WriteLine(Marshal.SizeOf(new StringBuilder()) + " " + Marshal.SizeOf(Thread.CurrentThread) + " " + Marshal.SizeOf(typeof(int)));

        var memory = Marshal.AllocHGlobal(64);
        for (int i = 0; i < 64; i++)
            Marshal.WriteByte(memory, i, 0xCC);
        Marshal.StructureToPtr(new OfAutomatic { X = 1, Y = 2 }, memory, false);
        var bytes = new byte[16];
        Marshal.Copy(memory, bytes, 0, 16);
        Console.WriteLine(BitConverter.ToString(bytes));
        foreach (var type in new[] { typeof(OfAutomatic), typeof(Automatic) })
            try { Marshal.PtrToStructure(memory, type); }
            catch (MarshalDirectiveException e) { Console.WriteLine(e.Message); }
        try { Marshal.StructureToPtr(new OfAutomatic { A = new Automatic() }, memory, false); }
        catch (MarshalDirectiveException e) { Console.WriteLine(e.Message); }
    }
}
