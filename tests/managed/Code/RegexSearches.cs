// Searches of regular expressions that the runtime does in place of the class library's interpreter, and those that it leaves to it.
using System;
using System.Globalization;
using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;

// Its name says nothing of its letters.
class English : CultureInfo
{
    public English() : base("en-US") { }
    public override TextInfo TextInfo { get { return new CultureInfo("tr-TR").TextInfo; } }
}

static class RegexSearches
{
    static void All(string pattern, string text, RegexOptions options = RegexOptions.None)
    {
        var sb = new StringBuilder();
        var regex = new Regex(pattern, options);
        for (var m = regex.Match(text); m.Success; m = m.NextMatch()) {
            foreach (Group g in m.Groups) {
                foreach (Capture c in g.Captures) sb.Append(c.Index).Append('+').Append(c.Length).Append(' ');
                sb.Append(g.Success ? "| " : "- ");
            }
            sb.Append("; ");
        }
        Console.WriteLine(sb.Append(regex.IsMatch(text)));
    }

    static void Main()
    {
        All("ab|b(c)|(ca)+", "xabcacabbcca");
        All(@"(\w+)\s(b\w*)", "abc bcd xbc, be b");
        All(@"((a)|(b))*c", "ababc bac");
        All(@"(\w)\1", "aabb a cc");
        All(@"(?<x>a)(?(x)b|c)|c", "ab ac c");
        All(@"a(?=b)|a(?!b|c)", "ab ac ad a");
        All(@"(?>a+)b|a", "aab aaa");
        All(@"\ba.*?c\b", "abc abcc a c");
        All(@"^\w+$", "one\ntwo\nthr ee\n", RegexOptions.Multiline);
        All(@"(?:ab?){2,3}?c", "aabac ababababc");
        All(@"x{0,2}y{3}", "xxxyyyyy");
        // What a loop has taken is given back to the end of what must not follow.
        All(@"(\S[abc](?!\s|\w+\B)|\d)c{2,}", "c9aCbcbcc-bccabcccac.");
        All(@"a+(?!b)", "aab aaab aa");
        All(@"\w+(?=\d)x?", "ab12 c3");
        // From right to left, without an instruction that goes left.
        All("(?=(?!b)[^a])", "Bcb", RegexOptions.RightToLeft);
        All(@"(?<=a)b", "ab bb ab");
        // Lazy loops of nothing.
        All(@"(?=\z+?)(?:\b{2,}(\G|[abc]){2,})??a\1*?", "");
        All(@"(a?)+?b", "aab b");
        All(@"\1(a)", "aa", RegexOptions.ECMAScript);
        // Characters beyond ASCII; two of them have a small letter in ASCII.
        All(@"\w+", "caf\u00e9 na\u00efve \u4e00\u200d");
        All(@"[\u00e0-\u00ff]+x", "\u00e9\u00e8x e\u00e9x");
        All("k|i", "K\u212a \u0130I", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);
        All("[^a]b", "Ab\u00e9B", RegexOptions.IgnoreCase);
        Thread.CurrentThread.CurrentCulture = new CultureInfo("tr-TR");
        All("i", "iI\u0130\u0131", RegexOptions.IgnoreCase);
        All("i", "iI\u0130\u0131", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);
        Thread.CurrentThread.CurrentCulture = new English();
        All("i", "iI\u0130\u0131", RegexOptions.IgnoreCase);
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;

        // A set with fewer borders than it says.
        var broken = new Regex("[a-c]z");
        var code = typeof(Regex).GetField("_code", BindingFlags.Instance | BindingFlags.NonPublic).GetValue(broken);
        var strings = (string[])code.GetType().GetField("Strings").GetValue(code);
        for (int i = 0; i < strings.Length; i++) strings[i] = "\0\u0003\0\u00c8\u012c";
        Console.WriteLine(broken.IsMatch("az"));
        // A program that is too long to be decoded, and strings that are.
        var big = new StringBuilder(@"\w");
        for (int i = 0; i < 3000; i++) big.Append("|-").Append(i).Append(' ');
        Console.WriteLine(new Regex(big.ToString()).Matches("a-2999 b").Count + " " + new Regex(new string('a', 20000) + "b").Match(new string('a', 20500) + "b").Index);
        // A part of a text, and a search that begins behind its start.
        var digits = new Regex(@"^\d+|\G\d");
        Console.WriteLine(digits.Match("a123b", 1).Value + digits.Match("a123b", 1, 2).Value + digits.Match("a123b", 2).Success);
        // More than one call looks at.
        var text = new string('a', 3000000) + "abc" + new string('a', 1500000);
        Console.WriteLine(new Regex("abc|ad").Match(text).Index + " " + new Regex("x|bd").Match(text).Success + " " + new Regex("[ab]{2}c").Matches(text).Count);
        // More work at one position than the runtime does; with a limit of time.
        Console.WriteLine(new Regex("(?:a|aa)+$").IsMatch(new string('a', 22) + "b") + " " + new Regex("(x+x+)+y").Match(new string('x', 12) + "z" + "xxy").Index);
        try {
            new Regex("(a+)+$", RegexOptions.None, TimeSpan.FromMilliseconds(20)).IsMatch(new string('a', 40) + "b");
            Console.WriteLine("?");
        } catch (RegexMatchTimeoutException) { Console.WriteLine("too long"); }
        // Many programs, and one that is used by several threads.
        int sum = 0;
        for (int i = 0; i < 2000; i++) if (new Regex("a" + i + "b").IsMatch("xa" + i + "b")) sum++;
        var shared = new Regex(@"(\d+)-(\d+)");
        var threads = new Thread[4];
        for (int t = 0; t < threads.Length; t++) {
            int of = t;
            (threads[t] = new Thread(() => {
                for (int i = 0; i < 2000; i++) {
                    var m = shared.Match("no. " + i + "-" + of);
                    if (m.Groups[1].Value == i.ToString() && m.Groups[2].Value == of.ToString()) Interlocked.Increment(ref sum);
                }
            })).Start();
        }
        foreach (var t in threads) t.Join();
        Console.WriteLine(sum);
    }
}
