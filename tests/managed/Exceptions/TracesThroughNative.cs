// Traces of the running thread have the P/Invokes and internal calls that it is in, with their methods. Traces of exceptions name the wrappers, one each way.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class TracesThroughNative
{
    delegate int Comparison(IntPtr a, IntPtr b);
    [DllImport("libc")] static extern void qsort(IntPtr array, IntPtr count, IntPtr size, Comparison compare);

    static void Show(string what)
    {
        Console.WriteLine(what);
        foreach (var frame in new StackTrace(1).GetFrames()) Console.WriteLine("  " + frame.GetMethod().DeclaringType + "." + frame.GetMethod().Name);
    }
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Reflected() { Show("reflection"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Compare(IntPtr a, IntPtr b) { Show("callback"); return 0; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Fail(IntPtr a, IntPtr b) { Console.Write(""); throw new InvalidOperationException(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Nested(IntPtr a, IntPtr b) { Sort(Fail); Console.Write(""); return 0; }

    static void Sort(Comparison compare)
    {
        IntPtr memory = Marshal.AllocHGlobal(16);
        qsort(memory, (IntPtr)2, (IntPtr)8, compare);
        Console.Write("");
    }
    static void Lines(Exception e)
    {
        foreach (string line in e.StackTrace.Split('\n'))
            Console.WriteLine(line.Contains(" [0x") ? line.Substring(0, line.IndexOf(" [0x")) : line);
    }
    static void Main()
    {
        typeof(TracesThroughNative).GetMethod("Reflected").Invoke(null, null);
        Sort(Compare);
        foreach (Comparison compare in new Comparison[] { Fail, Nested })
            try { Sort(compare); }
            catch (InvalidOperationException e) { Lines(e); }
    }
}
