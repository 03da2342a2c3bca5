// tiers: all
// The hash of a text without case is that of its capitals, whatever its length and its characters; so it does not matter who computes it.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

static class HashesWithoutCase
{
    static int wrong, asked;

    static void Check(string text)
    {
        string capitals = text.ToUpperInvariant();
        int hash = StringComparer.OrdinalIgnoreCase.GetHashCode(text);
        asked++;
        // The class library hashes an empty text as it is.
        if (hash != StringComparer.OrdinalIgnoreCase.GetHashCode(capitals) || hash != capitals.GetHashCode() || hash != StringComparer.OrdinalIgnoreCase.GetHashCode(text))
            wrong++;
    }

    static void Main()
    {
        CultureInfo.CurrentCulture = new CultureInfo("tr-TR");
        for (int length = 0; length < 300; length += length < 40 ? 1 : 37)
            Check(new string(Enumerable.Range(0, length).Select(i => (char)(' ' + i * 11 % 95)).ToArray()));
        string text = "abcdefghijklm";
        for (int at = 0; at < text.Length; at++)
        {
            for (int c = 0; c < 0x180; c++)
                Check(text.Substring(0, at) + (char)c + text.Substring(at + 1));
            foreach (char c in "\u0130\u0131\u017f\u212a\u1e9e\u4e00\ud83d\ude00\uffff")
                Check(text.Substring(0, at) + c + text.Substring(at));
        }
        Check(new string('i', 20000));
        Check(new string('\u00e4', 300) + "abc");
        Console.WriteLine("{0} of {1}", wrong, asked);
        try { StringComparer.OrdinalIgnoreCase.GetHashCode(null); }
        catch (ArgumentNullException e) { Console.WriteLine(e.Message.Replace('\n', '|')); }
        var table = new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase);
        for (int i = 0; i < 1000; i++)
            table["Key-" + i + (i % 3 == 0 ? "\u00c4" : "")] = i;
        int found = 0, n;
        for (int i = 0; i < 1000; i++)
        {
            if (table.TryGetValue(("kEY-" + i + (i % 3 == 0 ? "\u00e4" : "")), out n) && n == i)
                found++;
        }
        Console.WriteLine(found);
        var set = new HashSet<string>(StringComparer.OrdinalIgnoreCase) { "a", "A", "b", "", "\u0131", "I", "i" };
        Console.WriteLine(set.Count);
    }
}
