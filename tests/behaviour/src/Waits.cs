// Threads that wait, for the dump of all threads: each mode starts some, and asks for the dump when all of them wait.
using System;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

class Waits
{
    [DllImport("libc")] static extern int kill(int process, int signal);
    [DllImport("libc")] static extern int getpid();
    [DllImport("libc")] static extern int usleep(int microseconds);

    static readonly Func<Action, Task> Green = (Func<Action, Task>)Delegate.CreateDelegate(typeof(Func<Action, Task>),
        typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action) }));
    static readonly object first = new object(), second = new object();

    // The number of threads that are about to wait.
    static int begun;
    static void Started(int count)
    {
        while (Volatile.Read(ref begun) < count) Thread.Sleep(1);
        Thread.Sleep(300);
    }
    static Task Start(string name, Action work)
    {
        return Green(() => { Thread.CurrentThread.Name = name; Interlocked.Increment(ref begun); work(); });
    }
    static void StartThread(string name, Action work)
    {
        new Thread(() => { Interlocked.Increment(ref begun); work(); }) { Name = name, IsBackground = true }.Start();
    }

    static void Main(string[] args)
    {
        typeof(Waits).GetMethod(args[0], BindingFlags.NonPublic | BindingFlags.Static).Invoke(null, null);
        kill(getpid(), 3);
        usleep(800000);
        Environment.Exit(0);
    }

    static void Kinds()
    {
        Monitor.Enter(first);
        var pair = Connection();
        var done = new ManualResetEvent(false);
        var sleeper = new Thread(() => Thread.Sleep(100000)) { Name = "sleeper", IsBackground = true };
        sleeper.Start();
        Start("enters", () => Monitor.Enter(first));
        Start("waits", () => { lock (second) Monitor.Wait(second); });
        Start("late", () => { lock (second) Monitor.Wait(second, 50000); });
        Start("event", () => done.WaitOne());
        Start("any", () => WaitHandle.WaitAny(new WaitHandle[] { done, new ManualResetEvent(false) }));
        Start("joins", sleeper.Join);
        Start("reads", () => pair.Receive(new byte[1]));
        Start("native", () => usleep(20000000));
        for (int i = 0; i < 7; i++) Start("s" + i, Sleep);
        Started(15);
    }
    static void Sleep() { Thread.Sleep(1000000); }
    static Socket Connection()
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        client.Connect(listener.LocalEndPoint);
        return client;
    }

    // An OS thread and a green one wait for each other; a third waits for one of them, and is no part of it.
    static void Deadlock()
    {
        var both = new Barrier(2);
        StartThread("a", () => { lock (first) { both.SignalAndWait(); lock (second) { } } });
        Start("b", () => { lock (second) { both.SignalAndWait(); lock (first) { } } });
        Started(2);
        Start("c", () => { lock (first) { } });
        Started(3);
    }

    // Nobody can wake anybody: the main thread waits, too, so the process that started this one asks for the dump.
    static void Nobody()
    {
        var never = new ManualResetEvent(false);
        var task = Start("waits", () => never.WaitOne());
        Started(1);
        Console.WriteLine("ready");
        task.Wait();
    }

    static void Many()
    {
        for (int i = 0; i < 12000; i++) Green(() => { Interlocked.Increment(ref begun); lock (second) Monitor.Wait(second); });
        int count = 0;
        while (Volatile.Read(ref begun) != count) { count = Volatile.Read(ref begun); Thread.Sleep(500); }
    }
}
