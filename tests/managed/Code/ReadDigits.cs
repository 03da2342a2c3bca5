// Texts of integers of every length, with something else at each place, by types, styles and cultures with signs of their own.
// tiers: all
using System;
using System.Globalization;
using System.Linq;

static class ReadDigits
{
    static ulong sum = 14695981039346656037;
    static int count;
    static void Add(string text)
    {
        foreach (char c in text) sum = (sum ^ c) * 1099511628211;
        count++;
    }
    static string Told(Func<object> read)
    {
        try { return read().ToString(); }
        catch (Exception e) { return e.GetType().Name + ": " + e.Message; }
    }
    static string All(string text, NumberStyles style, IFormatProvider provider)
    {
        int i; uint u; long l; ulong ul; short s; byte b;
        return text + " " + int.TryParse(text, style, provider, out i) + i + uint.TryParse(text, style, provider, out u) + u + long.TryParse(text, style, provider, out l) + l
            + ulong.TryParse(text, style, provider, out ul) + ul + short.TryParse(text, style, provider, out s) + s + byte.TryParse(text, style, provider, out b) + b
            + Told(() => int.Parse(text, style, provider)) + Told(() => ulong.Parse(text, style, provider));
    }
    static int wrong;
    static void Check(string text, ulong value)
    {
        if (long.Parse(text) != (long)value || ulong.Parse(text) != value) wrong++;
        if (value <= int.MaxValue && (int.Parse(text) != (int)value || uint.Parse(text) != value)) wrong++;
        string inside = "x" + text + "9";
        if (value <= int.MaxValue && int.Parse(inside.Substring(1, text.Length)) != (int)value) wrong++;
    }

    static void Main()
    {
        var invariant = CultureInfo.InvariantCulture;
        for (ulong value = 0; value < 12000; value++)
            for (int width = 1; width < 10; width++) { string text = value.ToString("D" + width); if (text.Length == width) Check(text, value); }
        ulong power = 1;
        for (int n = 0; n < 18; n++, power *= 10)
            foreach (ulong value in new[] { power - 1, power, power + 1, power / 2, 9 * (power / 10), power / 7, power / 100 * 99 + 9 }) Check(value.ToString(), value);
        Console.WriteLine(wrong);

        // One other character at each place: neighbours of digits, digits of other scripts, those that differ by a high bit, and such as carry into their neighbour.
        var others = new[] { '/', ':', '\0', '\t', ' ', '+', '-', ',', '.', 'a', '\u0660', '\uFF11', '\u0130', '\u1030', '\u3030', '\u8035', '\uFFFA', '\uFFFF', '\uFFF0', '\u00B9', '?', '\u0020', '\u0039', '\u003F' };
        foreach (char other in others)
            for (int width = 1; width <= 10; width++)
                for (int at = 0; at < width; at++)
                {
                    var chars = "1929394959".Substring(0, width).ToCharArray();
                    chars[at] = other;
                    Add(All(new string(chars), NumberStyles.Integer, invariant));
                }
        Console.WriteLine("{0} {1:x16}", count, sum);

        var digits = (CultureInfo)invariant.Clone();
        digits.NumberFormat.PositiveSign = "1"; digits.NumberFormat.NegativeSign = "23";
        var minus = (CultureInfo)invariant.Clone();
        minus.NumberFormat.NegativeSign = "7";
        var longer = (CultureInfo)invariant.Clone();
        longer.NumberFormat.PositiveSign = "+1";
        var none = (CultureInfo)invariant.Clone();
        none.NumberFormat.PositiveSign = ""; none.NumberFormat.NegativeSign = "";
        foreach (var culture in new[] { digits, minus, longer, none })
            foreach (string text in new[] { "1234", "2345", "23456", "7777", "12345678", "123456789", "+1234", "1", "23", "7", "-1234" })
                foreach (var style in new[] { NumberStyles.Integer, NumberStyles.None, NumberStyles.AllowLeadingWhite, NumberStyles.AllowLeadingSign, NumberStyles.Number, NumberStyles.HexNumber })
                {
                    string all = All(text, style, culture);
                    Add(all);
                    if (style == NumberStyles.Integer && text.Length == 4) Console.WriteLine(all);
                }
        Console.WriteLine("{0} {1:x16}", count, sum);
        Console.WriteLine(Told(() => int.Parse(null)) + Told(() => int.Parse("")) + Told(() => Convert.ToInt32("20263")) + Told(() => int.Parse("1234", NumberStyles.Integer, null)));
    }
}
