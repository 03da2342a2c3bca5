// A library's handler of SIGPROF in a process whose threads are sampled: it is called as the kernel would have called it.
// env: VERVET_DEBUG_SAMPLE=cpu,1000
// cc: -pthread
using System;
using System.Runtime.InteropServices;

static class ChainedHandler
{
    [DllImport("ChainedHandler")] static extern int query();
    [DllImport("ChainedHandler")] static extern int masked(int nodefer);
    [DllImport("ChainedHandler")] static extern int arguments();
    [DllImport("ChainedHandler")] static extern int once();
    [DllImport("ChainedHandler")] static extern int read_ends(int restart);
    [DllImport("ChainedHandler")] static extern int forgotten();

    static int Busy(int n) { int sum = 0; for (int i = 0; i < n; i++) sum = sum * 3 + i; return sum; }

    static void Main()
    {
        Busy(50000000);
        Console.WriteLine("query " + query());              // expect: query 0
        Console.WriteLine("masked " + masked(0));           // expect: masked 3
        Console.WriteLine("nodefer " + masked(1));          // expect: nodefer 1
        Console.WriteLine("arguments " + arguments());      // expect: arguments 1
        Console.WriteLine("once " + once());                // expect: once 1
        Console.WriteLine("restart " + read_ends(1));       // expect: restart 1
        Console.WriteLine("no restart " + read_ends(0));    // expect: no restart -4
        Console.WriteLine("forgotten " + forgotten());      // expect: forgotten 0
        Busy(50000000);
    }
}
