// Enum.HasFlag without boxes, and where it must be called: other enums, boxes that are kept, sizes and signs of enums, null.
using System;

[Flags] enum Small : byte { A = 1, B = 2, High = 0x80 }
[Flags] enum Signed : sbyte { None = 0, A = 1, Top = -128 }
[Flags] enum Plain { A = 1, B = 2, C = 4, All = 7 }
[Flags] enum Wide : long { One = 1, Far = 1L << 40, Top = long.MinValue }
[Flags] enum Unsigned : ulong { One = 1, Top = 1UL << 63 }

class Holder { public Plain Flags = Plain.A | Plain.C; public Wide Wide = Wide.Far; public static Small Static = Small.High | Small.A; }

class Program
{
    static bool Generic<T>(T value, T flag) where T : struct { return ((Enum)(object)value).HasFlag((Enum)(object)flag); }
    static Plain Next(ref int n) { n++; return (Plain)n; }
    static string Fails(Func<bool> f) { try { return f().ToString(); } catch (Exception e) { return e.GetType().Name; } }

    static void Main()
    {
        for (int round = 0; round < 2; round++)
        {
            var h = new Holder(); Plain p = Plain.B | Plain.C; int n = 2;
            Console.WriteLine("{0} {1} {2} {3}", p.HasFlag(Plain.B), p.HasFlag(Plain.A), p.HasFlag(Plain.All), p.HasFlag((Plain)0));
            Console.WriteLine("{0} {1} {2}", h.Flags.HasFlag(Plain.A | Plain.C), h.Flags.HasFlag(p), h.Flags.HasFlag(p & Plain.C));
            Console.WriteLine("{0} {1} {2}", h.Wide.HasFlag(Wide.Far), h.Wide.HasFlag(Wide.Top), (h.Wide | Wide.Top).HasFlag(Wide.Top));
            Console.WriteLine("{0} {1}", Holder.Static.HasFlag(Small.High), Holder.Static.HasFlag(Small.B));
            Signed s = Signed.Top; Unsigned u = Unsigned.Top | Unsigned.One;
            Console.WriteLine("{0} {1} {2} {3}", s.HasFlag(Signed.Top), s.HasFlag(Signed.A), u.HasFlag(Unsigned.Top), u.HasFlag((Unsigned)2));
            Console.WriteLine("{0} {1} {2}", p.HasFlag(Next(ref n)), Next(ref n).HasFlag(Plain.C), n);
            Console.WriteLine("{0} {1}", Generic(Plain.All, Plain.B), Generic(Small.A, Small.B));
            Console.WriteLine("{0} {1} {2}", Fails(() => p.HasFlag(Small.A)), Fails(() => p.HasFlag(null)), Fails(() => ((Holder)null).Flags.HasFlag(p)));
            Enum kept = Plain.A; object same = kept;
            Console.WriteLine("{0} {1}", kept.HasFlag(Plain.A), ReferenceEquals(kept, same));
            int hits = 0;
            for (int i = 0; i < 20000; i++) { var f = (Plain)(i & 7); if (f.HasFlag(Plain.B)) hits++; if (f.HasFlag((Plain)(i >> 3 & 7))) hits += 3; if (i % 2 == 0 ? f.HasFlag(Plain.A) : f.HasFlag(Plain.C)) hits += 5; }
            Console.WriteLine(hits);
        }
    }
}
