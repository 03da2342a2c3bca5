// Where green threads and others wait is sampled when they go on; a wait that is longer than the rate is always kept.
// grafts:
// env: VERVET_DEBUG_SAMPLE=waits,100
using System;
using System.Threading;
using System.Threading.Tasks;

static class SampledWaits
{
    static void Main()
    {
        var tasks = new Task[200];
        for (int i = 0; i < tasks.Length; i++)
            tasks[i] = Task.RunAsGreenThread(() => { for (int k = 0; k < 5; k++) Thread.Sleep(2); });
        var thread = new Thread(() => { for (int k = 0; k < 50; k++) Thread.Sleep(2); });
        thread.Start();
        Task.WaitAll(tasks);
        thread.Join();
        Console.WriteLine("done"); // expect: done
    }
}
