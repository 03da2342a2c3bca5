// A class that declares no layout is converted if it adds no field to its parents: as its parent is, or nothing is. What a field of a type parameter's type
// leaves open matters only for that field. A struct with a null SafeHandle is refused.
using System;
using System.Runtime.InteropServices;

class Nothing { }
class StillNothing : Nothing { public static int Shared; }
[StructLayout(LayoutKind.Sequential)] class Pair { public int A, B; }
class SamePair : Pair { }
class MorePair : Pair { public int C; }
[StructLayout(LayoutKind.Sequential)] class Text { public string S; }
class SameText : Text { }
class Initialised { static Initialised() { Console.WriteLine("initialised"); } }
class Fails { static Fails() { throw new Exception("refused"); } }
class Open<T> { public T X; public int Y; }
struct Handle { public SafeHandle H; }

static class ClassesWithoutFields
{
    static IntPtr memory = Marshal.AllocHGlobal(64);

    static void Show(string what, Func<object> f)
    {
        try { Console.WriteLine(what + ": " + f()); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType() + ": " + e.Message + (e.InnerException == null ? "" : " " + e.InnerException.Message)); }
    }

    static string Bytes()
    {
        string s = "";
        for (int i = 0; i < 16; i++) s += Marshal.ReadByte(memory, i).ToString("x2");
        return s;
    }

    static void Convert<T>(T o) where T : class
    {
        string name = typeof(T).Name;
        for (int i = 0; i < 64; i++) Marshal.WriteByte(memory, i, 0xee);
        Show(name + " to native", () => { Marshal.StructureToPtr(o, memory, false); return Bytes(); });
        for (int i = 0; i < 64; i++) Marshal.WriteByte(memory, i, (byte)(name == "SameText" ? 0 : i + 1));
        Show(name + " to a new object", () => Marshal.PtrToStructure(memory, typeof(T)));
        Show(name + " to this object", () => { Marshal.PtrToStructure(memory, o); return o is Pair ? ((Pair)(object)o).A.ToString("x") : "done"; });
        Show(name + " size", () => Marshal.SizeOf(typeof(T)));
    }

    static void Main()
    {
        Convert(new object());
        Convert(new Nothing());
        Convert(new StillNothing());
        Convert(new SamePair { A = 1, B = 2 });
        Convert(new MorePair());
        Convert(new SameText());
        Show("initialised", () => Marshal.PtrToStructure(memory, typeof(Initialised)));
        Show("fails", () => Marshal.PtrToStructure(memory, typeof(Fails)));
        Show("open", () => Marshal.PtrToStructure(memory, typeof(System.Collections.Generic.List<>)));
        Show("no field", () => Marshal.OffsetOf(typeof(Open<>), "Z"));
        Show("null handle", () => { Marshal.StructureToPtr(new Handle(), memory, false); return "done"; });
    }
}
