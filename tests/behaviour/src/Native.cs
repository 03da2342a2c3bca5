using System;
using System.Runtime.InteropServices;
class Native {
    [DllImport("mapped", EntryPoint = "renamed")] static extern int getpid();
    [DllImport("i-mapped")] static extern int getppid();
    [DllImport("libc")] static extern int raise(int signal);
    [DllImport("libc")] static extern void abort();
    [DllImport("libc")] static extern IntPtr memset(IntPtr p, int c, IntPtr n);
    static void Main(string[] args) {
        switch (args[0]) {
        case "map": Console.WriteLine(getpid() == System.Diagnostics.Process.GetCurrentProcess().Id); Console.WriteLine(getppid() > 0); break;
        case "raise": Inner(int.Parse(args[1])); break;
        case "abort": abort(); break;
        case "memset": memset((IntPtr)8, 1, (IntPtr)100); break;
        }
        Console.WriteLine("after");
    }
    static void Inner(int s) { raise(s); }
}
