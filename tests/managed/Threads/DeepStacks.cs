// Calls that cross the edges of a stack's segments, at every depth: arguments in registers and on the stack, results of all kinds,
// exceptions, filters and finally blocks across edges, overflow and what is left after it, aborts and collections deep down.
// On a stack of one piece the same must come out.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class DeepStacks
{
    struct Four { public long A, B, C, D; }
    struct Big { public long A, B, C, D, E, F, G, H, I; }

    static long sum;
    static int finallies;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double Many(int depth, long a, long b, long c, long d, long e, long f, long g, double x, double y, double z, double u,
        double v, double w, double p, double q, double r, object o, Big big)
    {
        if (depth > 0)
            return 1 + Many(depth - 1, b, c, d, e, f, g, a, y, z, u, v, w, p, q, r, x, o, big);
        return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + x + 2 * y + 3 * z + 4 * u + 5 * v + 6 * w + 7 * p + 8 * q + 9 * r
            + (int) o + big.A + big.I;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Four Quad(int depth, Four f)
    {
        if (depth == 0)
            return f;
        f = Quad(depth - 1, new Four { A = f.B, B = f.C, C = f.D, D = f.A + 1 });
        return new Four { A = f.D, B = f.A, C = f.B, D = f.C };
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Big Large(int depth, Big b)
    {
        if (depth == 0)
            return b;
        b.A++;
        b.I += 2;
        return Large(depth - 1, b);
    }
    // A frame that is larger than a segment.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe long Wide(int depth)
    {
        Wide1 w = default(Wide1);
        w.Data[depth & 1023] = depth;
        long below = depth == 0 ? 0 : Wide(depth - 1);
        return below + w.Data[depth & 1023];
    }
    unsafe struct Wide1 { public fixed long Data[1024]; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int depth, int at)
    {
        try {
            if (depth == 0)
                throw new InvalidOperationException(at.ToString());
            Throw(depth - 1, at);
        } finally {
            if (depth % 64 == 0)
                finallies++;
        }
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Filter(int depth)
    {
        return depth == 0 || Filter(depth - 1);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Catch(int depth)
    {
        try {
            Throw(depth, depth);
        } catch (InvalidOperationException e) when (Filter(200) && e.Message == depth.ToString()) {
            return depth;
        }
        return -1;
    }
    static int Endless(int n) { return Endless(n + 1) + 1; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Allocate(int depth)
    {
        var mine = new object[] { depth, depth.ToString() };
        if (depth == 0)
            GC.Collect();
        else if (depth % 50 == 0)
            GC.Collect(0);
        int below = depth == 0 ? 0 : Allocate(depth - 1);
        return below + ((int) mine[0] == depth && (string) mine[1] == depth.ToString() ? 1 : 0);
    }
    static int Call(Func<int, int> f, int depth) { return depth == 0 ? 0 : f(depth - 1) + 1; }

    static void Deep(int depth, ManualResetEvent deep)
    {
        if (depth > 0) {
            Deep(depth - 1, deep);
            return;
        }
        deep.Set();
        while (true)
            Thread.Sleep(1);
    }

    static void Work()
    {
        for (int depth = 0; depth < 400; depth += 7) {
            var b = new Big { A = depth, I = 5 };
            double got = Many(depth, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, depth, b);
            long[] l = { 1, 2, 3, 4, 5, 6, 7 };
            double[] d = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
            double want = depth + depth + depth + 5;
            for (int i = 0; i < 7; i++)
                want += (i + 1) * l[(i + depth) % 7];
            for (int i = 0; i < 9; i++)
                want += (i + 1) * d[(i + depth) % 9];
            if (got != want)
                Console.WriteLine("Many({0}): {1}, not {2}", depth, got, want);
            var q = Quad(depth, new Four { A = 1, B = 2, C = 3, D = 4 });
            if (q.A + q.B + q.C + q.D != 10 + depth)
                Console.WriteLine("Quad({0}): {1} {2} {3} {4}", depth, q.A, q.B, q.C, q.D);
            b = Large(depth, b);
            if (b.A != 2 * depth || b.I != 5 + 2 * depth)
                Console.WriteLine("Large({0}): {1} {2}", depth, b.A, b.I);
            if (Catch(depth) != depth)
                Console.WriteLine("Catch({0})", depth);
        }
        Console.WriteLine("wide {0}", Wide(40)); // expect: wide 820
        Console.WriteLine("finallies {0}", finallies); // expect: finallies 211
        Console.WriteLine("allocated {0}", Allocate(300)); // expect: allocated 301
        Func<int, int> f = null;
        f = n => Call(f, n);
        Console.WriteLine("delegates {0}", f(2000)); // expect: delegates 2000
        for (int i = 0; i < 3; i++) {
            try {
                Endless(0);
            } catch (StackOverflowException) {
                sum++;
            }
            sum += Catch(100) == 100 ? 0 : 1000;
        }
        Console.WriteLine("overflows {0}", sum); // expect: overflows 3
    }

    static void Main()
    {
        var t = new Thread(Work, 1 << 20);
        t.Start();
        t.Join();
        int aborted = 0;
        for (int depth = 0; depth < 500; depth += 23) {
            var deep = new ManualResetEvent(false);
            t = new Thread(() => {
                try {
                    Deep(depth, deep);
                } catch (ThreadAbortException) {
                    aborted++;
                    if (Catch(depth) == depth)
                        Thread.ResetAbort();
                }
                aborted += 1000;
            });
            t.Start();
            deep.WaitOne();
            t.Abort();
            t.Join();
        }
        Console.WriteLine("aborted {0}", aborted); // expect: aborted 22022
    }
}
