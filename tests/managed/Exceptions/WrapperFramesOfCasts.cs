// tiers: all
// Wrappers in which exceptions of casts, of unboxing and of checked conversions arise in mono.
using System;
using System.Collections.Generic;

interface IPlain<T> { }

static class WrapperFramesOfCasts
{
    static int count;

    static void Try(Action action)
    {
        count++;
        try
        {
            action();
            Console.WriteLine("{0}: no exception", count);
        }
        catch (Exception e)
        {
            var first = e.StackTrace.Split('\n')[0];
            var end = first.IndexOf(" [0x");
            var frame = end < 0 ? first : first.Substring(0, end);
            Console.WriteLine("{0}: {1}{2}", count, e.GetType().Name, frame.Contains("m__") ? "" : frame);
        }
    }

    static void Main()
    {
        object number = 5, text = "s", boxedLong = 5L, day = DayOfWeek.Monday;
        double big = 1e30, middle = 1e12, nan = double.NaN;
        float single = 1e30f;
        Try(() => { var x = (IEnumerable<string>)number; });
        Try(() => { var x = (IEnumerable<int>)number; });
        Try(() => { var x = (IComparable<string>)number; });
        Try(() => { var x = (Func<string>)number; });
        Try(() => { var x = (Func<int>)number; });
        Try(() => { var x = (Func<int, string>)number; });
        Try(() => { var x = (IPlain<string>)number; });
        Try(() => { var x = (List<string>)number; });
        Try(() => { var x = (string[])number; });
        Try(() => { var x = (int?)text; });
        Try(() => { var x = (DayOfWeek?)text; });
        Try(() => { var x = (DateTime?)text; });
        Try(() => { var x = (int?)boxedLong; });
        Try(() => { var x = (DayOfWeek?)number; });
        Try(() => { var x = (int?)day; });
        Try(() => { var x = checked((int)big); });
        Try(() => { var x = checked((long)big); });
        Try(() => { var x = checked((uint)big); });
        Try(() => { var x = checked((ulong)big); });
        Try(() => { var x = checked((sbyte)big); });
        Try(() => { var x = checked((char)big); });
        Try(() => { var x = checked((int)middle); });
        Try(() => { var x = checked((byte)middle); });
        Try(() => { var x = checked((ulong)-middle); });
        Try(() => { var x = checked((uint)-middle); });
        Try(() => { var x = checked((int)nan); });
        Try(() => { var x = checked((int)single); });
        Try(() => { var x = checked((ulong)single); });
        Try(() => { try { var x = checked((short)middle); } finally { count += 100; } });
        Try(() => { try { var x = checked((short)big); } finally { count += 100; } });
    }
}
