// A program may ask for a stack that is larger than the soft limit of the process (8 MiB as a rule): the hard limit counts.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static unsafe class LargeStack
{
    struct Block { public fixed byte Bytes[1024]; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int depth)
    {
        var local = new Block();
        byte* block = local.Bytes;
        block[depth & 1023] = 1;
        return depth == 0 ? block[0] : Deep(depth - 1) + block[depth & 1023];
    }

    static void Main()
    {
        // 40 MiB of blocks.
        var thread = new Thread(() => Console.WriteLine(Deep(40000)), 128 << 20);
        thread.Start();
        thread.Join();
        // expect: 40001
    }
}
