// The digits of numbers: every length, with and without zeros in front, signs and groups, of all integer types.
// tiers: all
using System;
using System.Globalization;
using System.Linq;

static class Digits
{
    static ulong sum = 14695981039346656037;
    static void Add(string text)
    {
        foreach (char c in text) sum = (sum ^ c) * 1099511628211;
        sum = (sum ^ (ulong)text.Length) * 1099511628211;
    }
    // Written one by one, for comparison.
    static string Plain(ulong value, int least)
    {
        string text = "";
        while (value != 0 || least > 0) { text = (char)('0' + value % 10) + text; value /= 10; least--; }
        return text == "" ? "0" : text;
    }
    static int wrong;
    static void Check(ulong value)
    {
        var culture = CultureInfo.InvariantCulture;
        if (value.ToString(culture) != Plain(value, 0)) wrong++;
        if (((uint)value).ToString(culture) != Plain((uint)value, 0)) wrong++;
        if (((int)value).ToString(culture).TrimStart('-') != Plain((ulong)Math.Abs((long)(int)value), 0)) wrong++;
        if (((ushort)value).ToString(culture) != Plain((ushort)value, 0)) wrong++;
        foreach (int least in new[] { 1, 2, 3, 5, 9, 10, 11, 19, 20, 25 })
        {
            if (value.ToString("D" + least, culture) != Plain(value, least)) wrong++;
            if (((uint)value).ToString("D" + least, culture) != Plain((uint)value, least)) wrong++;
        }
    }

    static void Main()
    {
        ulong power = 1;
        for (int n = 0; n < 20; n++, power *= 10)
            foreach (ulong value in new[] { power - 1, power, power + 1, power / 2, 9 * (power / 10), power / 7, power / 100 * 99 + 9 }) Check(value);
        for (ulong value = 0; value < 12000; value++) Check(value);
        Check(ulong.MaxValue); Check(uint.MaxValue); Check(int.MaxValue); Check(1UL << 31);
        Console.WriteLine(wrong);
        for (int i = -30000; i < 30000; i += 7)
        {
            long l = (long)i * 987654321;
            Add(i.ToString()); Add(l.ToString()); Add(i.ToString("N0")); Add(l.ToString("C")); Add(((decimal)l / 1000).ToString()); Add((l / 64.0).ToString("R"));
            Add(new DateTime(Math.Abs(l) * 10000).ToString("o")); Add(TimeSpan.FromTicks(l).ToString()); Add(new Version(Math.Abs(i), 100, 7).ToString());
        }
        Console.WriteLine(sum.ToString("x16"));
    }
}
