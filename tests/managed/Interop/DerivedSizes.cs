// The native size of a class that derives from a formatted one is that of its parent and its own fields, and a multiple of what its own fields are aligned to.
using System;
using System.Runtime.InteropServices;

static class DerivedSizes
{
    [StructLayout(LayoutKind.Sequential)] class Base { public int a; public byte b; }
    [StructLayout(LayoutKind.Sequential)] class Middle : Base { public byte c; public long d; }
    [StructLayout(LayoutKind.Sequential)] class Derived : Middle { public short e; }
    class Automatic { public int a; }
    [StructLayout(LayoutKind.Sequential)] class OfAutomatic : Automatic { public int b; }
    [StructLayout(LayoutKind.Sequential, Pack = 1)] class Packed { public byte a; public int b; }
    [StructLayout(LayoutKind.Sequential)] class OfPacked : Packed { public long c; }

    static void Main()
    {
        foreach (var type in new[] { typeof(Base), typeof(Middle), typeof(Derived), typeof(OfAutomatic), typeof(Packed), typeof(OfPacked) })
            Console.WriteLine(type.Name + " " + Marshal.SizeOf(type));
        // expect: Base 8
        // expect: Middle 24
        // expect: Derived 26
        // expect: OfAutomatic 8
        // expect: Packed 5
        // expect: OfPacked 16
        Console.WriteLine(Marshal.OffsetOf(typeof(Derived), "e") + " " + Marshal.OffsetOf(typeof(Middle), "d")); // expect: 24 16
        var memory = Marshal.AllocHGlobal(26);
        Marshal.StructureToPtr(new Derived { a = 1, b = 2, c = 3, d = 4, e = 5 }, memory, false);
        var back = (Derived)Marshal.PtrToStructure(memory, typeof(Derived));
        Console.WriteLine("{0} {1} {2} {3} {4}", back.a, back.b, back.c, back.d, back.e); // expect: 1 2 3 4 5
        Marshal.FreeHGlobal(memory);
    }
}
