// env: VERVET_GREEN_THREADS=all
// An abort of a thread that ends at that moment does not reach the next one that has its record.
using System;
using System.Threading;

static class Innocents
{
    static int ran;
    static volatile int n;
    static void Nop() { n++; }

    static void Main()
    {
        var random = new Random(1);
        int started = 0;
        for (int i = 0; i < 4000; i++) {
            var victim = new Thread(Nop);
            victim.Start();
            for (int k = random.Next(3000); k > 0; k--) Nop();
            victim.Abort();
            victim.Join();
            for (int k = 0; k < 2; k++) {
                var innocent = new Thread(() => { Nop(); Interlocked.Increment(ref ran); });
                started++;
                innocent.Start();
                innocent.Join();
            }
        }
        Console.WriteLine(ran == started ? "all ran" : ran + " of " + started); // expect: all ran
    }
}
