// DestroyStructure frees the strings of a structure's own fields and of structs in it. What is inherited or embedded as a class is left alone, so nothing happens where
// native memory holds anything else there.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)] class Inner { public int Number; public string Text; }
struct InnerValue { public int Number; public string Text; }
struct OfClass { public int X; public Inner Inner; public int Y; }
struct OfValue { public int X; public InnerValue Inner; public int Y; }
[StructLayout(LayoutKind.Sequential)] class Derived : Inner { public string More; }
struct OfArray { [MarshalAs(UnmanagedType.ByValArray, SizeConst = 2)] public InnerValue[] All; }

static class DestroyedStructures
{
    // Strings of the type's own fields are null, everything else is no address.
    static void Garbage(Type type, params int[] nulls)
    {
        int size = Marshal.SizeOf(type);
        IntPtr p = Marshal.AllocHGlobal(size);
        for (int i = 0; i < size; i++) Marshal.WriteByte(p, i, 0xcc);
        foreach (int at in nulls) Marshal.WriteIntPtr(p, at, IntPtr.Zero);
        Marshal.DestroyStructure(p, type);
        Console.WriteLine(type.Name + " " + size);
        Marshal.FreeHGlobal(p);
    }
    static void Converted(object o)
    {
        IntPtr p = Marshal.AllocHGlobal(Marshal.SizeOf(o));
        Marshal.StructureToPtr(o, p, false);
        Marshal.StructureToPtr(o, p, true);
        Marshal.DestroyStructure(p, o.GetType());
        Marshal.FreeHGlobal(p);
    }
    static void Main()
    {
        Garbage(typeof(Inner), 8);
        Garbage(typeof(InnerValue), 8);
        Garbage(typeof(OfClass));
        Garbage(typeof(OfValue), 16);
        Garbage(typeof(Derived), 16);
        Garbage(typeof(OfArray));
        Garbage(typeof(Exception), 0, 8, 16, 24, 32, 56);
        string text = new string('z', 100);
        for (int i = 0; i < 100; i++)
        {
            Converted(new Inner { Text = text });
            Converted(new InnerValue { Text = text });
            Converted(new OfClass { Inner = new Inner { Text = text } });
            Converted(new OfValue { Inner = new InnerValue { Text = text } });
            Converted(new Derived { Text = text, More = text });
        }
        Console.WriteLine("done");
    }
}
