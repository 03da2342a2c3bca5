// Every field of every culture and region that the class library shows. A line is a culture, with digests of its groups of fields; with
// the argument `all` the fields themselves are printed, for a comparison with what another runtime prints.
// env: TZ=UTC
// gc-debug: no, it allocates 300 MB, which takes minutes with collections all the time; Everyday.cs has them pass the same places
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

static class Cultures
{
    static readonly DateTime[] Days = { new DateTime(2001, 2, 3, 4, 5, 6, 789), new DateTime(2019, 12, 31, 23, 59, 59), new DateTime(1999, 9, 9, 12, 0, 0) };
    static readonly StringBuilder Fields = new StringBuilder();
    static bool all;

    static void Add(string name, Func<object> value)
    {
        string text;
        try { text = Show(value()); }
        catch (Exception e) { text = e.GetType().Name + ": " + e.Message; }
        Fields.Append(name).Append('=').Append(text).Append('\n');
    }
    static string Show(object value)
    {
        if (value == null) return "null";
        if (value is string) return (string)value;
        if (value is Array) return string.Join(";", ((Array)value).Cast<object>().Select(Show));
        if (value is double) return ((double)value).ToString("R", CultureInfo.InvariantCulture);
        return value is IFormattable ? ((IFormattable)value).ToString(null, CultureInfo.InvariantCulture) : value.ToString();
    }
    // Ends a group of fields.
    static string Group()
    {
        var text = Fields.ToString();
        Fields.Clear();
        if (all) Console.Write(text);
        using (var sha = SHA1.Create()) return BitConverter.ToString(sha.ComputeHash(Encoding.UTF8.GetBytes(text)), 0, 4).Replace("-", "").ToLowerInvariant();
    }

