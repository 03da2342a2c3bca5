// Explicit offsets count from the start of the object, and a declared size may cut padding off.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit, Size = 12)]
struct Cut { [FieldOffset(0)] public long A; [FieldOffset(8)] public int B; }

[StructLayout(LayoutKind.Explicit)]
struct Padded { [FieldOffset(0)] public long A; [FieldOffset(8)] public int B; }

[StructLayout(LayoutKind.Explicit)]
class Base { [FieldOffset(0)] public int A; [FieldOffset(3)] public byte High; }

[StructLayout(LayoutKind.Explicit)]
class Over : Base { [FieldOffset(0)] public int B; }

static class Program
{
    static unsafe void Main()
    {
        Console.WriteLine($"{sizeof(Cut)} {sizeof(Padded)}");  // expect: 12 16
        var over = new Over { A = 1, B = 0x02000003 };
        Console.WriteLine($"{over.A:x} {over.High}");  // expect: 2000003 2
    }
}
