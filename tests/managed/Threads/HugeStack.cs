// A thread has the stack that it asks for, also if that is more than `--green-stack` lets green threads have (256 MiB).
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static unsafe class HugeStack
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
        // 300 MiB of blocks.
        var thread = new Thread(() => Console.WriteLine(Deep(300000)), 480 << 20);
        thread.Start();
        thread.Join();
        // expect: 300001
    }
}
