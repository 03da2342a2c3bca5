// A sample that comes behind the signal of an abort does not have the ended system call made again.
// env: VERVET_DEBUG_SAMPLE=cpu,10000
// expect: all aborted
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class SampledAborts
{
    [DllImport("libc")]
    static extern int poll(IntPtr descriptors, IntPtr count, int milliseconds);

    static void Main()
    {
        for (int i = 0; i < 600; i++)
        {
            var thread = new Thread(() => { try { for (;;) poll(IntPtr.Zero, IntPtr.Zero, -1); } catch (ThreadAbortException) { } });
            thread.IsBackground = true;
            thread.Start();
            Thread.Sleep(1);
            thread.Abort();
            if (!thread.Join(20000))
            {
                Console.WriteLine("not aborted: " + i);
                Environment.Exit(1);
            }
        }
        Console.WriteLine("all aborted");
    }
}
