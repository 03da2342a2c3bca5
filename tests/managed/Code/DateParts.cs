// tiers: all
// The parts of every date, and of numbers of ticks that no constructor makes.
using System;
using System.Runtime.CompilerServices;

static unsafe class DateParts
{
    static bool IsLeap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

    static int Length(int year, int month)
    {
        return month == 2 ? IsLeap(year) ? 29 : 28 : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    static int Together(DateTime date)
    {
        return (date.Year * 13 + date.Month) * 32 + date.Day + 1000000 * date.DayOfYear;
    }

    static string Part(DateTime date, int which)
    {
        try
        {
            return (which == 0 ? date.Year : which == 1 ? date.DayOfYear : which == 2 ? date.Month : date.Day).ToString();
        }
        catch (IndexOutOfRangeException e)
        {
            return e.GetType().Name;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int YearThrough(DateTime* date) { return date->Year; }

    static void Main()
    {
        int days = 0, wrong = 0;
        for (int year = 1; year < 10000; year++)
        {
            int ofYear = 0;
            for (int month = 1; month <= 12; month++)
                for (int day = 1; day <= Length(year, month); day++, days++)
                {
                    ofYear++;
                    int expected = (year * 13 + month) * 32 + day + 1000000 * ofYear;
                    var first = new DateTime(days * TimeSpan.TicksPerDay, DateTimeKind.Utc);
                    var last = new DateTime(days * TimeSpan.TicksPerDay + TimeSpan.TicksPerDay - 1, DateTimeKind.Local);
                    if (Together(first) != expected || Together(last) != expected) wrong++;
                }
        }
        Console.WriteLine(days + " days, " + wrong + " wrong");
        Console.WriteLine(DateTime.MaxValue.Year + " " + DateTime.MaxValue.DayOfYear + " " + default(DateTime).Month + " " + default(DateTime).Day);
        foreach (ulong ticks in new[] { 0x2BCA2875F4374000UL - 1, 0x2BCA2875F4374000UL, 1UL << 61, (1UL << 62) - 1, (3UL << 62) + 5, ulong.MaxValue })
        {
            ulong data = ticks;
            for (int which = 0; which < 4; which++)
                Console.Write(Part(*(DateTime*)&data, which) + (which < 3 ? " " : "\n"));
        }
        try { Console.WriteLine(YearThrough(null)); }
        catch (NullReferenceException) { Console.WriteLine("no date"); }
    }
}
