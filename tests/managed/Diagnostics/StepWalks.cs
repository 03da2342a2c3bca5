// env: VERVET_DEBUG_STEP_WALKS=1
// gc-debug: no, each instruction of a collection would be stepped
// Runs one instruction at a time through every kind of code, and compares the sampler's walk with the calls and returns at each of them.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class StepWalks
{
    [DllImport("libc")] static extern int raise(int signal);
    [DllImport("libc")] static extern int getpid();
    delegate int Compare(IntPtr a, IntPtr b);
    [DllImport("libc")] static extern void qsort(int[] array, IntPtr count, IntPtr size, Compare compare);

    interface IShape { int Area(int scale); }
    struct Square : IShape { public int Side; public int Area(int scale) { return Side * Side * scale; } }
    class Circle : IShape { public int Radius; public int Area(int scale) { return 3 * Radius * Radius * scale; } }
    class Animal { public virtual int Legs() { return 4; } }
    class Bird : Animal { public override int Legs() { return 2; } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Many(int a, int b, int c, int d, int e, int f, int g, int h) { return a + b * 2 + c + d + e + f + g * 3 + h; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n - 1); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Throws(object o) { return o.GetHashCode() + ((int[])o).Length; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowNew(int n) { if (n == 0) throw new InvalidOperationException("x"); ThrowNew(n - 1); }
    static bool Filter(Exception e) { return e.Message == "x"; }

    static readonly object gate = new object();
    static int finallies;
    static object kept;

    static int Catches()
    {
        int sum = 0;
        try { Throws(null); } catch (NullReferenceException) { sum++; }
        try { try { ThrowNew(3); } finally { finallies++; } } catch (InvalidOperationException e) when (Filter(e)) { sum++; }
        try { sum /= finallies - finallies; } catch (DivideByZeroException) { sum++; }
        return sum;
    }

    static int Work()
    {
        int sum = Deep(100);
        for (int i = 0; i < 40; i++) kept = new int[i];
        for (int i = 0; i < 20; i++) kept = new Circle();
        sum += Many(1, 2, 3, 4, 5, 6, 7, 8) + getpid() - getpid();
        lock (gate) lock (gate) sum++;
        IShape[] shapes = { new Square { Side = 2 }, new Circle { Radius = 1 } };
        foreach (var shape in shapes) sum += shape.Area(2);
        Animal[] animals = { new Animal(), new Bird() };
        foreach (var animal in animals) sum += animal.Legs();
        var array = new[] { 3, 1, 2 };
        qsort(array, (IntPtr)3, (IntPtr)4, (a, b) => Marshal.ReadInt32(a) - Marshal.ReadInt32(b));
        sum += array[0] + array[2];
        Func<int, int> twice = n => n * 2;
        sum += twice(4);
        var text = "a" + sum + "b";
        var big = new byte[40000];
        Buffer.BlockCopy(big, 0, big, 100, 39000);
        sum += text.Length + Math.Max(big.Length, 3) + string.Concat(text, "c").Length;
        sum += (int)Math.Pow(2, 3) + (int)(7.5 % 2);
        Interlocked.Increment(ref finallies);
        var list = new List<string> { text, "z" };
        sum += list.IndexOf("z") + list.Contains("y").GetHashCode();
        sum += new DateTime(2020, 1, 1).Year + GC.CollectionCount(0) * 0 + Environment.TickCount * 0;
        Thread.Yield();
        return sum + Catches();
    }

    // Called for the first time while it is stepped.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int First(int n) { return n + 1; }

    static void Main()
    {
        int first = Work();
        raise(0); // binds the call
        raise(5);
        int second = Work() + First(1) - 2;
        raise(5);
        Console.WriteLine(first == second); // expect: True
    }
}
