// Marshal.PtrToStructure into objects and boxes that are there, and what StructureToPtr leaves of the memory between fields.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)]
class Wide
{
    public byte First;
    [MarshalAs(UnmanagedType.U2)] public char Second;
    public long Third;
}

[StructLayout(LayoutKind.Sequential)]
class Numbers
{
    public byte First;
    public long Third;
}

[StructLayout(LayoutKind.Sequential)]
class Empty { }

struct Pair { public byte A; public int B; }

struct Generic<T> { public T Value; }

enum Short : short { None }

static class StructureInPlace
{
    static IntPtr memory = Marshal.AllocHGlobal(64);

    static void Fill(byte value)
    {
        for (int i = 0; i < 64; i++)
            Marshal.WriteByte(memory, i, value);
    }

    static void Store(object o)
    {
        Fill(0xcc);
        Marshal.StructureToPtr(o, memory, false);
        Console.Write(o.GetType().Name + ":");
        for (int i = 0; i < 18; i++)
            Console.Write(" {0:x2}", Marshal.ReadByte(memory, i));
        Console.WriteLine();
    }

    static void Load(IntPtr from, object o)
    {
        try
        {
            Marshal.PtrToStructure(from, o);
            Console.WriteLine(o.GetType() + ": " + o);
        }
        catch (ArgumentException e)
        {
            Console.WriteLine((o == null ? "null" : o.GetType().ToString()) + ": " + e.GetType().Name + " " + e.Message);
        }
    }

    static void Main()
    {
        Store(new Wide { First = 1, Second = 'a', Third = 2 });
        Store(new Numbers { First = 1, Third = 2 });
        Store(new Empty());

        Fill(1);
        Load(memory, 5);
        Load(memory, false);
        Load(memory, 'x');
        Load(memory, Short.None);
        Load(memory, IntPtr.Zero);
        object box = new Generic<int>();
        Load(memory, box);
        Console.WriteLine(((Generic<int>)box).Value);
        Load(memory, new Pair());
        Load(memory, Guid.Empty);
        Load(memory, DateTime.MinValue);
        Load(memory, TimeSpan.Zero);
        Load(memory, null);
        Load(IntPtr.Zero, new Numbers());
        Load(IntPtr.Zero, null);
    }
}
