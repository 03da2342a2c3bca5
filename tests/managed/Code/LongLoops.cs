// Loops that run for long are left for optimised code in the middle: what the method has computed goes on to hold there, and traces do not change.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

class Counter
{
    public virtual int Next(int i) { return i + 1; }
}

class Twister : Counter
{
    public override int Next(int i) { return i ^ 3; }
}

struct Mixed
{
    public double X;
    public byte Small;
    public short Short;
    public int Int;
    public object Object;
    public bool Flag;
    public float Single;
}

struct Big
{
    public long A, B, C, D, E;
}

static class LongLoops
{
    const int Long = 30000;

    // Arguments that are written, of each kind, beside some that are not.
    static long Arguments(int n, string text, double d, float f, Mixed m, Big written, Big read, ref int by, Counter counter, bool flag, long last)
    {
        long sum = 0;
        while (n > 0)
        {
            n--;
            sum += text.Length + (long)d + (long)f + m.Short + m.Small + written.C + read.D + last;
            m.Short++;
            m.Small += 3;
            written.C = sum & 0xff;
            d += 0.5;
            f = f * 0.5f + 1;
            by++;
            if (n % 4000 == 0) { text += "x"; counter = new Twister(); flag = !flag; }
            if (flag) sum ^= counter.Next(n);
        }
        return sum + (long)m.X;
    }

    static Mixed Result(int n)
    {
        Mixed v = new Mixed { X = 0.25, Single = 1.5f };
        object[] objects = new object[7];
        for (int i = 0; i < n; i++)
        {
            objects[i % 7] = i;
            v.Object = objects;
            v.X += i;
            v.Small++;
            v.Short--;
            v.Int += (int)objects[i % 7];
            v.Flag ^= (i & 5) == 5;
            v.Single = v.Single * 0.5f + i;
            if (i % 6000 == 0) GC.Collect();
        }
        return v;
    }

    static long Nested(int n)
    {
        long sum = 0;
        for (int k = 0; k < 3; k++)
        {
            int row = 0;
            do
            {
                for (int j = 0; j < n; j++) sum += row ^ j;
                sum += k;
            } while (++row < n);
            sum *= 3;
        }
        return sum;
    }

    static int Handlers(int n)
    {
        int sum = 0;
        try
        {
            for (int i = 0; i < n; i++)
            {
                try
                {
                    if (i % 7777 == 0) throw new Exception("number " + i);
                    sum += i;
                }
                catch (Exception e) { sum += e.Message.Length; }
                finally { sum++; }
            }
        }
        finally { sum += 5; }
        // A loop in a handler, and one that a handler leaves.
        try { throw new Exception(); }
        catch { for (int i = 0; i < n; i++) sum ^= i; }
        for (int i = 0; ; i++)
        {
            try { if (i == n) throw new Exception(); }
            catch { break; }
            lock (typeof(Big)) sum += i & 1;
        }
        return sum;
    }

    static T Last<T>(IEnumerable<T> items, T none)
    {
        T last = none;
        foreach (T item in items) last = item;
        return last;
    }

    static long OwnAddress(int n)
    {
        Big big = new Big();
        ref long part = ref big.C;
        long other = 0;
        for (int i = 0; i < n; i++) { part += i; other += big.C & 3; }
        return big.C + other;
    }

    [MethodImpl(MethodImplOptions.Synchronized)]
    static int Synchronized(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++) sum = sum * 31 + i;
        return sum;
    }

    static string Trace(int n)
    {
        for (int i = 0; ; i++)
            if (i == n)
            {
                StackTrace trace = new StackTrace();
                return trace.GetFrame(0).GetMethod().Name + " " + trace.GetFrame(1).GetMethod().Name + " " + trace.FrameCount;
            }
    }

    static void Throw(int n)
    {
        for (int i = 0; ; i++)
            if (i == n) throw new InvalidOperationException("at " + i);
    }

    static int Deep(int depth, int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++) sum += i & depth;
        return depth == 0 ? sum : sum + Deep(depth - 1, n);
    }

    static IEnumerable<int> Numbers(int n)
    {
        for (int i = 0; i < n; i++) yield return i * 2;
    }

    static int Goto(int n)
    {
        int state = 0, sum = 0;
    again:
        switch (state)
        {
            case 0: sum += 1; state = 1; goto again;
            case 1: sum += 2; state = sum % 5 == 0 ? 2 : 0; if (n-- > 0) goto again; break;
            case 2: sum ^= 0x55; state = 0; goto again;
        }
        return sum;
    }

    static void Main()
    {
        int by = 1;
        Mixed m = new Mixed { X = 3, Short = 7, Small = 200 };
        Big big = new Big { C = 4, D = 9 };
        Console.WriteLine(Arguments(Long, "abc", 1.5, 2.5f, m, big, big, ref by, new Counter(), true, 11) + " " + by + " " + m.Short + " " + big.C);
        Mixed r = Result(Long);
        Console.WriteLine("{0} {1} {2} {3} {4} {5} {6}", r.X, r.Small, r.Short, r.Int, r.Flag, r.Single, ((object[])r.Object)[3]);
        Console.WriteLine(Nested(200));
        Console.WriteLine(Handlers(Long));
        Console.WriteLine(Last(Numbers(Long), -1) + " " + Last(new List<string> { "a", "b" }, "none"));
        Console.WriteLine(OwnAddress(Long) + " " + Synchronized(Long));
        Console.WriteLine(Trace(5) + ", " + Trace(Long * 30));
        string[] traces = new string[2];
        for (int i = 0; i < 2; i++)
            try { Throw(i * Long * 30 + 5); }
            catch (InvalidOperationException e) { Console.WriteLine(e.Message); traces[i] = e.StackTrace; }
        Console.WriteLine(traces[0] == traces[1]);
        Console.WriteLine(Deep(20, Long / 5) + " " + Goto(Long));
        // Several threads in one loop.
        long[] sums = new long[4];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 4; i++)
        {
            int own = i;
            threads[i] = new Thread(() => { for (int k = 0; k < 20; k++) sums[own] += Nested(60) + Deep(3, 3000); });
            threads[i].Start();
        }
        foreach (Thread thread in threads) thread.Join();
        Console.WriteLine(sums[0] == sums[1] && sums[2] == sums[3] && sums[1] == sums[2]);
        Console.WriteLine(sums[0]);
    }
}
