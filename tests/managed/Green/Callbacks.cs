// grafts:
// cc:
// Native code below managed code keeps a green thread on its carrier: it may wait there all the same, and the others run on. Native code that
// blocks holds nobody else up.
using System;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class Callbacks
{
    delegate int Callback(int n);
    [DllImport("Callbacks")] static extern int call_back(Callback f, int n);
    [DllImport("Callbacks")] static extern void wait_until_open();
    [DllImport("Callbacks")] static extern void open_all();

    static void Main()
    {
        var first = new SemaphoreSlim(0);
        var second = new SemaphoreSlim(0);
        var tasks = new Task<int>[16];
        for (int i = 0; i < tasks.Length; i++) {
            int k = i;
            tasks[i] = Task.RunAsGreenThread(() => call_back(n => {
                first.Release();
                second.Wait();
                Thread.Sleep(1);
                lock (tasks) Monitor.Wait(tasks, 1);
                return n * 2;
            }, k));
        }
        // All of them are below native code now, each on a carrier of its own.
        Task.RunAsGreenThread(() => { for (int i = 0; i < tasks.Length; i++) first.Wait(); }).Wait();
        second.Release(tasks.Length);
        int sum = 0;
        foreach (var t in tasks) sum += t.Result;
        Console.WriteLine(sum); // expect: 256

        var blocked = new Task[8];
        for (int i = 0; i < blocked.Length; i++) blocked[i] = Task.RunAsGreenThread(() => wait_until_open());
        for (int i = 0; i < 20; i++) Task.RunAsGreenThread(() => { }).Wait();
        Task.RunAsGreenThread(() => open_all()).Wait();
        Task.WaitAll(blocked);
        Console.WriteLine("not held up"); // expect: not held up

        // An exception passes the native frames, and a callback may call back.
        try { Task.RunAsGreenThread(() => call_back(n => { throw new InvalidOperationException("thrown below native code"); }, 0)).Wait(); }
        catch (AggregateException e) { Console.WriteLine(e.InnerException.Message); } // expect: thrown below native code
        Console.WriteLine(Task.RunAsGreenThread(() => call_back(n => call_back(m => { Thread.Sleep(1); return m; }, n), 5)).Result); // expect: 7
    }
}
