// Native code calls a delegate that was collected: the process ends with a message, not by an access to something else.
// cc:
// exit: 1
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class CollectedDelegate
{
    delegate int Number(int x);
    [DllImport("CollectedDelegate")] static extern void keep(Number f, int i);
    [DllImport("CollectedDelegate")] static extern int call(int i);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Give()
    {
        for (int i = 0; i < 30; i++) { int captured = i; keep(x => x + captured, i); }
    }

    static void Main()
    {
        Give();
        Console.WriteLine(call(3)); // expect: 8
        for (int i = 0; i < 3; i++) GC.Collect();
        // A word on the stack may keep one alive, not all.
        for (int i = 0; i < 30; i++) call(i);
        Console.WriteLine("not reached");
    }
}
