// What programs do with cultures: threads that have one, cultures that are not known, casing, order, parsing, and calendars.
// env: TZ=UTC
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

static class Everyday
{
    static void Try(string what, Func<object> value)
    {
        string text;
        try { text = Convert.ToString(value(), CultureInfo.InvariantCulture); }
        catch (Exception e)
        {
            text = e.GetType() + ": " + e.Message;
            var unknown = e as CultureNotFoundException;
            if (unknown != null) text += " [" + unknown.InvalidCultureName + "|" + unknown.InvalidCultureId + "|" + unknown.ParamName + "]";
        }
        Console.WriteLine("{0}: {1}", what, text);
    }

    static void Unknown()
    {
        Try("unknown", () => new CultureInfo("xx-YY"));
        Try("unknown specific", () => CultureInfo.CreateSpecificCulture("xx-YY"));
        Try("specific of a longer name", () => CultureInfo.CreateSpecificCulture("de-XX-abc"));
        Try("specific of Chinese", () => CultureInfo.CreateSpecificCulture("zh-Hant"));
        Try("unknown id", () => new CultureInfo(0x1234));
        Try("negative id", () => new CultureInfo(-1));
        Try("large id", () => new CultureInfo(0x10409));
        Try("null", () => new CultureInfo(null));
        Try("empty", () => new CultureInfo("").EnglishName);
        Try("NUL", () => new CultureInfo("de-DE\0xx").Name);
        Try("underscore", () => new CultureInfo("de_DE"));
        Try("dotless", () => new CultureInfo("f\u0131"));
        Try("cached", () => CultureInfo.GetCultureInfo("xx-YY"));
        Try("cached by id", () => CultureInfo.GetCultureInfo(0x1234));
        Try("cached null", () => CultureInfo.GetCultureInfo(null));
        Try("twice the same", () => ReferenceEquals(CultureInfo.GetCultureInfo("fr-FR"), CultureInfo.GetCultureInfo("FR-fr")));
        Try("read-only", () => { CultureInfo.GetCultureInfo("fr-FR").NumberFormat.NumberDecimalDigits = 1; return "written"; });
        Try("alternative", () => CultureInfo.GetCultureInfo("fr-FR", "de-DE"));
        Try("tag", () => CultureInfo.GetCultureInfoByIetfLanguageTag("zh-Hans-CN"));
        Try("region", () => new RegionInfo("XX"));
        Try("region of a neutral culture", () => new RegionInfo("de"));
        Try("region of a culture", () => new RegionInfo("fr-CH").CurrencyEnglishName);
        Try("region in lower case", () => new RegionInfo("ch").NativeName);
        Try("region by id", () => new RegionInfo(0x0407));
        Try("region by neutral id", () => new RegionInfo(7));
        Try("region by unknown id", () => new RegionInfo(0x1234));
        Try("region of the invariant culture", () => new RegionInfo(0x7f));
        Try("region null", () => new RegionInfo(null));
        Try("numbers of a neutral culture", () => 1.5.ToString("N", new CultureInfo("de")));
        Try("set neutral", () => { Thread.CurrentThread.CurrentCulture = new CultureInfo("de"); return CultureInfo.CurrentCulture.Name; });
        Try("set null", () => { Thread.CurrentThread.CurrentCulture = null; return ""; });
        Try("set interface null", () => { Thread.CurrentThread.CurrentUICulture = null; return ""; });
    }

    static void OfThreads()
    {
        CultureInfo.CurrentCulture = new CultureInfo("de-DE");
        CultureInfo.CurrentUICulture = new CultureInfo("fr");
        Func<string> current = () => CultureInfo.CurrentCulture.Name + "/" + CultureInfo.CurrentUICulture.Name + " " + 1.5;
        Action<string> inThread = what => { var t = new Thread(() => Console.WriteLine("{0}: {1}", what, current())); t.Start(); t.Join(); };
        Console.WriteLine("here: {0}", current());
        inThread("thread");
        Console.WriteLine("task: {0}", Task.Run(current).Result);
        CultureInfo.DefaultThreadCurrentCulture = new CultureInfo("sv-SE");
        CultureInfo.DefaultThreadCurrentUICulture = new CultureInfo("tr-TR");
        inThread("thread with defaults");
        Console.WriteLine("here with defaults: {0}", current());
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.DefaultThreadCurrentUICulture = null;
        CultureInfo.CurrentCulture = new CultureInfo("nb-NO");
        var later = Task.Run(async () => { CultureInfo.CurrentCulture = new CultureInfo("pl-PL"); await Task.Delay(1); return current(); });
        Console.WriteLine("after an await: {0}", later.Result);
        Console.WriteLine("here afterwards: {0}", current());
        CultureInfo.CurrentCulture = CultureInfo.CurrentUICulture = CultureInfo.InvariantCulture;
    }

