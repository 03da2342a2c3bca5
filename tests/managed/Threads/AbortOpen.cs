// An abort ends the opening of a pipe that waits for its other end: of the class library's own, and of a library's.
// expect: file aborted True
// expect: native aborted True
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

static class AbortOpen
{
    [DllImport("libc")]
    static extern int mkfifo(string path, int mode);
    [DllImport("libc")]
    static extern int open(string path, int flags);

    static void Try(string name, Action work)
    {
        string end = "not aborted";
        var thread = new Thread(() => { try { work(); } catch (ThreadAbortException) { end = "aborted"; } }) { IsBackground = true };
        thread.Start();
        Thread.Sleep(300);
        thread.Abort();
        bool joined = thread.Join(20000);
        Console.WriteLine(name + " " + end + " " + joined);
    }

    static void Main()
    {
        string path = Path.Combine(Path.GetTempPath(), "fifo" + System.Diagnostics.Process.GetCurrentProcess().Id);
        mkfifo(path, 0x180);
        Try("file", () => File.OpenRead(path));
        Try("native", () => open(path, 0));
        File.Delete(path);
        Environment.Exit(0);
    }
}
