// The normal forms of all characters of the BMP, of sequences of them, and of names of hosts. Left out are the characters on which mono
// differs: crates/globalization/facts/normalization-differences.tsv has them with the reasons, NormalForms.cs some of their forms.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

static class Normalization
{
    const string LeftOut =
        "0558 058b-058c 05c8-05c9 065f 0eba 135d-135e 1715 1b06 1b08 1b0a 1b0c 1b0e 1b12 1b3b 1b3d 1b40-1b41 1b43 2095-209f 2150-2152 2189 2c7c-2c7d 3244-3247 " +
        "32ff a7f0-a7ff f9fe-f9ff fa01 fa03-fa04 fa0e fa17-fa19 fa1e fa21 fa23-fa24 fa27-fa29 fa2e-fa2f fa5b-fa5f fa6b-fa6f faca-fad9 faf0-faf6 fb00-fb02 fb07 " +
        "fb0d fb0f-fb12 fb18-fb1c fb1e fb20-fb29 fb2c-fb2d fb2f fb32 fb35 fb37 fb3d fb3f-fb4e fba2-fbb1 fbc3-fbd2 fd2e-fd3d fd40-fd4f fd80-fd81 fd90-fd91 " +
        "fdb8-fdc7 fde0-fdec fdf0-fdfc fe00-fe09 fe10-fe19 fe20-fe2f fe35-fe36 fe43 fe45-fe46 fe53 fe57 fe5c-fe5f fe63 fe65 fe67 fe6c-fe6f fe73 fe75 feed-fef0 " +
        "fefd-ff00 ffaf-ffb1 ffb8-ffb9 ffbf ffcd-ffd1 ffd7-ffd9 ffdd-ffde ffe0-ffe6 ffe8-ffee" +
        "";
    static readonly NormalizationForm[] Forms = { NormalizationForm.FormC, NormalizationForm.FormD, NormalizationForm.FormKC, NormalizationForm.FormKD };

    static string Units(string text) { return string.Join(" ", text.Select(c => ((int)c).ToString("x4"))); }
    static string Digest(StringBuilder text)
    {
        using (var sha = SHA1.Create()) return BitConverter.ToString(sha.ComputeHash(Encoding.UTF8.GetBytes(text.ToString())), 0, 6).Replace("-", "").ToLowerInvariant();
    }
    static string Idn(Func<string> name)
    {
        try { return Units(name()); }
        catch (ArgumentException e) { return e.GetType().Name + ": " + e.Message; }
    }

    static void Main()
    {
        var leftOut = new HashSet<int>(LeftOut.Split(' ').Where(r => r.Length > 0).Select(r => r.Split('-').Select(c => Convert.ToInt32(c, 16)).ToArray()).SelectMany(r => Enumerable.Range(r[0], r.Last() - r[0] + 1)));
        var characters = Enumerable.Range(1, 0xfffd).Where(c => (c < 0xd800 || c > 0xdfff) && !leftOut.Contains(c)).Select(c => (char)c).ToArray();
        Console.WriteLine("{0} left out, {1} compared", leftOut.Count, characters.Length);
        foreach (var block in characters.GroupBy(c => c >> 10))
        {
            var text = new StringBuilder();
            foreach (var c in block)
                foreach (var form in Forms)
                    text.Append(Units(c.ToString().Normalize(form))).Append(c.ToString().IsNormalized(form) ? '+' : '-');
            Console.WriteLine("{0:x4}: {1}", block.Key << 10, Digest(text));
        }
        var marks = characters.Where(c => CharUnicodeInfo.GetUnicodeCategory(c) == UnicodeCategory.NonSpacingMark || CharUnicodeInfo.GetUnicodeCategory(c) == UnicodeCategory.SpacingCombiningMark).ToArray();
        var random = new Random(5);
        for (var i = 0; i < 16; i++)
        {
            var text = new StringBuilder();
            for (var j = 0; j < 500; j++)
            {
                var word = new StringBuilder();
                var narrow = random.Next(2) == 0;
                for (var k = random.Next(5); k >= 0; k--)
                {
                    var kind = random.Next(6);
                    word.Append(kind < 2 ? characters[random.Next(narrow ? 0x550 : characters.Length)] : kind < 4 ? marks[random.Next(narrow ? 112 : marks.Length)] : kind == 4 ? (char)(0x1100 + random.Next(0x100)) : (char)('A' + random.Next(58)));
                }
                foreach (var form in Forms)
                    text.Append(Units(word.ToString().Normalize(form))).Append(word.ToString().IsNormalized(form) ? '+' : '-');
            }
            Console.WriteLine("sequences: {0}", Digest(text));
        }
        var idn = new IdnMapping();
        foreach (var name in new[] { "b\u00fccher.example", "stra\u00dfe.de", "\u03b2\u03cc\u03bb\u03bf\u03c2.com", "\u4e2d\u56fd.cn", "xn--bcher-kva.example", "xn--strae-oqa.de", "www.\u30c6\u30b9\u30c8.jp", "a\u0308.de",
            "A\u0308PFEL.DE", "\u0627\u0644.com", "\uff41\uff42\uff43.com", "a..b", "", "a.", "x\u3002y", "-a", "a_b", "xn--", "xn--a-ecp.ru", "\u200bx.com", new string('a', 64), "\u06dd.com", "a\u00adb.com", "\u2126.com", "\u0130.com" })
            for (var flags = 0; flags < 4; flags++)
            {
                idn.AllowUnassigned = (flags & 1) != 0;
                idn.UseStd3AsciiRules = (flags & 2) != 0;
                Console.WriteLine("{0} {1}: {2} | {3}", Units(name), flags, Idn(() => idn.GetAscii(name)), Idn(() => idn.GetUnicode(name)));
            }
    }
}
