// What mono hands to the managed half of System.Globalization, as the tables beside this file.
//
//   mcs -unsafe -out:/tmp/Measure.exe crates/globalization/facts/Measure.cs && mono /tmp/Measure.exe crates/globalization/facts
//
// The managed classes are asked: they keep what the native half told them in fields, which are read here by reflection, culture by culture and
// region by region. Formats that several cultures have in common are one row. Rows of a table keep mono's order, which
// CultureInfo.GetCultures shows.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Serialization;
using System.Text;

static class Measure
{
    const BindingFlags Any = BindingFlags.Instance | BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public;
    static readonly Assembly Core = typeof(CultureInfo).Assembly;

    static object Get(object o, string field) { return o.GetType().GetField(field, Any).GetValue(o); }
    static object Blank(Type type) { return FormatterServices.GetUninitializedObject(type); }
    static MethodInfo Method(Type type, string name) { return type.GetMethod(name, Any); }

    // `\0` is null, `\u...` what cannot be seen; `|` parts the items of a list.
    static string Text(object value)
    {
        if (value == null) return "\\0";
        var s = new StringBuilder();
        foreach (var c in (string)value)
        {
            var hidden = char.IsControl(c) || char.IsWhiteSpace(c) || char.GetUnicodeCategory(c) == UnicodeCategory.Format;
            if (c != ' ' && hidden || c == '\\' || c == '|') s.Append("\\u").Append(((int)c).ToString("x4"));
            else s.Append(c);
        }
        return s.ToString();
    }
    static string List(object value) { return string.Join("|", ((string[])value).Select(Text)); }

    // The rows of a table that are told apart by what they say.
    class Rows
    {
        readonly List<string> rows = new List<string>();
        public int Of(string row)
        {
            var at = rows.IndexOf(row);
            if (at < 0) { at = rows.Count; rows.Add(row); }
            return at;
        }
        public IEnumerable<string> Numbered { get { return rows.Select((row, i) => i + "\t" + row); } }
    }

    static object Culture(string name)
    {
        var culture = Blank(typeof(CultureInfo));
        return (bool)Method(typeof(CultureInfo), "construct_internal_locale_from_name").Invoke(culture, new object[] { name.ToLowerInvariant() }) ? culture : null;
    }
    static object CultureById(int id)
    {
        var culture = Blank(typeof(CultureInfo));
        return (bool)Method(typeof(CultureInfo), "construct_internal_locale_from_lcid").Invoke(culture, new object[] { id }) ? culture : null;
    }

    static string Dates(string name, int index)
    {
        var data = Blank(Core.GetType("System.Globalization.CultureData"));
        Method(data.GetType(), "fill_culture_data").Invoke(data, new object[] { index });
        var calendar = Blank(Core.GetType("System.Globalization.CalendarData"));
        Method(calendar.GetType(), "fill_calendar_data").Invoke(calendar, new object[] { name.ToLowerInvariant(), 1 });
        return string.Join("\t",
            Text(Get(data, "sAM1159")), Text(Get(data, "sPM2359")), Text(Get(data, "sTimeSeparator")), Get(data, "iFirstDayOfWeek"), Get(data, "iFirstWeekOfYear"),
            Text(Get(calendar, "sMonthDay")), List(Get(calendar, "saShortDates")), List(Get(calendar, "saLongDates")), List(Get(data, "saShortTimes")),
            List(Get(data, "saLongTimes")), List(Get(calendar, "saYearMonths")), List(Get(calendar, "saDayNames")), List(Get(calendar, "saAbbrevDayNames")),
            List(Get(calendar, "saSuperShortDayNames")), List(Get(calendar, "saMonthNames")), List(Get(calendar, "saAbbrevMonthNames")),
            List(Get(calendar, "saMonthGenitiveNames")), List(Get(calendar, "saAbbrevMonthGenitiveNames")));
    }

