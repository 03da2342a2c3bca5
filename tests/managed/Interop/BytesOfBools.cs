// mcs: -unsafe -nowarn:649
// A bool in native memory is the byte that it is, which another field or unsafe code may have made; as an argument it is 0 or 1. A struct with explicit offsets is an
// argument as it is, so what lies over a bool stays. The elements of arrays of bools are BOOLs, whatever is declared.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit)] struct Four { [FieldOffset(0)] public int I; [FieldOffset(0)] public bool B; }
[StructLayout(LayoutKind.Explicit)] struct FourFirst { [FieldOffset(0)] public bool B; [FieldOffset(0)] public int I; }
[StructLayout(LayoutKind.Explicit)] struct One { [FieldOffset(0)] public int I; [FieldOffset(0), MarshalAs(UnmanagedType.I1)] public bool B; }
[StructLayout(LayoutKind.Explicit)] struct Variant { [FieldOffset(0)] public int I; [FieldOffset(0), MarshalAs(UnmanagedType.VariantBool)] public bool B; }
[StructLayout(LayoutKind.Explicit)] struct Both { [FieldOffset(0)] public double D; [FieldOffset(0)] public long L; [FieldOffset(0)] public bool A; [FieldOffset(4)] public bool B; }
struct Fours { [MarshalAs(UnmanagedType.ByValArray, SizeConst = 3)] public bool[] B; }
struct Declared { [MarshalAs(UnmanagedType.ByValArray, SizeConst = 3, ArraySubType = UnmanagedType.I1)] public bool[] B; }
struct Plain { public bool B; }

static unsafe class BytesOfBools
{
    [DllImport("libc")] static extern int abs(bool b);
    [DllImport("libc", EntryPoint = "abs")] static extern int AbsOne([MarshalAs(UnmanagedType.I1)] bool b);
    [DllImport("libc", EntryPoint = "abs")] static extern int AbsFour(Four f);
    [DllImport("libc", EntryPoint = "abs")] static extern int AbsPlain(Plain f);
    [DllImport("libc", EntryPoint = "memcpy")] static extern IntPtr Copy(IntPtr to, ref Four from, IntPtr n);
    [DllImport("libc", EntryPoint = "memcpy")] static extern IntPtr CopyBack(ref Four to, IntPtr from, IntPtr n);
    [DllImport("libc", EntryPoint = "memcpy")] static extern IntPtr Copy(IntPtr to, ref bool from, IntPtr n);
    [DllImport("libc", EntryPoint = "memcpy")] static extern IntPtr Copy(IntPtr to, [MarshalAs(UnmanagedType.LPArray, ArraySubType = UnmanagedType.I1)] bool[] from, IntPtr n);

    static readonly IntPtr Memory = Marshal.AllocHGlobal(16);

    static void Clear()
    {
        for (int i = 0; i < 16; i += 8)
            Marshal.WriteInt64(Memory, i, 0);
    }

    static void Print(int count)
    {
        var bytes = new byte[count];
        Marshal.Copy(Memory, bytes, 0, count);
        Console.Write(BitConverter.ToString(bytes) + "  ");
    }

    static void Structure(object o)
    {
        Clear();
        Marshal.StructureToPtr(o, Memory, false);
        Print(Marshal.SizeOf(o));
    }

    static void Main()
    {
        Console.WriteLine(Marshal.SizeOf(typeof(Four)) + " " + Marshal.SizeOf(typeof(Fours)) + " " + Marshal.SizeOf(typeof(Declared)));
        foreach (var value in new[] { 0, 1, 2, 0x100, 0x102, -1 })
        {
            var four = new Four { I = value };
            bool b = *(bool*)&four;
            Structure(four);
            Structure(new FourFirst { I = value });
            Structure(new One { I = value });
            Structure(new Variant { I = value });
            Structure(new Both { L = value });
            Structure(new Fours { B = new[] { b, b, true } });
            Structure(new Declared { B = new[] { b, b, true } });
            Console.WriteLine();
            Console.Write(abs(b) + " " + AbsOne(b) + " " + AbsFour(four) + " " + AbsPlain(new Plain { B = b }) + "  ");
            Clear(); Copy(Memory, ref four, (IntPtr)4); Print(4);
            Clear(); Copy(Memory, new[] { false, true }, (IntPtr)8); Print(8);
            Marshal.WriteInt32(Memory, value);
            var back = new Four();
            CopyBack(ref back, Memory, (IntPtr)4);
            Console.Write(back.I.ToString("x") + " " + back.B + "  ");
            Clear(); Copy(Memory, ref b, (IntPtr)4); Print(4);
            Marshal.WriteInt32(Memory, value);
            Console.WriteLine(((Four)Marshal.PtrToStructure(Memory, typeof(Four))).I.ToString("x"));
        }
    }
}
