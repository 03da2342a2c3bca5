// A field of type object has a byte in native memory, which nothing writes; a new object comes out of it.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)] struct OfObject { public int I; public object O; public int J; }
[StructLayout(LayoutKind.Sequential)] class First { public object O; public int I; }

static class ObjectFields
{
    static void Show(object o)
    {
        var memory = Marshal.AllocHGlobal(16);
        for (int i = 0; i < 16; i++)
            Marshal.WriteByte(memory, i, 0xCC);
        Marshal.StructureToPtr(o, memory, false);
        var bytes = new byte[16];
        Marshal.Copy(memory, bytes, 0, 16);
        Console.Write(Marshal.SizeOf(o) + " " + BitConverter.ToString(bytes));
        var back = Marshal.PtrToStructure(memory, o.GetType());
        foreach (var field in o.GetType().GetFields())
            Console.Write(" " + field.Name + " " + field.GetValue(back));
        Console.WriteLine();
        Marshal.FreeHGlobal(memory);
    }

    static void Main()
    {
        Show(new OfObject { I = 1, J = 2 });
        Show(new OfObject { I = 1, J = 2, O = "text" });
        Show(new OfObject { I = 1, J = 2, O = new First() });
        Show(new First { I = 3 });
        Show(new First { I = 3, O = new object() });
    }
}
