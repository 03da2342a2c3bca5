// Comparisons and beginnings of random texts by the rules of cultures: those that the runtime answers itself, and those that it leaves to the class library.
using System;
using System.Globalization;
using System.Linq;

static class Program
{
    static readonly string[] Alphabets = {
        "abAB", "ab-'", "aA-' b_", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -'_.,:/\\",
        "abc\u00e4\u0301\u00e9A\0\t\u00ad-", "0123456789-", "iIkKsS\u0131\u0130 ", " !\"#$%&()*,./:;?@[\\]^_`{|}~+<=>",
    };
    static readonly CompareOptions[] Options = {
        CompareOptions.None, CompareOptions.None, CompareOptions.IgnoreCase, CompareOptions.IgnoreNonSpace, CompareOptions.StringSort, CompareOptions.IgnoreSymbols,
    };
    static readonly Random random = new Random(7);

    static string Text(string alphabet, int longest)
    {
        return new string(Enumerable.Range(0, random.Next(longest)).Select(_ => alphabet[random.Next(alphabet.Length)]).ToArray());
    }

    static void Main()
    {
        foreach (var name in new[] { "", "en-US", "de-DE", "fr-FR", "da-DK", "tr-TR", "cs-CZ", "hu-HU", "ru-RU", "sv-SE", "es-ES", "zh-CN", "pl-PL", "ja-JP", "lt-LT", "az-Latn-AZ" }) {
            var rules = CultureInfo.GetCultureInfo(name).CompareInfo;
            long all = 17;
            for (int i = 0; i < 4000; i++) {
                var alphabet = Alphabets[random.Next(Alphabets.Length)];
                string x = Text(alphabet, 7), y = random.Next(3) == 0 ? Text(alphabet, 7) : x.Substring(0, random.Next(x.Length + 1)) + Text(alphabet, 4);
                var options = Options[random.Next(Options.Length)];
                int start = random.Next(x.Length + 1), length = random.Next(x.Length - start + 1);
                all = all * 31 + rules.Compare(x, y, options) + 3 * rules.Compare(x, start, length, y, 0, y.Length, options);
                if (options != CompareOptions.StringSort)
                    all = all * 31 + (rules.IsPrefix(y, x, options) ? 7 : 0) + (rules.IsPrefix(x, y, options) ? 5 : 0) + rules.IndexOf(y, x, options);
            }
            Console.WriteLine("{0} {1:x}", name, all);
        }
        // Long ones, with a difference at the end, or none.
        string text = string.Concat(Enumerable.Repeat("The quick brown fox; ", 3000));
        Console.WriteLine("{0} {1} {2}", string.Compare(text + "a", text + "B"), string.Compare(text, text.ToUpperInvariant(), true), text.StartsWith(text.Substring(0, 40000)));
        var words = new[] { "co-op", "coop", "CO-OP", "Coop", "co op", "c\u00f6op", "coop's", "coops", "_coop", "2coop", "", "-", "'" };
        Array.Sort(words);
        Console.WriteLine(string.Join("|", words.Select(w => w.Replace("\u00f6", "oe"))));
        Console.WriteLine("{0} {1} {2}", string.Compare(null, "a"), string.Compare("a", null), "abc".StartsWith(""));
        try { "abc".StartsWith(null); } catch (ArgumentNullException e) { Console.WriteLine(e.ParamName); }
        try { CultureInfo.InvariantCulture.CompareInfo.Compare("abc", 2, 3, "abc", 0, 3); } catch (ArgumentOutOfRangeException e) { Console.WriteLine(e.ParamName); }
    }
}
