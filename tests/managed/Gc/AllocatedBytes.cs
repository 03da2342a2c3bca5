// Each thread has its own count of what it allocated, to the byte that objects take, also across collections.
using System;
using System.Threading;

static class AllocatedBytes
{
    static object kept;
    static long Cost(Action work)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        work();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
    static void Main()
    {
        Cost(() => kept = new byte[10]);
        long small = Cost(() => kept = new byte[1000]), large = Cost(() => kept = new byte[100000]);
        Console.WriteLine(small >= 1000 && small < 1100);                            // expect: True
        Console.WriteLine(large >= 100000 && large < 101000);                        // expect: True
        long many = Cost(() => { for (int i = 0; i < 100000; i++) kept = new byte[1000]; });
        Console.WriteLine(many >= 100000000 && many < 110000000);                    // expect: True
        long other = Cost(() => {
            var t = new Thread(() => { for (int i = 0; i < 1000; i++) kept = new byte[10000]; });
            t.Start();
            t.Join();
        });
        Console.WriteLine(other < 100000);                                           // expect: True
        Console.WriteLine(Cost(() => GC.Collect()) < 10000);                         // expect: True
    }
}
