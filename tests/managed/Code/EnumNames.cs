// tiers: all
// Names and values of enums, of all underlying types, with equal values, without values, with flags of their own making, before and after the names were listed.
using System;
using System.Globalization;

static class EnumNames
{
    enum Color { Red, Green, Blue, Violet }
    enum None { }
    enum Equal { A = 1, B = 1, C = 1, D = 2, E = 1, F = 2 }
    enum Bytes : byte { Low, High = 255, Middle = 128 }
    enum SBytes : sbyte { Minus = -1, Least = -128, Zero = 0, Most = 127 }
    enum Shorts : short { Minus = -1, Least = short.MinValue, Most = short.MaxValue }
    enum UShorts : ushort { Zero, Most = ushort.MaxValue }
    enum UInts : uint { Zero, Most = uint.MaxValue }
    enum Longs : long { Minus = -1, Least = long.MinValue, Most = long.MaxValue, One = 1 }
    enum ULongs : ulong { Zero, Most = ulong.MaxValue, Half = 1UL << 63 }
    enum Unordered { C = 3, A = 1, D = -4, B = 2 }
    [Flags] enum Fl { None = 0, A = 1, B = 2, AB = 3, C = 4, Negative = -8 }
    [Flags] enum NoZero { A = 1, B = 2 }
    [Flags] enum TwoZeros { None = 0, Nothing = 0, A = 1 }
    class MyFlags : FlagsAttribute { }
    [MyFlags] enum Derived { None = 0, A = 1, B = 2 }
    [Obsolete] enum Other { A = 1, B = 2 }
    enum Spelled { ABC, abc, Abc, Ä, ä, _1 }
    class Outer<T> { public enum Inner { X, Y } }
    struct Holder { public byte before; public Bytes value; public byte after; }

    static void Try(string what, Func<object> f)
    {
        try { Console.WriteLine("{0}: {1}", what, f() ?? "null"); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message.Replace('\n', '|')); }
    }

    static void Names<T>(params T[] values) where T : struct
    {
        // The second round finds the names listed.
        for (int round = 0; round < 3; round++)
        {
            foreach (T value in values)
                Console.Write("{0} {1} {2} {3}; ", value.ToString(), ((Enum)(object)value).ToString(), string.Format("{0:G}|{0:D}|{0:X}|{0:F}", value), Enum.GetName(typeof(T), value) ?? "null");
            Console.WriteLine();
        }
    }

    static void Parse<T>(params string[] texts) where T : struct
    {
        for (int round = 0; round < 3; round++)
        {
            foreach (string text in texts)
            {
                T a, b;
                bool first = Enum.TryParse(text, out a), second = Enum.TryParse(text, true, out b);
                Console.Write("{0} {1:D} {2} {3:D}; ", first, a, second, b);
            }
            Console.WriteLine();
        }
        foreach (string text in texts)
        {
            Try(text ?? "null", () => ((Enum)Enum.Parse(typeof(T), text)).ToString("D"));
            Try(text ?? "null", () => ((Enum)Enum.Parse(typeof(T), text, true)).ToString("D"));
        }
    }

    static void Main()
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        Names<Color>(Color.Red, Color.Violet, (Color)4, (Color)(-1), Color.Blue);
        Names<None>(0, (None)1);
        Names<Equal>(Equal.A, Equal.F, 0);
        Names<Bytes>(Bytes.Low, Bytes.High, Bytes.Middle, (Bytes)1);
        Names<SBytes>(SBytes.Minus, SBytes.Least, SBytes.Zero, SBytes.Most, (SBytes)5);
        Names<Shorts>(Shorts.Minus, Shorts.Least, Shorts.Most, 0);
        Names<UShorts>(UShorts.Zero, UShorts.Most, (UShorts)5);
        Names<UInts>(UInts.Zero, UInts.Most, (UInts)5);
        Names<Longs>(Longs.Minus, Longs.Least, Longs.Most, Longs.One, (Longs)5);
        Names<ULongs>(ULongs.Zero, ULongs.Most, ULongs.Half, (ULongs)5);
        Names<Unordered>(Unordered.A, Unordered.B, Unordered.C, Unordered.D, (Unordered)5);
        Names<Fl>(Fl.None, Fl.A, Fl.AB, Fl.A | Fl.C, (Fl)7, (Fl)64, Fl.Negative, (Fl)(-1));
        Names<NoZero>(0, NoZero.A, (NoZero)3, (NoZero)4);
        Names<TwoZeros>(0, TwoZeros.A, (TwoZeros)2);
        Names<Derived>(0, Derived.A, (Derived)3, (Derived)4);
        Names<Other>(0, Other.A, (Other)3);
        Names<Spelled>(Spelled.ABC, Spelled.Ä, Spelled._1);
        Names<Outer<int>.Inner>(Outer<int>.Inner.Y, (Outer<int>.Inner)9);
        Names<Outer<string>.Inner>(Outer<string>.Inner.X);
        Names<DayOfWeek>(DayOfWeek.Friday, (DayOfWeek)7);
        Names<ConsoleModifiers>(ConsoleModifiers.Alt | ConsoleModifiers.Control);
        Console.WriteLine(ReferenceEquals(Color.Blue.ToString(), Color.Blue.ToString()));
        Console.WriteLine(ReferenceEquals(Color.Blue.ToString(), "Blue"));
        Console.WriteLine(ReferenceEquals(Enum.GetNames(typeof(Color))[1], Color.Green.ToString()));

        Parse<Color>("Blue", "blue", " Blue", "Blue ", "Red,Blue", "Red, Green", "", " ", null, "2", "-1", "+3", "99", "99999999999", "1x", "Bluee", "Blu", ",", "Blue,", "\u00a0Blue");
        Parse<Equal>("A", "B", "E", "F", "e");
        Parse<Bytes>("High", "high", "255", "256", "-1", "Middle,Low");
        Parse<Longs>("Least", "Most", "Minus", "-9223372036854775808");
        Parse<ULongs>("Most", "Half", "18446744073709551615");
        Parse<Spelled>("ABC", "abc", "Abc", "aBC", "\u00c4", "\u00e4", "_1", "1");
        Parse<Fl>("AB", "A, C", "Negative", "A,B,C", "A|B");
        Parse<Outer<int>.Inner>("Y", "y");

        // The bytes beside the result stay as they are.
        Bytes middle;
        var holder = new Holder { before = 1, after = 2 };
        Enum.TryParse("High", out holder.value);
        Console.WriteLine("{0} {1} {2}", holder.before, holder.value, holder.after);
        var list = new Holder[3];
        Enum.TryParse("Middle", out list[1].value);
        Console.WriteLine("{0} {1} {2}", list[0].value, list[1].value, list[2].value);
        Console.WriteLine(Enum.TryParse("Lower", out middle) + " " + middle);
        Try("no enum", () => { int n; return Enum.TryParse("1", out n); });
        Try("double", () => { double n; return Enum.TryParse("1", out n); });
        Try("null type", () => Enum.Parse(null, "A"));
        Try("wrong type", () => Enum.Parse(typeof(string), "A"));
        Try("name of null", () => Enum.GetName(typeof(Color), null));
        Try("name of a string", () => Enum.GetName(typeof(Color), "Red"));
        Try("name of another", () => Enum.GetName(typeof(Color), Bytes.Low));
        Try("format", () => Color.Red.ToString("Q"));
        Try("null", () => ((Enum)null).ToString());
    }
}