    static void Casing()
    {
        foreach (var name in new[] { "", "en-US", "tr-TR", "az-Latn-AZ", "az", "tr", "lt-LT", "de-DE", "el-GR", "nl-NL" })
        {
            var c = new CultureInfo(name);
            Console.WriteLine("{0}: {1} {2} {3} {4} {5}", name, "title i\u0131 \u00df \ufb01 \u03c3\u03c2 ij".ToUpper(c), "TITLE I\u0130 \u1e9e \u03a3 IJ".ToLower(c),
                c.TextInfo.ToTitleCase("ij is 'n \u01c6ungla o'neill"), char.ToUpper('i', c), char.ToLower('I', c));
            Console.WriteLine("{0}: {1} {2} {3}", name, string.Compare("FILE", "file", true, c), "FILE".EndsWith("ile", true, c), c.CompareInfo.IndexOf("TITLE", "i", CompareOptions.IgnoreCase));
        }
    }

    static void Order()
    {
        var words = new[] { "cote", "cot\u00e9", "c\u00f4te", "c\u00f4t\u00e9", "Zebra", "\u00c4pfel", "Apfel", "zebra", "\u00f8l", "\u00e6ble", "\u00e5r", "aar", "llama", "luz", "lomo", "chico", "cuna",
            "co-op", "coop", "\u0431", "\u0451\u043b\u043a\u0430", "\u0435\u043b\u044c", "\u4e2d", "\u6587", "\u3042", "\u30a2", "\uac00" };
        foreach (var name in new[] { "", "en-US", "de-DE", "sv-SE", "da-DK", "es-ES", "fr-FR", "cs-CZ", "ru-RU", "zh-CN", "zh-TW", "ja-JP", "ko-KR", "lt-LT", "hu-HU" })
        {
            var c = new CultureInfo(name);
            Console.WriteLine("{0}: {1}", name, string.Join(" ", words.OrderBy(w => w, StringComparer.Create(c, false))));
            Console.WriteLine("{0}: {1} {2} {3} {4}", name, c.CompareInfo.Compare("\u00e4", "a", CompareOptions.IgnoreNonSpace), c.CompareInfo.Compare("\u3042", "\u30a2", CompareOptions.IgnoreKanaType),
                c.CompareInfo.IndexOf("stra\u00dfe", "ss"), BitConverter.ToString(c.CompareInfo.GetSortKey("\u00c5r ch").KeyData));
        }
    }

    static void RoundTrips()
    {
        var when = new DateTime(2016, 2, 29, 13, 4, 5);
        int dates = 0, numbers = 0, money = 0;
        var bad = new List<string>();
        foreach (var c in CultureInfo.GetCultures(CultureTypes.SpecificCultures))
        {
            DateTime d;
            foreach (var format in new[] { "d", "D", "G", "F", "f" })
                if (DateTime.TryParse(when.ToString(format, c), c, DateTimeStyles.None, out d) && d.Date == when.Date) dates++; else bad.Add(c.Name + ":" + format);
            foreach (var format in c.DateTimeFormat.GetAllDateTimePatterns('d'))
                if (DateTime.TryParseExact(when.ToString(format, c), format, c, DateTimeStyles.None, out d) && d.Month == 2) dates++; else bad.Add(c.Name + ":" + format);
            double n;
            if (double.TryParse((-1234567.5).ToString("N", c), NumberStyles.Number, c, out n) && n == -1234567.5) numbers++; else bad.Add(c.Name + ":N");
            decimal m;
            if (decimal.TryParse((-1234567m).ToString("C", c), NumberStyles.Currency, c, out m) && m == -1234567m) money++; else bad.Add(c.Name + ":C");
        }
        Console.WriteLine("round trips: {0} {1} {2}", dates, numbers, money);
        Console.WriteLine(string.Join(" ", bad));
        foreach (var name in new[] { "de-DE", "fr-FR", "sv-SE", "hi-IN", "fa-IR", "he-IL", "ja-JP", "zh-CN", "ru-RU", "pt-BR", "ar-EG", "en-GB" })
        {
            var c = new CultureInfo(name);
            Console.WriteLine("{0}: {1:F} | {2:N3} | {3:C} | {4:P} | {5}", name, when.ToString("F", c), (-1234567.891).ToString("N3", c), 99.5m.ToString("C", c), 0.256.ToString("P", c), when.ToString("ddd d MMM yyyy", c));
            Try(name + " parses", () => DateTime.ParseExact(when.ToString("dddd d MMMM yyyy HH:mm", c), "dddd d MMMM yyyy HH:mm", c).ToString("s"));
            Try(name + " refuses", () => double.Parse("1,2.3,4", c));
        }
    }

