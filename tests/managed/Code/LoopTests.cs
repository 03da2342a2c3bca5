// Loops whose tests are translated where the loop is entered, and once more at the bottom: with calls, properties, exceptions in the test, structs, nested
// loops, continue, in handlers, with changes of what the test reads.
using System;
using System.Collections.Generic;

class Counter
{
    public int Asked; int limit;
    public Counter(int limit) { this.limit = limit; }
    public bool More { get { Asked++; if (limit < 0) throw new InvalidOperationException("no limit"); return Asked <= limit; } }
}

struct Range
{
    public int At, End;
    public bool Next() { return ++At < End; }
}

class Program
{
    static int Sum(int[] values) { int sum = 0; for (int i = 0; i < values.Length; i++) sum += values[i]; return sum; }
    static int Never(int from, int to) { int n = 0; while (from < to) { n++; from++; } return n; }
    static int Nested(int n)
    {
        int hits = 0;
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++)
            {
                if ((i + j) % 3 == 0) continue;
                for (int k = j; k > i; k -= 2) { if (k % 5 == 0) break; hits += k; }
            }
        return hits;
    }
    static string Asks(int limit)
    {
        var c = new Counter(limit); int rounds = 0;
        try { while (c.More) rounds++; }
        catch (InvalidOperationException e) { return e.Message + " after " + c.Asked; }
        return rounds + " of " + c.Asked;
    }
    static int Protected(int n)
    {
        int done = 0;
        for (int i = 0; i < n; i++)
        {
            try
            {
                int k = i;
                while (k > 0) { if (k == 7) throw new Exception("seven"); k -= 3; done++; }
            }
            catch (Exception) { for (int j = 0; j < 2; j++) done += 100; continue; }
            finally { int j = 0; while (j < 3) { done += j; j++; } }
        }
        return done;
    }
    static int Structs(int n)
    {
        var r = new Range { At = -1, End = n }; int sum = 0;
        while (r.Next()) { sum += r.At; if (r.At == 5) r.End -= 2; }
        return sum * 100 + r.At;
    }
    static int Lists(List<string> list) { int n = 0; for (int i = 0; i < list.Count; i++) { n += list[i].Length; if (n == 6) list.Add("xx"); } foreach (var s in list) n += s.Length; return n; }
    static long Longs(long from, long step) { long sum = 0; for (long i = from; i > 0; i -= step) sum += i; return sum; }
    static int Floats(double limit) { int n = 0; for (double d = 0; d < limit; d += 0.25) n++; double x = double.NaN; while (x < limit) n += 1000; return n; }
    static string Null(int[] values) { try { for (int i = 0; i < values.Length; i++) { } return "walked"; } catch (NullReferenceException) { return "null"; } }
    static int Volatile() { stop = false; int n = 0; while (!stop) { if (++n == 5) stop = true; } return n; }
    static volatile bool stop;
    // Without volatile: mono reads what the test reads in each iteration.
    static bool plain; static int counted; int own;
    static string Waits()
    {
        plain = false; counted = 0; var p = new Program(); var cell = new int[1]; var list = new List<int>();
        var t = new System.Threading.Thread(() => { foreach (var step in new Action[] { () => plain = true, () => p.own = 1, () => cell[0] = 1, () => list.Add(1) }) { System.Threading.Thread.Sleep(30); step(); } });
        t.Start();
        int n = 0;
        while (!plain) { }
        while (p.own == 0) n++;
        for (; cell[0] == 0; ) n ^= 5;
        while (list.Count == 0) n++;
        t.Join();
        return "seen";
    }
    // The same where the program itself has read it in front of the loop, and the test is not at the bottom.
    class Cell { public bool Done; public int N; public int[] Many = new int[1]; }
    static void AfterIf(Cell c) { if (c.Done) return; int k = 0; for (;;) { k++; if (c.Done) break; } counted = k; }
    static void AfterRead(Cell c) { int before = c.N, k = 0; for (;;) { k ^= 1; if (c.N != before) break; } counted = k; }
    static void Element(Cell c) { if (c.Many[0] == 0) for (;;) if (c.Many[0] != 0) break; }
    static void Goto(Cell c) { if (c.Done) goto end; top: if (c.Done) goto end; goto top; end: ; }
    static void Switch(Cell c) { switch (c.N) { case 0: for (;;) switch (c.N) { case 0: continue; default: return; } } }
    static unsafe void Local() { int flag = 0; IntPtr at = (IntPtr)(&flag); Later(() => *(int*)at = 1); int k = 0; while (flag == 0) k++; counted = k; }
    static void Later(Action set) { new System.Threading.Thread(() => { System.Threading.Thread.Sleep(30); set(); }).Start(); }
    static string WaitsElsewhere()
    {
        foreach (var wait in new Action<Cell>[] { AfterIf, AfterRead, Element, Goto, Switch })
        {
            var c = new Cell();
            bool seen = false;
            // Again and again: on a busy machine the first change may come before the waiter's first look.
            Later(() => { c.Done = true; c.Many[0] = 1; for (int n = 1; !System.Threading.Volatile.Read(ref seen); n++) { c.N = n; System.Threading.Thread.Sleep(1); } });
            wait(c);
            System.Threading.Volatile.Write(ref seen, true);
        }
        Local();
        return "seen";
    }
    static int Chars(string s) { int n = 0; for (int i = s.Length - 1; i >= 0 && s[i] != '/'; i--) n++; return n; }
    static int Wraps() { int n = 0; for (byte b = 250; b > 3; b++) n++; for (int i = int.MaxValue - 2; i > 0; i++) n++; return n; }
    static string Overflows() { try { checked { int i = int.MaxValue - 3, n = 0; while (i + 1 > 0) { i++; n++; } return "went on " + n; } } catch (OverflowException) { return "overflow"; } }

    static void Main()
    {
        for (int round = 0; round < 3; round++)
        {
            Console.WriteLine("{0} {1} {2} {3}", Sum(new[] { 1, 2, 3 }), Sum(new int[0]), Never(5, 5), Never(2, 9));
            Console.WriteLine("{0} {1} {2}", Nested(0), Nested(1), Nested(23));
            Console.WriteLine("{0}; {1}; {2}", Asks(0), Asks(4), Asks(-1));
            Console.WriteLine("{0} {1}", Protected(0), Protected(12));
            Console.WriteLine("{0} {1}", Structs(0), Structs(9));
            Console.WriteLine(Lists(new List<string> { "a", "bb", "ccc" }));
            Console.WriteLine("{0} {1}", Longs(10, 3), Longs(-1, 1));
            Console.WriteLine(Floats(2));
            Console.WriteLine(Null(null) + " " + Null(new int[2]));
            Console.WriteLine(Volatile());
            Console.WriteLine("{0} {1}", Chars("a/bcd"), Chars(""));
            Console.WriteLine(Waits() + " " + WaitsElsewhere());
            Console.WriteLine(Wraps() + " " + Overflows());
        }
    }
}
