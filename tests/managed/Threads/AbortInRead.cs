// A thread that reads from a pipe on which nothing comes is aborted; the pipe is still good.
// mcs: -r:System.dll
using System;
using System.Diagnostics;
using System.Threading;

static class AbortInRead
{
    static void Main()
    {
        var start = new ProcessStartInfo("cat") { UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true };
        using (var child = Process.Start(start)) {
            var stream = child.StandardOutput.BaseStream;
            for (int round = 0; round < 20; round++) {
                string end = "none";
                var reading = new ManualResetEvent(false);
                var t = new Thread(() => {
                    try { reading.Set(); stream.Read(new byte[10], 0, 10); end = "read"; }
                    catch (ThreadAbortException) { end = "aborted"; }
                });
                t.Start();
                reading.WaitOne();
                if (round % 4 == 0) Thread.Sleep(10);
                t.Abort();
                if (!t.Join(10000) || round == 19) Console.WriteLine(end); // expect: aborted
            }
            child.StandardInput.Write("x");
            child.StandardInput.Close();
            Console.WriteLine(stream.ReadByte()); // expect: 120
            child.WaitForExit();
            Console.WriteLine(child.ExitCode); // expect: 0
        }
    }
}
