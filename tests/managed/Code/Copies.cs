// tiers: all
// Copies between arrays: every length around those that are copied in place, from and to every place, overlapping or not, of elements of all sizes, with references
// and without, and every way in which a range or a type is refused.
using System;

static class Copies
{
    struct Three { public byte a, b, c; }
    struct Twelve { public int a, b, c; }
    struct Mixed { public object o; public int n; }
    enum Small : byte { One = 1 }
    class Base { }
    class Derived : Base { }

    static uint digest;

    static void Add(int n)
    {
        digest = digest * 31 + (uint)n;
    }

    static void Show(string what)
    {
        Console.WriteLine("{0}: {1:x8}", what, digest);
        digest = 0;
    }

    static void Try(string what, Action action)
    {
        try
        {
            action();
            Console.WriteLine("{0}: done", what);
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message.Replace('\n', '|'));
        }
    }

    static void All<T>(string name, Func<int, T> make, Func<T, int> number)
    {
        const int Length = 150;
        int[] places = { 0, 1, 2, 3, 7, 8, 15, 16, 31, 33, 60, 75 };
        for (int count = 0; count < 75; count++)
        {
            foreach (int from in places)
            {
                int to = places[(count + from) % places.Length];
                var a = new T[Length];
                var b = new T[Length];
                for (int i = 0; i < Length; i++)
                {
                    a[i] = make(i);
                    b[i] = make(1000 + i);
                }
                Array.Copy(a, from, b, to, count);
                Array.Copy(a, from, a, from + 3 < Length - count ? from + 3 : from, count);
                Array.Copy(b, to, b, to > 2 ? to - 2 : to, count);
                for (int i = 0; i < Length; i += 1 + i % 3)
                    Add(number(a[i]) + 7 * number(b[i]));
            }
        }
        Show(name);
    }

    static void Blocks()
    {
        for (int count = 0; count < 140; count++)
        {
            foreach (int from in new[] { 0, 1, 5, 8, 63 })
            {
                int to = (from * 7 + count) % 60;
                var a = new byte[256];
                var b = new int[64];
                var c = new char[128];
                for (int i = 0; i < 256; i++)
                    a[i] = (byte)(i * 37);
                Buffer.BlockCopy(a, from, b, to, count);
                Buffer.BlockCopy(b, to, c, from, count);
                Buffer.BlockCopy(a, from, a, to, count);
                Buffer.BlockCopy(a, to, a, to + 1, count);
                for (int i = 0; i < 256; i += 3)
                    Add(a[i] + b[i / 4] + c[i / 2]);
            }
        }
        Show("blocks");
    }

    static void Main()
    {
        All("byte", i => (byte)i, x => x);
        All("bool", i => i % 3 == 0, x => x ? 1 : 0);
        All("three", i => new Three { a = (byte)i, b = (byte)(i + 1), c = (byte)(i * 3) }, x => x.a + x.b * 5 + x.c * 11);
        All("short", i => (short)i, x => x);
        All("int", i => i, x => x);
        All("twelve", i => new Twelve { a = i, b = -i, c = i * 7 }, x => x.a + 3 * x.b + 5 * x.c);
        All("long", i => (long)i << 20, x => (int)(x >> 20));
        All("double", i => i * 0.5, x => (int)(x * 2));
        All("decimal", i => (decimal)i / 4, x => (int)(x * 4));
        All("string", i => i.ToString(), x => x.Length + x[0]);
        All("mixed", i => new Mixed { o = i % 2 == 0 ? (object)"even" : null, n = i }, x => x.n + (x.o == null ? 1 : 0));
        All("enum", i => (Small)i, x => (int)x);
        Blocks();

        // References that only the copy keeps alive.
        var kept = new object[3000];
        for (int round = 0; round < 30; round++)
        {
            var young = new object[100];
            for (int i = 0; i < 100; i++)
                young[i] = "r" + (round * 100 + i);
            Array.Copy(young, 0, kept, round * 100, 100);
            Array.Copy(kept, round * 50, kept, round * 50 + 1, 40);
            if (round % 10 == 9)
                GC.Collect(0);
        }
        foreach (string s in kept)
            Add(s.Length + s[s.Length - 1]);
        Show("kept");

        int[] five = { 1, 2, 3, 4, 5 };
        Try("null source", () => Array.Copy(null, 0, five, 0, 0));
        Try("null destination", () => Array.Copy(five, 0, null, 0, 0));
        Try("negative length", () => Array.Copy(five, 0, new int[5], 0, -1));
        Try("negative source", () => Array.Copy(five, -1, new int[5], 0, 1));
        Try("negative destination", () => Array.Copy(five, 0, new int[5], -1, 1));
        Try("beyond source", () => Array.Copy(five, 3, new int[5], 0, 3));
        Try("beyond destination", () => Array.Copy(five, 0, new int[5], 3, 3));
        Try("at the end", () => Array.Copy(five, 5, new int[5], 5, 0));
        Try("far beyond", () => Array.Copy(five, int.MaxValue, new int[5], 0, int.MaxValue));
        Try("rank", () => Array.Copy(five, 0, new int[5, 1], 0, 1));
        Try("widening", () => { var to = new long[5]; Array.Copy(five, to, 5); Console.WriteLine(string.Join(",", to)); });
        Try("narrowing", () => Array.Copy(new long[5], new int[5], 5));
        Try("unsigned", () => { var to = new uint[5]; Array.Copy(five, to, 5); Console.WriteLine(string.Join(",", to)); });
        Try("boxing", () => { var to = new object[5]; Array.Copy(five, to, 5); Console.WriteLine(string.Join(",", to)); });
        Try("unboxing", () => { var to = new int[2]; Array.Copy(new object[] { 7, 8 }, to, 2); Console.WriteLine(string.Join(",", to)); });
        Try("unboxing wrongly", () => Array.Copy(new object[] { 7, "x" }, new int[2], 2));
        Try("up", () => Array.Copy(new Derived[3], new Base[3], 3));
        Try("down", () => Array.Copy(new Base[] { new Derived(), null }, new Derived[2], 2));
        Try("down wrongly", () => Array.Copy(new Base[] { new Derived(), new Base() }, new Derived[2], 2));
        Try("covariant", () => { object[] to = new string[2]; Array.Copy(new object[] { "a", 1 }, to, 2); });
        Try("many dimensions", () =>
        {
            var a = new int[2, 3] { { 1, 2, 3 }, { 4, 5, 6 } };
            var b = new int[3, 2];
            Array.Copy(a, 1, b, 2, 3);
            Console.WriteLine("{0} {1} {2} {3}", b[0, 1], b[1, 0], b[1, 1], b[2, 0]);
        });
        Try("lower bounds", () =>
        {
            var a = Array.CreateInstance(typeof(int), new[] { 4 }, new[] { 10 });
            a.SetValue(42, 11);
            var to = new int[4];
            Array.Copy(a, 11, to, 1, 2);
            Console.WriteLine(string.Join(",", to));
            Array.Copy(five, 0, a, 2, 1);
        });

        byte[] bytes = new byte[8];
        Try("block: null source", () => Buffer.BlockCopy(null, 0, bytes, 0, 0));
        Try("block: null destination", () => Buffer.BlockCopy(bytes, 0, null, 0, 0));
        Try("block: negative source", () => Buffer.BlockCopy(bytes, -1, bytes, 0, 1));
        Try("block: negative destination", () => Buffer.BlockCopy(bytes, 0, bytes, -1, 1));
        Try("block: negative count", () => Buffer.BlockCopy(bytes, 0, bytes, 0, -1));
        Try("block: beyond source", () => Buffer.BlockCopy(bytes, 5, new byte[20], 0, 4));
        Try("block: beyond destination", () => Buffer.BlockCopy(new byte[20], 0, bytes, 5, 4));
        Try("block: far beyond", () => Buffer.BlockCopy(bytes, int.MaxValue, bytes, int.MaxValue, int.MaxValue));
        Try("block: at the end", () => Buffer.BlockCopy(bytes, 8, bytes, 8, 0));
        Try("block: references", () => Buffer.BlockCopy(new object[1], 0, bytes, 0, 1));
        Try("block: structs", () => Buffer.BlockCopy(bytes, 0, new Three[3], 0, 3));
        Try("block: decimals", () => Buffer.BlockCopy(new decimal[1], 0, bytes, 0, 3));
        Try("block: bools", () => { var to = new bool[4]; Buffer.BlockCopy(new byte[] { 1, 0, 1, 0 }, 0, to, 0, 4); Console.WriteLine(string.Join(",", to)); });
        Try("block: dimensions", () => { var to = new short[2, 2]; Buffer.BlockCopy(new byte[] { 1, 0, 2, 0 }, 0, to, 2, 4); Console.WriteLine("{0} {1} {2}", to[0, 0], to[0, 1], to[1, 0]); });
    }
}
