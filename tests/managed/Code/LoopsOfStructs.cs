// Methods of structs with a loop whose body lies in front of its test, called in front of a throw: what the loop writes is done once, and what it says decides.
// tiers: all
using System;
using System.Runtime.CompilerServices;

struct Counter
{
    public int n;
    public int Advance(int k)
    {
        int r = 1, q = k;
        for (int i = 0; i < k; i++) { n++; r += n; r ^= 3; }
        q = q * 3 + r; q ^= r + k; q = q + 5 * r - k; q += k; q -= k;
        return q;
    }
}

struct Steps
{
    public int at, taken, end;
    public bool Next()
    {
        while (at < end) { at++; taken++; if ((at & 1) == 0) return true; if (taken > 1000) taken -= 1000; }
        return at < end + 1 && taken < 0 || at * 3 < end - taken + at || end == 77;
    }
}

struct Flipper
{
    public int pad;
    public int Flip(ref int n, int k)
    {
        int r = n, q = k;
        for (int i = 0; i < k; i++) { n ^= 1; r += pad; pad ^= 2; pad ^= 2; }
        q = q * 3 + r; q ^= r + k; q = q + 5 * r - k; q += k; q -= k;
        return n;
    }
}

static class LoopsOfStructs
{
    static int F(ref Counter s, int x) { int r = s.Advance(3); if (x > 5) throw new InvalidOperationException("x"); return r; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int G(ref Counter s, int x) { return F(ref s, x) + 1; }
    static void Step(ref Steps s) { if (!s.Next()) throw new InvalidOperationException("end"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int AllSteps(ref Steps s) { int n = 0; try { while (true) { Step(ref s); n++; } } catch (InvalidOperationException) { } return n; }
    static void Once(ref Flipper s, ref int n) { if (s.Flip(ref n, 1) != 0) throw new InvalidOperationException("flipped"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static string Flipped(ref Flipper s, ref int n) { try { Once(ref s, ref n); return "none"; } catch (InvalidOperationException e) { return e.Message; } }

    static void Main()
    {
        long sum = 0;
        string last = "";
        for (int r = 0; r < 40; r++)
        {
            for (int i = 0; i < 1000; i++)
            {
                var t = new Counter(); sum += G(ref t, 1) + t.n;
                var s = new Steps { end = i & 15 }; sum += AllSteps(ref s) * 100 + s.taken;
                int n = i & 1; var f = new Flipper(); last = Flipped(ref f, ref n); sum += n * 7 + last.Length;
            }
            System.Threading.Thread.Sleep(2);
        }
        var c = new Counter();
        try { G(ref c, 9); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        Console.WriteLine(c.n);
        var steps = new Steps { end = 21 };
        Console.WriteLine(AllSteps(ref steps) + " " + steps.taken);
        int bit = 0;
        var flipper = new Flipper();
        Console.WriteLine(Flipped(ref flipper, ref bit) + " " + bit + " " + Flipped(ref flipper, ref bit) + " " + bit);
        Console.WriteLine(sum + " " + last);
    }
}
