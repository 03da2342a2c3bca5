// Memory pressure: adding much of it brings a collection, every time; removing brings none, however much is removed, and leaves no debt.
using System;
using System.Threading;

static class MemoryPressure
{
    const long Much = 1L << 30;
    static bool Collected(int before)
    {
        for (int i = 0; i < 2000; i++) { if (GC.CollectionCount(1) > before) return true; Thread.Sleep(1); }
        return false;
    }
    static void Main()
    {
        int came = 0;
        for (int i = 0; i < 3; i++) {
            int before = GC.CollectionCount(1);
            GC.AddMemoryPressure(Much);
            if (Collected(before)) came++;
            GC.RemoveMemoryPressure(Much);
        }
        Console.WriteLine(came);                                    // expect: 3

        // What was removed twice is no pressure of 2^64 bytes.
        Thread.Sleep(20);
        int quiet = GC.CollectionCount(1);
        GC.RemoveMemoryPressure(Much);
        for (int i = 0; i < 100; i++) { GC.AddMemoryPressure(1); GC.RemoveMemoryPressure(2); Thread.Sleep(1); }
        Console.WriteLine(GC.CollectionCount(1) - quiet);           // expect: 0

        foreach (long wrong in new long[] { 0, -1, long.MinValue }) {
            try { GC.AddMemoryPressure(wrong); Console.WriteLine("added"); }
            catch (ArgumentOutOfRangeException) { Console.WriteLine("refused"); }   // expect: refused
            try { GC.RemoveMemoryPressure(wrong); Console.WriteLine("removed"); }
            catch (ArgumentOutOfRangeException) { Console.WriteLine("refused"); }   // expect: refused
        }                                                                           // expect: refused
    }                                                                               // expect: refused
}                                                                                   // expect: refused
                                                                                    // expect: refused
