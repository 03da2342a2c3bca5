// grafts:
// mcs: -r:Vervet.Threading.dll
// What programs ask the assembly Vervet.Threading, which the runtime has within itself.
using System;
using System.Threading;
using System.Threading.Tasks;
using Vervet.Threading;

static class Threading
{
    static int deepest;
    static int Deep(int depth) { deepest = depth; return Deep(depth + 1) + 1; }
    static int To(int depth) { return depth == 0 ? 0 : 1 + To(depth - 1); }

    static int DepthWith(long most)
    {
        GreenThread.Run(() => { try { Deep(0); } catch (StackOverflowException) { } }, new GreenThreadOptions { MaxStack = most }).Wait();
        return deepest;
    }

    static void Main()
    {
        // Names: on a green thread, one that is started with a name, and on an OS thread.
        var named = GreenThread.Run(() => {
            string before = Thread.CurrentThread.Name;
            GreenThread.Name = "second";
            GreenThread.Name = "third";
            return before + " " + GreenThread.Name + " " + Thread.IsGreenThread;
        }, new GreenThreadOptions { Name = "first" });
        Console.WriteLine(named.Result); // expect: first third True
        Console.WriteLine(GreenThread.Run(() => GreenThread.Name ?? "none", null).Result); // expect: none
        GreenThread.Name = "main";
        GreenThread.Name = "main again";
        Console.WriteLine(Thread.CurrentThread.Name); // expect: main again

        // A token, exceptions and no action.
        var source = new CancellationTokenSource();
        source.Cancel();
        var cancelled = GreenThread.Run(() => { }, new GreenThreadOptions { CancellationToken = source.Token });
        try { cancelled.Wait(); } catch (AggregateException) { }
        Console.WriteLine(cancelled.Status); // expect: Canceled
        try { GreenThread.Run(() => { throw new InvalidOperationException("thrown"); }, null).Wait(); }
        catch (AggregateException e) { Console.WriteLine(e.InnerException.Message); } // expect: thrown
        try { GreenThread.Run((Action)null, null); }
        catch (ArgumentNullException e) { Console.WriteLine(e.ParamName); } // expect: action

        // Yielding, on both kinds.
        GreenThread.Yield();
        GreenThread.Run(() => { for (int i = 0; i < 100; i++) GreenThread.Yield(); }, null).Wait();

        // The most of the stack holds for the thread that chose it, and for no other.
        int small = DepthWith(256 << 10), large = DepthWith(8 << 20), usual = DepthWith(0);
        Console.WriteLine(large > 10 * small); // expect: True
        Console.WriteLine(usual > 10 * large); // expect: True
        int none = DepthWith(1);
        Console.WriteLine(none < small && none > 100); // expect: True

        // A hint makes the stack grow once, to that size.
        var tasks = new Task<int>[20];
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < tasks.Length; i++) {
                var options = new GreenThreadOptions { StackHint = i << 16, MaxStack = round == 1 ? 4 << 20 : 0 };
                tasks[i] = GreenThread.Run(() => To(5000), options);
            }
            Task.WaitAll(tasks);
            foreach (var task in tasks)
                if (task.Result != 5000) Console.WriteLine("wrong: " + task.Result);
        }

        // Statistics: some wait, some run. A task is done a moment before its thread has ended.
        while (Scheduler.GetStatistics().Ended != Scheduler.GetStatistics().Started) Thread.Sleep(1);
        var gate = new SemaphoreSlim(0);
        int begun = 0;
        var waiting = new Task[50];
        var before50 = Scheduler.GetStatistics();
        for (int i = 0; i < waiting.Length; i++)
            waiting[i] = Task.RunAsGreenThread(() => { Interlocked.Increment(ref begun); gate.Wait(); });
        SchedulerStatistics s;
        do {
            Thread.Sleep(10);
            s = Scheduler.GetStatistics();
        } while (begun < 50 || s.Parked < 50);
        Console.WriteLine(s.Started - before50.Started); // expect: 50
        Console.WriteLine(s.Parked); // expect: 50
        Console.WriteLine(s.Started - s.Ended); // expect: 50
        Console.WriteLine(s.Switches > before50.Switches && s.StackBytes >= 50 * 4096); // expect: True
        Console.WriteLine(Scheduler.Carriers == Environment.ProcessorCount || Environment.GetEnvironmentVariable("VERVET_CARRIERS") != null); // expect: True
        gate.Release(50);
        Task.WaitAll(waiting);
        while (Scheduler.GetStatistics().Ended != Scheduler.GetStatistics().Started) Thread.Sleep(1);
        // Members of the assembly are found by reflection as well.
        Console.WriteLine(typeof(Scheduler).Assembly.GetName().Name + " " + typeof(Scheduler).Assembly.GetName().Version); // expect: Vervet.Threading 1.0.0.0
    }
}
