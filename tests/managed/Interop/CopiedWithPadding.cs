// A class whose native form is that of its objects is copied with the bytes between and behind its fields, in both directions.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)] class Gaps { public byte A; public int B; public short C; }
[StructLayout(LayoutKind.Sequential)] class Derived : Gaps { public byte D; }
struct Value { public byte A; public int B; public short C; }
[StructLayout(LayoutKind.Sequential)] class OfValue { public Value Value; public byte D; }
[StructLayout(LayoutKind.Sequential, Size = 32)] class Large { public int A; }
[StructLayout(LayoutKind.Explicit)] class Placed { [FieldOffset(4)] public int A; [FieldOffset(12)] public byte B; }

static class CopiedWithPadding
{
    static IntPtr Memory(byte value)
    {
        IntPtr p = Marshal.AllocHGlobal(64);
        for (int i = 0; i < 64; i++) Marshal.WriteByte(p, i, value);
        return p;
    }
    static string Bytes(IntPtr p, int count)
    {
        string text = "";
        for (int i = 0; i < count; i++) text += Marshal.ReadByte(p, i).ToString("x2");
        return text;
    }
    static string Bytes(object o, int count)
    {
        GCHandle handle = GCHandle.Alloc(o, GCHandleType.Pinned);
        string text = Bytes(handle.AddrOfPinnedObject(), count);
        handle.Free();
        return text;
    }

    static void Main()
    {
        IntPtr memory = Memory(0xcc);
        foreach (Type type in new[] { typeof(Gaps), typeof(Derived), typeof(Value), typeof(OfValue), typeof(Large), typeof(Placed) })
        {
            int size = Marshal.SizeOf(type);
            object o = Marshal.PtrToStructure(memory, type);
            Console.WriteLine(type.Name + " " + size + " " + Bytes(o, size));
            IntPtr copy = Memory(0x11);
            Marshal.StructureToPtr(o, copy, false);
            Console.WriteLine(type.Name + " " + Bytes(copy, size + 4));
        }
        var given = new Gaps();
        Marshal.PtrToStructure(memory, given);
        Console.WriteLine(Bytes(given, 12));
    }
}
