// The functions of native.c, for Stress.cs and tests/soak/Soak.cs: signals that interrupt every thread, and calls into native code.
using System;
using System.Runtime.InteropServices;

static class Native
{
    [DllImport("stress")] public static extern int stress_install();
    [DllImport("stress")] public static extern long stress_signals(int which);
    [DllImport("stress")] public static extern int stress_process_timer(int microseconds);
    [DllImport("stress")] public static extern int stress_thread_begin(int microseconds);
    [DllImport("stress")] public static extern void stress_thread_end();
    [DllImport("stress")] public static extern void stress_sleep(int microseconds);
    [DllImport("stress")] public static extern void stress_fill(int[] memory, int count, int seed);
    [DllImport("stress")] public static extern int stress_pipe();
    [DllImport("stress")] public static extern int stress_write(long value);
    [DllImport("stress")] public static extern long stress_read();
    [DllImport("stress")] public static extern IntPtr stress_add_address();
    public delegate int Callback(int i);
    [DllImport("stress")] public static extern int stress_call_back(Callback function, int times);
    [DllImport("stress")] public static extern int stress_call_back_from_thread(Callback function, int times);
    [DllImport("libc")] static extern int kill(int process, int signal);
    [DllImport("libc")] static extern int getpid();
    // Asks the runtime for the stacks of all threads, on its error stream (SIGQUIT).
    public static void Stacks() { kill(getpid(), 3); }

    // What hangs must not hang the end of the process as well.
    [DllImport("libc")] public static extern void _exit(int code);
}
