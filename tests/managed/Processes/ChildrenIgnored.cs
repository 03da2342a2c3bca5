// A process that was started with SIGCHLD ignored, or in which a library ignores it, learns the exit codes of its children nonetheless.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;

static class ChildrenIgnored
{
    const int SIGCHLD = 17;
    [DllImport("libc")] static extern IntPtr signal(int number, IntPtr handler);
    static string Run(int code)
    {
        var info = new ProcessStartInfo("/bin/sh", "-c 'exit " + code + "'") { UseShellExecute = false };
        using (var p = Process.Start(info))
        {
            p.WaitForExit();
            return "exit code " + p.ExitCode;
        }
    }
    static void Main()
    {
        signal(SIGCHLD, new IntPtr(1));
        Console.WriteLine(Run(7));   // expect: exit code 7
        signal(SIGCHLD, new IntPtr(1));
        Console.WriteLine(Run(0));   // expect: exit code 0
    }
}
