// Marshal takes a type by reference for what it refers to, with the size of an address; the native form of an object inside of a structure has the
// object's bytes between fields, too.
using System;
using System.Runtime.InteropServices;

class Formless { public int A; }
struct Pair { public int A; public byte B; }
[StructLayout(LayoutKind.Sequential)] class Inner { public int A; public byte B; }
[StructLayout(LayoutKind.Sequential)] class Outer { public Inner In; public byte C; }

static class MarshalByReference
{
    static void Try(string what, Action action)
    {
        try { action(); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name + ": " + e.Message); }
    }
    static void Main()
    {
        IntPtr memory = Marshal.AllocHGlobal(64);
        for (int i = 0; i < 64; i++) Marshal.WriteByte(memory, i, 0xCC);
        Marshal.StructureToPtr(new Outer { In = new Inner { A = 1, B = 2 }, C = 3 }, memory, false);
        for (int i = 0; i < 12; i++) Console.Write(Marshal.ReadByte(memory, i).ToString("x2"));
        Console.WriteLine();
        foreach (Type type in new[] { typeof(int), typeof(Pair), typeof(Formless), typeof(string), typeof(int[]), typeof(int*) })
        {
            Type reference = type.MakeByRefType();
            Try("size", () => Console.WriteLine(Marshal.SizeOf(reference)));
            Try("offset", () => Console.WriteLine(Marshal.OffsetOf(reference, "B")));
        }
        Try("to managed", () => Marshal.PtrToStructure(memory, typeof(Formless).MakeByRefType()));
        Try("destroy", () => Marshal.DestroyStructure(memory, typeof(Pair).MakeByRefType()));
    }
}
