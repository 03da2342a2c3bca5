// Many green threads begin at once with a method that has no code yet, and that takes long to compile.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Cold
{
    const int Threads = 600;

    static double Step(double x, int i) { return Math.Sqrt(x * x + i) - Math.Abs(x - i) / (1 + x * x); }

    static double First(int n)
    {
        double sum = n;
        for (int i = 0; i < 3; i++) {
            switch ((n + i) % 12) {
                case 0: sum += Step(sum, 1) * Step(n, 2) + Step(i, 3); break;
                case 1: sum -= Step(sum, 2) * Step(n, 3) + Step(i, 4); break;
                case 2: sum += Step(sum, 3) / Step(n, 4) + Step(i, 5); break;
                case 3: sum -= Step(sum, 4) / Step(n, 5) + Step(i, 6); break;
                case 4: sum += Step(sum, 5) * Step(n, 6) - Step(i, 7); break;
                case 5: sum -= Step(sum, 6) * Step(n, 7) - Step(i, 8); break;
                case 6: sum += Step(sum, 7) / Step(n, 8) - Step(i, 9); break;
                case 7: sum -= Step(sum, 8) / Step(n, 9) - Step(i, 10); break;
                case 8: sum += Step(sum, 9) * Step(n, 10) * Step(i, 11); break;
                case 9: sum -= Step(sum, 10) * Step(n, 11) * Step(i, 12); break;
                case 10: sum += Step(sum, 11) / Step(n, 12) * Step(i, 13); break;
                default: sum -= Step(sum, 12) / Step(n, 13) * Step(i, 14); break;
            }
            sum += Step(sum + 1, i) * Step(n + 1, i) + Step(i + 1, n) * Step(sum + 2, n) - Step(n + 2, i) / Step(sum + 3, i);
            sum += Step(sum + 2, i) * Step(n + 2, i) + Step(i + 2, n) * Step(sum + 4, n) - Step(n + 3, i) / Step(sum + 5, i);
        }
        return sum;
    }

    static void Main()
    {
        var start = (Func<Action, Task>)Delegate.CreateDelegate(
            typeof(Func<Action, Task>), typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action) }));
        // What they need besides has its code before.
        var gate = new ManualResetEventSlim();
        int ran = 0;
        Action<bool> body = run => {
            gate.Wait();
            if (run) First(Interlocked.Increment(ref ran));
        };
        var tasks = new Task[Threads];
        for (int round = 0; round < 2; round++) {
            gate.Reset();
            for (int i = 0; i < Threads; i++) {
                bool run = round == 1;
                tasks[i] = start(() => body(run));
            }
            Thread.Sleep(100);
            gate.Set();
            Task.WaitAll(tasks);
        }
        Console.WriteLine("ran {0}", ran);
    }
}
