// Thread statics that a method accesses again and again: in loops, in arms of which one may have been taken, in handlers, and in what is inlined.
// tiers: all
using System;
using System.Threading;

static class RepeatedStatics
{
    class Other { [ThreadStatic] public static int count; [ThreadStatic] public static object reference; }
    [ThreadStatic] static int own;
    [ThreadStatic] static string text;

    static int Own { get { return own; } set { own = value; } }

    static int Loop(int n) { for (int i = 0; i < n; i++) own++; return own; }
    static int Arm(bool first, int n)
    {
        int sum = 0;
        if (first) { Other.count = 5; sum += Other.count; }
        for (int i = 0; i < n; i++) { if ((i & 1) == 0) Other.count += i; else sum += Other.count; }
        return sum + Other.count;
    }
    static int Handlers(int n)
    {
        own = 0;
        for (int i = 0; i < n; i++)
        {
            try { own++; if (i % 3 == 0) throw new InvalidOperationException(); own += 10; }
            catch (InvalidOperationException) { own += 100; }
            finally { own += 1000; Other.count++; }
        }
        return own;
    }
    static int Inlined(int n) { Own = 1; for (int i = 0; i < n; i++) Own = Own + 2; return Own; }
    static string References(int n) { for (int i = 0; i < n; i++) { text += i; Other.reference = text; if (i == 3) GC.Collect(); } return text + (string)Other.reference; }

    static string All()
    {
        own = 0; text = ""; Other.count = 0;
        return Loop(1000) + " " + Arm(true, 10) + " " + Arm(false, 10) + " " + Handlers(10) + " " + Inlined(7) + " " + References(6) + " " + own + " " + Other.count;
    }

    static void Main()
    {
        Console.WriteLine(All());
        var others = new Thread[4];
        var said = new string[others.Length];
        for (int i = 0; i < others.Length; i++)
        {
            int n = i;
            others[i] = new Thread(() => { for (int k = 0; k < 50; k++) { said[n] = All(); if (k == 10) Thread.Yield(); } });
            others[i].Start();
        }
        foreach (var thread in others)
            thread.Join();
        foreach (string line in said)
            Console.WriteLine(line);
        Console.WriteLine(own + " " + Loop(3));
    }
}
