// Green threads that were deep once give the pages of their stacks back while they wait for long, and lose nothing that they still need.
using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

static unsafe class Trimmed
{
    const int Threads = 600;
    static readonly SemaphoreSlim gate = new SemaphoreSlim(0);
    // The compiler's class library does not have it.
    static readonly Func<Action, Task> start = (Func<Action, Task>)Delegate.CreateDelegate(
        typeof(Func<Action, Task>), typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action) }));
    static int here, intact;

    // In KiB.
    static long Resident()
    {
        foreach (string line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmRSS:")) return long.Parse(line.Substring(6, line.Length - 9));
        throw new InvalidOperationException();
    }

    // Uses some 80 KiB of the managed stack and 32 KiB of the other one.
    static int Dive(int depth)
    {
        int* words = stackalloc int[128];
        for (int i = 0; i < 128; i++) words[i] = i + depth;
        int sum = depth == 0 ? 0 : Dive(depth - 1);
        return sum + words[depth] - 2 * depth;
    }

    static void Wait(int number)
    {
        if (Dive(60) != 0) return;
        // What is still needed: a frame of its own, words of the other stack, an object that nothing else refers to.
        int* words = stackalloc int[64];
        for (int i = 0; i < 64; i++) words[i] = number * i;
        var text = new string('x', number % 50 + 1);
        long a = number, b = a * a, c = ~a;
        Interlocked.Increment(ref here);
        gate.Wait();
        bool good = text.Length == number % 50 + 1 && b == a * a && c == ~a && Dive(60) == 0;
        for (int i = 0; i < 64; i++) good &= words[i] == number * i;
        if (good) Interlocked.Increment(ref intact);
    }

    // Some 20 MiB deep, computes for longer than two periods.
    static double Burn(int depth, double x)
    {
        double a = x, b = x + 1, c = x + 2;
        if (depth > 0) return Burn(depth - 1, x) + a - b + c - x - 1;
        long end = Environment.TickCount + 500;
        while (Environment.TickCount < end) x = Math.Sqrt(x + 1);
        return x;
    }

    // In a process where nothing else happens, a thread waits for long after it has run for long.
    static void Late()
    {
        for (int i = 0; i < 300; i++) start(() => gate.Wait());
        Thread.Sleep(500);
        long before = Resident();
        bool is_deep = false;
        start(() => {
            Burn(200000, 1);
            is_deep = true;
            gate.Wait();
        });
        while (!Volatile.Read(ref is_deep)) Thread.Sleep(10);
        long most = before + 5000, now = Resident();
        for (int i = 0; i < 200 && now > most; i++) {
            Thread.Sleep(50);
            now = Resident();
        }
        Console.WriteLine("late: {0}", now <= most ? "most" : now - before + " KiB are left");
    }

    [System.Runtime.InteropServices.DllImport("libc")] static extern int mlock(void* at, IntPtr bytes);

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static void Lock()
    {
        byte* bytes = stackalloc byte[8192];
        mlock(bytes, (IntPtr)64);
    }

    // Locked pages cannot be given back, and nothing else is touched for it.
    static void Locked()
    {
        start(() => Thread.Sleep(1)).Wait();
        long before = Resident();
        for (int i = 0; i < 300; i++)
            start(() => {
                Lock();
                Interlocked.Increment(ref here);
                gate.Wait();
            });
        while (Volatile.Read(ref here) < 300) Thread.Sleep(10);
        Thread.Sleep(1000);
        long now = Resident();
        Console.WriteLine("locked: {0}", now - before < 100 * 300 ? "little" : now - before + " KiB");
    }

    static void Main(string[] args)
    {
        if (args.Length > 0) {
            if (args[0] == "late") Late();
            else Locked();
            Environment.Exit(0);
        }
        var tasks = new Task[Threads];
        // What compiling takes is taken before.
        gate.Release();
        start(() => Wait(0)).Wait();
        long before = Resident();
        for (int round = 0; round < 2; round++) {
            here = intact = 0;
            for (int i = 0; i < Threads; i++) {
                int number = i;
                tasks[i] = start(() => Wait(number));
            }
            while (Volatile.Read(ref here) < Threads) Thread.Sleep(10);
            // Each has used 100 KiB at least, and needs a few pages and objects.
            long most = before + 20 * Threads, now = Resident();
            for (int i = 0; i < 600 && now > most; i++) {
                Thread.Sleep(50);
                now = Resident();
            }
            Console.WriteLine("given back: {0}", now <= most ? "most" : now - before + " KiB are left");
            GC.Collect();
            gate.Release(Threads);
            Task.WaitAll(tasks);
            Console.WriteLine("intact: {0}", intact);
        }
    }
}
