// The size of a sequential struct with a declared size is a multiple of its alignment; one with explicit offsets has the size that it says.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Size = 10)] struct Ten { public byte B; public int I; }
[StructLayout(LayoutKind.Sequential, Size = 9)] struct Nine { public byte B; public short S; }
[StructLayout(LayoutKind.Sequential, Size = 9, Pack = 4)] struct Packed { public byte B; public int I; }
[StructLayout(LayoutKind.Sequential, Size = 13, Pack = 4)] struct PackedLong { public long L; }
[StructLayout(LayoutKind.Sequential, Size = 13, Pack = 1)] struct Tight { public long L; }
[StructLayout(LayoutKind.Sequential, Size = 13)] struct Natural { public long L; }
[StructLayout(LayoutKind.Sequential, Size = 3)] struct Less { public long L; }
[StructLayout(LayoutKind.Sequential, Size = 5)] struct None { }
[StructLayout(LayoutKind.Sequential, Size = 21)] struct Around { public Natural N; public int I; }
[StructLayout(LayoutKind.Explicit, Size = 13)] struct Explicit { [FieldOffset(0)] public long L; }
[StructLayout(LayoutKind.Explicit, Size = 13, Pack = 4)] struct ExplicitPacked { [FieldOffset(0)] public long L; }
struct Field { public Ten T; public byte B; }

static class DeclaredSizes
{
    static void Say(int managed, Type type)
    {
        Console.WriteLine("{0}: {1} {2}", type, managed, Marshal.SizeOf(type));
    }

    static unsafe void Main()
    {
        Say(sizeof(Ten), typeof(Ten));
        Say(sizeof(Nine), typeof(Nine));
        Say(sizeof(Packed), typeof(Packed));
        Say(sizeof(PackedLong), typeof(PackedLong));
        Say(sizeof(Tight), typeof(Tight));
        Say(sizeof(Natural), typeof(Natural));
        Say(sizeof(Less), typeof(Less));
        Say(sizeof(None), typeof(None));
        Say(sizeof(Around), typeof(Around));
        Say(sizeof(Explicit), typeof(Explicit));
        Say(sizeof(ExplicitPacked), typeof(ExplicitPacked));
        Say(sizeof(Field), typeof(Field));

        var tens = new Ten[2];
        fixed (Ten* p = tens)
            Console.WriteLine((byte*)(p + 1) - (byte*)p);

        // It is the same on both sides, so the bytes behind its fields are copied.
        IntPtr memory = Marshal.AllocHGlobal(16);
        for (int i = 0; i < 16; i++)
            Marshal.WriteByte(memory, i, 0xcc);
        Marshal.StructureToPtr(new Ten { B = 1, I = 2 }, memory, false);
        for (int i = 0; i < 16; i++)
            Console.Write("{0:x2} ", Marshal.ReadByte(memory, i));
        Console.WriteLine();
    }
}
