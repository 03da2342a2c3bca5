// Comparisons of a few characters, with a difference at each place.
using System;
using System.Text;

static class ShortComparisons
{
    static int Count(string a, string b)
    {
        int n = 0;
        if (a == b) n++;
        if (a.Equals(b)) n += 2;
        if (string.Equals(a, b, StringComparison.Ordinal)) n += 4;
        if (a.StartsWith(b, StringComparison.Ordinal)) n += 8;
        if (a.EndsWith(b, StringComparison.Ordinal)) n += 16;
        if (a != b) n += 32;
        if (object.Equals(a, b)) n += 64;
        return n;
    }

    static void Main()
    {
        long sum = 0;
        for (int round = 0; round < 60; round++)
            for (int length = 0; length < 40; length++) {
                string a = new string('q', length);
                sum = sum * 31 + Count(a, new StringBuilder(a).ToString());
                for (int at = 0; at < length; at++) {
                    char[] c = a.ToCharArray();
                    c[at] = (char)(c[at] ^ (at % 2 == 0 ? 0x100 : 1));
                    sum = sum * 31 + Count(a, new string(c)) + Count(a, new string(c, 0, at)) * 3 + Count(a, new string(c, at, length - at)) * 5;
                }
            }
        Console.WriteLine(sum);
        string nothing = null;
        Console.WriteLine(("a" == nothing) + " " + (nothing == null) + " " + "a".Equals(nothing));
        try { nothing.Equals("a"); } catch (NullReferenceException) { Console.WriteLine("null"); }
        try { "a".StartsWith(nothing, StringComparison.Ordinal); } catch (ArgumentNullException) { Console.WriteLine("argument"); }
    }
}
