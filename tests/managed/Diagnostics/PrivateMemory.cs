// mcs: -r:System.dll
// The private memory of a process is what it uses: the address space that the runtime reserves is no part of it, memory that the program fills is.
using System;
using System.Diagnostics;

static class PrivateMemory
{
    const long MiB = 1 << 20;
    static long Now()
    {
        return Process.GetCurrentProcess().PrivateMemorySize64 / MiB;
    }
    static void Main()
    {
        long before = Now();
        var blocks = new byte[8][];
        for (int i = 0; i < blocks.Length; i++) {
            blocks[i] = new byte[8 * MiB];
            for (int at = 0; at < blocks[i].Length; at += 4096) blocks[i][at] = 1;
        }
        long after = Now();
        Console.WriteLine(before > 0 && before < 4096 ? "some" : before + " MiB"); // expect: some
        Console.WriteLine(after - before >= 48 && after < 4096 ? "more" : before + " to " + after + " MiB"); // expect: more
        Console.WriteLine(Process.GetCurrentProcess().PrivateMemorySize > 0); // expect: True
        GC.KeepAlive(blocks);
    }
}
