// Methods too long to be optimised at once, called often enough to be compiled again while they run: in frames, in VTables, behind
// delegates and interfaces, on several threads at the same time. What they do and what their traces say must not change.
using System;
using System.Linq;
using System.Threading;

interface IStep { int Step(int x); }

abstract class Shape : IStep
{
    protected int seen;
    public abstract int Step(int x);
    public virtual int Kind { get { return 1; } }
}

sealed class Round : Shape
{
    public override int Step(int x)
    {
        int a = x * 3, b = x ^ 0x55, c = a + b;
        if ((c & 1) != 0) a += 7; else b -= 5;
        if ((c & 2) != 0) a ^= b; else b ^= a;
        if ((c & 4) != 0) c += Kind; else c -= Kind;
        switch (c & 3) { case 0: a++; break; case 1: b++; break; case 2: c++; break; default: a--; break; }
        seen += a - b; seen ^= c; seen += x;
        return a + b * 3 + c;
    }
    public override int Kind { get { return 2; } }
}

struct Point : IStep
{
    public int X, Y;
    public int Step(int x)
    {
        X += x; Y ^= X; X -= Y >> 3; Y += x * 5; X ^= 0x1234; Y -= X & 255; X += Y << 1; Y ^= x; X -= 3; Y += 11;
        if ((X & 1) == 0) X += Y; else Y += X;
        if ((Y & 1) == 0) Y -= x; else X -= x;
        if ((X & 8) == 0) X ^= Y; else Y ^= X;
        return X * 31 + Y;
    }
}

class Pair<T>
{
    public T First, Second; int turns;
    public T Pick(int x)
    {
        int a = x, b = turns++;
        if ((a & 1) != 0) b += a; else b -= a;
        if ((b & 2) != 0) a += b; else a -= b;
        if ((a & 4) != 0) b ^= a; else b ^= 77;
        if ((b & 8) != 0) a ^= b; else a ^= 99;
        if (((a + b) & 1) != 0) return First; else return Second;
    }
}

class Program
{
    static int Fails(int x, int depth)
    {
        int a = x + depth, b = a * 7, c = b ^ x;
        if ((c & 1) != 0) a += b; else a -= b;
        if ((a & 2) != 0) c += a; else c -= a;
        if ((c & 4) != 0) b += c; else b -= c;
        if ((b & 8) != 0) a ^= c; else a ^= b;
        if (depth == 0) throw new InvalidOperationException("at " + x);
        try { return Fails(x, depth - 1) + a; }
        finally { trail += depth + (a & 0); }
    }
    static int trail;

    static string Trace(int x)
    {
        try { Fails(x, 3); return "nothing"; }
        catch (InvalidOperationException e)
        {
            return e.Message + ": " + string.Join(" ", e.StackTrace.Split('\n').Select(l => l.Contains("Fails") ? "Fails" : l.Contains("Trace") ? "Trace" : "?"));
        }
    }

    // The frames of a deep recursion go on in the code that they began in, also while the method is compiled again.
    static int Deep(int n, Shape shape)
    {
        int a = n, stepped = shape.Step(n), b = stepped, c = a ^ b;
        if ((c & 1) != 0) a += b; else a -= b;
        if ((a & 2) != 0) c += a; else c -= a;
        if ((c & 4) != 0) b += c; else b -= c;
        if ((b & 8) != 0) a ^= c; else a ^= b;
        if ((a & 16) != 0) c ^= 5; else c ^= 9;
        int below = n == 0 ? 0 : Deep(n - 1, shape);
        if (a * 3 + b - c != Again(n, stepped)) throw new Exception("a local changed");
        return below + c;
    }
    static int Again(int n, int b)
    {
        int a = n, c = a ^ b;
        if ((c & 1) != 0) a += b; else a -= b;
        if ((a & 2) != 0) c += a; else c -= a;
        if ((c & 4) != 0) b += c; else b -= c;
        if ((b & 8) != 0) a ^= c; else a ^= b;
        if ((a & 16) != 0) c ^= 5; else c ^= 9;
        return a * 3 + b - c;
    }

    static void Main()
    {
        Shape shape = new Round(); IStep step = new Round(); IStep boxed = new Point(); Func<int, int> open = new Round().Step;
        int sum = 0;
        for (int i = 0; i < 20000; i++) { sum += shape.Step(i); sum ^= step.Step(i); sum += boxed.Step(i); sum ^= open(i); }
        Console.WriteLine(sum);

        var words = new Pair<string> { First = "a", Second = "b" }; var numbers = new Pair<long> { First = 1, Second = 2 };
        long total = 0;
        for (int i = 0; i < 20000; i++) total += numbers.Pick(i) + words.Pick(i).Length;
        Console.WriteLine(total);

        string before = Trace(5);
        for (int i = 0; i < 4000; i++) if (Trace(i).Length == 0) return;
        Console.WriteLine(before);
        Console.WriteLine(before == Trace(5) ? "the same trace" : "another trace: " + Trace(5));
        Console.WriteLine(trail);

        for (int i = 0; i < 20; i++) sum ^= Deep(2000, shape);
        Console.WriteLine(sum);

        var sums = new int[4];
        var threads = Enumerable.Range(0, 4).Select(t => new Thread(() =>
        {
            var own = new Round(); var pair = new Pair<int> { First = t, Second = t + 1 }; int s = 0;
            for (int i = 0; i < 30000; i++) { s += own.Step(i); s ^= pair.Pick(i); s += Again(i, s); }
            sums[t] = s;
        })).ToArray();
        foreach (var t in threads) t.Start();
        foreach (var t in threads) t.Join();
        Console.WriteLine(string.Join(" ", sums));
    }
}
