// What was chosen about green threads: each mode prints something that depends on it.
using System;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

class Chosen
{
    delegate int Compare(IntPtr a, IntPtr b);
    [DllImport("libc")] static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);
    [DllImport("libc")] static extern int usleep(int microseconds);

    static readonly Func<Action, Task> Green = (Func<Action, Task>)Delegate.CreateDelegate(typeof(Func<Action, Task>),
        typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action) }));
    static readonly Func<bool> IsGreen = (Func<bool>)Delegate.CreateDelegate(typeof(Func<bool>),
        typeof(Thread).GetProperty("IsGreenThread").GetGetMethod());

    static void Main(string[] args)
    {
        switch (args[0])
        {
            case "mode":
                var thread = new Thread(() => Console.WriteLine(IsGreen() ? "a green thread" : "an OS thread"));
                thread.Start();
                thread.Join();
                break;
            case "stack":
                // Each frame of Deep takes 16 bytes or more.
                Green(() => { try { Deep(0); } catch (StackOverflowException) { } }).Wait();
                Console.WriteLine(deepest < 200000 ? "shallow" : "deep");
                break;
            case "pins":
                Green(InCallback).Wait();
                // A native call takes long while somebody else wants to run.
                Task.WaitAll(Green(() => usleep(100000)), Green(Busy), Green(Busy), Green(Busy));
                break;
            case "deadlock":
                object a = new object(), b = new object();
                var both = new Barrier(2);
                Task.WaitAll(Green(() => { lock (a) { both.SignalAndWait(); lock (b) { } } }),
                    Green(() => { lock (b) { both.SignalAndWait(); lock (a) { } } }));
                break;
        }
    }

    static int deepest;
    static int Deep(int depth)
    {
        deepest = depth;
        return Deep(depth + 1) + 1;
    }
    static void InCallback()
    {
        qsort(new[] { 2, 1 }, (IntPtr)2, (IntPtr)4, (x, y) => { Thread.Sleep(5); return Marshal.ReadInt32(x) - Marshal.ReadInt32(y); });
    }
    static void Busy()
    {
        var end = DateTime.UtcNow.AddMilliseconds(60);
        while (DateTime.UtcNow < end) { }
    }
}
