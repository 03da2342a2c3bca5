// env: MONO_GC_PARAMS=max-heap-size=64m
// What OutOfMemoryException says: where the heap has no room, and where no memory would be enough.
using System;

static class TextsWithoutMemory
{
    static void Try(string what, Func<object> make)
    {
        try { GC.KeepAlive(make()); Console.WriteLine(what + " made"); }
        catch (OutOfMemoryException e) { Console.WriteLine(what + ": " + e.Message); }
    }

    static void Main()
    {
        Try("vector", () => new byte[200 << 20]);
        Try("vector of references", () => new object[100 << 20]);
        Try("array", () => new byte[100000, 1000000]);
        Try("string", () => new string('x', 100 << 20));
        Try("native", () => System.Runtime.InteropServices.Marshal.AllocHGlobal(new IntPtr(1L << 60)));
    }
}
