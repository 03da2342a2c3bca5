// Chains of ten async methods that end in Task.Yield, each waited for by the main thread: the first time in the process, and warm.
using System;
using System.Threading.Tasks;

static class DeepYields
{
    static int ends;

    static async Task Deep(int depth)
    {
        if (depth == 0) { await Task.Yield(); ends++; return; }
        await Deep(depth - 1);
    }

    static double Once(int count)
    {
        ends = 0;
        double seconds = Bench.Seconds(() => { for (int i = 0; i < count; i++) Deep(10).Wait(); });
        Bench.Check(ends == count, "every chain ran once");
        return seconds * 1e9 / count;
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 100000);
        Bench.Figure("deep-yield-first", Once(count), "ns");
        double best = double.MaxValue;
        for (int i = 0; i < 3; i++) best = Math.Min(best, Once(count));
        Bench.Figure("deep-yield", best, "ns");
    }
}
