// Values stay in registers across the calls that code makes rarely: allocations without room in the TLAB, the first access to a class's statics, casts that
// are not remembered, stores into arrays of another class. Each of these calls runs code that uses all registers and may collect.
using System;
using System.Runtime.CompilerServices;

class Node {
    public int Value;
    public Node Next;
}

interface IShape { int Sides(); }
class Base : IShape { public virtual int Sides() { return 1; } }
class Square : Base { public override int Sides() { return 4; } }

// Initialisers that use many registers, and collect.
static class Init1 { public static readonly int V; static Init1() { V = Program.Churn(); } }
static class Init2 { public static readonly int V; static Init2() { V = Program.Churn(); } }
static class Bad { public static readonly int V; static Bad() { V = Program.Churn(); throw new InvalidOperationException(); } }

static class Program {
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Churn() {
        double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15, p = 16;
        Node chain = null;
        for (int x = 0; x < 200; x++) {
            chain = new Node { Value = x, Next = chain };
            a += b; b += c; c += d; d += e; e += f; f += g; g += h; h += i;
            i += j; j += k; k += l; l += m; m += n; n += o; o += p; p += a;
        }
        GC.Collect();
        return a + p > 0 && chain.Value == 199 ? 16 : 0;
    }

    // Twelve integers, eight doubles and three references live across an allocation.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Allocations(int rounds) {
        long s0 = 1, s1 = 2, s2 = 3, s3 = 4, s4 = 5, s5 = 6, s6 = 7, s7 = 8;
        double d0 = 1, d1 = 2, d2 = 3, d3 = 4, d4 = 5, d5 = 6, d6 = 7, d7 = 8, d8 = 9, d9 = 10;
        Node first = null, second = null, third = null;
        for (int i = 0; i < rounds; i++) {
            var node = new Node { Value = i };
            node.Next = first; first = node;
            var array = new int[5];
            array[i % 5] = 1;
            second = new Node { Value = array[i % 5], Next = second };
            third = second;
            s0 += s1; s1 ^= s2; s2 += s3; s3 ^= s4; s4 += s5; s5 ^= s6; s6 += s7; s7 ^= i;
            s1 ^= s2 ^ s2; s3 += 0 * s0;
            d0 += 1; d1 += 1; d2 += 1; d3 += 1; d4 += 1; d5 += 1; d6 += 1; d7 += 1; d8 += 1; d9 += 1;
        }
        long again = 0;
        long t0 = 1, t1 = 2, t2 = 3, t3 = 4, t4 = 5, t5 = 6, t6 = 7, t7 = 8;
        for (int i = 0; i < rounds; i++) { t0 += t1; t1 ^= t2; t2 += t3; t3 ^= t4; t4 += t5; t5 ^= t6; t6 += t7; t7 ^= i; }
        again = t0 ^ t1 ^ t2 ^ t3 ^ t4 ^ t5 ^ t6 ^ t7;
        if (again != (s0 ^ s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6 ^ s7)) return "integers differ";
        double sum = d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9;
        if (sum != 55 + 10.0 * rounds) return "doubles differ: " + sum;
        long values = 0, ones = 0;
        for (var n = first; n != null; n = n.Next) values += n.Value;
        for (var n = third; n != null; n = n.Next) ones += n.Value;
        if (values != (long)rounds * (rounds - 1) / 2) return "the first list differs: " + values;
        return ones + " of " + rounds;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Initialisers(bool run, int a, int b, int c, int d, double x, double y, double z, Node n) {
        int e = a * b, f = c * d, g = a + d;
        double w = x * y, v = y * z;
        int got = run ? Init1.V + Init2.V : 0;
        return got + a + b + c + d + e + f + g + (int)(x + y + z + w + v) + n.Value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Stores(Base[] into, Base[] what, int rounds) {
        int a = 1, b = 2, c = 3, d = 4;
        double x = 1, y = 2;
        for (int i = 0; i < rounds; i++) {
            into[i % into.Length] = what[i % what.Length];
            a += 1; b += 1; c += 1; d += 1; x += 1; y += 1;
        }
        int sides = 0;
        foreach (var s in into) sides += s.Sides();
        return a + b + c + d + (int)(x + y) + 1000 * sides;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Casts(object[] what, int rounds) {
        int a = 0, b = 0, sides = 0;
        double x = 0;
        for (int i = 0; i < rounds; i++) {
            var o = what[i % what.Length];
            var shape = o as IShape;
            if (shape != null) sides += ((IShape)o).Sides();
            a += 1; b += 2; x += 3;
        }
        return sides + a + b + (int)x;
    }

    // An exception out of such a call leaves the values of the caller as they were.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Throws(int a, int b, int c, int d, int e, double x, double y, double z) {
        int caught = 0;
        try { caught = Read(a, b, x); } catch (TypeInitializationException) { caught = 9; }
        return caught + a + b + c + d + e + (int)(x + y + z);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Read(int a, int b, double x) { return a + Bad.V + b + (int)x; }

    static void Main() {
        Console.WriteLine("allocations " + Allocations(100));
        var node = new Node { Value = 20 };
        int first = Initialisers(true, 1, 2, 3, 4, 1.0, 2.0, 3.0, node), later = Initialisers(true, 1, 2, 3, 4, 1.0, 2.0, 3.0, node);
        Console.WriteLine("initialisers {0} {1}", first, later);
        Console.WriteLine("stores " + Stores(new Base[4], new Base[] { new Square(), new Base(), new Square() }, 12));
        Console.WriteLine("casts " + Casts(new object[] { new Square(), new Base(), "x", 5, new int[1], new Square() }, 480));
        Console.WriteLine("throws " + Throws(1, 2, 3, 4, 5, 6, 7, 8));
    }
}
