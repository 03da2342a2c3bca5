// What Prelink does not find is named and no more; what a call does not find is named with mono's suffix.
using System;
using System.Runtime.InteropServices;

static class PrelinkMissing
{
    static class NoLibrary { [DllImport("nolib_prelink")] public static extern int f(); }
    static class NoFunction { [DllImport("libc")] public static extern int getpid(); [DllImport("libc")] public static extern int no_such_function(); }

    static void Try(string what, Action action)
    {
        try { action(); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name + ": " + e.Message); }
    }

    static void Main()
    {
        Try("library", () => Marshal.PrelinkAll(typeof(NoLibrary))); // expect: library: DllNotFoundException: nolib_prelink
        Try("function", () => Marshal.PrelinkAll(typeof(NoFunction))); // expect: function: EntryPointNotFoundException: no_such_function
        Try("method", () => Marshal.Prelink(typeof(NoLibrary).GetMethod("f"))); // expect: method: DllNotFoundException: nolib_prelink
        Try("call", () => NoLibrary.f()); // expect: call: DllNotFoundException: nolib_prelink assembly:<unknown assembly> type:<unknown type> member:(null)
    }
}
