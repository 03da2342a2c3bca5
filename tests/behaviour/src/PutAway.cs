// Green threads that wait for long take little memory; a dump shows their frames, and nothing on their stacks is lost.
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class PutAway
{
    const int Threads = 20000;
    static readonly SemaphoreSlim gate = new SemaphoreSlim(0);
    // The compiler's class library does not have it.
    static readonly Func<Action, Task> start = (Func<Action, Task>)Delegate.CreateDelegate(
        typeof(Func<Action, Task>), typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action) }));
    static int here, intact, number;

    [DllImport("libc")] static extern int getpid();
    [DllImport("libc")] static extern int kill(int process, int signal);

    static long Resident()
    {
        foreach (string line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmRSS:")) return long.Parse(line.Substring(6, line.Length - 9));
        throw new InvalidOperationException();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Inner(int mine, double half, ref long sum)
    {
        Interlocked.Increment(ref here);
        gate.Wait();
        sum += mine;
        return half == mine / 2.0;
    }

    static void Outer()
    {
        int mine = Interlocked.Increment(ref number);
        long sum = mine;
        if (Inner(mine, mine / 2.0, ref sum) && sum == 2 * mine) Interlocked.Increment(ref intact);
    }

    static void Main()
    {
        var tasks = new Task[Threads];
        gate.Release(300);
        for (int i = 0; i < 300; i++) tasks[i] = start(Outer);
        for (int i = 0; i < 300; i++) tasks[i].Wait();
        GC.Collect();
        long before = Resident();
        for (int round = 0; round < 2; round++) {
            here = intact = 0;
            for (int i = 0; i < Threads; i++) tasks[i] = start(Outer);
            while (Volatile.Read(ref here) < Threads) Thread.Sleep(10);
            // With their pages, a thread takes 4 KiB and what the heap has of it.
            long most = before + 3 * Threads, now = Resident();
            for (int i = 0; i < 600 && now > most; i++) {
                Thread.Sleep(50);
                now = Resident();
            }
            Console.WriteLine("put away: {0}", now <= most ? "yes" : (now - before) * 1024 / Threads + " bytes are left");
            if (round == 0) {
                kill(getpid(), 3);
                Thread.Sleep(500);
                now = Resident();
                Console.WriteLine("behind the dump: {0}", now <= most + 8192 ? "still" : (now - before) * 1024 / Threads + " bytes");
            }
            GC.Collect();
            gate.Release(Threads);
            Task.WaitAll(tasks);
            Console.WriteLine("intact: {0}", intact);
        }
    }
}
