using System;
using System.Runtime.CompilerServices;

// Two methods that do the same work, 70 and 30 parts of it.
static class Shares
{
    static volatile int sink;
    [MethodImpl(MethodImplOptions.NoInlining)] static void Seventy() { for (int i = 0; i < 700000; i++) sink = sink * 3 + i; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Thirty() { for (int i = 0; i < 300000; i++) sink = sink * 3 + i; }
    static void Main()
    {
        for (int i = 0; i < 2000; i++) { Seventy(); Thirty(); }
    }
}
