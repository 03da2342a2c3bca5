// Sizes of native forms: declared sizes of derived classes, embedded classes, fields that only have a place.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Size = 32)]
class Base { [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 16)] public string Text; public int B; }
[StructLayout(LayoutKind.Sequential, Size = 32)]
class Derived : Base { public int C; }
[StructLayout(LayoutKind.Sequential)]
class Pair { public int X, Y; }
[StructLayout(LayoutKind.Sequential)]
struct Embeds { public int A; public Pair P; public bool Flag; }
[StructLayout(LayoutKind.Sequential)]
class Com { [MarshalAs(UnmanagedType.IUnknown)] public object O; }
[StructLayout(LayoutKind.Sequential)]
struct Array { public char[] A; }
[StructLayout(LayoutKind.Sequential)]
struct Grid { [MarshalAs(UnmanagedType.ByValArray, SizeConst = 6)] public int[,] A; }
[StructLayout(LayoutKind.Explicit, Size = 11)]
struct Cut { [FieldOffset(0)] public int A; [FieldOffset(3)] public ulong B; }
[StructLayout(LayoutKind.Sequential, CharSet = CharSet.Ansi)]
struct Fixed { [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 4)] public string S; }

static class Program
{
    static unsafe void Main()
    {
        Console.WriteLine($"{Marshal.SizeOf(typeof(Derived))} {Marshal.OffsetOf(typeof(Derived), "C")}");  // expect: 64 32
        Console.WriteLine($"{Marshal.SizeOf(typeof(Com))} {Marshal.SizeOf(typeof(Array))} {Marshal.SizeOf(typeof(Cut))}");  // expect: 8 8 11
        var p = Marshal.AllocHGlobal(64);
        Marshal.StructureToPtr(new Embeds { A = 1, P = new Pair { X = 2, Y = 3 }, Flag = true }, p, false);
        Console.WriteLine($"{((int*)p)[0]} {((int*)p)[1]} {((int*)p)[2]} {((int*)p)[3]}");  // expect: 1 2 3 1
        Console.WriteLine(((Embeds)Marshal.PtrToStructure(p, typeof(Embeds))).P.Y);  // expect: 3
        try { Marshal.PtrToStructure(p, typeof(Array)); }
        catch (MarshalDirectiveException) { Console.WriteLine("refused"); }  // expect: refused
        Marshal.StructureToPtr(new Grid { A = new[,] { { 1, 2, 3 }, { 4, 5, 6 } } }, p, false);
        Console.WriteLine(((int*)p)[4]);  // expect: 5
        Marshal.Copy(new byte[] { 65, 66, 67, 68, 69 }, 0, p, 5);
        Console.WriteLine(((Fixed)Marshal.PtrToStructure(p, typeof(Fixed))).S);  // expect: ABC
    }
}