    static readonly HashSet<string> NumberTexts = new HashSet<string> {
        "currency_decimal_separator", "currency_group_separator", "currency_symbol", "nan_symbol", "negative_infinity_symbol", "negative_sign",
        "number_decimal_separator", "number_group_separator", "per_mille_symbol", "percent_symbol", "positive_infinity_symbol", "positive_sign" };
    static Type Entry { get { return Core.GetType("System.Globalization.CultureData").GetNestedType("NumberFormatEntryManaged", Any); } }
    static string Numbers(int index)
    {
        var args = new object[] { index, Activator.CreateInstance(Entry) };
        IntPtr pool;
        unsafe { pool = (IntPtr)Pointer.Unbox(Method(Core.GetType("System.Globalization.CultureData"), "fill_number_data").Invoke(null, args)); }
        return string.Join("\t", Entry.GetFields(Any).Select(field =>
        {
            var value = (int)field.GetValue(args[1]);
            return NumberTexts.Contains(field.Name) ? Text(Utf8(pool + value)) : value.ToString();
        }));
    }
    static string Utf8(IntPtr p)
    {
        var bytes = new List<byte>();
        for (var i = 0; Marshal.ReadByte(p, i) != 0; i++) bytes.Add(Marshal.ReadByte(p, i));
        return Encoding.UTF8.GetString(bytes.ToArray());
    }

    static string Region(string name)
    {
        var region = Blank(typeof(RegionInfo));
        if (!(bool)Method(typeof(RegionInfo), "construct_internal_region_from_name").Invoke(region, new object[] { name })) return null;
        return Get(region, "regionId") + "\t" + string.Join("\t", new[] { "iso2Name", "iso3Name", "win3Name", "englishName", "nativeName", "currencySymbol",
            "isoCurrencySymbol", "currencyEnglishName", "currencyNativeName" }.Select(field => Text(Get(region, field))));
    }

    static void Write(string folder, string name, string columns, IEnumerable<string> rows)
    {
        File.WriteAllText(Path.Combine(folder, name), "# " + columns + "\n" + string.Concat(rows.Select(row => row + "\n")));
    }

    static void Main(string[] args)
    {
        var cultures = new List<string>();
        var dates = new Rows();
        var numbers = new Rows();
        foreach (var listed in CultureInfo.GetCultures(CultureTypes.AllCultures))
        {
            if (listed.LCID == 127) continue; // The invariant culture is managed.
            var c = Culture(listed.Name);
            var id = (int)Get(c, "cultureID");
            var text = Method(typeof(CultureInfo), "GetTextInfoData").Invoke(c, null);
            cultures.Add(string.Join("\t", Text(Get(c, "m_name")), id, (string)Get(CultureById(id), "m_name") == listed.Name ? 1 : 0, Get(c, "parent_lcid"),
                Get(c, "default_calendar_type"), Text(Get(c, "englishname")), Text(Get(c, "nativename")), Text(Get(c, "iso3lang")), Text(Get(c, "iso2lang")),
                Text(Get(c, "win3lang")), Text(Get(c, "territory")), List(Get(c, "native_calendar_names")), Get(text, "ansi"), Get(text, "ebcdic"),
                Get(text, "mac"), Get(text, "oem"), (bool)Get(text, "right_to_left") ? 1 : 0, (char)(byte)Get(text, "list_sep"),
                dates.Of(Dates(listed.Name, (int)Get(c, "datetime_index"))), numbers.Of(Numbers((int)Get(c, "number_index")))));
        }
        var letters = Enumerable.Range('A', 26).Select(c => (char)c);
        var regions = letters.SelectMany(a => letters.Select(b => Region("" + a + b))).Where(row => row != null);
        Write(args[0], "cultures.tsv", "name\tid\tby-id\tparent-id\tcalendar-type\tenglish\tnative\tiso3\tiso2\twin3\tterritory\tcalendars\tansi\tebcdic\tmac\toem\tright-to-left\tlist-separator\tdates\tnumbers", cultures);
        Write(args[0], "dates.tsv", "row\tam\tpm\ttime-separator\tfirst-day\tweek-rule\tmonth-day\tshort-dates\tlong-dates\tshort-times\tlong-times\tyear-months\tdays\tabbreviated-days\tshortest-days\tmonths\tabbreviated-months\tgenitive-months\tabbreviated-genitive-months", dates.Numbered);
        Write(args[0], "numbers.tsv", "row\t" + string.Join("\t", Entry.GetFields(Any).Select(field => field.Name.Replace('_', '-'))), numbers.Numbered);
        Write(args[0], "regions.tsv", "geo-id\tiso2\tiso3\twin3\tenglish\tnative\tcurrency-symbol\tiso-currency\tcurrency-english\tcurrency-native", regions);
    }
}
