// What generated code allocates itself: objects, boxes, vectors of every size of element around the limit of a
// large object, strings, delegates and closures. Lengths that cannot be must throw as they always did.
using System;
using System.Runtime.CompilerServices;

struct Three { public byte A, B, C; }
struct Twelve { public int A, B, C; }
struct Mixed { public object O; public int I; public string S; }
class Node { public object Left, Right; public int Value; }

static class InlineAllocation
{
    static int bad;
    static void Check(bool ok, string what) { if (!ok) { bad++; Console.WriteLine("wrong: " + what); } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static T[] Make<T>(int length) { return new T[length]; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static T[] MakeLong<T>(long length) { return new T[length]; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string TryMake<T>(int length)
    {
        try { new T[length].GetHashCode(); return "made"; }
        catch (OverflowException) { return "overflow"; }
        catch (OutOfMemoryException) { return "memory"; }
    }

    // Arrays of lengths 0..longest side by side: whole, zeroed, and none overlaps the one before.
    static void Vectors<T>(int longest, int step, T filler)
    {
        T[] previous = Make<T>(0);
        for (int n = 0; n <= longest; n += step)
        {
            var a = Make<T>(n);
            Check(a.Length == n && a.GetType() == typeof(T[]) && a.Rank == 1, typeof(T) + "[" + n + "]");
            for (int i = 0; i < n; i++)
                if (!a[i].Equals(default(T))) { Check(false, "dirty " + typeof(T) + "[" + n + "]"); break; }
            for (int i = 0; i < n; i++) a[i] = filler;
            for (int i = 0; i < previous.Length; i++)
                if (!previous[i].Equals(filler)) { Check(false, "overlap at " + typeof(T) + "[" + n + "]"); break; }
            previous = a;
        }
    }

    static void Constants()
    {
        Check(new int[0].Length == 0 && new byte[1].Length == 1 && new double[3].Length == 3, "constant lengths");
        Check(new byte[8176].Length == 8176 && new byte[8177].Length == 8177, "constant lengths at the limit");
        Check(new long[1022].Length == 1022 && new long[1023].Length == 1023, "constant lengths of words");
        Check(new object[100000].Length == 100000, "a large constant length");
        int minus = -1;
        try { new int[minus].GetHashCode(); Check(false, "a negative length"); } catch (OverflowException) { }
    }

    static void Strings()
    {
        string previous = "";
        for (int n = 0; n < 9000; n = n < 40 ? n + 1 : n + 37)
        {
            var s = new string('x', n);
            Check(s.Length == n, "string of " + n);
            if (n > 0) Check(s[0] == 'x' && s[n - 1] == 'x' && s.IndexOf('\0') < 0, "content of string of " + n);
            unsafe { fixed (char* p = s) Check(p[n] == 0, "terminator of string of " + n); }
            Check(previous.Trim('x') == "", "overlap of strings at " + n);
            previous = s + "";
        }
        Check(new string('\0', 5) == "\0\0\0\0\0", "a string of zeros");
        try { new string('x', -1); Check(false, "a string of negative length"); } catch (ArgumentOutOfRangeException) { }
    }

    static void Objects()
    {
        Node head = null;
        for (int i = 0; i < 100000; i++) head = new Node { Left = head, Value = i, Right = (i & 7) == 0 ? (object)i : null };
        int expected = 99999;
        for (var n = head; n != null; n = (Node)n.Left, expected--)
            if (n.Value != expected || (n.Right != null) != ((expected & 7) == 0) || n.Right != null && (int)n.Right != expected)
            { Check(false, "node " + expected); break; }
        Check(expected == -1, "a list of objects");
        object box = new Mixed { O = head, I = 7, S = "seven" };
        var m = (Mixed)box;
        Check(m.O == head && m.I == 7 && m.S == "seven", "a box with references");
        Check(((Twelve)(object)new Twelve { A = 1, B = 2, C = 3 }).C == 3, "a box of three ints");
    }

    static void Closures()
    {
        var all = new Func<int, int>[1000];
        for (int i = 0; i < all.Length; i++) { int k = i; all[i] = x => x + k; }
        int sum = 0;
        for (int i = 0; i < all.Length; i++) sum += all[i](1);
        Check(sum == 1000 * 999 / 2 + 1000, "closures");
    }

    static int Main()
    {
        Vectors<byte>(9000, 61, 0xEE);
        Vectors<byte>(40, 1, 0xEE);
        Vectors<short>(4200, 31, -1);
        Vectors<int>(2100, 1, -1);
        Vectors<long>(1100, 1, -1);
        Vectors<double>(1100, 7, 1.5);
        Vectors<Three>(2800, 13, new Three { A = 1, B = 2, C = 3 });
        Vectors<Three>(20, 1, new Three { A = 1, B = 2, C = 3 });
        Vectors<Twelve>(700, 1, new Twelve { A = 1, B = 2, C = 3 });
        Vectors<Mixed>(400, 1, new Mixed { I = 1, S = "s" });
        for (int n = 0; n < 1100; n++) { var a = Make<string>(n); Check(a.Length == n && (n == 0 || a[n - 1] == null), "string[" + n + "]"); }
        Check(MakeLong<int>(5).Length == 5 && MakeLong<int>(5000).Length == 5000, "long lengths");
        Constants();
        Strings();
        Objects();
        Closures();
        Console.WriteLine(TryMake<byte>(-1) + " " + TryMake<Mixed>(-5) + " " + TryMake<object>(int.MinValue) + " " + TryMake<Twelve>(3));
        try { MakeLong<int>(-1); Console.WriteLine("made"); } catch (OverflowException) { Console.WriteLine("overflow"); }
        Console.WriteLine(bad == 0 ? "all as expected" : bad + " wrong");
        return 0;
    }
}
// expect: overflow overflow overflow made
// expect: overflow
// expect: all as expected
