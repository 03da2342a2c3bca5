// Branches that ask what an inlined method answers: answers of every kind, negated, nested, in loops, in handlers, of several receivers.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

static class Answers
{
    static bool IsWhite(int c) { return c == 32 || (uint)(c - 9) <= 4; }
    static bool IsDigit(int c) { return c >= '0' && c <= '9'; }
    static bool IsEither(int c) { return IsWhite(c) || IsDigit(c); }
    static bool IsNeither(int c) { return !IsEither(c); }
    static int Bits(int c) { if (c < 0) return -1; return c > 100 ? c & 6 : c & 1; }
    static bool Throws(int c) { if (c == 77) throw new ArgumentException("77"); return c > 50; }
    static bool Is<T>(object o) { if (typeof(T) == typeof(int)) return o is int; return o is T; }
    static bool Always(int c) { if (c > 5 || c <= 5) return true; return false; }
    static bool Counts(ref int n, int c) { n++; if (c % 3 == 0) { n += 2; return true; } return c % 5 == 0; }
    static bool Same(string a, string b) { return a == b; }
    sealed class Box { public int Value; public bool Big { get { return Value > 10 || Value < -10; } } }
    interface ITest { bool Test(int x); }
    sealed class Odd : ITest { public bool Test(int x) { if (x < 0) return false; return (x & 1) != 0; } }
    sealed class Three : ITest { public bool Test(int x) { return x == 0 || x % 3 == 0; } }
    sealed class Five : ITest { public bool Test(int x) { return x == 1 || x % 5 == 0; } }

    static long Ask(int n, ITest[] tests, string[] texts)
    {
        long x = 0;
        int calls = 0;
        var box = new Box();
        for (int i = 0; i < n; i++) {
            int c = i % 140 - 10;
            if (IsWhite(c)) x += 1; else x += 2;
            if (!IsDigit(c)) x += 3;
            if (IsEither(c) && !IsWhite(c)) x += 5; else if (IsNeither(c)) x ^= 7;
            bool kept = IsNeither(c);
            if (Bits(c) != 0) x += Bits(c);
            if (Bits(c) == 2) x += 11;
            if (kept) x += 13;
            x += IsDigit(c) ? 17 : 19;
            if (Always(c)) x += 1;
            if (Counts(ref calls, c) | Counts(ref calls, c + 1)) x += 2;
            while (Counts(ref calls, c) && c < 200) c += 3;
            do { c -= 7; } while (IsDigit(c));
            box.Value = c;
            if (box.Big) x += 23;
            if (Same(texts[i & 3], texts[i % 3])) x += 29;
            if (tests[i % tests.Length].Test(c)) x += 31; else x += 37;
            if (Is<int>(c) && !Is<string>(box)) x += 1;
            try { if (Throws(c)) x += 41; else x += 43; } catch (ArgumentException) { x += 47; } finally { if (IsWhite(c)) x += 53; }
            x = x * 3 % 1000000007;
        }
        return x + calls;
    }

    // A loop whose condition is an answer, left by an answer.
    static int Search(List<int> list, int from)
    {
        int at = from;
        while (IsEither(list[at % list.Count])) { if (IsWhite(list[at % list.Count]) && at > from + 20) break; at++; if (at > from + 50) return -at; }
        return at;
    }

    static void Main()
    {
        var two = new ITest[] { new Odd(), new Three() };
        var three = new ITest[] { new Odd(), new Three(), new Five() };
        var texts = new[] { "one", "two", "o" + "ne".Substring(0), null };
        long sum = 0;
        for (int round = 0; round < 40; round++) sum = sum * 7 + Ask(3000, two, texts);
        for (int round = 0; round < 40; round++) sum = sum * 7 + Ask(3000, three, texts);
        var list = new List<int>();
        for (int i = 0; i < 97; i++) list.Add(i % 11 == 0 ? 32 : '0' + i % 10 + (i % 23 == 0 ? 30 : 0));
        for (int i = 0; i < 30000; i++) sum = sum * 5 + Search(list, i);
        Console.WriteLine(sum);
    }
}
