// Normal forms as the Unicode standard has them where mono's tables are wrong or too old, and what is kept although it is not the
// standard's, because the class library does not look at the characters concerned.
using System;
using System.Globalization;
using System.Linq;
using System.Text;

static class NormalForms
{
    static void Show(string text)
    {
        var forms = new[] { NormalizationForm.FormC, NormalizationForm.FormD, NormalizationForm.FormKC, NormalizationForm.FormKD };
        Console.WriteLine(string.Join(" | ", forms.Select(f => string.Join(" ", text.Normalize(f).Select(c => ((int)c).ToString("x4"))))));
    }
    static void Main()
    {
        Show("\ufb01"); // expect: fb01 | fb01 | 0066 0069 | 0066 0069
        Show("\ufdfa"); // expect: fdfa | fdfa | 0635 0644 0649 0020 0627 0644 0644 0647 0020 0639 0644 064a 0647 0020 0648 0633 0644 0645 | 0635 0644 0649 0020 0627 0644 0644 0647 0020 0639 0644 064a 0647 0020 0648 0633 0644 0645
        Show("\uffe6"); // expect: ffe6 | ffe6 | 20a9 | 20a9
        Show("\u2150"); // expect: 2150 | 2150 | 0031 2044 0037 | 0031 2044 0037
        Show("\ufb1d"); // expect: 05d9 05b4 | 05d9 05b4 | 05d9 05b4 | 05d9 05b4
        // A decomposition that is not in the BMP.
        Show("\ufad0"); // expect: d84a dc44 | d84a dc44 | d84a dc44 | d84a dc44
        // Marks are put in order.
        Show("\u135d\u05ad"); // expect: 05ad 135d | 05ad 135d | 05ad 135d | 05ad 135d
        // The class library looks for no decomposition of these.
        Show("\u1b06"); // expect: 1b06 | 1b06 | 1b06 | 1b06
        Show("\u1b05\u1b35"); // expect: 1b05 1b35 | 1b05 1b35 | 1b05 1b35 | 1b05 1b35
        Show("\u2c7c"); // expect: 2c7c | 2c7c | 2c7c | 2c7c
        Show("\ua770"); // expect: a770 | a770 | a76f | a76f
        Console.WriteLine(new IdnMapping().GetAscii("\ufb01sh.com")); // expect: fish.com
    }
}
