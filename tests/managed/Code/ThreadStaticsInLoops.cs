// Thread statics that loops use are looked up before the loop: each thread has its own, also where the loop does not run, and initialisers run when they did.
// expect: not used
// expect: none 0
// expect: threads 1000 1000 1000 1000 own 0
// expect: initialised at 7
// expect: generic 300 30 texts aaa
// expect: in handlers 100
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

static class Counts { [ThreadStatic] public static int Value; [ThreadStatic] public static string Text; }
static class Typed<T> { [ThreadStatic] public static int Value; }
class Precise
{
    public static int At = Program.Now();
    [ThreadStatic] public static int Value;
    static Precise() { }
}

static class Program
{
    static int now;
    public static int Now() { return now; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Count(int n) { for (int i = 0; i < n; i++) Counts.Value++; return Counts.Value; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Late(int n)
    {
        for (int i = 0; i < n; i++) {
            now = i;
            if (i == 7) Precise.Value += 1;
        }
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Generic<T>(int n) { for (int i = 0; i < n; i++) Typed<T>.Value++; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Texts(int n) { for (int i = 0; i < n; i++) { Counts.Text += "a"; GC.Collect(0); } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Handled(int n)
    {
        Counts.Value = 0;
        for (int i = 0; i < n; i++)
            try { Counts.Value++; if (i % 3 == 0) throw new Exception(); } catch (Exception) { Counts.Value += 0; }
        return Counts.Value;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NotRun(int n) { for (int i = 0; i < n; i++) Unused.Value++; }
    static class Unused { [ThreadStatic] public static int Value; static Unused() { Console.WriteLine("used"); } }

    static void Main()
    {
        NotRun(0);
        Console.WriteLine("not used");
        Console.WriteLine("none {0}", Count(0));
        var got = new int[4];
        var threads = Enumerable.Range(0, 4).Select(n => new Thread(() => got[n] = Count(1000))).ToArray();
        foreach (var t in threads) t.Start();
        foreach (var t in threads) t.Join();
        Console.WriteLine("threads {0} own {1}", string.Join(" ", got), Counts.Value);
        Late(20);
        Console.WriteLine("initialised at {0}", Precise.At);
        for (int i = 0; i < 3; i++) Generic<int>(100);
        Generic<string>(30);
        Texts(3);
        Console.WriteLine("generic {0} {1} texts {2}", Typed<int>.Value, Typed<string>.Value, Counts.Text);
        Console.WriteLine("in handlers {0}", Handled(100));
    }
}
