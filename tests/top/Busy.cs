using System;
using System.Threading;
// Seven parts of its time in Seven, three in Three; two threads that wait; it ends when its input does.
class Busy
{
    static double sum;
    static void Seven() { for (int i = 0; i < 700000; i++) sum += Math.Sqrt(i); }
    static void Three() { for (int i = 0; i < 300000; i++) sum += Math.Sqrt(i); }
    static readonly object held = new object();
    static void Main()
    {
        var worker = new Thread(() => { while (true) { Seven(); Three(); } });
        worker.Name = "worker";
        worker.IsBackground = true;
        lock (held)
        {
            worker.Start();
            var waiter = new Thread(() => { lock (held) { } });
            waiter.Name = "waiter";
            waiter.IsBackground = true;
            waiter.Start();
            Console.WriteLine("ready");
            Console.ReadLine();
        }
    }
}
