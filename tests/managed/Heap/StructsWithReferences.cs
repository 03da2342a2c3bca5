// Structs with references, copied every way there is into objects, arrays, boxes and statics while young objects come
// and go: what each field refers to must be what was stored.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

struct Two { public object A; public string B; }
struct Odd { public byte Tag; public object A; public int N; public string B; public short S; }
struct Wide { public Odd X, Y; public object[] Z; public long L; public Two T; }
class Holder { public Two Two; public Odd Odd; public Wide Wide; public object One; }

static class StructsWithReferences
{
    static Two two; static Odd odd; static Wide wide; static object one;
    [ThreadStatic] static Wide local;

    static object[] garbage = new object[16];
    static int turn;
    static void Churn()
    {
        for (int i = 0; i < 50; i++) garbage[i & 15] = new object[8];
        if (++turn % 100 == 0) GC.Collect(turn % 300 == 0 ? 2 : 0);
    }

    static Two MakeTwo(int n) { return new Two { A = n, B = "b" + n }; }
    static Odd MakeOdd(int n) { return new Odd { Tag = (byte)n, A = n, N = n, B = "b" + n, S = (short)n }; }
    static Wide MakeWide(int n)
    {
        return new Wide { X = MakeOdd(n), Y = MakeOdd(n + 1), Z = new object[] { n, "z" }, L = n, T = MakeTwo(n + 2) };
    }
    static bool Is(Two t, int n) { return (int)t.A == n && t.B == "b" + n; }
    static bool Is(Odd o, int n) { return o.Tag == (byte)n && (int)o.A == n && o.N == n && o.B == "b" + n && o.S == (short)n; }
    static bool Is(Wide w, int n)
    {
        return Is(w.X, n) && Is(w.Y, n + 1) && (int)w.Z[0] == n && (string)w.Z[1] == "z" && w.L == n && Is(w.T, n + 2);
    }

    static void Set<T>(ref T to, T value) { Churn(); to = value; }
    static int wrong;
    static void Check(bool ok, string what) { if (!ok && wrong++ < 5) Console.WriteLine("wrong: " + what); }

    static void Main()
    {
        var holder = new Holder();
        var twos = new Two[10]; var odds = new Odd[10]; var wides = new Wide[10, 2]; var jagged = new Wide[4][];
        for (int i = 0; i < 4; i++) jagged[i] = new Wide[3];
        object previous = null;
        for (int n = 0; n < 2000; n++)
        {
            holder.Two = MakeTwo(n); holder.Odd = MakeOdd(n); holder.Wide = MakeWide(n);
            Churn();
            Check(Is(holder.Two, n) && Is(holder.Odd, n) && Is(holder.Wide, n), "fields");
            two = holder.Two; odd = holder.Odd; wide = holder.Wide; local = holder.Wide;
            holder.Two = default(Two); holder.Odd = new Odd(); holder.Wide = default(Wide);
            Churn();
            Check(Is(two, n) && Is(odd, n) && Is(wide, n) && Is(local, n), "statics");
            Check(holder.Two.A == null && holder.Odd.B == null && holder.Wide.T.B == null, "cleared");
            int i = n % 10;
            twos[i] = two; odds[i] = odd; wides[i, n & 1] = wide; jagged[n & 3][n % 3] = wide;
            Set(ref twos[(i + 1) % 10], MakeTwo(n + 1));
            Set(ref holder.Wide, MakeWide(n + 5));
            Set(ref holder.One, (object)("one" + n));
            Churn();
            Check(Is(twos[i], n) && Is(odds[i], n) && Is(wides[i, n & 1], n) && Is(jagged[n & 3][n % 3], n), "elements");
            Check(Is(twos[(i + 1) % 10], n + 1) && Is(holder.Wide, n + 5) && (string)holder.One == "one" + n, "by reference");
            object box = wide, small = odd;
            Churn();
            Check(Is((Wide)box, n) && Is((Odd)small, n), "boxes");
            var copy = (Wide[,])wides.Clone();
            Churn();
            Check(Is(copy[i, n & 1], n), "a clone");
            previous = one;
            object next = "x" + n;
            object old = Interlocked.Exchange(ref one, next);
            Churn();
            Check(ReferenceEquals(old, previous) && (string)one == "x" + n, "exchange");
            object third = "y" + n;
            Check(ReferenceEquals(Interlocked.CompareExchange(ref one, third, next), next), "compare and exchange");
            Churn();
            Check((string)one == "y" + n, "after it");
            Volatile.Write(ref holder.One, (object)("v" + n));
            Churn();
            Check((string)Volatile.Read(ref holder.One) == "v" + n, "volatile");
        }
        Console.WriteLine(wrong == 0 ? "all as expected" : wrong + " wrong");
        // expect: all as expected
    }
}
