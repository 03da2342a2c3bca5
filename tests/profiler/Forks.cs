// A program that forks while another thread changes what is recorded. The child changes it too, though the thread is not there any more.
using System;
using System.Runtime.InteropServices;
using System.Threading;
using Mono.Profiler.Log;

static class Forks {
    [DllImport("libc")] static extern int fork();
    [DllImport("libc")] static extern int waitpid(int child, out int status, int options);
    [DllImport("libc")] static extern void _exit(int code);
    [DllImport("libc")] static extern uint alarm(uint seconds);

    static void Change(int n) {
        LogProfiler.GCHandleEventsEnabled = n % 2 == 0;
        LogProfiler.SetSampleParameters((LogSampleMode)(n % 3), 1000);
    }

    static int Main() {
        bool ends = false;
        Change(1);
        var other = new Thread(() => { for (int n = 0; !Volatile.Read(ref ends); n++) Change(n); });
        other.Start();
        int well = 0;
        for (int n = 0; n < 300; n++) {
            int child = fork();
            if (child == 0) {
                // A lock that nobody gives back would keep it here.
                alarm(20);
                Change(2);
                _exit(LogProfiler.SetSampleParameters(LogSampleMode.Process, 100) ? 1 : 0);
            }
            int status;
            waitpid(child, out status, 0);
            if (status == 0) well++;
            else if (n - well > 2) break;
        }
        Volatile.Write(ref ends, true);
        other.Join();
        Console.WriteLine(well);
        return 0;
    }
}
