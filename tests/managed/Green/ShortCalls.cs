// A green thread that does little but call short native functions, or ask for the time, lets others run after its slice.
// env: VERVET_GREEN_THREADS=all VERVET_CARRIERS=1
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Program {
    [DllImport("libc")] static extern int getppid();
    static volatile bool over;
    static long calls;

    static void Native() { while (!over) { for (int i = 0; i < 1000; i++) getppid(); calls++; } }
    static void Dates() { var end = DateTime.MaxValue; while (!over && DateTime.UtcNow < end) calls++; }

    static void Main() {
        foreach (ThreadStart loop in new ThreadStart[] { Native, Dates }) {
            over = false;
            var busy = new[] { new Thread(loop), new Thread(loop) };
            foreach (var thread in busy) thread.Start();
            int turns = 0;
            var other = new Thread(() => { for (; turns < 40; turns++) Thread.Sleep(1); });
            other.Start();
            bool ended = other.Join(20000);
            over = true;
            foreach (var thread in busy) thread.Join();
            other.Join();
            Console.WriteLine("{0}: {1}", loop.Method.Name, ended);
        }
        // expect: Native: True
        // expect: Dates: True
    }
}
