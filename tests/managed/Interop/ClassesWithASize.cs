// StructureToPtr of an object whose fields are as in native code writes as many bytes as SizeOf says: zeros between and behind the fields.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Size = 12)]
class Large { public int A = 1; }
[StructLayout(LayoutKind.Sequential)]
class Gap { public byte A = 2; public int B = 3; }
[StructLayout(LayoutKind.Explicit, Size = 12)]
class Placed { [FieldOffset(4)] public int A = 4; }
[StructLayout(LayoutKind.Sequential, Size = 12)]
struct Value { public int A; }
[StructLayout(LayoutKind.Sequential, Size = 12)]
class Converted { public int A = 5; public bool B = true; }

static class ClassesWithASize
{
    static void Show(object o)
    {
        var native = Marshal.AllocHGlobal(16);
        for (int i = 0; i < 16; i++)
            Marshal.WriteByte(native, i, 0xCC);
        Marshal.StructureToPtr(o, native, false);
        var bytes = new byte[16];
        Marshal.Copy(native, bytes, 0, 16);
        Console.WriteLine(Marshal.SizeOf(o) + ": " + BitConverter.ToString(bytes));
        Marshal.FreeHGlobal(native);
    }

    static void Main()
    {
        Show(new Large());
        Show(new Gap());
        Show(new Placed());
        Show(new Value { A = 6 });
        Show(new Converted());
    }
}
