// Whether a character of ASCII is in a set of a regular expression is answered without the class library; all sets and all characters give what it gives.
using System;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;

static class RegexSets
{
    static readonly string[] Sets =
    {
        @"\w", @"\W", @"\d", @"\D", @"\s", @"\S", ".", "[a-z]", "[^a-z]", "[A-Za-z0-9_]", @"[\w-]", @"[^\w\s]", @"[\d\s]", @"[^\d]", @"\p{L}", @"\P{L}", @"\p{Lu}", @"\P{Lu}",
        @"\p{Ll}", @"\p{N}", @"\p{Nd}", @"\p{P}", @"\p{Pd}", @"\p{Ps}", @"\p{Pe}", @"\p{Pc}", @"\p{Po}", @"\p{S}", @"\p{Sm}", @"\p{Sc}", @"\p{Sk}", @"\p{Z}", @"\p{Zs}", @"\p{C}",
        @"\p{Cc}", @"\P{C}", @"[^\p{L}\p{N}]", @"[\p{L}-[aeiou]]", @"[a-z-[aeiou]]", @"[\w-[\d-[5]]]", @"[^a-z-[^0-9]]", @"[\x00-\x1f\x7f]", @"[\x7e-\x90]", @"[a\-z]", @"[\]\[]",
        @"[\p{IsBasicLatin}-[\p{L}]]", @"\p{IsGreek}", @"[^\W\d]", @"[\S\s]", @"[^\S\s]", @"[aA]", @"(?i)[k-m]", @"(?i)[^k-m]", @"(?i)\u212a", @"(?i)[i]",
    };

    sealed class Runner : RegexRunner
    {
        protected override bool FindFirstChar() { return false; }
        protected override void Go() { }
        protected override void InitTrackCount() { }
        public static bool Ask(char c, string set) { return CharInClass(c, set); }
        public static bool AskOld(char c, string set, string category) { return CharInSet(c, set, category); }
    }

    static string Ask(char c, string set)
    {
        try
        {
            return Runner.Ask(c, set) ? "1" : "0";
        }
        catch (Exception e)
        {
            return e.GetType().Name[0].ToString();
        }
    }

    static void All(string culture)
    {
        Thread.CurrentThread.CurrentCulture = CultureInfo.GetCultureInfo(culture);
        foreach (var options in new[] { RegexOptions.None, RegexOptions.ECMAScript, RegexOptions.Compiled, RegexOptions.RightToLeft })
            foreach (string set in Sets)
            {
                Regex regex;
                try
                {
                    regex = new Regex(options == RegexOptions.Compiled ? "^(?:" + set + ")" : set, options);
                }
                catch (ArgumentException)
                {
                    continue;
                }
                uint hash = 2166136261;
                int count = 0;
                int end = options == RegexOptions.None ? 0x2100 : 0x100;
                for (int c = 0; c < end; c++)
                {
                    bool match = regex.IsMatch(((char)c).ToString());
                    hash = (hash ^ (match ? 1u : 0)) * 16777619;
                    if (match && c < 128) count++;
                }
                Console.WriteLine(culture + " " + options + " " + set + " " + count + " " + hash.ToString("x8"));
            }
    }

    static void Main()
    {
        All("en-US");
        All("tr-TR");
        // Sets that no parser makes: short ones, borders that are not sorted, groups without an end, exclusions from exclusions.
        uint x = 1;
        uint sum = 2166136261;
        var answers = new int[128];
        for (int n = 0; n < 2000; n++)
        {
            var set = new StringBuilder();
            x = x * 1664525 + 1013904223;
            int length = n < 100 ? (int)(x >> 16) % 4 : 3 + (int)(x >> 16) % 20;
            for (int i = 0; i < length; i++)
            {
                x = x * 1664525 + 1013904223;
                uint r = x >> 20;
                set.Append(i == 0 ? (char)(r % 3) : i < 3 ? (char)(r % (2 + length / 2)) : r % 5 == 0 ? '\0' : r % 5 == 1 ? (char)(r % 40) : r % 5 == 2 ? (char)(65536 - r % 110) : (char)(r % 128));
            }
            for (int c = 0; c < 140; c += 1 + n % 7)
            {
                string answer = Ask((char)c, set.ToString());
                answers[answer[0]]++;
                sum = (sum ^ answer[0]) * 16777619;
            }
        }
        Console.WriteLine(sum.ToString("x8"));
        for (int i = 0; i < 128; i++) if (answers[i] != 0) Console.WriteLine((char)i + " " + answers[i]);
        Console.WriteLine(Ask('a', null) + Ask('a', "") + Ask('a', "\0") + Ask('\u00e9', "\0\0"));
        // Sets within sets, deeper than what is looked at.
        var deep = new StringBuilder();
        for (int i = 0; i < 40; i++)
        {
            deep.Append("\0\u0002\0a" + (char)('z' - i % 20));
            Console.Write(Ask('c', deep.ToString()) + Ask('x', deep.ToString()) + Ask('A', deep.ToString()) + " ");
        }
        Console.WriteLine();
        Console.WriteLine(Runner.AskOld('b', "a", "") + " " + Runner.AskOld('5', "", "\u0009"));
        Console.WriteLine(Regex.Replace("The quick brown fox, 42 times; jumps over_the 'lazy' dog-house.", @"\b(\w)(\w*)\b", m => m.Groups[1].Value.ToUpperInvariant() + m.Groups[2].Value));
        Console.WriteLine(string.Join("|", Regex.Split("one  two,three;four - five", @"[\s,;-]+")));
    }
}
