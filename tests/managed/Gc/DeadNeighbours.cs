// A reference on the stack keeps one object: not the one that lies before it in memory, which was made just before.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class DeadNeighbours
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Make(int way)
    {
        var o = new object();
        switch (way) {
        case 0: break;
        case 1: RuntimeHelpers.GetHashCode(o); break;
        case 2: Monitor.Enter(o); Monitor.Exit(o); break;
        case 3: GC.SuppressFinalize(o); break;
        }
        return new WeakReference(o);
    }
    static void Main()
    {
        for (int way = 0; way < 4; way++) {
            int alive = 0;
            for (int i = 0; i < 40; i++) {
                var weak = Make(way);
                GC.Collect();
                if (weak.IsAlive) alive++;
            }
            // Stacks are scanned conservatively: what a call left behind may keep one or the other.
            Console.WriteLine(alive < 10 ? "they die" : alive + " of 40 live");
        }
        // expect: they die
        // expect: they die
        // expect: they die
        // expect: they die
    }
}
