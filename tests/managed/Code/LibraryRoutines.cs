// Searches, comparisons and sorts of the class library that the runtime does by itself: at each length around the limits they do what a loop does.
// tiers: all
using System;
using System.Collections.Generic;

class LibraryRoutines
{
    // (A sort in place takes up to 8 KiB.)
    static readonly int[] SortLengths = { 0, 1, 2, 17, 100, 1024, 1025, 2049, 9000 };
    static readonly int[] Lengths = { 0, 1, 15, 16, 17, 31, 32, 33, 64, 100, 16383, 16385, 32768, 32769, 65536, 65537 };

    static int Loop<T> (T[] all, T value, int from, int count) where T : IEquatable<T>
    {
        for (int i = from; i < from + count; i++)
            if (all[i].Equals (value))
                return i;
        return -1;
    }

    static void Find ()
    {
        foreach (int length in Lengths) {
            var chars = new char[length];
            var bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                chars[i] = (char) ('a' + i % 20);
                bytes[i] = (byte) (i % 20);
            }
            foreach (int at in new[] { -1, 0, length / 2, length - 1 }) {
                if (at >= 0 && at < length) {
                    chars[at] = '\u0179';
                    bytes[at] = 0x79;
                }
                var s = new string (chars);
                Check ("char", s.IndexOf ('\u0179'), Loop (chars, '\u0179', 0, length));
                Check ("char with the same low byte", s.IndexOf ('\u0279'), -1);
                Check ("byte", Array.IndexOf (bytes, (byte) 0x79), Loop (bytes, (byte) 0x79, 0, length));
                if (length > 3)
                    Check ("part", s.IndexOf ('\u0179', 1, length - 2), Loop (chars, '\u0179', 1, length - 2));
                if (at >= 0 && at < length) {
                    chars[at] = 'x';
                    bytes[at] = 1;
                }
            }
        }
    }

    static void Compare ()
    {
        foreach (int length in Lengths) {
            var a = new string ('q', length);
            var b = new string ('q', length);
            if (a != b || !a.Equals ((object) b))
                Console.WriteLine ("equal strings of {0} differ", length);
            foreach (int at in new[] { 0, length / 2, length - 1 })
                if (at >= 0 && at < length) {
                    var changed = b.ToCharArray ();
                    changed[at] = 'r';
                    if (a == new string (changed))
                        Console.WriteLine ("different strings of {0} are equal", length);
                }
        }
    }

    static ulong seed = 88172645463325252;
    static ulong Next ()
    {
        seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
        return seed;
    }

    // A merge sort, which shares nothing with the library's.
    static void Merge<T> (T[] all, int from, int count) where T : IComparable<T>
    {
        if (count < 2)
            return;
        int half = count / 2;
        Merge (all, from, half);
        Merge (all, from + half, count - half);
        var copy = new T[count];
        Array.Copy (all, from, copy, 0, count);
        for (int i = 0, a = 0, b = half; i < count; i++)
            all[from + i] = b == count || a < half && copy[a].CompareTo (copy[b]) <= 0 ? copy[a++] : copy[b++];
    }

    static void Sort<T> (string name, Func<ulong, T> make) where T : IComparable<T>
    {
        foreach (int length in SortLengths) {
            var all = new T[length];
            for (int i = 0; i < length; i++)
                all[i] = make (Next ());
            int from = length / 5, count = length - from - length / 7;
            var whole = (T[]) all.Clone ();
            var part = (T[]) all.Clone ();
            var list = new List<T> (all);
            var wholeByLoop = (T[]) all.Clone ();
            var partByLoop = (T[]) all.Clone ();
            Array.Sort (whole);
            Array.Sort (part, from, count);
            list.Sort ();
            Merge (wholeByLoop, 0, length);
            Merge (partByLoop, from, count);
            for (int i = 0; i < length; i++)
                if (whole[i].CompareTo (wholeByLoop[i]) != 0 || part[i].CompareTo (partByLoop[i]) != 0 || list[i].CompareTo (whole[i]) != 0) {
                    Console.WriteLine ("{0}: {1} elements are not sorted", name, length);
                    break;
                }
        }
    }

    static void Check (string what, int got, int expected)
    {
        if (got != expected)
            Console.WriteLine ("{0}: {1} in place of {2}", what, got, expected);
    }

    struct Pair { public long A; public string B; }

    // Copies within one vector and between two, of values and of references, around the size that is copied at once.
    static void Copy<T> (string name, Func<int, T> make) where T : IEquatable<T>
    {
        foreach (int length in Lengths) {
            var from = new T[length];
            for (int i = 0; i < length; i++)
                from[i] = make (i);
            int part = length - length / 3;
            var to = new T[length];
            Array.Copy (from, length / 3, to, 0, part);
            var up = (T[]) from.Clone ();
            Array.Copy (up, 0, up, length / 3, part);
            var down = (T[]) from.Clone ();
            Array.Copy (down, length / 3, down, 0, part);
            for (int i = 0; i < part; i++)
                if (!to[i].Equals (from[i + length / 3]) || !up[i + length / 3].Equals (from[i]) || !down[i].Equals (from[i + length / 3])) {
                    Console.WriteLine ("{0}: {1} elements are not copied", name, length);
                    break;
                }
        }
    }
    static void Refused (string what, Action copy)
    {
        try {
            copy ();
            Console.WriteLine ("{0} is copied", what);
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}", what, e.GetType ().Name);
        }
    }
    static void Copies ()
    {
        Copy ("bytes", i => (byte) i);
        Copy ("ints", i => i);
        Copy ("decimals", i => (decimal) i);
        Copy ("strings", i => "s" + i % 50);
        var pairs = new Pair[5];
        pairs[0].B = "b";
        Array.Copy (pairs, 0, pairs, 3, 1);
        Console.WriteLine (pairs[3].B + new int[2, 3].Rank + new int[2].Rank + new int[1, 1, 1].GetLength (2));
        Refused ("too much", () => Array.Copy (new int[3], 1, new int[9], 0, 3));
        Refused ("too far", () => Array.Copy (new int[3], 0, new int[3], 1, 3));
        Refused ("another rank", () => Array.Copy (new int[3], 0, new int[1, 3], 0, 3));
        Refused ("a long to an int", () => Array.Copy (new long[3], 0, new int[3], 0, 3));
        Refused ("an int to a long", () => { var a = new long[3]; Array.Copy (new[] { -1, 2, 3 }, 0, a, 0, 3); Console.Write (a[0] + " "); });
        Refused ("unsigned to signed", () => { var a = new int[1]; Array.Copy (new[] { uint.MaxValue }, 0, a, 0, 1); Console.Write (a[0] + " "); });
        Refused ("boxed", () => { var a = new object[1]; Array.Copy (new[] { 7 }, 0, a, 0, 1); Console.Write (a[0] + " "); });
    }

    enum Word : short { Low = -3, High = 3 }

    static void Main ()
    {
        Find ();
        Compare ();
        Copies ();
        Sort ("sbyte", n => (sbyte) n);
        Sort ("byte", n => (byte) n);
        Sort ("short", n => (short) n);
        Sort ("ushort", n => (ushort) n);
        Sort ("char", n => (char) n);
        Sort ("int", n => (int) n);
        Sort ("uint", n => (uint) n);
        Sort ("long", n => (long) n);
        Sort ("ulong", n => n);
        Sort ("double", n => (double) (long) n);
        Sort ("string", n => (n % 1000).ToString ("d4"));
        var words = new[] { Word.High, Word.Low, (Word) 0 };
        Array.Sort (words);
        Console.WriteLine (string.Join (" ", words));
        try {
            Array.Sort (new int[3], 2, 2);
        } catch (ArgumentException e) {
            Console.WriteLine (e.GetType ().Name);
        }
        Console.WriteLine ("same name object: {0}", (object) typeof (Word).Name == (object) Word.Low.GetType ().Name || typeof (Word).Name == "Word");
        Console.WriteLine ("done");
    }
}
