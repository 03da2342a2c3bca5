// The bool that a native function returns is its low byte, whatever it is declared to be. A char that is passed has 16 bits in every character set; in a struct
// and in an array it has those of the character set.
// cc: -O1
using System;
using System.Runtime.InteropServices;

static class BoolsAndChars
{
    const string Library = "BoolsAndChars";
    [DllImport(Library, EntryPoint = "same")] static extern bool Returned(ulong value);
    [DllImport(Library, EntryPoint = "same")] [return: MarshalAs(UnmanagedType.VariantBool)] static extern bool Variant(ulong value);
    [DllImport(Library, EntryPoint = "same")] [return: MarshalAs(UnmanagedType.U1)] static extern bool Byte(ulong value);
    [DllImport(Library, EntryPoint = "same", SetLastError = true)] static extern bool Recorded(ulong value);
    [DllImport(Library, EntryPoint = "same")] static extern ulong Passed(bool value);
    [DllImport(Library, EntryPoint = "same")] static extern char ReturnedChar(ulong value);
    [DllImport(Library, EntryPoint = "same", CharSet = CharSet.Ansi)] static extern char AnsiChar(ulong value);
    [DllImport(Library, EntryPoint = "same")] static extern ulong Passed(char value);
    [DllImport(Library, EntryPoint = "same", CharSet = CharSet.Ansi)] static extern ulong PassedAnsi([MarshalAs(UnmanagedType.U1)] char value);
    [DllImport(Library, EntryPoint = "store")] static extern void Store(out bool to, uint value);
    [DllImport(Library, EntryPoint = "store")] static extern void Store(ref char to, uint value);
    delegate bool Predicate(ulong value);
    delegate ulong OfBool(bool value);
    delegate char ToChar(ulong value);
    delegate ulong OfChar(char value);
    [DllImport(Library, EntryPoint = "call")] static extern ulong Call(Predicate function, ulong value);
    [DllImport(Library, EntryPoint = "call")] static extern ulong Call(OfBool function, ulong value);
    [DllImport(Library, EntryPoint = "call")] static extern ulong Call(ToChar function, ulong value);
    [DllImport(Library, EntryPoint = "call")] static extern ulong Call(OfChar function, ulong value);

    static string Hex(ulong value) { return value.ToString("x"); }
    static string Hex(char value) { return ((int)value).ToString("x"); }

    static void Main()
    {
        foreach (ulong value in new ulong[] { 0, 1, 2, 0x80, 0x100, 0x101, 0x10000, 0x1000000, 0x100000000, 0xffffffff, 0x4100, 0x20ac })
        {
            Console.WriteLine(Hex(value) + ": " + Returned(value) + " " + Variant(value) + " " + Byte(value) + " " + Recorded(value) + " "
                + Hex(ReturnedChar(value)) + " " + Hex(AnsiChar(value)) + " " + Call((bool b) => b ? 1UL : 0, value) + " " + Hex(Call((char c) => c, value)));
            bool stored;
            Store(out stored, (uint)value);
            // More than a char is written: room for it.
            var room = new char[2];
            Store(ref room[0], (uint)value);
            Console.WriteLine("  " + stored + " " + Hex(room[0]));
        }
        Console.WriteLine(Passed(true) + " " + Passed(false) + " " + Call((ulong u) => u == 5, 5) + " " + Call((ulong u) => u == 5, 6));
        foreach (char c in new[] { 'a', '\xe9', '\u20ac', '\ud800' })
            Console.WriteLine(Hex(c) + ": " + Hex(Passed(c)) + " " + Hex(PassedAnsi(c)) + " " + Hex(Call((ulong u) => c, 0) & 0xffff));
    }
}
