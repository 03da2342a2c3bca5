// tiers: all
// Where an element is in an array or a list: every length around those that are looked at at once, every place, all integers, and what has comparers of its own.
using System;
using System.Collections.Generic;

static class IndicesOf
{
    enum E : short { A, B, C }
    class Same { public override bool Equals(object o) { return true; } public override int GetHashCode() { return 0; } }
    struct Pair : IEquatable<Pair> { public int n; public bool Equals(Pair other) { return n / 2 == other.n / 2; } }

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

    static void Try(string what, Func<int> f)
    {
        try { Console.WriteLine("{0}: {1}", what, f()); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message.Replace('\n', '|')); }
    }

    static void All<T>(string name, Func<int, T> make)
    {
        for (int length = 0; length < 100; length += 1 + length / 20)
        {
            var all = new T[length];
            for (int i = 0; i < length; i++)
                all[i] = make(i / 2);
            var list = new List<T>(all);
            for (int i = 0; i <= length; i += 1 + i / 10)
            {
                T sought = make(i / 2);
                Add(Array.IndexOf(all, sought));
                Add(Array.IndexOf(all, sought, i));
                Add(Array.IndexOf(all, sought, i / 2, length - i));
                Add(Array.IndexOf(all, default(T)));
                Add(Array.LastIndexOf(all, sought));
                Add(list.IndexOf(sought));
                Add(list.Contains(make(i)) ? 1 : 0);
                if (default(T) != null)
                    Add(((IList<T>)all).IndexOf(sought));
                Add(((System.Collections.IList)all).IndexOf(sought));
            }
        }
        Show(name);
    }

    static void Main()
    {
        All("sbyte", i => (sbyte)(i - 50));
        All("byte", i => (byte)i);
        All("short", i => (short)(i - 50));
        All("ushort", i => (ushort)(i * 1000));
        All("char", i => (char)('a' + i));
        All("int", i => i - 20);
        All("uint", i => (uint)i * 100000000);
        All("long", i => (long)(i - 20) << 33);
        All("ulong", i => ulong.MaxValue - (ulong)i);
        All("float", i => i == 3 ? float.NaN : i == 4 ? -0.0f : i * 0.5f);
        All("double", i => i == 3 ? double.NaN : i == 4 ? -0.0 : i * 0.5);
        All("bool", i => i % 3 == 0);
        All("enum", i => (E)(i % 5));
        All("decimal", i => i * 0.50m);
        All("string", i => i % 7 == 3 ? null : "s" + i);
        All("long strings", i => new string('x', 300 + i));
        All("object", i => (object)(i % 5));
        All("same", i => i % 7 == 3 ? null : new Same());
        All("pair", i => new Pair { n = i });
        All("nullable", i => i % 4 == 0 ? (int?)null : i);
        int[] five = { 1, 2, 3, 2, 1 };
        Try("null", () => Array.IndexOf((int[])null, 1));
        Try("negative", () => Array.IndexOf(five, 1, -1));
        Try("beyond", () => Array.IndexOf(five, 1, 6));
        Try("at the end", () => Array.IndexOf(five, 1, 5));
        Try("count", () => Array.IndexOf(five, 1, 3, 3));
        Try("negative count", () => Array.IndexOf(five, 1, 3, -1));
        Try("list", () => new List<int>(five).IndexOf(1, 6));
        Try("list count", () => new List<string> { "a" }.IndexOf("a", 0, 2));
        Try("comparer", () => EqualityComparer<int>.Default.Equals(1, 1) ? 1 : 0);
        Try("unsigned in signed", () => Array.IndexOf((uint[])(object)new int[] { -1, 5 }, uint.MaxValue));
        Try("objects", () => Array.IndexOf(new object[] { "a", null, "b" }, null));
        Try("strings as objects", () => Array.IndexOf<object>(new string[] { "a", "b" }, "b"));
        var many = new int[100000];
        many[99999] = 7;
        Try("many", () => Array.IndexOf(many, 7));
        Try("some of many", () => Array.IndexOf(many, 7, 90000));
        var texts = new string[2000];
        for (int i = 0; i < texts.Length; i++)
            texts[i] = new string('y', 100) + i % 10;
        texts[1999] = new string('y', 100) + "z";
        Try("many strings", () => Array.IndexOf(texts, new string('y', 100) + "z"));
        Try("no string", () => Array.IndexOf(texts, new string('y', 100) + "a"));
    }
}