    static void OfCalendars()
    {
        var when = new DateTime(2020, 9, 19);
        foreach (var calendar in new Calendar[] { new GregorianCalendar(), new HebrewCalendar(), new HijriCalendar(), new UmAlQuraCalendar(), new ThaiBuddhistCalendar(), new JapaneseCalendar(), new JulianCalendar(),
            new KoreanCalendar(), new PersianCalendar(), new TaiwanCalendar(), new ChineseLunisolarCalendar(), new JapaneseLunisolarCalendar(), new KoreanLunisolarCalendar(), new TaiwanLunisolarCalendar() })
        {
            var c = calendar;
            Try(c.GetType().Name, () => string.Join(" ", c.GetEra(when), c.GetYear(when), c.GetMonth(when), c.GetDayOfMonth(when), c.GetDayOfYear(when), c.GetMonthsInYear(c.GetYear(when)), c.IsLeapYear(c.GetYear(when)),
                c.GetWeekOfYear(when, CalendarWeekRule.FirstFourDayWeek, DayOfWeek.Monday), c.TwoDigitYearMax, c.MinSupportedDateTime.ToString("s"), c.MaxSupportedDateTime.ToString("s"), c.AddMonths(when, 7).ToString("s"), string.Join(",", c.Eras)));
        }
        foreach (var pair in new[] { "ar-SA UmAlQuraCalendar", "ar-SA HijriCalendar", "he-IL HebrewCalendar", "ja-JP JapaneseCalendar", "ko-KR KoreanCalendar", "th-TH ThaiBuddhistCalendar", "zh-TW TaiwanCalendar", "fa-IR PersianCalendar", "en-US HebrewCalendar" })
            Try(pair, () =>
            {
                var parts = pair.Split(' ');
                var c = new CultureInfo(parts[0]);
                c.DateTimeFormat.Calendar = (Calendar)Activator.CreateInstance(typeof(Calendar).Assembly.GetType("System.Globalization." + parts[1]));
                var text = when.ToString("D", c) + "|" + when.ToString("gg yy/M/d", c) + "|" + string.Join(",", c.DateTimeFormat.MonthNames);
                return text + "|" + DateTime.Parse(when.ToString("d", c), c).ToString("s", CultureInfo.InvariantCulture);
            });
    }

    static object Copied(object value)
    {
        var formatter = new BinaryFormatter();
        using (var stream = new MemoryStream()) { formatter.Serialize(stream, value); stream.Position = 0; return formatter.Deserialize(stream); }
    }

    static void Main()
    {
        Console.OutputEncoding = new UTF8Encoding(false);
        CultureInfo.CurrentCulture = CultureInfo.CurrentUICulture = CultureInfo.InvariantCulture;
        Unknown();
        OfThreads();
        Casing();
        Order();
        RoundTrips();
        OfCalendars();
        Try("copied", () => { var c = (CultureInfo)Copied(new CultureInfo("pt-BR")); return c.Name + 1.5.ToString(c) + c.DateTimeFormat.LongDatePattern; });
        Try("copied numbers", () => ((NumberFormatInfo)Copied(new CultureInfo("fr-CH").NumberFormat)).CurrencyGroupSeparator);
    }
}
