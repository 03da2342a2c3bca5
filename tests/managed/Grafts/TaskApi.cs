// Task.RunAsGreenThread means what Task.Run means, but for where the code runs.
// grafts:
// green: no, it prints whether the pool's threads are green
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class TaskApi
{
    static readonly AsyncLocal<string> local = new AsyncLocal<string>();

    static void Main()
    {
        Results();
        Names();
        Faults();
        Cancellation();
        Context();
        Children();
        Inlining().Wait();
        End();
    }

    static void Results()
    {
        bool green = false;
        Task.RunAsGreenThread(() => { green = Thread.IsGreenThread; }).Wait();
        Console.WriteLine(green); // expect: True
        Console.WriteLine(Task.RunAsGreenThread(() => 42).Result); // expect: 42
        Console.WriteLine(Task.RunAsGreenThread(() => "text", CancellationToken.None).Result); // expect: text
        var all = Enumerable.Range(0, 50).Select(i => Task.RunAsGreenThread(() => i * 2)).ToArray();
        Console.WriteLine(Task.WhenAll(all).Result.Sum()); // expect: 2450
        Task<Task<int>> nested = Task.RunAsGreenThread(async () => { await Task.Yield(); return 5; });
        Console.WriteLine(nested.Unwrap().Result); // expect: 5
    }

    static void Names()
    {
        Console.WriteLine(Task.RunOnGreenThread(() => Thread.IsGreenThread).Result); // expect: True
        Console.WriteLine(Task.RunOnGreenThread(() => Thread.IsGreenThread, CancellationToken.None).Result); // expect: True
        Task.RunOnGreenThread(() => { }).Wait();
        Task.RunOnGreenThread(() => { }, new CancellationTokenSource().Token).Wait();
        var names = typeof(Task).GetMethods().Where(m => m.Name.EndsWith("GreenThread")).Select(m => m.Name).ToArray();
        Console.WriteLine(names.Length + " " + string.Join(" ", names.Distinct())); // expect: 8 RunAsGreenThread RunOnGreenThread
        Func<Action, Task> run = Task.RunAsGreenThread;
        Console.WriteLine(run(() => { }).Wait(10000)); // expect: True
        Func<Func<int>, Task<int>> compute = Task.RunAsGreenThread<int>;
        Console.WriteLine(compute(() => 3).Result); // expect: 3
    }

    static void Faults()
    {
        var failed = Task.RunAsGreenThread(() => { throw new FormatException("inside"); });
        try { failed.Wait(); }
        catch (AggregateException e) { Console.WriteLine(e.InnerException.GetType().Name + " " + e.InnerException.Message); } // expect: FormatException inside
        Console.WriteLine(failed.Status + " " + failed.Exception.InnerExceptions.Count); // expect: Faulted 1
        try { Task.RunAsGreenThread<int>(() => throw new FormatException("typed")).GetAwaiter().GetResult(); }
        catch (FormatException e) { Console.WriteLine(e.Message); } // expect: typed
        try { Task.RunAsGreenThread((Action)null); }
        catch (ArgumentNullException e) { Console.WriteLine(e.ParamName); } // expect: action
        try { Task.RunAsGreenThread((Func<int>)null); }
        catch (ArgumentNullException e) { Console.WriteLine(e.ParamName); } // expect: function
    }

    static void Cancellation()
    {
        var source = new CancellationTokenSource();
        source.Cancel();
        bool ran = false;
        var before = Task.RunAsGreenThread(() => { ran = true; }, source.Token);
        try { before.Wait(); }
        catch (AggregateException e) { Console.WriteLine(before.Status + " " + ran + " " + e.InnerException.GetType().Name); } // expect: Canceled False TaskCanceledException
        var inside = new CancellationTokenSource();
        var task = Task.RunAsGreenThread(() =>
        {
            inside.Cancel();
            inside.Token.ThrowIfCancellationRequested();
            return 1;
        }, inside.Token);
        try { task.Wait(); }
        catch (AggregateException e) { Console.WriteLine(e.InnerException.GetType().Name); } // expect: TaskCanceledException
        Console.WriteLine(task.Status); // expect: Canceled
        var other = new CancellationTokenSource();
        other.Cancel();
        var foreign = Task.RunAsGreenThread(() => other.Token.ThrowIfCancellationRequested());
        ((IAsyncResult)foreign).AsyncWaitHandle.WaitOne();
        Console.WriteLine(SpinWait.SpinUntil(() => foreign.IsFaulted, 10000)); // expect: True
    }

    static void Context()
    {
        local.Value = "outer";
        var task = Task.RunAsGreenThread(() =>
        {
            string seen = local.Value;
            local.Value = "inner";
            return seen;
        });
        Console.WriteLine(task.Result + " " + local.Value); // expect: outer outer
        using (ExecutionContext.SuppressFlow())
            Console.WriteLine(Task.RunAsGreenThread(() => local.Value ?? "none").Result); // expect: none
    }

    static void Children()
    {
        Console.WriteLine(Task.RunAsGreenThread(() => TaskScheduler.Current == TaskScheduler.Default).Result); // expect: True
        var parent = Task.RunAsGreenThread(() =>
        {
            Task.Factory.StartNew(() => Thread.Sleep(Timeout.Infinite), CancellationToken.None,
                TaskCreationOptions.AttachedToParent, TaskScheduler.Default);
        });
        Console.WriteLine(parent.Wait(10000) + " " + parent.CreationOptions); // expect: True DenyChildAttach, HideScheduler
        // A task that is started in a green one goes to the pool.
        Console.WriteLine(Task.RunAsGreenThread(() => Task.Factory.StartNew(() => Thread.IsGreenThread).Result).Result); // expect: False
    }

    static async Task Inlining()
    {
        // A wait on an OS thread leaves the task to a green one.
        for (int i = 0; i < 20; i++)
        {
            var task = Task.RunAsGreenThread(() => Thread.IsGreenThread);
            task.Wait();
            if (!task.Result)
                Console.WriteLine("ran on the waiting thread");
        }
        // So does RunSynchronously of a continuation.
        var continuation = Task.RunAsGreenThread(() => 1).ContinueWith(t => t.Result + 1, TaskContinuationOptions.ExecuteSynchronously);
        Console.WriteLine(await continuation); // expect: 2
        // Green threads wait for each other.
        Console.WriteLine(Task.RunAsGreenThread(() =>
        {
            var inner = Enumerable.Range(0, 10).Select(i => Task.RunAsGreenThread(() => Thread.IsGreenThread ? i : -100)).ToArray();
            Task.WaitAll(inner);
            return inner.Sum(t => t.Result);
        }).Result); // expect: 45
    }

    static void End()
    {
        Console.WriteLine(Thread.IsGreenThread); // expect: False
    }
}
