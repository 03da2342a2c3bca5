// A process that was forked compiles methods and changes them as it likes; the first process does not see it.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport("libc")] static extern int fork();
    [DllImport("libc")] static extern int waitpid(int pid, out int status, int options);
    [DllImport("libc")] static extern void _exit(int code);

    // Methods that neither process has called before, in another order in each.
    static int Child(int n)
    {
        return new List<long> { n, 2, 3 }.Sum(x => (int)x) + string.Join(",", Enumerable.Range(0, 5).Select(i => i * n)).Length + new Dictionary<byte, int> { { 1, n } }[1];
    }
    static int Parent(int n)
    {
        return new SortedDictionary<int, string> { { n, "a" }, { n + 1, "bc" } }.Values.Sum(s => s.Length) + new Queue<double>(new[] { 1.0, n }).Count
            + string.Format("{0:x}-{1:N2}", n, 1.5).Length + new Stack<short>(new short[] { 1, 2 }).Peek();
    }

    static void Main()
    {
        for (int i = 0; i < 3; i++) {
            int pid = fork();
            if (pid == 0) _exit(Child(7) == 31 ? 42 : 1);
            int status;
            waitpid(pid, out status, 0);
            Console.WriteLine(pid > 0 ? "child: " + (status >> 8) + ", " + (status & 0x7f) : "no child"); // expect: child: 42, 0
            // expect: child: 42, 0
            // expect: child: 42, 0
        }
        Console.WriteLine(Parent(20)); // expect: 14
        Console.WriteLine(Child(7)); // expect: 31
    }
}
