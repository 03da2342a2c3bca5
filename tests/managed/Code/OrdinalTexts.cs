// tiers: all
// Comparisons of strings without case and searches in them, by the numbers of the characters and by the rules of a culture: every length around the sizes that
// are looked at at once, every place, and the characters at the ends of every range that matters.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Threading;

static class OrdinalTexts
{
    static readonly char[] edges = { '\0', '@', 'A', 'Z', '[', '`', 'a', 'z', '{', '\x7f', '\x80', '\xe4', '\xc4', '\xff', '\u0130', '\u0131', '\u017f', '\u212a',
        '\u0301', '\u4e00', '\ud83d', '\ude00', '\ufb01', '\uffff' };
    static uint digest;

    static void Add(int n)
    {
        digest = digest * 31 + (uint)n;
    }

    static string Text(Func<int> answer)
    {
        try { return answer().ToString(); }
        catch (Exception e) { return e.GetType().Name + ": " + e.Message; }
    }

    static void Show(string what)
    {
        Console.WriteLine("{0}: {1:x8}", what, digest);
        digest = 0;
    }

    // One pair of characters at every place of texts of every length.
    static void Pairs()
    {
        foreach (char x in edges)
        {
            foreach (char y in edges)
            {
                for (int length = 1; length < 12; length++)
                {
                    for (int at = 0; at < length; at += 1 + length / 4)
                    {
                        var a = new string('q', length).ToCharArray();
                        var b = new string('Q', length).ToCharArray();
                        a[at] = x;
                        b[at] = y;
                        string s = new string(a), t = new string(b);
                        Add(string.Compare(s, t, StringComparison.OrdinalIgnoreCase));
                        Add(string.Equals(s, t, StringComparison.OrdinalIgnoreCase) ? 1 : 0);
                        Add(s.StartsWith(t, StringComparison.OrdinalIgnoreCase) ? 1 : 0);
                        Add(StringComparer.OrdinalIgnoreCase.Compare(s + "x", t));
                        Add(StringComparer.OrdinalIgnoreCase.Compare(s, t + "xyz"));
                        Add((s + "tail").EndsWith(t + "TAIL", StringComparison.OrdinalIgnoreCase) ? 1 : 0);
                    }
                }
            }
            Show("pairs of " + ((int)x).ToString("x4"));
        }
    }

    static void Lengths()
    {
        for (int length = 0; length < 70; length++)
        {
            string lower = "", upper = "";
            for (int i = 0; i < length; i++)
            {
                lower += (char)('a' + i % 26);
                upper += (char)('A' + i % 26);
            }
            for (int more = 0; more < 3; more++)
            {
                Add(string.Compare(lower, upper + new string('z', more), StringComparison.OrdinalIgnoreCase));
                Add(string.Compare(lower + new string('z', more), upper, StringComparison.OrdinalIgnoreCase));
            }
            if (!lower.Equals(upper, StringComparison.OrdinalIgnoreCase))
                Console.WriteLine("not equal at {0}", length);
            Add(string.Compare(lower, length / 2, upper, length / 2, 5, StringComparison.OrdinalIgnoreCase));
            Add(string.Compare(lower, length / 2, upper, length / 3, 20, StringComparison.OrdinalIgnoreCase));
        }
        Show("lengths");
    }

