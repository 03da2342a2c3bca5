// Where address space is limited, a thread that asks for a huge stack gets what there is.
using System;
using System.Diagnostics;
using System.Threading;

static class StackInLittleSpace
{
    static int Deep(int depth) { return depth == 0 ? 1 : Deep(depth - 1) + 1; }

    static unsafe int Block(int size)
    {
        byte* block = stackalloc byte[size];
        block[0] = 1;
        block[size - 1] = 1;
        return size * block[0] * block[size - 1];
    }

    static void Main(string[] args)
    {
        if (args.Length == 0)
        {
            string self = "'" + Process.GetCurrentProcess().MainModule.FileName + "' '" + typeof(StackInLittleSpace).Assembly.Location + "'";
            foreach (string limit in new[] { "3000000", "1500000", "500000" })
            {
                var start = new ProcessStartInfo("/bin/sh", "-c \"ulimit -v " + limit + "; exec " + self + " " + limit + "\"") { UseShellExecute = false };
                using (Process limited = Process.Start(start)) limited.WaitForExit();
            }
            return;
        }
        if (args[0] == "1500000")
        {
            // A block that fits the stack.
            foreach (int size in new[] { 12 << 20, 15 << 20, 17 << 20 })
            {
                var thread = new Thread(() => Console.WriteLine(Block(size / 4 * 3)), size);
                thread.Start();
                thread.Join();
            }
            // expect: 5001
            // expect: 5001
            // expect: 5001
            // expect: 9437184
            // expect: 11796480
            // expect: 13369344
            return;
        }
        if (args[0] == "500000")
        {
            // What the large ones had is there again for the others.
            foreach (int size in new[] { 16 << 20, 64 << 20, 0, 1 << 20 })
            {
                var thread = new Thread(() => Console.WriteLine("runs"), size);
                thread.Start();
                thread.Join();
            }
            // expect: runs
            // expect: runs
            // expect: runs
            // expect: runs
            return;
        }
        foreach (int size in new[] { 1 << 20, 1 << 30, int.MaxValue })
        {
            var thread = new Thread(() => Console.WriteLine(Deep(5000)), size);
            thread.Start();
            thread.Join();
        }
    }
}
