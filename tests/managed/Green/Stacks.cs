// grafts:
// env: VERVET_DEBUG_NO_GUARD_REGIONS=1
// More threads wait below a frame of the runtime (for a class constructor that another thread runs) than there can be native stacks where a guard page is
// a mapping of its own: the others wait for a stack, and all go on.
using System;
using System.Threading;
using System.Threading.Tasks;

class Slow {
    public static readonly int Value;
    static Slow() {
        Thread.Sleep(1500);
        Value = 1;
    }
}

class Stacks {
    static void Main() {
        const int Count = 40000;
        int sum = 0;
        var tasks = new Task[Count];
        for (int i = 0; i < Count; i++) tasks[i] = Task.RunAsGreenThread(() => { Interlocked.Add(ref sum, Slow.Value); });
        Task.WaitAll(tasks);
        Console.WriteLine(sum);
        // And once more, with the stacks that were given back.
        for (int i = 0; i < Count; i++) tasks[i] = Task.RunAsGreenThread(() => { Thread.Sleep(1); Interlocked.Increment(ref sum); });
        Task.WaitAll(tasks);
        Console.WriteLine(sum);
    }
}