    static string Names(CultureInfo c)
    {
        Add("name", () => c.Name); Add("id", () => c.LCID); Add("keyboard", () => c.KeyboardLayoutId); Add("parent", () => c.Parent.Name + "/" + c.Parent.LCID);
        Add("english", () => c.EnglishName); Add("native", () => c.NativeName); Add("display", () => c.DisplayName);
        Add("two", () => c.TwoLetterISOLanguageName); Add("three", () => c.ThreeLetterISOLanguageName); Add("windows", () => c.ThreeLetterWindowsLanguageName);
        Add("neutral", () => c.IsNeutralCulture); Add("read-only", () => c.IsReadOnly); Add("types", () => c.CultureTypes); Add("tag", () => c.IetfLanguageTag);
        Add("override", () => c.UseUserOverride); Add("text", () => c.ToString()); Add("hash", () => c.GetHashCode());
        Add("console", () => c.GetConsoleFallbackUICulture().Name); Add("specific", () => CultureInfo.CreateSpecificCulture(c.Name).Name);
        Add("by id", () => new CultureInfo(c.LCID).Name); Add("by tag", () => CultureInfo.GetCultureInfoByIetfLanguageTag(c.Name).Name);
        Add("upper", () => new CultureInfo(c.Name.ToUpperInvariant(), false).Name + new CultureInfo(c.Name, false).UseUserOverride);
        return Group();
    }
    static string Text(CultureInfo c)
    {
        var t = c.TextInfo;
        Add("ansi", () => t.ANSICodePage); Add("ebcdic", () => t.EBCDICCodePage); Add("mac", () => t.MacCodePage); Add("oem", () => t.OEMCodePage);
        Add("right to left", () => t.IsRightToLeft); Add("list", () => t.ListSeparator); Add("culture", () => t.CultureName); Add("id", () => t.LCID);
        Add("text", () => t.ToString()); Add("upper", () => t.ToUpper("i\u0131\u00e4\u00df\u03c3")); Add("lower", () => t.ToLower("I\u0130\u00c4\u03a3"));
        Add("title", () => t.ToTitleCase("it's a title in here"));
        Add("compare", () => c.CompareInfo.Name + "/" + c.CompareInfo.LCID + "/" + c.CompareInfo);
        Add("order", () => Order(c));
        return Group();
    }
    // Strings that languages sort in different ways.
    static string Order(CultureInfo c)
    {
        var words = new[] { "a", "\u00e4", "z", "\u00e5", "o", "\u00f6", "ch", "cz", "ll", "lz", "i", "\u0131", "I", "\u0130", "n", "\u00f1", "\u4e00", "\u3042", "\ud55c" };
        Array.Sort(words, StringComparer.Create(c, false));
        return string.Join(",", words);
    }
    static string Numbers(CultureInfo c)
    {
        var n = c.NumberFormat;
        foreach (var p in typeof(NumberFormatInfo).GetProperties().Where(p => !p.GetGetMethod().IsStatic)) Add(p.Name, () => p.GetValue(n, null));
        foreach (var format in "C N P F E G R C0 N4 P1".Split(' '))
            foreach (var value in new[] { 1234567.891, -0.5, -9876543210.0, 0.0, double.NaN, double.NegativeInfinity, double.PositiveInfinity })
                Add(format, () => value.ToString(format, c));
        Add("money", () => decimal.Parse((-1234.5m).ToString("C", c), NumberStyles.Currency, c));
        Add("custom", () => (-1234567.891).ToString("#,##0.00;(#,##0.00)", c) + 0.256.ToString("0.0%", c) + 0.256.ToString("0.0\u2030", c));
        return Group();
    }
    static string Dates(CultureInfo c)
    {
        // A neutral culture had no format in the first frameworks; here it has.
        var d = c.DateTimeFormat;
        foreach (var p in typeof(DateTimeFormatInfo).GetProperties().Where(p => !p.GetGetMethod().IsStatic)) Add(p.Name, () => p.GetValue(d, null));
        foreach (var day in Days)
            foreach (var format in "dDtTfFgGmMyYRsuU") Add(format.ToString(), () => day.ToString(format.ToString(), c));
        Add("patterns", () => d.GetAllDateTimePatterns());
        foreach (var format in "dDtTfFgGmyY") Add("patterns of " + format, () => d.GetAllDateTimePatterns(format));
        for (var i = 0; i < 7; i++) { var day = (DayOfWeek)i; Add("day", () => d.GetDayName(day) + "/" + d.GetAbbreviatedDayName(day) + "/" + d.GetShortestDayName(day)); }
        for (var i = 1; i <= 13; i++) { var month = i; Add("month", () => d.GetMonthName(month) + "/" + d.GetAbbreviatedMonthName(month)); }
        Add("era", () => d.GetEraName(1) + "/" + d.GetAbbreviatedEraName(1) + "/" + d.GetEra(d.GetEraName(1)));
        foreach (var format in "dDgG") Add("parsed", () => DateTime.Parse(Days[1].ToString(format.ToString(), c), c));
        Add("week", () => d.Calendar.GetWeekOfYear(Days[0], d.CalendarWeekRule, d.FirstDayOfWeek));
        return Group();
    }
    static string Calendars(CultureInfo c)
    {
        Add("calendar", () => c.Calendar);
        var optional = new Calendar[0];
        Add("optional", () => optional = c.OptionalCalendars);
        foreach (var calendar in optional)
        {
            Add("kind", () => calendar is GregorianCalendar ? ((GregorianCalendar)calendar).CalendarType : 0);
            foreach (var p in typeof(Calendar).GetProperties().Where(p => !p.GetGetMethod().IsStatic)) Add(p.Name, () => p.GetValue(calendar, null));
            var copy = (CultureInfo)c.Clone();
            Add("set", () => { copy.DateTimeFormat.Calendar = calendar; return copy.DateTimeFormat.NativeCalendarName; });
            foreach (var format in "dDyM") Add("written", () => Days[0].ToString(format.ToString(), copy));
            Add("months", () => copy.DateTimeFormat.MonthNames);
            Add("genitive", () => copy.DateTimeFormat.AbbreviatedMonthGenitiveNames);
            Add("days", () => copy.DateTimeFormat.DayNames);
        }
        return Group();
    }
    static string Region(string name)
    {
        RegionInfo r = null;
        Add("region", () => r = new RegionInfo(name));
        if (r != null)
            foreach (var p in typeof(RegionInfo).GetProperties().Where(p => !p.GetGetMethod().IsStatic)) Add(p.Name, () => p.GetValue(r, null));
        return Group();
    }

    static void Main(string[] args)
    {
        all = args.Length > 0;
        CultureInfo.CurrentCulture = CultureInfo.CurrentUICulture = CultureInfo.InvariantCulture;
        foreach (CultureTypes types in new[] { 1, 2, 4, 7, 3, 6, 5, 8, 16, 32, 64 })
        {
            Add("list", () => CultureInfo.GetCultures(types).Select(c => c.Name + c.IsReadOnly + c.UseUserOverride).ToArray());
            Console.WriteLine("{0}: {1} {2}", types, CultureInfo.GetCultures(types).Length, Group());
        }
        foreach (var c in CultureInfo.GetCultures(CultureTypes.AllCultures))
            Console.WriteLine("{0} {1:x4} {2} {3} {4} {5} {6} {7}", c.Name, c.LCID, Names(c), Text(c), Numbers(c), Dates(c), Calendars(c), Region(c.Name));
        for (var id = 0; id < 0x10000; id++)
            Add("id", () => { try { return new CultureInfo(id).Name; } catch (CultureNotFoundException) { return ""; } });
        Console.WriteLine("ids " + Group());
        var letters = Enumerable.Range('A', 26).Select(x => (char)x).ToArray();
        foreach (var a in letters)
        {
            var codes = new List<string>();
            foreach (var b in letters)
            {
                var code = "" + a + b;
                try { new RegionInfo(code); } catch (ArgumentException) { continue; }
                codes.Add(code + ":" + Region(code));
            }
            Console.WriteLine(string.Join(" ", codes));
        }
    }
}
