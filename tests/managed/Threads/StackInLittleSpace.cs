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
            var start = new ProcessStartInfo("/bin/sh", "-c \"ulimit -v 3000000; exec " + self + " limited\"") { UseShellExecute = false };
            using (Process limited = Process.Start(start)) limited.WaitForExit();
            return;
        }
        foreach (int size in new[] { 1 << 20, 1 << 30, int.MaxValue })
        {
            var thread = new Thread(() => Console.WriteLine(Deep(5000)), size);
            thread.Start();
            thread.Join();
        }
        // expect: 5001
        // expect: 5001
        // expect: 5001
    }
}