    // Every part of texts with repetitions, from every index.
    static void Searches(string what, Func<string, string, int, int, int> find)
    {
        for (int length = 0; length < 40; length += 1 + length / 8)
        {
            string text = "";
            for (int i = 0; i < length; i++)
                text += (char)('a' + (i * i + i / 3) % 4);
            for (int from = 0; from <= length; from++)
            {
                for (int count = 0; count <= length - from; count += 3)
                {
                    Add(find(text, text.Substring(from, count), 0, length));
                    Add(find(text, text.Substring(from, count), from / 2, length - from / 2));
                    Add(find(text, text.Substring(from, count) + "x", 0, length));
                    Add(find(text, "a", from, count));
                    Add(find(text, text.Substring(0, Math.Min(4, length)), from, count));
                }
            }
        }
        Show(what);
        // Texts that the tables of the culture decide about, before and behind what is found.
        foreach (char c in edges)
        {
            foreach (string sought in new[] { "b", "bc", "B", "b" + c, c + "", c + "c", "", "zz" })
            {
                foreach (string text in new[] { "abcd", "abc" + c + "d", c + "abcd", "ab" + c + "cd", "" + c, "abc" + new string('d', 40) + c, new string('a', 33) + "bc" })
                    Add(find(text, sought, 0, text.Length));
            }
        }
        Show(what + ", edges");
        string[] few = { "abcabc", "" };
        foreach (string text in few)
        {
            Console.WriteLine(Text(() => find(text, null, 0, text.Length)));
            Console.WriteLine(Text(() => find(text, "b", -1, 2)));
            Console.WriteLine(Text(() => find(text, "b", 0, -1)));
            Console.WriteLine(Text(() => find(text, "b", 3, 4)));
            Console.WriteLine(Text(() => find(text, "b", 7, 0)));
            Console.WriteLine(Text(() => find(text, "", text.Length, 0)));
        }
        Console.WriteLine(Text(() => find(null, "b", 0, 0)));
        // More work than is done at once.
        string many = new string('a', 30000);
        Console.WriteLine(find(many, new string('a', 900) + "b", 0, many.Length));
        Console.WriteLine(find(many + "b", new string('a', 900) + "b", 0, many.Length + 1));
        Console.WriteLine(find(new string('a', 100000) + "bc", "bc", 0, 100002));
    }

    static void Main()
    {
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
        Pairs();
        Lengths();
        Searches("ordinal", (s, t, from, count) => s.IndexOf(t, from, count, StringComparison.Ordinal));
        Searches("invariant", (s, t, from, count) => s.IndexOf(t, from, count, StringComparison.InvariantCulture));
        foreach (string name in new[] { "en-US", "tr-TR", "hu-HU", "ja-JP" })
        {
            Thread.CurrentThread.CurrentCulture = new CultureInfo(name);
            Searches(name, (s, t, from, count) => s.IndexOf(t, from, count));
        }
        Console.WriteLine("{0} {1}", "abc".Contains(""), "abc".Contains("bc"));
        Console.WriteLine(Text(() => "abc".Contains(null) ? 1 : 0));
        Console.WriteLine("{0} {1} {2} {3}", string.Equals(null, null, StringComparison.OrdinalIgnoreCase), string.Equals("", null, StringComparison.OrdinalIgnoreCase),
            string.Compare(null, "", StringComparison.OrdinalIgnoreCase), string.Compare("x", 1, "", 0, 4, StringComparison.OrdinalIgnoreCase));
        Console.WriteLine(Text(() => string.Compare("abc", 4, "abc", 0, 2, StringComparison.OrdinalIgnoreCase)));
        Console.WriteLine(Text(() => string.Compare("abc", 0, "abc", -1, 2, StringComparison.OrdinalIgnoreCase)));
        Console.WriteLine(Text(() => string.Compare("abc", 0, "abc", 0, -2, StringComparison.OrdinalIgnoreCase)));
        Console.WriteLine(Text(() => "abc".StartsWith(null, StringComparison.OrdinalIgnoreCase) ? 1 : 0));
        Console.WriteLine(Text(() => "abc".Equals("abd", (StringComparison)9) ? 1 : 0));
        var names = new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase) { { "Content-Type", 1 }, { "\u00c4rger", 2 }, { "\u017fharp", 3 } };
        foreach (string name in new[] { "content-type", "CONTENT-TYPE", "\u00e4RGER", "sharp", "\u017fHARP" })
        {
            int n;
            Console.WriteLine("{0}", names.TryGetValue(name, out n) ? n : 0);
        }
        // Null references within: the frame that throws stays the method's.
        try { ((string)null).IndexOf("x", StringComparison.Ordinal); }
        catch (NullReferenceException) { Console.WriteLine("null"); }
    }
}
