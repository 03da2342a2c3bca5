// mcs: -unsafe
// The largest size that a program may ask for is that of the stack: managed code rounds it up to a number that is negative.
using System;
using System.Threading;

static unsafe class LargestStack
{
    static int Deep(int depth) { return depth == 0 ? 1 : Deep(depth - 1) + 1; }

    static int Take(int size)
    {
        byte* memory = stackalloc byte[size];
        memory[0] = memory[size - 1] = 3;
        return memory[0] + memory[size - 1];
    }

    static void Main()
    {
        var thread = new Thread(() => Console.WriteLine(Deep(400000) + Take(40 << 20)), int.MaxValue);
        thread.Start();
        thread.Join();
        // expect: 400007
    }
}
