// What sampling must not change: system calls of native code, threads that sleep, threads that start and end, forked processes, handlers of libraries.
// env: VERVET_DEBUG_SAMPLE=real,10000
// cc:
// green: no, a green thread that sleeps has no OS thread whose switches could be counted
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

static class SampledThreads
{
    [DllImport("SampledThreads")] static extern int take_profiling_signals();
    [DllImport("SampledThreads")] static extern int send_one();
    [DllImport("SampledThreads")] static extern int wait_often(int times);
    [DllImport("libc")] static extern int fork();
    [DllImport("libc")] static extern int waitpid(int child, out int status, int options);
    [DllImport("libc")] static extern void _exit(int code);
    [DllImport("libc")] static extern int gettid();

    static volatile int sleeper;

    static long Switches(int thread)
    {
        foreach (var line in File.ReadAllLines("/proc/self/task/" + thread + "/status"))
            if (line.StartsWith("voluntary_ctxt_switches:")) return long.Parse(line.Substring(24));
        return -1;
    }

    static int Busy(int n) { int sum = 0; for (int i = 0; i < n; i++) sum = sum * 3 + i; return sum; }

    static void Main()
    {
        var idle = new Thread(() => { sleeper = gettid(); Thread.Sleep(100000); });
        idle.IsBackground = true;
        idle.Start();
        while (sleeper == 0) Thread.Sleep(1);
        Thread.Sleep(20);
        long before = Switches(sleeper);

        Console.WriteLine(wait_often(100)); // expect: 0

        int ended = 0;
        for (int round = 0; round < 50; round++) {
            var threads = new Thread[20];
            for (int i = 0; i < threads.Length; i++) {
                threads[i] = new Thread(() => { Busy(1000); Interlocked.Increment(ref ended); });
                threads[i].Start();
            }
            foreach (var t in threads) t.Join();
        }
        Console.WriteLine(ended); // expect: 1000

        Console.WriteLine(take_profiling_signals()); // expect: 0
        Console.WriteLine(send_one()); // expect: 1

        int child = fork();
        if (child == 0) {
            Busy(5000000);
            _exit(send_one() == 2 ? 7 : 8);
        }
        int status;
        Console.WriteLine(waitpid(child, out status, 0) == child); // expect: True
        Console.WriteLine(status >> 8); // expect: 7

        // (A sampler that woke it would have done so ten thousand times a second.)
        Console.WriteLine(Switches(sleeper) - before < 5); // expect: True
    }
}
