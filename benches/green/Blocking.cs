// Blocking code, which is the same on green threads and on those of the operating system.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

sealed class Blocking : Way
{
    readonly Func<Action, Task> run;

    public Blocking(Func<Action, Task> run) { this.run = run; }

    // A thread of the operating system, as a task.
    public static Task Thread(Action action)
    {
        return Task.Factory.StartNew(action, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
    }

    // The seconds that `work` takes on a thread of this kind.
    double Inside(Action work)
    {
        double seconds = 0;
        run(() => seconds = Bench.Seconds(work)).Wait();
        return seconds;
    }

    // The seconds from when all `parties` may begin until all have ended; each gets its number.
    double Together(int parties, Action<int> work)
    {
        return Inside(() => {
            var all = new Task[parties];
            for (int i = 0; i < parties; i++) {
                int me = i;
                all[i] = run(() => work(me));
            }
            Task.WaitAll(all);
        });
    }

    public override double Yield(int count, int parties)
    {
        return Together(parties, me => {
            for (int i = count / parties; i > 0; i--) System.Threading.Thread.Yield();
        });
    }

    public override double Spawn(int count)
    {
        var done = new SemaphoreSlim(0);
        int left = 0;
        Action item = () => { if (Interlocked.Decrement(ref left) == 0) done.Release(); };
        return Inside(() => {
            for (int n; count > 0; count -= n) {
                left = n = Math.Min(count, Batch);
                for (int i = 0; i < n; i++) run(item);
                done.Wait();
            }
        });
    }

    public override double SpawnAndWait(int count)
    {
        int ran = 0;
        Action item = () => ran++;
        double seconds = Inside(() => {
            for (int i = 0; i < count; i++) run(item).Wait();
        });
        Bench.Check(ran == count, "every thread ran");
        return seconds;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Recurse(int frames, SemaphoreSlim arrived, SemaphoreSlim gate)
    {
        if (frames > 1) return Recurse(frames - 1, arrived, gate) + 1;
        if (gate != null) {
            arrived.Release();
            gate.Wait();
        }
        return 1;
    }

    public override double Deep(int count)
    {
        int sum = 0;
        Action item = () => sum += Recurse(Frames, null, null) / Frames;
        double seconds = Inside(() => {
            for (int i = 0; i < count; i++) run(item).Wait();
        });
        Bench.Check(sum == count, "all frames returned");
        return seconds;
    }

    public override double DeepAtOnce(int count)
    {
        var arrived = new SemaphoreSlim(0);
        var gate = new SemaphoreSlim(0);
        return Inside(() => {
            var all = new Task[count];
            for (int i = 0; i < count; i++)
                all[i] = run(() => Bench.Check(Recurse(Frames, arrived, gate) == Frames, "all frames returned"));
            for (int i = 0; i < count; i++) arrived.Wait();
            gate.Release(count);
            Task.WaitAll(all);
        });
    }

    public override double PingPong(int count, int pairs)
    {
        var balls = new SemaphoreSlim[2 * pairs];
        for (int i = 0; i < balls.Length; i++) balls[i] = new SemaphoreSlim(i % 2 == 0 ? 1 : 0);
        return Together(balls.Length, me => {
            SemaphoreSlim mine = balls[me], other = balls[me ^ 1];
            for (int i = count / pairs; i > 0; i--) {
                mine.Wait();
                other.Release();
            }
        });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fail(int frames)
    {
        if (frames > 1) {
            Fail(frames - 1);
            Bench.Check(false, "nothing returns from here");
        }
        System.Threading.Thread.Yield();
        throw new InvalidOperationException();
    }

    public override double Throw(int count, int frames)
    {
        int caught = 0;
        double seconds = Inside(() => {
            for (int i = 0; i < count; i++)
                try { Fail(frames); }
                catch (InvalidOperationException) { caught++; }
        });
        Bench.Check(caught == count, "every exception was caught");
        return seconds;
    }

    const int Depths = 500, Rounds = 2000;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Leaf(long a, long b) { return Inner(a, b) + 1; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Inner(long a, long b) { return a ^ b; }

    // At each depth, the best time of some loops of calls. Where a stack is made of segments, the calls cross an edge at some depth.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long AtDepth(int depth, double[] times)
    {
        if (depth == Depths) return 0;
        long sum = 0, best = long.MaxValue;
        for (int repeat = 0; repeat < 5; repeat++) {
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < Rounds; i++) sum += Leaf(i, depth);
            best = Math.Min(best, Stopwatch.GetTimestamp() - start);
        }
        times[depth] = best * 1e9 / Stopwatch.Frequency / Rounds;
        return sum + AtDepth(depth + 1, times);
    }

    // The nanoseconds of a call at each depth, in order.
    public double[] Calls()
    {
        var times = new double[Depths];
        Inside(() => AtDepth(0, times));
        Inside(() => AtDepth(0, times));
        Array.Sort(times);
        return times;
    }

    readonly SemaphoreSlim gate = new SemaphoreSlim(0), all = new SemaphoreSlim(0);
    int here, parked;

    public override double Park(int count)
    {
        parked = count;
        here = 0;
        Action wait = () => {
            if (Interlocked.Increment(ref here) == parked) all.Release();
            gate.Wait();
            if (Interlocked.Decrement(ref here) == 0) all.Release();
        };
        return Inside(() => {
            for (int i = 0; i < count; i++) run(wait);
            all.Wait();
        });
    }

    public override double Unpark()
    {
        return Inside(() => {
            gate.Release(parked);
            all.Wait();
        });
    }
}
