// The work of Blocking.cs with async and await, on the thread pool.
using System;
using System.Threading;
using System.Threading.Tasks;

sealed class Async : Way
{
    static double Inside(Func<Task> work)
    {
        return Bench.Seconds(() => Task.Run(work).Wait());
    }

    static double Together(int parties, Func<int, Task> work)
    {
        return Inside(() => {
            var all = new Task[parties];
            for (int i = 0; i < parties; i++) {
                int me = i;
                all[i] = Task.Run(() => work(me));
            }
            return Task.WhenAll(all);
        });
    }

    public override double Yield(int count, int parties)
    {
        return Together(parties, async me => {
            for (int i = count / parties; i > 0; i--) await Task.Yield();
        });
    }

    public override double Spawn(int count)
    {
        var done = new SemaphoreSlim(0);
        int left = 0;
        Action item = () => { if (Interlocked.Decrement(ref left) == 0) done.Release(); };
        return Inside(async () => {
            for (int n; count > 0; count -= n) {
                left = n = Math.Min(count, Batch);
                for (int i = 0; i < n; i++) Task.Run(item);
                await done.WaitAsync().ConfigureAwait(false);
            }
        });
    }

    public override double SpawnAndWait(int count)
    {
        int ran = 0;
        Action item = () => ran++;
        double seconds = Inside(async () => {
            for (int i = 0; i < count; i++) await Task.Run(item).ConfigureAwait(false);
        });
        Bench.Check(ran == count, "every task ran");
        return seconds;
    }

    // The innermost call waits, so that every frame moves to the heap.
    static async Task<int> Recurse(int frames, SemaphoreSlim arrived, SemaphoreSlim gate)
    {
        if (frames > 1) return await Recurse(frames - 1, arrived, gate).ConfigureAwait(false) + 1;
        if (gate == null) await Task.Yield();
        else {
            arrived.Release();
            await gate.WaitAsync().ConfigureAwait(false);
        }
        return 1;
    }

    public override double Deep(int count)
    {
        int sum = 0;
        double seconds = Inside(async () => {
            for (int i = 0; i < count; i++) sum += await Task.Run(() => Recurse(Frames, null, null)).ConfigureAwait(false) / Frames;
        });
        Bench.Check(sum == count, "all frames returned");
        return seconds;
    }

    public override double DeepAtOnce(int count)
    {
        var arrived = new SemaphoreSlim(0);
        var gate = new SemaphoreSlim(0);
        return Inside(async () => {
            var all = new Task<int>[count];
            for (int i = 0; i < count; i++) all[i] = Task.Run(() => Recurse(Frames, arrived, gate));
            for (int i = 0; i < count; i++) await arrived.WaitAsync().ConfigureAwait(false);
            gate.Release(count);
            foreach (int frames in await Task.WhenAll(all).ConfigureAwait(false)) Bench.Check(frames == Frames, "all frames returned");
        });
    }

    public override double PingPong(int count, int pairs)
    {
        var balls = new SemaphoreSlim[2 * pairs];
        for (int i = 0; i < balls.Length; i++) balls[i] = new SemaphoreSlim(i % 2 == 0 ? 1 : 0);
        return Together(balls.Length, async me => {
            SemaphoreSlim mine = balls[me], other = balls[me ^ 1];
            for (int i = count / pairs; i > 0; i--) {
                await mine.WaitAsync().ConfigureAwait(false);
                other.Release();
            }
        });
    }

    static async Task Fail(int frames)
    {
        if (frames > 1) {
            await Fail(frames - 1).ConfigureAwait(false);
            Bench.Check(false, "nothing returns from here");
        }
        await Task.Yield();
        throw new InvalidOperationException();
    }

    public override double Throw(int count, int frames)
    {
        int caught = 0;
        double seconds = Inside(async () => {
            for (int i = 0; i < count; i++)
                try { await Fail(frames).ConfigureAwait(false); }
                catch (InvalidOperationException) { caught++; }
        });
        Bench.Check(caught == count, "every exception was caught");
        return seconds;
    }

    readonly SemaphoreSlim gate = new SemaphoreSlim(0), all = new SemaphoreSlim(0);
    int here, parked;

    public override double Park(int count)
    {
        parked = count;
        here = 0;
        Func<Task> wait = async () => {
            if (Interlocked.Increment(ref here) == parked) all.Release();
            await gate.WaitAsync().ConfigureAwait(false);
            if (Interlocked.Decrement(ref here) == 0) all.Release();
        };
        return Inside(() => {
            for (int i = 0; i < count; i++) Task.Run(wait);
            return all.WaitAsync();
        });
    }

    public override double Unpark()
    {
        return Inside(() => {
            gate.Release(parked);
            return all.WaitAsync();
        });
    }
}
