// Calls behind guesses that are wrong: results of all kinds come back, and what lives across the call stays as it is. No guess is right here.
// env: VERVET_DEBUG_FAIL_GUARDS=1
// expect: ints -100 200 -300 60000 -500000 4000000000 -7000000000000
// expect: floats 2500 0.125 bools True False chars z
// expect: texts abc 3 null True structs 1 2 3 4 5 6 pair 7 x nullable 8 True
// expect: by reference 100 generic 9 text t
// expect: live 4950 4950 4950 128 99 Item7 99
// expect: caught 50 of 100, finally 100, live 4950
// expect: many 1 2 3 4 5 6 7 8 9 0.5 1.5 2.5
// expect: deep 2000 overflow True
using System;
using System.Runtime.CompilerServices;

struct Four { public long A, B; public int C, D; }
struct Pair { public int Number; public string Text; }
struct Floats { public double X, Y; }
class Cell { public int Value; public string Text; }

abstract class Source
{
    public abstract sbyte S1(); public abstract byte U1(); public abstract short S2(); public abstract ushort U2();
    public abstract int S4(); public abstract uint U4(); public abstract long S8();
    public abstract float F4(); public abstract double F8(); public abstract bool Bool(int x); public abstract char Char();
    public abstract string Text(int x); public abstract Four Struct(); public abstract Floats Doubles(); public abstract Pair Both(); public abstract int? Maybe(int x);
    public abstract ref int Place(); public abstract T Same<T>(T x);
    public abstract int Collects(int x); public abstract int Throws(int x);
    public abstract string Many(int a, long b, byte c, string d, object e, int f, int g, int h, int i, double x, float y, double z);
    public abstract int Deep(Source next, int n);
}
class Real : Source
{
    int[] place = { 100 };
    public override sbyte S1() { return -100; }
    public override byte U1() { return 200; }
    public override short S2() { return -300; }
    public override ushort U2() { return 60000; }
    public override int S4() { return -500000; }
    public override uint U4() { return 4000000000; }
    public override long S8() { return -7000000000000; }
    public override float F4() { return 2500; }
    public override double F8() { return 0.125; }
    public override bool Bool(int x) { return x > 0; }
    public override char Char() { return 'z'; }
    public override string Text(int x) { return x > 0 ? new string('a', 1) + "bc" : null; }
    public override Four Struct() { return new Four { A = 1, B = 2, C = 3, D = 4 }; }
    public override Floats Doubles() { return new Floats { X = 5, Y = 6 }; }
    public override Pair Both() { return new Pair { Number = 7, Text = new string('x', 1) }; }
    public override int? Maybe(int x) { return x > 0 ? 8 : (int?)null; }
    public override ref int Place() { return ref place[0]; }
    public override T Same<T>(T x) { return x; }
    public override int Collects(int x)
    {
        double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;
        for (int n = 0; n < 50; n++) {
            a += b; b += c; c += d; d += e; e += f; f += g; g += h; h += i; i += j; j = -a / 1e9;
            new Cell { Value = n, Text = "" };
        }
        if (x % 10 == 0) GC.Collect(0);
        return a == 0.5 ? 0 : x;
    }
    public override int Throws(int x)
    {
        Collects(x);
        if (x % 2 == 0) throw new InvalidOperationException();
        return x;
    }
    public override string Many(int a, long b, byte c, string d, object e, int f, int g, int h, int i, double x, float y, double z)
    {
        return string.Join(" ", a, b, c, d, e, f, g, h, i, x, y, z);
    }
    public override int Deep(Source next, int n) { return n == 0 ? 0 : 1 + Program.Down(next, n - 1); }
}
sealed class Other : Real { public override int S4() { return 1; } }

static class Program
{
    static int finals;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Down(Source s, int n) { return s.Deep(s, n); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Endless(Source s) { return Down(s, int.MaxValue); }

    static void Values(Source s)
    {
        Console.WriteLine("ints {0} {1} {2} {3} {4} {5} {6}", s.S1(), s.U1(), s.S2(), s.U2(), s.S4(), s.U4(), s.S8());
        Console.WriteLine("floats {0} {1} bools {2} {3} chars {4}", s.F4(), s.F8(), s.Bool(1), s.Bool(0), s.Char());
        var four = s.Struct();
        var floats = s.Doubles();
        var both = s.Both();
        Console.WriteLine("texts {0} {1} null {2} structs {3} {4} {5} {6} {7} {8} pair {9} {10} nullable {11} {12}", s.Text(1), s.Text(1).Length, s.Text(0) == null,
            four.A, four.B, four.C, four.D, floats.X, floats.Y, both.Number, both.Text, s.Maybe(1), s.Maybe(0) == null);
        Console.WriteLine("by reference {0} generic {1} text {2}", s.Place(), s.Same(9), s.Same("t"));
    }
    static void Live(Source s)
    {
        int sum = 0;
        long wide = 0;
        double real = 0, product = 1;
        object last = null;
        var cell = new Cell { Text = new string('I', 1) + "tem" + 7 };
        for (int i = 0; i < 100; i++) {
            int got = s.Collects(i);
            sum += got;
            wide += i;
            real += i;
            if (i < 7) product *= 2;
            cell.Value = i;
            last = i;
        }
        Console.WriteLine("live {0} {1} {2} {3} {4} {5} {6}", sum, wide, real, product, cell.Value, cell.Text, last);
    }
    static void Caught(Source s)
    {
        int caught = 0, live = 0;
        for (int i = 0; i < 100; i++) {
            live += i;
            try {
                try { s.Throws(i); } finally { finals++; }
            } catch (InvalidOperationException) { caught++; }
        }
        Console.WriteLine("caught {0} of 100, finally {1}, live {2}", caught, finals, live);
    }
    static void Main()
    {
        Source s = new Real();
        new Other().S4();
        Values(s);
        Live(s);
        Caught(s);
        Console.WriteLine("many " + s.Many(1, 2, 3, "4", 5, 6, 7, 8, 9, 0.5, 1.5f, 2.5));
        bool overflow = false;
        try { Endless(s); } catch (StackOverflowException) { overflow = true; }
        Console.WriteLine("deep {0} overflow {1}", Down(s, 2000), overflow);
    }
}
