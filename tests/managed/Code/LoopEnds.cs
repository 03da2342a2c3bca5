// Loops whose turns end behind several ways: what is used behind the loop, nested loops, exceptions and references in them.
using System;
using System.Collections.Generic;

static class LoopEnds
{
    static long Ways(int[] a, int n)
    {
        long x = 0; int y = 1, last = -1, i;
        for (i = 0; i < n; i++) {
            if ((a[i & 15] & 1) == 0) x += i; else y ^= i;
            if (a[i & 15] > 7) { x -= y; last = i; } else if (a[i & 15] > 3) y += 3; else x ^= 5;
        }
        return x * 7 + y * 3 + last + i;
    }
    static double Floats(double[] d, int n)
    {
        double s = 0, t = 1;
        for (int i = 0; i < n; i++) { if (d[i & 7] < 0.5) s += d[i & 7]; else t *= 1.0000001; }
        return s + t;
    }
    static string Texts(string[] texts, int n)
    {
        string longest = "", other = null;
        for (int i = 0; i < n; i++) { string s = texts[i % texts.Length]; if (s.Length > longest.Length) longest = s + i; else other = s; if (longest.Length > 40) longest = ""; }
        return longest + other;
    }
    static int Nested(int n)
    {
        int x = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) { if ((i ^ j) % 3 == 0) x += j; else x -= i; if (x > 1000000) { x = 0; continue; } if (x < -1000000) break; }
            if (x % 2 == 0) x++; else x--;
        }
        return x;
    }
    static int Throwing(int[] a, int n)
    {
        int x = 0, i = 0;
        try { for (; i < n; i++) { if (i % 3 == 0) x += a[i]; else x -= a[i / 2]; } }
        catch (IndexOutOfRangeException) { x = x * 10 + i; }
        return x;
    }
    static int Steps(int n) { int x = 0; for (int i = 0, k = 1; i < n; i += k) { if (x % 5 < 3) { x += 2; k = 1; } else { x += 3; k = 2; } } return x; }

    static void Main()
    {
        var a = new int[16]; for (int i = 0; i < 16; i++) a[i] = i * 7 % 11;
        var d = new double[8]; for (int i = 0; i < 8; i++) d[i] = i * 0.14;
        var texts = new[] { "a", "bcd", "efghij", "kl" };
        long sum = 0; double f = 0; string t = "";
        for (int round = 0; round < 3000; round++) {
            sum = sum * 31 + Ways(a, 50 + round % 30) + Nested(round % 20) + Throwing(a, 10 + round % 10) + Steps(round % 100);
            f += Floats(d, 20 + round % 9);
            if (round % 100 == 0) t = Texts(texts, 30 + round % 17);
        }
        Console.WriteLine(sum + " " + f.ToString("R") + " " + t);
    }
}
