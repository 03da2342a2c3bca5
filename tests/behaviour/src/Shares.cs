using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;

// Two methods that do the same work, 70 and 30 parts of it. Prints the share of time that the first has taken, in percent of both: where the loops lie in
// memory makes one of them some points faster.
static class Shares
{
    static volatile int sink;
    [MethodImpl(MethodImplOptions.NoInlining)] static void Seventy() { for (int i = 0; i < 700000; i++) sink = sink * 3 + i; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Thirty() { for (int i = 0; i < 300000; i++) sink = sink * 3 + i; }
    static void Main()
    {
        long seventy = 0, thirty = 0;
        for (int i = 0; i < 2000; i++) {
            long begun = Stopwatch.GetTimestamp();
            Seventy();
            long between = Stopwatch.GetTimestamp();
            Thirty();
            seventy += between - begun;
            thirty += Stopwatch.GetTimestamp() - between;
        }
        Console.WriteLine((seventy * 100.0 / (seventy + thirty)).ToString("f2", CultureInfo.InvariantCulture));
    }
}
