// What context a task runs in: the one that its constructor captured, also where that is the default one.
using System;
using System.Runtime.Remoting.Messaging;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static readonly AsyncLocal<string> local = new AsyncLocal<string>();
    static string Seen() { return (local.Value ?? "-") + " " + (CallContext.LogicalGetData("key") ?? "-"); }
    static string Run() { return Task.Run(() => Seen()).Result; }

    // Runs on the thread that waits, if that is possible: its context must not leak into the task, nor the task's into it.
    static string Inline(Task<string> task) { task.RunSynchronously(); return task.Result; }

    static void Main()
    {
        Console.WriteLine(Run());                               // expect: - -
        var early = new Task<string>(Seen);
        local.Value = "a";
        Console.WriteLine(Run());                               // expect: a -
        CallContext.LogicalSetData("key", 1);
        Console.WriteLine(Run());                               // expect: a 1
        var late = new Task<string>(Seen);
        var writes = new Task<string>(() => { local.Value = "inner"; CallContext.LogicalSetData("key", 2); return Seen(); });
        local.Value = "b";
        Console.WriteLine(Inline(early) + ", " + Seen());       // expect: - -, b 1
        Console.WriteLine(Inline(late) + ", " + Seen());        // expect: a 1, b 1
        Console.WriteLine(Inline(writes) + ", " + Seen());      // expect: inner 2, b 1
        using (ExecutionContext.SuppressFlow()) Console.WriteLine(Run()); // expect: - -
        Console.WriteLine(Run());                               // expect: b 1

        // A task with the default context changes the context of nobody else.
        local.Value = null;
        CallContext.FreeNamedDataSlot("key");
        var thread = new Thread(() => {
            var first = new Task<string>(() => { local.Value = "first"; CallContext.LogicalSetData("key", 3); return Seen(); });
            var second = new Task<string>(Seen);
            Console.WriteLine(Inline(first) + ", " + Inline(second) + ", " + Seen() + ", " + Run());
            // expect: first 3, - -, - -, - -
            Console.WriteLine(ReferenceEquals(ExecutionContext.Capture(), ExecutionContext.Capture())); // expect: False
            Console.WriteLine(ExecutionContext.Capture().CreateCopy() != null); // expect: True
        });
        thread.Start();
        thread.Join();

        // In continuations and async methods.
        local.Value = "c";
        Console.WriteLine(Task.Run(() => 1).ContinueWith(t => Seen()).Result); // expect: c -
        Func<Task<string>> body = async () => { local.Value = "d"; await Task.Yield(); return Seen(); };
        Console.WriteLine(body().Result + ", " + Seen());       // expect: d -, c -
        Console.WriteLine(Task.Factory.StartNew(() => Task.Run(() => Seen()).Result).Result); // expect: c -
        var all = new Task<string>[100];
        for (int i = 0; i < all.Length; i++) { local.Value = i.ToString(); all[i] = Task.Run(() => Seen()); }
        for (int i = 0; i < all.Length; i++) if (all[i].Result != i + " -") Console.WriteLine("task {0} saw {1}", i, all[i].Result);
    }
}
