// Where address space is limited, a thread that asks for a huge stack gets what there is.
using System;
using System.Diagnostics;
using System.Threading;

static class StackInLittleSpace
{
    static int Deep(int depth) { return depth == 0 ? 1 : Deep(depth - 1) + 1; }

    static void Main(string[] args)
    {
        if (args.Length == 0)
        {
            string self = "'" + Process.GetCurrentProcess().MainModule.FileName + "' '" + typeof(StackInLittleSpace).Assembly.Location + "'";
            foreach (string limit in new[] { "3000000", "500000" })
            {
                var start = new ProcessStartInfo("/bin/sh", "-c \"ulimit -v " + limit + "; exec " + self + " " + limit + "\"") { UseShellExecute = false };
                using (Process limited = Process.Start(start)) limited.WaitForExit();
            }
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
            // expect: 5001
            // expect: 5001
            // expect: 5001
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
