// Conditions that were decided before, and some that only look so.
using System;
using System.Runtime.CompilerServices;

static class KnownConditions
{
    sealed class Node { public Node Next; public int Value; }

    static int Checked(Node n) { return n == null ? -1 : n.Value; }
    static int Length(string s) { if (s == null) throw new ArgumentNullException("s"); return string.IsNullOrEmpty(s) ? 0 : s.Length; }

    static long Walk(Node n)
    {
        long x = 0;
        if (n == null) return -5;
        do {
            x = x * 3 + Checked(n);
            if (n != null && n.Next != null) x += Checked(n.Next); else x -= Checked(n == null ? null : n.Next);
            n = n.Next;
        } while (n != null);
        return x + Checked(n);
    }

    static int Compare(int a, int b, uint u, uint v, long w)
    {
        int x = 0;
        if (a < b) { if (a < b) x += 1; if (a >= b) x += 2; if (b > a) x += 4; if ((uint)a < (uint)b) x += 8; }
        else { if (a < b) x += 16; if (a == b) x += 32; if (a != b) x += 64; }
        if (u < v) x += u < v ? 128 : 256; else x += u >= v ? 512 : 1024;
        if (a == b) x += a != b ? 1 : 3;
        if ((int)w == a) { if (w == a) x += 5; if ((int)w == a) x += 7; }
        bool less = a < b;
        if (less) { x += less ? 11 : 13; } else if (!less) x += 17;
        for (int i = 0; i < 3; i++) { if (a + i < b) x += 19; if (a < b) x += 23; a++; }
        return x;
    }

    static int Index(int[] items, int i)
    {
        if (items == null) return -1;
        if (i >= 0 && i < items.Length) return items[i] + (items != null ? 1 : 2);
        try { return items[i]; } catch (IndexOutOfRangeException) { return -2; }
    }

    static int Text(string s) { try { return Length(s) + (s == null ? 100 : 0); } catch (ArgumentNullException) { return -3; } }
    static int Value(Node n) { try { int v = n.Value; return n == null ? 1000 : v; } catch (NullReferenceException) { return n == null ? -4 : -6; } }

    static void Main()
    {
        Node list = null;
        for (int i = 0; i < 5; i++) list = new Node { Next = list, Value = i };
        long sum = 0;
        var items = new[] { 3, 1, 4, 1, 5 };
        for (int i = 0; i < 60000; i++) {
            sum = sum * 31 + Walk(list) + Walk(i % 7 == 0 ? null : list.Next);
            sum += Compare(i % 9 - 4, i % 5 - 2, (uint)(i % 7 - 3), (uint)(i % 4), ((long)(i % 3) << 32) + i % 9 - 4);
            sum += Index(i % 11 == 0 ? null : items, i % 8 - 1) + Text(i % 13 == 0 ? null : i % 2 == 0 ? "" : "abc") + Value(i % 500 == 0 ? null : list);
        }
        Console.WriteLine(sum);
    }
}
