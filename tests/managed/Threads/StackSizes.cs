// A thread that gets the stack of an ended one has as much room as it asked for, whatever the other had.
using System;
using System.Threading;

static class StackSizes
{
    static int Deep(int n) { return n == 0 ? 0 : Deep(n - 1) + 1; }
    static bool Overflows(int size, int depth)
    {
        bool overflow = false;
        var thread = new Thread(() => {
            try {
                Deep(depth);
            } catch (StackOverflowException) {
                overflow = true;
            }
        }, size);
        thread.Start();
        thread.Join();
        return overflow;
    }
    static int Main()
    {
        if (!Overflows(300 << 10, 100000000))
            return 1;
        if (Overflows(16 << 20, 100000))
            return 2;
        return 0;
    }
}
