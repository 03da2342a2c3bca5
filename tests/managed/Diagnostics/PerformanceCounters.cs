// mcs: -r:System.Web.dll -r:System.Runtime.Caching.dll -r:System.Configuration.dll
// Performance counters: the categories that every process has, those of a program, and the parts of the class library that count with them.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.Caching;
using System.Web;

static class PerformanceCounters
{
    static void Try(string what, Func<object> value)
    {
        string text;
        try { text = Convert.ToString(value()); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine("{0}: {1}", what, text);
    }
    static long Raw(string category, string counter, string instance = "")
    {
        return new PerformanceCounter(category, counter, instance, true).RawValue;
    }
    static string Instances(string category)
    {
        return string.Join(";", new PerformanceCounterCategory(category).GetInstanceNames().OrderBy(n => n, StringComparer.Ordinal));
    }
    static object Write(string category, string counter)
    {
        var c = new PerformanceCounter(category, counter, "", false) { RawValue = 1000 };
        return c.RawValue + " " + c.IncrementBy(7) + " " + c.Decrement() + " " + c.RawValue + " " + c.NextValue();
    }

    static void Main()
    {
        foreach (var category in PerformanceCounterCategory.GetCategories())
        {
            Console.WriteLine("{0} {1} {2}", category.CategoryName, PerformanceCounterCategory.Exists(category.CategoryName), category.CategoryType);
            foreach (var c in category.GetCounters())
            {
                var sample = c.NextSample();
                Console.WriteLine("  {0} {1} {2} {3} {4}", c.CounterName, c.CounterType, sample.BaseValue, sample.CounterFrequency, c.ReadOnly);
            }
        }
        Try("a category that is not there", () => PerformanceCounterCategory.Exists("none"));
        Try("a counter that is not there", () => PerformanceCounterCategory.CounterExists("none", "Processor"));
        Try("a counter", () => PerformanceCounterCategory.CounterExists("% User Time", "Processor"));
        Try("sample of none", () => new PerformanceCounter("none", "none", "", true).NextSample().RawValue);
        Try("processors", () => string.Join(";", new PerformanceCounterCategory("Processor").GetInstanceNames().Take(2)));
        Try("interfaces", () => new PerformanceCounterCategory("Network Interface").GetInstanceNames().Contains("lo"));
        var self = Process.GetCurrentProcess().Id;
        Try("processes", () => new PerformanceCounterCategory("Process").GetInstanceNames().Count(n => n.StartsWith(self + "/")));
        Try("own", () => new PerformanceCounterCategory("ASP.NET").GetInstanceNames().Single().StartsWith(self + "/"));
        Try("idle", () => Raw("Processor", "% Processor Time", "_Total") > 0);
        Try("no such processor", () => Raw("Processor", "% Processor Time", "100000"));
        Try("threads", () => Raw("Process", "Thread Count", self.ToString()) > 0);
        Try("bytes", () => Raw("Process", "Working Set", self.ToString()) > 1000000);
        Try("no process", () => Raw("Process", "Working Set", ""));
        Try("memory", () => Raw("Mono Memory", "Total Physical Memory") > Raw("Mono Memory", "Available Physical Memory"));
        foreach (var name in new[] { "ASP.NET|Requests Total", "ASP.NET|Requests Queued", "Mono Threadpool|IO Work Items Added", "ASP.NET|none", "Processor|% User Time", "none|none" })
            Try(name, () => Write(name.Split('|')[0], name.Split('|')[1]));
        Try("create", () => PerformanceCounterCategory.Create("Mine", "help", PerformanceCounterCategoryType.SingleInstance, new CounterCreationDataCollection(new[] {
            new CounterCreationData("items", "", PerformanceCounterType.NumberOfItems32), new CounterCreationData("rate", "", PerformanceCounterType.RateOfCountsPerSecond64) })).CategoryName);
        Try("mine", () => PerformanceCounterCategory.Exists("Mine") + " " + PerformanceCounterCategory.CounterExists("items", "Mine") + " " + PerformanceCounterCategory.CounterExists("none", "Mine"));
        Try("its counters", () => string.Join(";", new PerformanceCounterCategory("Mine").GetCounters().Select(c => c.CounterName + " " + c.CounterType)));
        Try("its instances at first", () => Instances("Mine"));
        Try("written", () => Write("Mine", "items"));
        Try("its instances then", () => Instances("Mine") + " " + PerformanceCounterCategory.InstanceExists("items", "Mine") + PerformanceCounterCategory.InstanceExists("rate", "Mine"));
        Try("read", () => Raw("Mine", "items"));
        Try("another", () => Raw("Mine", "rate"));
        Try("its instances at last", () => Instances("Mine"));
        Try("create again", () => PerformanceCounterCategory.Create("Mine", "", PerformanceCounterCategoryType.SingleInstance, "a", "b").CategoryName);
        Try("delete", () => { PerformanceCounterCategory.Delete("Mine"); return ""; });
        Try("encode", () => HttpUtility.HtmlEncode("<a href='\u00e4'>&") + HttpUtility.UrlEncode("\u00fc /?&") + HttpUtility.ParseQueryString("a=1&b=%20x&a=2"));
        Try("cache", () => { var cache = new MemoryCache("mine"); cache.Set("key", 42, DateTimeOffset.Now.AddHours(1)); return cache["key"] + " " + cache.GetCount() + " " + cache.Remove("key") + " " + cache.GetCount(); });
        Try("runtime", () => HttpRuntime.AppDomainAppId ?? "none");
        Try("web cache", () => { HttpRuntime.Cache["a"] = 5; return HttpRuntime.Cache["a"]; });
    }
}
