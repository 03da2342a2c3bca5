// mcs: -unsafe
// What a program takes of a stack that it has asked for does not end before the stack does, also when a small thread's record is used again.
using System;
using System.Threading;

static unsafe class LocallocOfLargeStacks
{
    static int size = 1000;

    static int Deep(int left)
    {
        byte* memory = stackalloc byte[size];
        for (int i = 0; i < size; i += 100) if (memory[i] != 0) throw new Exception("not zeroed");
        memory[0] = memory[size - 1] = (byte)left;
        int below = left == 0 ? 0 : Deep(left - 1);
        return below + (memory[0] == memory[size - 1] ? 1 : 0);
    }

    static void On(int stack, int depth)
    {
        var thread = new Thread(() => Console.WriteLine(Deep(depth)), stack);
        thread.Start();
        thread.Join();
    }

    static void Main()
    {
        On(1 << 20, 200); // expect: 201
        On(128 << 20, 80000); // expect: 80001
        On(1 << 20, 200); // expect: 201
        On(64 << 20, 40000); // expect: 40001
        On(256 << 20, 160000); // expect: 160001
    }
}
