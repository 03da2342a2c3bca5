// A recorded process becomes another program, or forks: neither is ended or held up by what the profiler began.
using System;
using System.Runtime.InteropServices;

static class Leaves {
    [DllImport("libc")] static extern int pthread_sigmask(int how, ulong[] set, IntPtr old);
    [DllImport("libc")] static extern int execv(string path, string[] arguments);
    [DllImport("libc")] static extern int fork();
    [DllImport("libc")] static extern int waitpid(int process, out int status, int options);

    static int Spin(int milliseconds) {
        int n = 0;
        for (var end = DateTime.UtcNow.AddMilliseconds(milliseconds); DateTime.UtcNow < end; ) n = n * 31 + 1;
        return n;
    }
    static int Main(string[] args) {
        if (args[0] == "exec") {
            // The samples that are due wait for the mask: they are pending when the other program begins.
            var profiling = new ulong[16];
            profiling[0] = 1ul << 26;
            pthread_sigmask(0, profiling, IntPtr.Zero);
            GC.KeepAlive(Spin(200));
            execv(args[1], new[] { args[1], args[2], args[3], null });
            return 1;
        }
        int child = fork();
        if (child == 0) {
            for (int i = 0; i < 2000; i++) try { throw new Exception("x"); } catch (Exception) { }
            Environment.Exit(5);
        }
        int status;
        waitpid(child, out status, 0);
        Console.WriteLine("the child ended with " + (status >> 8 & 255));
        return 0;
    }
}
