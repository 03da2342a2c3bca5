// A thread that collects in a loop does not keep others from going on: neither those that come and go, nor those that compute, wait or allocate.
using System;
using System.Threading;

static class Program
{
    static volatile bool stop;

    static void Work(int seed)
    {
        var text = "";
        for (int i = 0; i < 40; i++) {
            text = seed + "-" + i;
            Thread.Sleep(0);
        }
        if (text != seed + "-39") throw new Exception(text);
    }

    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

    static void Main()
    {
        var collector = new Thread(() => { while (!stop) GC.Collect(0); });
        collector.Start();
        for (int round = 0; round < 50; round++) {
            var all = new Thread[8];
            for (int i = 0; i < all.Length; i++) {
                int seed = round * 8 + i;
                all[i] = new Thread(() => Work(seed));
                all[i].Start();
            }
            foreach (var t in all) t.Join();
        }
        Console.WriteLine("400 threads came and went");
        int sum = 0;
        var computing = new Thread[4];
        for (int i = 0; i < computing.Length; i++) {
            computing[i] = new Thread(() => Interlocked.Add(ref sum, Fib(22)));
            computing[i].Start();
        }
        foreach (var t in computing) t.Join();
        Console.WriteLine("computed " + sum);
        stop = true;
        collector.Join();
    }
}
